"""Engines on this machine: one that answers, and many that are fed without a pause.

An engine gets its next position before the answer to the last is read, and answers are stored by another thread, so
engines wait for nothing but the pipe. What goes wrong with an engine (death, silence, nonsense) costs that engine a
restart and that position another try; after three it is set aside. An engine that fails again and again ends the run.
"""

from __future__ import annotations

import asyncio
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from assay.engine import score
from assay.engine.identity import DEFAULT, LOOK_LIMIT, Identity, Search, find
from assay.engine.store import Closing, LeftOut
from assay.engine.uci import NoAnswerError, UciEngine, Valued, legal_moves, merged, read_look, read_search
from assay.errors import EngineError
from assay.games.packed import decode_move, from_fen, to_fen
from assay.presets import DEFAULT_DEPTH
from assay.records import dataclass

TRIES = 3
# An engine is taken for hung after this many times the longest search so far, but never before so many seconds, half of
# them if it does not even say that it is there; each further try of a position waits twice as long, lest a slow machine
# be taken for a dead engine.
PATIENCE_FACTOR = 20
LEAST_PATIENCE = 10.0
# An engine that failed at so many different positions, and one more for each that runs, and at more than one in 500 of
# those it finished, is not to be relied on: that is not the positions' fault.
HOPELESS, RARELY = 5, 500


@dataclass(frozen=True)
class SetAside:
    """A position that the engine failed at three times."""

    key: bytes
    why: str

    @property
    def fen(self) -> str:
        """The position."""
        return to_fen(self.key)


Result = Valued | LeftOut | SetAside
# Of a position that is valued to the first depth, the moves to go on with, in UCI; made for the positions to come.
Choose = Callable[[Valued], Sequence[str]]
Deeper = Callable[[Sequence[bytes]], Choose]


@dataclass
class Load:
    """How busy the engines are, as they work."""

    workers: int
    started: float = field(default_factory=time.perf_counter)
    searching: float = 0.0
    longest: float = 0.0
    begun: bool = False
    restarts: int = 0

    def begin(self) -> None:
        """The first engine is up: from now on time counts."""
        if not self.begun:
            self.begun, self.started = True, time.perf_counter()

    def count(self, seconds: float) -> None:
        self.searching += seconds
        self.longest = max(self.longest, seconds)

    @property
    def busy(self) -> float:
        """Time spent searching divided by wall time x workers."""
        return self.searching / max((time.perf_counter() - self.started) * self.workers, 1e-9)


@dataclass
class _Task:
    key: bytes
    tries: int = 0
    looked: bool = False
    legal: frozenset[str] = frozenset()
    wide: Valued | None = None
    few: frozenset[str] = frozenset()


async def identify(search: Search) -> Identity:
    """Start the engine once and ask who it is."""
    engine = await start(search)
    try:
        return engine.identity
    finally:
        await engine.quit()


async def start(search: Search, load: Load | None = None) -> UciEngine:
    """Start the engine; if it dies over it, again, three times in all."""
    find(search.engine)
    for attempt in range(1, TRIES + 1):
        try:
            return await UciEngine.start(search)
        except NoAnswerError:
            raise
        except EngineError as error:
            if load is not None:
                load.restarts += 1
            if attempt == TRIES:
                raise EngineError(f"the engine {search.engine!r} does not start: {_sentence(error)}") from error
    raise AssertionError("the last attempt returns or raises")


