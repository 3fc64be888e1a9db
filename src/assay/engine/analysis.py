"""Games and what engines say about them: parsed once, a store opened once, engines for what it lacks.

An Analysis is passed on, never made again: turns, the learned model and the moves of a report are read from it.
"""

from __future__ import annotations

import asyncio
import os
import time
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property
from itertools import compress
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import Spreads, load_spreads
from assay.engine.cluster import Cluster
from assay.engine.identity import Identity, Search
from assay.engine.local import Deeper, Load, Result, SetAside, identify, value_all
from assay.engine.parsed import Plies, Wanted, read_plies
from assay.engine.store import Closing, LeftOut, Store, Writer
from assay.engine.turns import Turns, turns_of
from assay.engine.uci import Valued
from assay.errors import AssayWarning, EngineError, NoTurns
from assay.games import Game
from assay.paths import only_writer
from assay.progress import Progress
from assay.records import dataclass
from assay.table import counted


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


@dataclass(frozen=True)
class Analysis(Closing):
    """The plies of some games and the open store that values them to a depth; a context manager.

    `outcome` is what engines did for it, None where all was stored or was to be taken as it is.

    >>> import assay
    >>> with assay.analyse(assay.SAMPLE, store="nowhere.db", no_analysis=True) as analysis:
    ...     assay.rate_moves(analysis), assay.posterior(analysis, 2)
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """

    plies: Plies
    store: Store
    identity: Identity
    depth: int
    outcome: Outcome | None = None

    def close(self) -> None:
        """Close the store."""
        self.store.close()

    @property
    def problems(self) -> Counter[str]:
        """How many games could not be read, by reason."""
        return self.plies.problems

    @property
    def left_out(self) -> Counter[str]:
        """How many positions were found not to be worth a search, by reason."""
        return self.outcome.left_out if self.outcome else Counter()

    @property
    def set_aside(self) -> tuple[SetAside, ...]:
        """Positions that the engine failed at."""
        return self.outcome.set_aside if self.outcome else ()

    @cached_property
    def spreads(self) -> Spreads:
        """What the store says of every position of the games, also of those that do not count."""
        ends = self.plies.ends.values() if self.identity.lines == 1 else ()
        wanted = {*self.plies.whole.names, *(end for end in ends if isinstance(end, bytes))}
        return load_spreads(self.store, (self.identity,), self.depth, wanted)

    def turns(self, *, limit: float = 3.0) -> Turns:
        """The turns that count, with the values of every move: see :func:`assay.engine.turns.turns`."""
        return turns_of(self.plies, self.store, (self.identity,), depth=self.depth, limit=limit, found=self.spreads)

    def all_turns(self) -> Turns:
        """The turns of all games whose moves are valued, whether they count or not."""
        of = (self.identity,)
        return turns_of(self.plies.whole, self.store, of, depth=self.depth, found=self.spreads, every=True)

    def first(self, games: int) -> Analysis:
        """The first games alone, read beside a run that still writes: this one has to be closed for itself."""
        return replace(self, plies=self.plies.first(games), store=Store(self.store.path))


def analyse(
    games: Iterable[Game],
    *,
    store: str | Path,
    search: Search,
    from_move: int = 9,
    counted: NDArray[np.bool_] | None = None,
    serves: Callable[[Identity], bool] | None = None,
    check: Callable[[Identity], None] | None = None,
    no_analysis: bool = False,
    workers: int | None = None,
    patience: float | None = None,
    quiet: bool = False,
    progress: Progress | None = None,
    each: Callable[[Analysis, int], None] | None = None,
    deeper: Deeper | None = None,
) -> Analysis:
    """Parse games and have their positions valued, from move `from_move` on; what is stored already costs nothing.

    `counted` tells which of the games count, if not all. `serves` says whether stored analyses will do; without it they
    must be the engine's own. `check` refuses an engine by raising, before any time is spent on it. With `no_analysis`
    what is stored has to do. `each` gets the analysis and the number of every game, from 0, that is valued whole, from
    a thread of its own; `progress` takes the place of the line on the terminal. `deeper` is that of :func:`value`.
    """
    path = Path(store)
    plies = read_plies(games, from_move, counted)
    work = Wanted()
    work.add(plies, ends=search.lines == 1)
    if not work.keys:
        raise NoTurns(f"these games have no turns to judge: all their moves are before move {from_move}.")
    opened = Store(path) if no_analysis or path.exists() else None
    try:
        identity = stored_for(opened, serves) if opened else None
        if no_analysis:
            assert opened is not None
            identity = identity or opened.choose(depth=search.depth)
            if check:
                check(identity)
        elif identity is None or opened is None or not _all_stored(work, opened, identity, search.depth):
            identity = asyncio.run(identify(search))
            if check:
                check(identity)
            with only_writer(path):
                opened = opened.for_writing() if opened else Store(path, create=True)
                running = Analysis(plies, opened, identity, search.depth)
                told = (lambda game: each(running, game)) if each else None
                outcome = value(
                    work,
                    opened,
                    search,
                    workers=workers,
                    patience=patience,
                    quiet=quiet,
                    progress=progress,
                    each=told,
                    deeper=deeper,
                )
            for position in outcome.set_aside:
                warnings.warn(
                    f"set aside after three tries ({position.why}): {position.fen}", AssayWarning, stacklevel=2
                )
            return replace(running, outcome=outcome)
        return Analysis(plies, opened, identity, search.depth)
    except BaseException:
        if opened is not None:
            opened.close()
        raise


