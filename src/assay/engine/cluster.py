"""Many machines: the same work on a Dask cluster, its results in the one store.

Chunks of positions go out, each to an engine that the worker starts by itself and checks to be the one that was asked
for; results come back as chunks finish. A worker that dies loses its chunk, which goes to another; a worker that comes
late gets its share. A result is a pure function of position and identity, so it does not matter who made it.
"""

from __future__ import annotations

import asyncio
import logging
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from itertools import islice
from typing import Any

from assay.engine.identity import Identity, Search
from assay.engine.local import TRIES, Load, Result, SetAside, identify, value_all
from assay.errors import AssayWarning, EngineError, MissingExtra
from assay.records import dataclass

LOCAL = "local"
# A chunk should last about so long: much longer than the start of an engine, and a small loss when a worker dies.
CHUNK_SECONDS = 15.0
MOST_IN_CHUNK = 200
CONNECT_SECONDS = 10


@dataclass(frozen=True)
class Done:
    """What a worker hands back: results, the seconds that its engine searched, and why it stopped if it did."""

    worker: str
    results: list[Result]
    searching: float
    refused: str = ""


def value_chunk(keys: list[bytes], search: Search, asked: Identity, patience: float | None) -> Done:
    """Value positions on a worker, with its own engine."""
    from distributed import get_worker

    worker = get_worker().address
    results: list[Result] = []
    load = Load(1)
    try:
        asyncio.run(
            value_all(iter(keys), search, workers=1, take=results.append, load=load, patience=patience, asked=asked)
        )
    except EngineError as error:
        return Done(worker, results, load.searching, str(error))
    return Done(worker, results, load.searching)


def identify_on_worker(search: Search) -> Identity | str:
    """Who the engine is on a worker, or why there is none."""
    try:
        return asyncio.run(identify(search))
    except EngineError as error:
        return str(error)


@contextmanager
def connect(address: str, workers: int | None = None) -> Iterator[Cluster]:
    """A cluster by the address of its scheduler; `local` starts one on this machine and ends it afterwards."""
    try:
        import distributed
    except ImportError as error:
        raise MissingExtra("distributed (Dask)", "cluster") from error
    # What matters of its troubles is said in a sentence of ours.
    logging.getLogger("distributed").setLevel(logging.CRITICAL)
    logging.getLogger("distributed.client").setLevel(logging.CRITICAL + 1)
    if address == LOCAL:
        with (
            distributed.LocalCluster(n_workers=workers, threads_per_worker=1, dashboard_address="127.0.0.1:0") as local,
            distributed.Client(local) as client,
        ):
            yield Cluster(client, local.scheduler_address)
        return
    try:
        client = distributed.Client(address, timeout=CONNECT_SECONDS)
    except (OSError, ValueError) as error:
        raise EngineError(
            f"no Dask scheduler answers at {address}. Start one with 'dask scheduler', and workers with "
            "'dask worker ADDRESS'."
        ) from error
    try:
        yield Cluster(client, address)
    finally:
        with suppress(Exception):
            client.close(timeout=1)


@dataclass
class _Chunk:
    keys: list[bytes]
    tries: int = 0


@dataclass
class Cluster:
    """A running cluster."""

    client: Any
    address: str
    refused: dict[str, str] = field(default_factory=dict)

    def identify(self, search: Search) -> Identity:
        """The engine that is meant: this machine's of that name if there is one, else a worker's."""
        with suppress(EngineError):
            return asyncio.run(identify(search))
        self._threads(wait=True)
        answer: Identity | str = self.client.submit(identify_on_worker, search, pure=False).result()
        if isinstance(answer, str):
            raise EngineError(f"neither this machine nor the cluster has the engine {search.engine!r}: {answer}")
        return answer

    def value_all(
        self,
        keys: Iterator[bytes],
        search: Search,
        asked: Identity,
        *,
        take: Callable[[Result], None],
        load: Load,
        patience: float | None = None,
    ) -> None:
        """Value positions on the workers; `take` gets each result as its chunk comes back."""
        from distributed import as_completed

        again: list[_Chunk] = []
        out: dict[Any, _Chunk] = {}
        completed = as_completed()
        size, valued, searched = 1, 0, 0.0
        try:
            while True:
                load.workers = max(self._threads(wait=not out), 1)
                load.begin()
                while len(out) < 2 * load.workers + 2 and (chunk := self._next(keys, size, again)):
                    future = self._submit(chunk, search, asked, patience)
                    out[future] = chunk
                    completed.add(future)
                if not out:
                    return
                future = next(completed)
                chunk = out.pop(future)
                done = self._result(future, chunk, again, take)
                if done is None:
                    continue
                load.count(done.searching)
                valued, searched = valued + len(done.results), searched + done.searching
                if valued:
                    size = max(1, min(MOST_IN_CHUNK, round(CHUNK_SECONDS * valued / max(searched, 1e-3))))
                for result in done.results:
                    take(result)
        finally:
            with suppress(Exception):
                self.client.cancel(list(out))

    def _next(self, keys: Iterator[bytes], size: int, again: list[_Chunk]) -> _Chunk | None:
        if again:
            return again.pop()
        some = list(islice(keys, size))
        return _Chunk(some) if some else None

    def _submit(self, chunk: _Chunk, search: Search, asked: Identity, patience: float | None) -> Any:
        allowed = None
        if self.refused:
            allowed = [name for name in self.client.nthreads() if name not in self.refused]
        return self.client.submit(value_chunk, chunk.keys, search, asked, patience, pure=False, workers=allowed)

    def _result(self, future: Any, chunk: _Chunk, again: list[_Chunk], take: Callable[[Result], None]) -> Done | None:
        if future.status == "finished":
            done: Done = future.result()
            if done.refused:
                self._refuse(done)
                missing = set(chunk.keys) - {result.key for result in done.results}
                again.append(_Chunk([key for key in chunk.keys if key in missing]))
            return done
        if future.status != "error":
            raise EngineError(
                f"the scheduler at {self.address} went away. What came back is stored; start it again and run the same "
                "command to go on."
            )
        # The scheduler gives a chunk up when several workers died over it: try its positions one by one.
        if len(chunk.keys) > 1:
            again.extend(_Chunk([key]) for key in chunk.keys)
        elif chunk.tries + 1 < TRIES:
            again.append(_Chunk(chunk.keys, chunk.tries + 1))
        else:
            take(SetAside(chunk.keys[0], f"workers died over it: {future.exception()}"))
        return None

    def _refuse(self, done: Done) -> None:
        """Give a worker no more chunks, and say so."""
        if done.worker not in self.refused:
            self.refused[done.worker] = done.refused
            warnings.warn(f"worker {done.worker} is left out: {done.refused}", AssayWarning, stacklevel=2)

    def _threads(self, *, wait: bool) -> int:
        """How many chunks run at a time; with `wait`, not before there is a worker (for at most a minute)."""
        for _ in range(60):
            threads = {name: count for name, count in self.client.nthreads().items() if name not in self.refused}
            if not threads and self.refused:
                raise EngineError("no worker is left: " + "; ".join(sorted(set(self.refused.values()))))
            if threads or not wait:
                return sum(threads.values())
            time.sleep(1)
        raise EngineError(f"no worker came to {self.address}. Start one with 'dask worker {self.address}'.")
