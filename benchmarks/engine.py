"""Engine analysis beside a plain python-chess loop: positions per second, busy share, overhead, start-up.

    python benchmarks/engine.py GAMES.pgn [--positions 60] [--depth 10] [--stored 300000]
        [--json FILE]

Values the same positions of the games at full width: with python-chess's `analyse(multipv=...)` in a loop and with
Assay's pool, each with one engine and with two. (With one engine and a second core at rest, python-chess reads while
the engine thinks and its cost does not show; with two engines on two cores it does.) Then fills a store with made-up
positions and times the start of a run over it.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path

import chess
import chess.engine
import numpy as np

from assay.engine.analysis import value
from assay.engine.identity import Identity, Search, find
from assay.engine.local import Load, Result, identify, value_all
from assay.engine.parsed import Wanted, wanted
from assay.engine.score import to_text
from assay.engine.store import writing
from assay.engine.uci import Valued
from assay.games import read
from assay.games.packed import decode_move, to_fen
from measure import Measurement, show

LINES = 50
GAMES = 500  # that positions are drawn from
BLOCK = 5
STORED_DEPTH = 10
MADE_UP = Identity("Made-up 1", "", (("Hash", "16"),), nodes=0, lines=LINES)


@dataclass
class Tally:
    """What one way of valuing took, and what it found."""

    workers: int
    seconds: float = 0.0
    own_cpu: float = 0.0
    full: float = 0.0  # seconds during which there was work for every engine
    searching: float = 0.0  # seconds that the engines searched meanwhile, all together
    values: dict[bytes, list[str]] = field(default_factory=dict)

    @property
    def rate(self) -> float:
        """Positions a second."""
        return len(self.values) / self.seconds

    @property
    def own(self) -> float:
        """CPU of this process, ms a position."""
        return 1000 * self.own_cpu / len(self.values)

    @property
    def busy(self) -> float:
        """Share of the time that the engines searched, in percent."""
        return 100 * self.searching / self.full / self.workers

    @property
    def idle(self) -> float:
        """What an engine waited, ms a position."""
        return 1000 * (self.full * self.workers - self.searching) / len(self.values)


def with_python_chess(engine: chess.engine.SimpleEngine, keys: Iterable[bytes], depth: int, tally: Tally) -> None:
    """A plain loop over `analyse(multipv=...)`."""
    begun, cpu = time.perf_counter(), time.process_time()
    for key in keys:
        board = chess.Board(to_fen(key))
        # A new game object makes python-chess send `ucinewgame`: a fresh hash, as ours.
        said = engine.analyse(board, chess.engine.Limit(depth=depth), multipv=LINES, game=object())
        tally.values[key] = [f"{info['pv'][0].uci()} {_text(info['score'].relative)}" for info in said]
    tally.seconds += time.perf_counter() - begun
    tally.own_cpu += time.process_time() - cpu


def with_two_of_python_chess(engines: list[chess.engine.SimpleEngine], keys: list[bytes], depth: int) -> Tally:
    """The same loop in two threads, which take the next position from one list."""
    todo, parts = iter(keys), [Tally(1), Tally(1)]
    begun, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(with_python_chess, engines[i], todo, depth, parts[i]) for i in range(2)]:
            done.result()
    seconds, own = time.perf_counter() - begun, time.process_time() - cpu
    return Tally(2, seconds, own, values=parts[0].values | parts[1].values)


def _text(score: chess.engine.Score) -> int | str | None:
    return f"#{score.mate()}" if score.mate() is not None else score.score()


def with_assay(keys: list[bytes], depth: int, tally: Tally) -> None:
    """The pool; as for the loop, time counts from when the engine is up."""
    results: list[Valued] = []
    done: list[float] = []

    def take(result: Result) -> None:
        assert isinstance(result, Valued)
        results.append(result)
        done.append(time.perf_counter())

    load = Load(tally.workers)
    cpu = time.process_time()
    asyncio.run(value_all(iter(keys), Search(depth=depth, look=False), workers=tally.workers, take=take, load=load))
    tally.seconds += time.perf_counter() - load.started
    tally.own_cpu += time.process_time() - cpu
    # The last searches run beside engines that have nothing left to do, which is no fault of the pool.
    first_idle = done[-min(tally.workers, len(keys))]
    tally.full += first_idle - load.started
    tally.searching += load.searching
    for result, moment in zip(results, done, strict=True):
        tally.searching -= min(max(moment - first_idle, 0), result.milliseconds / 1000)
        codes = zip(result.move_codes().tolist(), result.table()[-1].tolist(), strict=True)
        tally.values[result.key] = [f"{decode_move(move)} {to_text(code)}" for move, code in codes]


def choose(file: Path, positions: int) -> list[bytes]:
    """Positions with a choice, drawn from the first games of a file; all, if there are not as many."""
    keys = wanted(islice(read(file), GAMES)).keys
    random.Random(1).shuffle(keys)
    return list(islice((key for key in keys if chess.Board(to_fen(key)).legal_moves.count() > 1), positions))


def made_keys(positions: int) -> list[bytes]:
    """Keys of so many made-up positions, the same in every run."""
    rng = np.random.default_rng(1)
    return [rng.bytes(35) for _ in range(positions)]


def fill(file: Path, positions: int, identity: Identity = MADE_UP) -> list[bytes]:
    """Store so many made-up positions, and hand out their keys."""
    rng, keys = np.random.default_rng(2), made_keys(positions)
    moves, scores = rng.bytes(70), rng.bytes(700)
    with writing(file) as store:
        number = store.number_of(identity)
        for at in range(0, positions, 10_000):
            some = keys[at : at + 10_000]
            store.add(number, [Valued(key, STORED_DEPTH, STORED_DEPTH, 35, 1, 1, moves, scores) for key in some])
    return keys


def start_up(stored: int, folder: Path) -> float:
    """Seconds from the start of a run over a store of so many positions, all of them known, to its end."""
    job, file = Search(depth=STORED_DEPTH), folder / "many.db"
    keys = fill(file, stored, asyncio.run(identify(job)))
    games = [np.arange(at, min(at + 60, stored), dtype=np.int32) for at in range(0, stored, 60)]
    work = Wanted(keys=keys, turns=stored, games=games)
    begun = time.perf_counter()
    with writing(file) as store:
        outcome = value(work, store, job, quiet=True)
    assert outcome.known == stored
    return time.perf_counter() - begun


def measure(
    file: Path, folder: Path, *, positions: int = 60, depth: int = 10, stored: int = 300_000
) -> list[Measurement]:
    """Positions of the games by both ways, and the start of a run over a large store, which the folder holds."""
    keys = choose(file, positions)
    plain, one, two = Tally(1), Tally(1), Tally(2)
    with ExitStack() as stack:
        engines = [stack.enter_context(chess.engine.SimpleEngine.popen_uci(list(find()))) for _ in range(2)]
        for engine in engines:
            engine.configure({"Threads": 1, "Hash": 16})
        # In turns, a few positions each, so that whatever else the machine does strikes both alike.
        for at in range(0, len(keys), BLOCK):
            with_python_chess(engines[0], keys[at : at + BLOCK], depth, plain)
            with_assay(keys[at : at + BLOCK], depth, one)
        plain_two = with_two_of_python_chess(engines, keys, depth)
    with_assay(keys, depth, two)
    assert plain.values == one.values == two.values == plain_two.values, "the values differ"
    found = []
    for ours, theirs, engines_used in ((one, plain, "1 engine"), (two, plain_two, "2 engines")):
        job = f"depth {depth}, all moves, {engines_used}"
        found += [
            Measurement(f"{job}", ours.rate, "positions/s", "python-chess analyse", theirs.rate, wanted=1),
            Measurement(f"{job}, own CPU", ours.own, "ms/position", "python-chess analyse", theirs.own, less=True),
            Measurement(f"{job}, busy", ours.busy, "%", target=97),
            Measurement(f"{job}, idle", ours.idle, "ms/position", target=3, less=True),
        ]
    began = f"start over {stored:,} stored positions, clock"
    return [*found, Measurement(began, start_up(stored, folder), "s", target=5, less=True)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path)
    parser.add_argument("--positions", type=int, default=60)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--stored", type=int, default=300_000)
    parser.add_argument("--json", type=Path, help="write the measurements there too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(args.games, Path(folder), positions=args.positions, depth=args.depth, stored=args.stored)
    show(rows, f"{args.positions} positions of {args.games.name}, {LINES} lines", args.json)


if __name__ == "__main__":
    main()
