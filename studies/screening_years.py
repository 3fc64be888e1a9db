"""Screening by years: python studies/screening_years.py REFERENCE [GAMES.pgn STORE] [--depth 8].

The mean z of sides of games in every band of 200 points, by the line of their years and by the scale of 2006-14: of the
reference set's games of 2018-19 at this depth, and of the games over the board among GAMES (studies/pool_games.py)
whose analyses STORE holds at depth 6. Nine games of like players would have three times the mean. Errors are of sides.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

import numpy as np
from pool_lines import Sides, of_games, of_reference

from assay.games import read
from assay.moves.calibration import Calibration, load
from assay.pools import FIRST
from assay.scales import PoolLine, line_called

BAND = 200


def show(title: str, sides: Sides, name: str, model: Calibration) -> None:
    """A row for each band."""
    line = line_called(name)
    z, before = sides.z(line, model) / line.z, sides.z(PoolLine(FIRST), model)
    print(f"{title}, {name}: {len(sides)} sides, mean z {np.nanmean(z):+.2f}, SD {np.nanstd(z):.2f}")
    band = np.floor(sides.rating / BAND) * BAND
    for one in np.unique(band):
        own = (band == one) & np.isfinite(z)
        if own.sum() >= 20:
            error = z[own].std(ddof=1) / np.sqrt(own.sum())
            print(
                f"  {one:.0f}-{one + BAND - 1:.0f}: {own.sum():4} sides, {z[own].mean():+.2f} +- {error:.2f}; on the "
                f"scale of 2006-14 {before[own].mean():+.2f}"
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("reference")
    parser.add_argument("games", nargs="?")
    parser.add_argument("store", nargs="?")
    parser.add_argument("--depth", type=int, default=8)
    given = parser.parse_args()
    model = load(depth=given.depth)
    show("2018-19", of_reference(given.reference, model, "2018-19", "otb-slow-2015-23"), "otb-slow-2015-23", model)
    if given.games:
        model = load(depth=6)
        own = [game.data.strip() for game in read(given.games) if game.tags.get("Sample", "").startswith("otb")]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "otb.pgn"
            path.write_bytes(b"\n\n".join(own) + b"\n")
            found = of_games(str(path), given.store, model)
        for name in sorted(set(found.line) - {None}):
            show("GAMES", found.only(found.line == name), name, model)


if __name__ == "__main__":
    main()
