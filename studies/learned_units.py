"""What to multiply the evals of Lichess games of other years with, by the same positions of openings.

    python studies/learned_units.py REFERENCE.pgn.zst GAMES.pgn.zst... [--games 20000]

Lichess's engines changed their unit over the years. A position that at least eight games of the reference reach, by the
same first moves (from the second move to the sixth), has its median eval there; the factor is the spread of those
evals to the spread of what the other games say of the same positions, by half-years. `assay.learned.inputs` has them.
"""

from __future__ import annotations

import argparse
from collections import defaultdict
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import numpy as np

from assay.games import read, to_arrays
from assay.held_out import figures
from assay.table import render

FIRST, LAST = 2, 12  # plies
LEAST, POSITIONS = 8, 100
DECIDED = 9.0  # pawns


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("reference", type=Path)
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--games", type=int, default=20000, help="of the reference")
    given = parser.parse_args()
    known: dict[bytes, list[float]] = defaultdict(list)
    for _, _, key, value in islice(positions(given.reference), given.games * (LAST - FIRST)):
        known[key].append(value)
    middle = {key: float(np.median(values)) for key, values in known.items() if len(values) >= LEAST}
    found: dict[str, list[tuple[str, float, float]]] = defaultdict(list)
    for file in given.files:
        for when, game, key, value in positions(file):
            if key in middle:
                found[when].append((f"{file.name} {game}", middle[key], value))
    table = []
    for when, rows in sorted(found.items()):
        if len(rows) >= POSITIONS:
            games, there, here = (np.array(column) for column in zip(*rows, strict=True))

            def factor(drawn: np.ndarray, there: np.ndarray = there, here: np.ndarray = here) -> np.ndarray:
                return np.array([_spread(there, drawn) / _spread(here, drawn)])

            (figure,) = figures(factor, games)
            table.append({"half-year": when, "positions": len(rows), "factor": f"{figure.value:.2f}"})
            table[-1]["+-"] = f"{figure.error:.2f}"
    print(render(table))


def positions(file: Path) -> Iterator[tuple[str, int, bytes, float]]:
    """Half-year, game, first moves and eval of the positions of openings."""
    number = 0
    for games, _ in read(file).tagged():
        arrays = to_arrays(games)
        for at, game in enumerate(games):
            number += 1
            part = slice(arrays.offsets[at], min(arrays.offsets[at + 1], arrays.offsets[at] + LAST))
            values, date = arrays.eval[part], game.tags.get("UTCDate") or game.tags.get("Date", "")
            if not arrays.valid[at] or len(values) < LAST or not date[:4].isdigit() or np.isnan(values).all():
                continue
            moves = np.stack((arrays.from_square[part], arrays.to_square[part]), axis=1).astype(np.uint8)
            when = f"{date[:4]}.{'07' if date[5:7] > '06' else '01'}"
            for ply in range(FIRST, LAST):
                if abs(values[ply]) < DECIDED:
                    yield when, number, moves[: ply + 1].tobytes(), float(values[ply])


def _spread(values: np.ndarray, drawn: np.ndarray) -> float:
    return float(np.sqrt(np.average((values - np.average(values, weights=drawn)) ** 2, weights=drawn)))


if __name__ == "__main__":
    main()