async def value_all(
    keys: Iterator[bytes],
    search: Search,
    *,
    workers: int,
    take: Callable[[Result], None],
    load: Load | None = None,
    patience: float | None = None,
    asked: Identity | None = None,
    choose: Choose | None = None,
) -> None:
    """Value positions with `workers` engines; `take` gets each result as it comes.

    `choose` tells the moves that a search of likely moves goes on with. If it is said which engine is `asked` for,
    another one of the same name is an error.

    `patience` is how many seconds an engine may be silent in a search; None waits twenty times as long as the longest
    search so far, at least ten seconds, and twice as long at each further try of a position (half of it, if the engine
    does not answer when it is asked whether it is there).
    """
    load = load or Load(workers)
    if search.likely is not None and choose is None:
        raise EngineError("a search of likely moves has to be told which moves are likely.")
    pool = _Pool(keys, search, take, load, patience, asked, choose)
    tasks = [asyncio.create_task(pool.work()) for _ in range(workers)]
    try:
        for task in asyncio.as_completed(tasks):
            await task
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class _Pool:
    def __init__(
        self,
        keys: Iterator[bytes],
        search: Search,
        take: Callable[[Result], None],
        load: Load,
        patience: float | None,
        asked: Identity | None,
        choose: Choose | None,
    ) -> None:
        self.choose = choose
        self.keys, self.search, self.take, self.load, self.patience, self.asked = (
            keys,
            search,
            take,
            load,
            patience,
            asked,
        )
        self.ready: deque[_Task] = deque()
        self.again: deque[_Task] = deque()
        self.failed_at = 0
        self.finished = 0

    def next_task(self) -> _Task | None:
        """The next position that needs an engine.

        One that failed comes first, as a new engine is soundest; but last while none was finished: no engine is waited
        for three times that fails at all of them.
        """
        if self.again and self.finished:
            return self.again.popleft()
        self.prepare()
        tasks = self.ready or self.again
        return tasks.popleft() if tasks else None

    def prepare(self) -> None:
        """Have a position ready, so that no engine waits for its legal moves; forced ones are told at once."""
        while not self.ready and (key := next(self.keys, None)) is not None:
            task = _Task(key, looked=not self.search.looks_first, legal=legal_moves(key))
            if len(task.legal) > 1:
                self.ready.append(task)
            elif task.legal:
                self.take(LeftOut(key, "forced", score.MISSING))

    def patience_for(self, task: _Task) -> Callable[[bool], float]:
        """How long an engine may be silent over a position: one that says that it is there, and one that does not."""

        def seconds(answers: bool) -> float:
            usual = max(LEAST_PATIENCE, PATIENCE_FACTOR * self.load.longest) * 2**task.tries
            return self.patience or (usual if answers else usual / 2)

        return seconds

    async def work(self) -> None:
        """Feed one engine, and its successors, until nothing is left."""
        engine: UciEngine | None = None
        try:
            while (task := self.next_task()) is not None:
                if engine is None:
                    engine = await self.start()
                engine = await self.feed(engine, task)
        finally:
            if engine is not None:
                await engine.quit()

    async def start(self) -> UciEngine:
        engine = await start(self.search, self.load)
        if self.asked is not None and engine.identity != self.asked:
            await engine.end()
            raise EngineError(f"{engine.identity} is here, but {self.asked} was asked for.")
        self.load.begin()
        return engine

    async def feed(self, engine: UciEngine, task: _Task) -> UciEngine | None:
        """Keep one engine busy from this position on; None when it had to be ended."""
        current: _Task | None = task
        try:
            self.begin(engine, task)
            while current is not None:
                output, seconds = await engine.finish(self.patience_for(current))
                self.load.count(seconds)
                if not current.looked:
                    value = read_look(output)
                    current.looked = True
                    if abs(value) <= LOOK_LIMIT:
                        engine.begin(current.key)
                        continue
                    done: Result = LeftOut(current.key, "decided", value)
                    current = self.begin_next(engine)
                elif engine.search.likely is not None and self.choose is not None and current.wide is None:
                    current.wide = read_search(output, current.key, current.legal, engine.search.first, seconds)
                    moves = self.choose(current.wide)
                    current.few = frozenset(moves)
                    engine.begin_few(current.key, moves)
                    continue
                else:
                    # The engine thinks about the next position while the last answer is read.
                    last, current = current, self.begin_next(engine)
                    try:
                        done = _read(output, last, engine.search, seconds)
                    except EngineError:
                        if current is not None:
                            self.ready.appendleft(current)
                        current = last
                        raise
                self.finished += 1
                self.take(done)
        except EngineError as error:
            await engine.end()
            self.load.restarts += 1
            assert current is not None
            self.failed(current, error)
            return None
        return engine

    def begin(self, engine: UciEngine, task: _Task) -> None:
        if task.looked:
            engine.begin(task.key)
        else:
            engine.begin_look(task.key)

    def begin_next(self, engine: UciEngine) -> _Task | None:
        task = self.next_task()
        if task is not None:
            # If it died between two searches, the next `finish` says so and counts it as that position's try.
            with suppress(EngineError):
                self.begin(engine, task)
            self.prepare()
        return task

    def failed(self, task: _Task, error: EngineError) -> None:
        task.tries += 1
        self.failed_at += task.tries == 1
        if self.failed_at >= HOPELESS + self.load.workers and self.failed_at * RARELY > self.finished:
            raise EngineError(
                f"the engine {self.search.engine!r} failed at {self.failed_at} positions and finished {self.finished}, "
                f"which is too often to go on: {_sentence(error)}"
            )
        task.looked, task.wide = not self.search.looks_first, None
        if task.tries < TRIES:
            self.again.append(task)
            return
        self.take(SetAside(task.key, str(error)))


