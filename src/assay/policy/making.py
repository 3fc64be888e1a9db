"""A policy made, step by step: positions gathered, labelled, trained on, and the network written as one small file."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.errors import MissingExtra
from assay.games.stream import Paths
from assay.paths import File
from assay.policy.leela import read_leela
from assay.policy.movemodel import load_policy, save_policy
from assay.policy.positions import Choice, gather
from assay.policy.teacher import label
from assay.table import Answer, Table, columns_of, told_copies


def gather_positions(
    what: Paths,
    folder: File,
    *,
    where: str | None = None,
    without: Sequence[File] = (),
    bounds: tuple[int, int] = (600, 3000),
    first_ply: int = 8,
    per_game: int = 0,
    seed: int = 1,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> Answer:
    """Gather positions of rated games into a new folder, as `assay policy gather` does: what was taken and left out.

    No game is taken that occurs `without`; `bounds` are the ratings of movers, `per_game` (0: all) positions a game.

    >>> import assay
    >>> assay.gather_positions("nowhere.pgn", "positions")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    choice = Choice(first_ply, per_game, bounds, seed)
    counts, duplicates = gather(
        what, Path(folder), choice, where=where, without=without, keep_duplicates=keep_duplicates, quiet=quiet
    )
    rows = [{"what": name, "count": count} for name, count in sorted(counts.items())]
    return Answer(shown=Table(rows, columns_of(("what", "count"))), remarks=told_copies(duplicates))


def label_positions(
    folders: Sequence[File], teachers: Sequence[File], count: int = 500_000, *, seed: int = 1, quiet: bool = True
) -> int:
    """Label gathered positions with what teachers would play there, as `assay policy label` does; how many were.

    A teacher is a network in Leela's format with its level in the name, such as maia-1500.pb.gz.

    >>> import assay
    >>> assay.label_positions(["positions"], ["maia-1500.pb.gz"])
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    networks = [read_leela(Path(path)) for path in teachers]
    return label(list(map(Path, folders)), networks, count, seed=seed, quiet=quiet)


def train_policy(
    folders: Sequence[File],
    run: File,
    *,
    resume: bool = False,
    start: File | None = None,
    every: int = 1000,
    quiet: bool = True,
    **plan: Any,
) -> Answer:
    """Train a policy on gathered positions, as `assay policy train` does: how it stands on players held out.

    `plan` are fields of :class:`assay.policy.training.Plan`: steps, batch, lr, width ... What a training was asked for
    holds when it goes on (`resume`), unless it is given anew.

    >>> import assay
    >>> assay.train_policy(["positions"], "run", steps=10)
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    try:
        from assay.policy.training import CURVE, Plan, read_plan, train
    except ImportError as error:
        raise MissingExtra("torch", "learn") from error

    out = Path(run)
    asked = replace(read_plan(out) if resume else Plan(), **plan)
    first = None if start is None else Path(start)
    done = train(list(map(Path, folders)), out, asked, resume=resume, start=first, every=every, quiet=quiet)
    with (out / CURVE).open(encoding="utf-8") as file:
        curve = list(csv.DictReader(file))
    rows = [{"policy": done.identity, **row} for row in curve if row["step"] == curve[-1]["step"]]
    return Answer(shown=Table(rows, columns_of(list(rows[0]))))


def export_policy(run: File, path: File) -> Answer:
    """Write the policy of a training as one small file, in 16-bit numbers, as `assay policy export` does.

    >>> import assay
    >>> assay.export_policy("run", "policy.npz")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    place = Path(path)
    save_policy(place, load_policy(Path(run) / "policy.npz"))
    row = {"file": str(place), "policy": load_policy(place).identity, "bytes": place.stat().st_size}
    told = f"{row['file']}: policy {row['policy']}, {row['bytes']:,} bytes."
    return Answer(shown=Table([row], columns_of(("file", "policy", "bytes"))), remarks=[told])
