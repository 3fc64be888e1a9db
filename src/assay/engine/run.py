"""Analyse games into a store: what is there already costs nothing, the rest goes to the engines."""

from __future__ import annotations

import asyncio
import os
import time
from collections import Counter
from dataclasses import dataclass
from itertools import compress

import numpy as np

from assay.engine.cluster import Cluster
from assay.engine.identity import Identity, Job
from assay.engine.plan import Plan
from assay.engine.pool import Load, Result, SetAside, identify, value_all
from assay.engine.store import LeftOut, Store
from assay.engine.writer import Writer
from assay.progress import Progress


@dataclass(frozen=True)
class Outcome:
    """What a run did with one engine."""

    identity: Identity
    positions: int
    known: int
    valued: int
    left_out: Counter[str]
    set_aside: tuple[SetAside, ...]
    restarts: int
    seconds: float
    busy: float


def cores() -> int:
    """How many engines this machine runs at once: one for each core this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def analyse(
    plan: Plan,
    store: Store,
    job: Job,
    *,
    workers: int | None = None,
    patience: float | None = None,
    quiet: bool = False,
    cluster: Cluster | None = None,
    progress: Progress | None = None,
) -> Outcome:
    """Value the positions of a plan with one engine, here or on a cluster, and store them as they come.

    `progress` takes the place of the line on the terminal.
    """
    begun = time.perf_counter()
    identity = cluster.identify(job) if cluster else asyncio.run(identify(job))
    number = store.number_of(identity)
    known, out = store.known(identity, job.depth), store.out(identity)
    valued = np.fromiter((key in known for key in plan.keys), np.bool_, len(plan.keys))
    done = valued | np.fromiter((_is_out(out.get(key), job) for key in plan.keys), np.bool_, len(plan.keys))
    store.add_games(number, plan.last_keys(valued, done))
    before = int(valued.sum())
    todo = list(compress(plan.keys, ~done))
    at = {key: index for index, key in enumerate(plan.keys)} if todo else {}
    workers = min(workers or cores(), max(len(todo), 1))
    load = Load(workers)
    left_out: Counter[str] = Counter()
    set_aside: list[SetAside] = []

    def take(result: Result) -> None:
        if isinstance(result, SetAside):
            set_aside.append(result)
        else:
            writer.put(result)
            done[at[result.key]] = True
            if isinstance(result, LeftOut):
                left_out[result.reason] += 1
            else:
                valued[at[result.key]] = True
        line.note = f"{load.busy:.0%} busy"
        line.advance()

    try:
        with progress or Progress("Analysing", unit="positions", quiet=quiet) as line, Writer(store, number) as writer:
            line.update(0, len(todo))
            if cluster:
                cluster.value_all(iter(todo), job, identity, take=take, load=load, patience=patience)
            else:
                asyncio.run(
                    value_all(iter(todo), job, workers=workers, take=take, load=load, patience=patience, asked=identity)
                )
    finally:
        store.add_games(number, plan.last_keys(valued, done))
    return Outcome(
        identity=identity,
        positions=len(plan.keys),
        known=len(plan.keys) - len(todo),
        valued=int(valued.sum()) - before,
        left_out=left_out,
        set_aside=tuple(set_aside),
        restarts=load.restarts,
        seconds=time.perf_counter() - begun,
        busy=load.busy,
    )


def _is_out(entry: tuple[str, int] | None, job: Job) -> bool:
    """Whether a position that was left out once stays out: a decided one only if this job would look, too."""
    return entry is not None and (entry[0] == "forced" or job.looks_first)
