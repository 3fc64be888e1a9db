"""How fast the policy tells what people play, on one core.

    python benchmarks/policy.py GAMES.pgn[.zst] [--positions 4096] [--json FILE]

Positions of the first games of a file, from move 5 on. CPU seconds in one thread, the best of three runs. Beside the
policy stands a network of Maia's shape (6 blocks of 64 channels, 112 planes) with made-up weights, in numpy as Assay
runs such networks; it is asked about a sixteenth of the positions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from assay import chances
from assay.games import read, to_arrays
from assay.games.packed import pack
from assay.policy import log_chances, shipped
from assay.policy.leela import MOVE_PLANES, PLANES, Convolution, Leela, Residual
from assay.policy.positions import seen
from assay.policy.traits import features
from measure import Measurement, best, show

WIDTH, BLOCKS, NARROW = 64, 6, 8
FIRST = 8  # ply
GAMES = 500


def read_positions(file: Path, count: int) -> npt.NDArray[np.uint8]:
    """The keys of so many positions."""
    found: list[npt.NDArray[np.uint8]] = []
    games = iter(read(file))
    while sum(map(len, found)) < count:
        some = [game for _, game in zip(range(GAMES), games, strict=False)]
        if not some:
            break
        arrays = to_arrays(some, threads=1)
        ply = np.arange(arrays.plies) - arrays.offsets[:-1][arrays.game]
        found.append(pack(arrays, np.flatnonzero(ply >= FIRST)))
    return np.concatenate(found)[:count]


def like_maia(seed: int = 1) -> Leela:
    """A network of Maia's shape with weights of no meaning."""
    random = np.random.default_rng(seed)

    def some(*shape: int) -> npt.NDArray[np.float32]:
        return (random.standard_normal(shape) / shape[0] ** 0.5).astype(np.float32)

    def convolution(inputs: int, outputs: int) -> Convolution:
        return Convolution(some(9 * inputs, outputs), some(outputs))

    def block() -> Residual:
        squeeze, excite = (some(WIDTH, NARROW), some(NARROW)), (some(NARROW, 2 * WIDTH), some(2 * WIDTH))
        return Residual(convolution(WIDTH, WIDTH), convolution(WIDTH, WIDTH), squeeze, excite)

    return Leela(
        name="made-up",
        identity="",
        entry=convolution(PLANES, WIDTH),
        blocks=tuple(block() for _ in range(BLOCKS)),
        head=convolution(WIDTH, WIDTH),
        moves=convolution(WIDTH, MOVE_PLANES),
    )


def measure(file: Path, positions: int = 4096) -> list[Measurement]:
    """Chances of all moves of many positions, and of one."""
    keys = read_positions(file, positions)
    few = keys[: max(1, len(keys) // 16)]
    policy, other = shipped(), like_maia()
    board = chess.Board()

    def rate(job: Callable[[], object], count: int) -> float:
        with threadpool_limits(1):
            return count / best(job)

    own = rate(lambda: log_chances(policy, keys), len(keys))
    beside = rate(lambda: log_chances(other, few), len(few))
    told = rate(lambda: [features(seen(keys[i : i + 512])) for i in range(0, len(keys), 512)], len(keys))
    alone = 1e3 / rate(lambda: chances(board, 1500), 1)
    return [
        Measurement("chances of all moves", own, "positions/s", "a network of Maia's shape", beside, target=1000),
        Measurement("features of moves alone", told, "positions/s"),
        Measurement("one position, in SAN", alone, "ms"),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--positions", type=int, default=4096)
    parser.add_argument("--json", type=Path, help="write the measurements there too")
    given = parser.parse_args()
    show(measure(given.file, given.positions), f"{given.file.name}, one core", given.json)


if __name__ == "__main__":
    main()