def stored_for(store: Store, serves: Callable[[Identity], bool] | None) -> Identity | None:
    """Of the stored analyses that serve, the one with the most positions."""
    kept = [entry for entry in store.kept() if entry.positions and serves and serves(entry.identity)]
    return max(kept, key=lambda entry: entry.positions).identity if kept else None


def _all_stored(work: Wanted, store: Store, identity: Identity, depth: int) -> bool:
    held = store.holds(identity, depth, work.keys)
    rest = [key for key in work.keys if key not in held]
    return len(store.out(identity, rest)) == len(rest)


def cores() -> int:
    """How many engines this machine runs at once: one for each core this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def value(
    wanted: Wanted,
    store: Store,
    search: Search,
    *,
    workers: int | None = None,
    patience: float | None = None,
    quiet: bool = False,
    cluster: Cluster | None = None,
    progress: Progress | None = None,
    each: Callable[[int], None] | None = None,
    deeper: Deeper | None = None,
) -> Outcome:
    """Value the positions that are wanted with one engine, here or on a cluster, and store them as they come.

    `progress` takes the place of the line on the terminal; `each` gets the number of every game that is valued whole;
    `deeper` chooses the moves that a search of likely moves goes on with.
    """
    if cluster and search.likely is not None:
        raise EngineError("likely moves are searched deeper on this machine alone: leave out --cluster, or --likely.")
    begun = time.perf_counter()
    identity = cluster.identify(search) if cluster else asyncio.run(identify(search))
    number = store.number_of(identity)
    held = store.holds(identity, search.depth, wanted.keys)
    valued = np.fromiter((key in held for key in wanted.keys), np.bool_, len(wanted.keys))
    out = store.out(identity, compress(wanted.keys, ~valued))
    done = valued | np.fromiter((_is_out(out.get(key), search) for key in wanted.keys), np.bool_, len(wanted.keys))
    store.add_games(number, wanted.last_keys(valued, done))
    before = int(valued.sum())
    todo = list(compress(wanted.keys, ~done))
    at = {key: index for index, key in enumerate(wanted.keys)} if todo else {}
    workers = min(workers or cores(), max(len(todo), 1))
    load = Load(workers)
    left_out: Counter[str] = Counter()
    set_aside: list[SetAside] = []
    tell = _Games(wanted, done, each) if each else None

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

    def stored(results: Sequence[Valued | LeftOut]) -> None:
        if tell:
            tell.stored([at[result.key] for result in results])

    try:
        with (
            progress or Progress("Analysing", unit="positions", quiet=quiet) as line,
            Writer(store, number, stored) as writer,
        ):
            line.update(0, len(todo))
            if cluster:
                cluster.value_all(iter(todo), search, identity, take=take, load=load, patience=patience)
            else:
                asyncio.run(
                    value_all(
                        iter(todo),
                        search,
                        workers=workers,
                        take=take,
                        load=load,
                        patience=patience,
                        asked=identity,
                        choose=deeper(todo) if deeper and search.likely else None,
                    )
                )
    except EngineError as error:
        if finished := int(valued.sum()) - before:
            raise EngineError(f"{error} What was finished ({counted(finished, 'position')}) is stored.") from error
        raise
    finally:
        store.add_games(number, wanted.last_keys(valued, done))
    return Outcome(
        identity=identity,
        positions=len(wanted.keys),
        known=len(wanted.keys) - len(todo),
        valued=int(valued.sum()) - before,
        left_out=left_out,
        set_aside=tuple(set_aside),
        restarts=load.restarts,
        seconds=time.perf_counter() - begun,
        busy=load.busy,
    )


class _Games:
    """Tells of every game that are wanted when all its positions are stored."""

    def __init__(self, wanted: Wanted, done: NDArray[np.bool_], each: Callable[[int], None]) -> None:
        self.each, self.left = each, dict.fromkeys(range(wanted.read), 0)
        self.of: dict[int, list[int]] = {}
        for number, positions in zip(wanted.numbers, wanted.games, strict=True):
            lacking = set(positions[~done[positions]].tolist())
            self.left[number] = len(lacking)
            for position in lacking:
                self.of.setdefault(position, []).append(number)
        for number, count in self.left.items():
            if not count:
                each(number)

    def stored(self, positions: Iterable[int]) -> None:
        for position in positions:
            for number in self.of[position]:
                self.left[number] -= 1
                if not self.left[number]:
                    self.each(number)


def _is_out(entry: tuple[str, int] | None, search: Search) -> bool:
    """Whether a position that was left out once stays out: a decided one only if this search would look, too."""
    return entry is not None and (entry[0] == "forced" or search.looks_first)
