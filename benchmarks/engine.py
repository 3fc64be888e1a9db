"""Engine analysis beside a plain python-chess loop: positions per second, busy share, overhead, start-up.

    python benchmarks/engine.py GAMES.pgn [--positions 60] [--depth 10] [--stored 300000]

Values the same positions of the games at full width three ways: with python-chess's `analyse(multipv=...)` in a loop,
with one worker of Assay's pool, and with two. Then fills a store with made-up positions and times the start of a run
over it.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import tempfile
import time
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


def with_python_chess(keys: list[bytes], depth: int) -> tuple[float, float, dict[bytes, list[str]]]:
    """Seconds and CPU seconds of a plain loop, and each position's values to compare."""
    found = {}
    with chess.engine.SimpleEngine.popen_uci(list(find())) as engine:
        engine.configure({"Threads": 1, "Hash": 16})
        begun, cpu = time.perf_counter(), time.process_time()
        for key in keys:
            board = chess.Board(to_fen(key))
            # A new game object makes python-chess send `ucinewgame`: a fresh hash, as ours.
            said = engine.analyse(board, chess.engine.Limit(depth=depth), multipv=LINES, game=object())
            found[key] = [f"{info['pv'][0].uci()} {_text(info['score'].relative)}" for info in said]
        return time.perf_counter() - begun, time.process_time() - cpu, found


def _text(score: chess.engine.Score) -> int | str | None:
    return f"#{score.mate()}" if score.mate() is not None else score.score()


def with_assay(keys: list[bytes], depth: int, workers: int) -> tuple[float, float, float, dict[bytes, list[str]]]:
    """Seconds, CPU seconds, busy share, and each position's values to compare."""
    found: dict[bytes, list[str]] = {}
    results: list[Result] = []
    load = Load(workers)
    cpu = time.process_time()
    asyncio.run(value_all(iter(keys), Job(depth=depth, look=False), workers=workers, take=results.append, load=load))
    # As for the loop above, time counts from when the engine is up.
    seconds, used = time.perf_counter() - load.started, time.process_time() - cpu
    busy = load.searching / (seconds * workers)
    for result in results:
        if isinstance(result, Valued):
            codes = zip(result.move_codes().tolist(), result.table()[-1].tolist(), strict=True)
            found[result.key] = [f"{decode_move(move)} {to_text(code)}" for move, code in codes]
    return seconds, used, busy, found


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
    print(f"{'':28}{'pos/s':>8}{'ms/pos':>8}{'busy':>8}{'own CPU ms/pos':>16}")

    def tell(name: str, seconds: float, cpu: float, busy: float | None) -> None:
        share = f"{busy:8.1%}" if busy is not None else f"{'':8}"
        count = len(keys)
        print(f"{name:28}{count / seconds:8.2f}{1000 * seconds / count:8.1f}{share}{1000 * cpu / count:16.2f}")

    seconds, cpu, expected = with_python_chess(keys, args.depth)
    tell("python-chess, one engine", seconds, cpu, None)
    for workers in (1, 2):
        seconds, cpu, busy, found = with_assay(keys, args.depth, workers)
        assert found == expected, "the values differ"
        tell(f"assay, {workers} worker{'s' * (workers > 1)}", seconds, cpu, busy)
        idle = (1 - busy) * seconds * workers / len(keys)
        print(f"{'':28}engines waited {1000 * idle:.2f} ms a position")
    with tempfile.TemporaryDirectory() as folder:
        print(f"start-up over {args.stored:,} stored positions: {start_up(args.stored, Path(folder)):.2f} s")


if __name__ == "__main__":
    main()
