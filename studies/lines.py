"""What fewer lines save and what they change: 10, 20 and 30 lines against 50, nearly all moves, on the same positions.

    python studies/lines.py GAMES.pgn [--games 8] [--depth 10] [--store ANALYSES.db]

The games are analysed once for each width. For each: nodes and search time a position, the average difference of the
listed moves' values from the full width, the share of played moves outside the list, the average scaled error, and the
fitted s and c, all on the turns that every width has inside the model's limits.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import value
from assay.engine.identity import Search
from assay.engine.parsed import wanted
from assay.engine.store import Store, writing
from assay.engine.turns import Turns, turns
from assay.games import read
from assay.moves.regan import fit, scaled_deltas

FULL = 50
WIDTHS = (10, 20, 30, FULL)


def cost(store: Store, lines: int, keys: set[bytes]) -> tuple[float, float]:
    """Mean nodes and milliseconds a position."""
    (number,) = (kept.id for kept in store.kept() if kept.identity.lines == lines)
    rows = [(valued.nodes, valued.milliseconds) for valued in store.all_valued(number) if valued.key in keys]
    nodes, milliseconds = np.mean(rows, axis=0)
    return float(nodes), float(milliseconds)


def shift(few: Turns, full: Turns) -> float:
    """The mean absolute difference, in centipawns, of values within 4 pawns of the best, move by move."""
    total, count = 0.0, 0
    for row in range(len(few)):
        other = dict(zip(full.moves[row].tolist(), full.values[row].tolist(), strict=True))
        for move, pawns in zip(few.moves[row].tolist(), few.values[row].tolist(), strict=True):
            if move and pawns >= few.values[row, 0] - 4:
                total, count = total + abs(pawns - other[move]), count + 1
    return 100 * total / count


def in_common(found: dict[int, Turns]) -> dict[int, Turns]:
    """The turns that every width has."""

    def numbers(some: Turns) -> NDArray[np.int64]:
        return some.game * 10_000 + some.ply

    shared = set.intersection(*(set(numbers(some).tolist()) for some in found.values()))
    return {lines: some.only(np.isin(numbers(some), sorted(shared))) for lines, some in found.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("games", type=Path)
    parser.add_argument("--games", dest="count", type=int, default=8)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--store", type=Path, help="take what is analysed from here, and keep the rest here")
    args = parser.parse_args()

    games = list(islice(read(args.games), args.count))
    with tempfile.TemporaryDirectory() as folder, writing(args.store or Path(folder) / "lines.db") as store:
        work = wanted(games)
        for lines in WIDTHS:
            value(work, store, Search(depth=args.depth, lines=lines), workers=1)
        found = in_common({lines: turns(games, store, depth=args.depth, lines=lines) for lines in WIDTHS})
        full, keys = found[FULL], set(work.keys)
        print(f"{len(games)} games, {len(work.keys)} positions, {len(full)} turns, depth {args.depth}")
        print("lines    nodes  ms/pos  cost  shift  elsewhere  matches   error       s       c")
        all_nodes, _ = cost(store, FULL, keys)
        for lines, some in found.items():
            nodes, ms = cost(store, lines, keys)
            outcome = fit(scaled_deltas(some.values), some.played, method="equations", games=some.game)
            print(
                f"{lines:>5}{nodes:9.0f}{ms:8.0f}{nodes / all_nodes:6.0%}"
                f"{shift(some, full):7.1f}{(some.played < 0).mean():11.2%}{outcome.mm_actual:9.1%}"
                f"{outcome.ad_actual:8.4f}{outcome.s:8.4f}{outcome.c:8.4f}"
            )
        print(f"standard errors: s {outcome.s_error:.3f}, c {outcome.c_error:.3f}")


if __name__ == "__main__":
    main()
