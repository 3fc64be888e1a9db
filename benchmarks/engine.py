"""Engine analysis beside a plain python-chess loop: positions per second, busy share, overhead, start-up.

    python benchmarks/engine.py GAMES.pgn [--positions 60] [--depth 10] [--stored 300000]

Values the same positions of the games at full width: with python-chess's `analyse(multipv=...)` in a loop and with
Assay's pool, each with one engine and with two. (With one engine and a second core at rest, python-chess reads while
the engine thinks and its cost does not show; with two engines on two cores it does.) Then fills a store with made-up
positions and times the start of a run over it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import chess
import chess.engine
import numpy as np

from assay.engine.find import find
from assay.engine.identity import Job
from assay.engine.plan import Plan, plan
from assay.engine.pool import Load, Result, value_all
from assay.engine.position import decode_move, to_fen
from assay.engine.run import analyse
from assay.engine.score import to_text
from assay.engine.store import writing
from assay.engine.uci import Valued
from assay.games import read_games

LINES = 50
BLOCK = 5


@dataclass
class Tally:
    """What one way of valuing took, and what it found."""

    seconds: float = 0.0
    own_cpu: float = 0.0
    searching: float = 0.0
    values: dict[bytes, list[str]] = field(default_factory=dict)

    def line(self, name: str, workers: int) -> str:
        count = len(self.values)
        busy = f"{self.searching / self.seconds / workers:8.1%}" if self.searching else " " * 8
        idle = f"{1000 * (self.seconds * workers - self.searching) / count:12.2f}" if self.searching else " " * 12
        rate, own = count / self.seconds, 1000 * self.own_cpu / count
        return f"{name:26}{rate:8.2f}{1000 / rate:9.1f}{busy}{idle}{own:12.2f}"


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
    todo, parts = iter(keys), [Tally(), Tally()]
    begun, cpu = time.perf_counter(), time.process_time()
    with ThreadPoolExecutor(2) as pool:
        for done in [pool.submit(with_python_chess, engines[i], todo, depth, parts[i]) for i in range(2)]:
            done.result()
    return Tally(time.perf_counter() - begun, time.process_time() - cpu, values=parts[0].values | parts[1].values)


def _text(score: chess.engine.Score) -> int | str | None:
    return f"#{score.mate()}" if score.mate() is not None else score.score()


def with_assay(keys: list[bytes], depth: int, workers: int, tally: Tally) -> None:
    """The pool; as for the loop, time counts from when the engine is up."""
    results: list[Result] = []
    load = Load(workers)
    cpu = time.process_time()
    asyncio.run(value_all(iter(keys), Job(depth=depth, look=False), workers=workers, take=results.append, load=load))
    tally.seconds += time.perf_counter() - load.started
    tally.own_cpu += time.process_time() - cpu
    tally.searching += load.searching
    for result in results:
        if isinstance(result, Valued):
            codes = zip(result.move_codes().tolist(), result.table()[-1].tolist(), strict=True)
            tally.values[result.key] = [f"{decode_move(move)} {to_text(code)}" for move, code in codes]


def start_up(stored: int, folder: Path) -> float:
    """Seconds from the start of a run over a store of so many positions, all of them known, to its end."""
    rng = np.random.default_rng(1)
    keys = [rng.bytes(35) for _ in range(stored)]
    moves, scores = rng.bytes(70), rng.bytes(700)
    job = Job(depth=10)
    with writing(folder / "many.db") as store:
        outcome = analyse(Plan(), store, job, quiet=True)
        number = store.number_of(outcome.identity)
        for at in range(0, stored, 10_000):
            store.add(number, [Valued(key, 10, 10, 35, 1, 1, moves, scores) for key in keys[at : at + 10_000]])
    games = [np.arange(at, min(at + 60, stored), dtype=np.int32) for at in range(0, stored, 60)]
    work = Plan(keys=keys, turns=stored, games=games)
    begun = time.perf_counter()
    with writing(folder / "many.db") as store:
        outcome = analyse(work, store, job, quiet=True)
    assert outcome.known == stored
    return time.perf_counter() - begun


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("games", type=Path)
    parser.add_argument("--positions", type=int, default=60)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--stored", type=int, default=300_000)
    args = parser.parse_args()

    keys = plan(read_games(args.games)).keys
    keys = [key for key in keys if chess.Board(to_fen(key)).legal_moves.count() > 1]
    keys = random.Random(1).sample(keys, args.positions)
    print(f"{len(keys)} positions, depth {args.depth}, {LINES} lines, {os.cpu_count()} cores")
    print(f"{'':26}{'pos/s':>8}{'ms/pos':>9}{'busy':>8}{'idle ms/pos':>12}{'own CPU ms':>12}")
    plain, one, two = Tally(), Tally(), Tally()
    with ExitStack() as stack:
        engines = [stack.enter_context(chess.engine.SimpleEngine.popen_uci(list(find()))) for _ in range(2)]
        for engine in engines:
            engine.configure({"Threads": 1, "Hash": 16})
        # In turns, a few positions each, so that whatever else the machine does strikes both alike.
        for at in range(0, len(keys), BLOCK):
            with_python_chess(engines[0], keys[at : at + BLOCK], args.depth, plain)
            with_assay(keys[at : at + BLOCK], args.depth, 1, one)
        plain_two = with_two_of_python_chess(engines, keys, args.depth)
    with_assay(keys, args.depth, 2, two)
    assert plain.values == one.values == two.values == plain_two.values, "the values differ"
    for name, tally, workers in (
        ("python-chess, 1 engine", plain, 1),
        ("assay, 1 worker", one, 1),
        ("python-chess, 2 engines", plain_two, 2),
        ("assay, 2 workers", two, 2),
    ):
        print(tally.line(name, workers))
    with tempfile.TemporaryDirectory() as folder:
        print(f"start-up over {args.stored:,} stored positions: {start_up(args.stored, Path(folder)):.2f} s")


if __name__ == "__main__":
    main()