def _read(output: bytes, task: _Task, search: Search, seconds: float) -> Valued:
    """What the last search of a position said, with what the one before it said of all moves."""
    if task.wide is None:
        return read_search(output, task.key, task.legal, search, seconds)
    return merged(task.wide, read_search(output, task.key, task.few, search.only(len(task.few)), seconds))


def _sentence(error: EngineError) -> str:
    text = str(error)
    return text if text.endswith((".", "?")) else f"{text}."


class Engine(Closing):
    """An engine that answers one question at a time; a context manager.

    Answers are those of the store: Threads 1 and a fresh hash, so a value depends on nothing that was asked before.
    """

    def __init__(self, engine: str = DEFAULT, *, hash_mb: int = 16) -> None:
        self._search = Search(engine, hash_mb=hash_mb)
        self._runner = asyncio.Runner()
        self._engine: UciEngine | None = None

    def close(self) -> None:
        """End the engine."""
        if self._engine is not None:
            self._runner.run(self._engine.quit())
            self._engine = None
        self._runner.close()

    def identity(self, lines: int = 50) -> Identity:
        """Who answers, and with how many lines."""
        return self._runner.run(self._started(replace(self._search, lines=lines))).identity

    def values(self, fen: str, depth: int = DEFAULT_DEPTH, lines: int = 50) -> tuple[list[str], NDArray[np.float64]]:
        """The moves of a position in UCI, best first, and their values in pawns from the mover's side."""
        valued = self.analyse(fen, depth, lines)
        moves = [decode_move(code) for code in valued.move_codes().tolist()]
        return moves, score.pawns(valued.table()[-1])

    def analyse(self, fen: str, depth: int = DEFAULT_DEPTH, lines: int = 50) -> Valued:
        """The analysis of a position as the store keeps it: every move at every depth."""
        return self._runner.run(self._analyse(fen, replace(self._search, depth=depth, lines=lines)))

    async def _analyse(self, fen: str, search: Search) -> Valued:
        key = from_fen(fen)
        legal = legal_moves(key)
        if not legal:
            raise EngineError(f"there is no legal move in {fen}.")
        engine = await self._started(search)
        try:
            engine.begin(key)
            output, seconds = await engine.finish()
            return read_search(output, key, legal, engine.search, seconds)
        except EngineError as error:
            await engine.end()
            self._engine = None
            raise EngineError(f"{engine.name} failed at {fen}: {error}.") from error

    async def _started(self, search: Search) -> UciEngine:
        if self._engine is None:
            self._engine = await UciEngine.start(search)
        else:
            self._engine.ask_for(search)
        return self._engine
