"""Whether players reach the accuracy that a review expects of their ratings in these positions, by band of rating.

    python studies/review.py GAMES.pgn --games 60 [--evals | --store STORE --depth 8]

Prints the mean accuracy, the mean that was expected, and how many sides lie within the interval (90 % are meant to).
"""

from __future__ import annotations

import argparse

import numpy as np

from assay.games import read
from assay.reports.reviewing import review


def main() -> None:
    """Review games and compare."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games")
    parser.add_argument("--games", dest="count", type=int, default=60)
    parser.add_argument("--skip", type=int, default=0)
    parser.add_argument("--evals", action="store_true")
    parser.add_argument("--store")
    parser.add_argument("--depth", type=int)
    parser.add_argument("--band", type=int, default=400)
    asked = parser.parse_args()
    games = read(asked.games)
    count = min(asked.count, len(games.all()) - asked.skip)
    rows = []
    for number in range(asked.skip + 1, asked.skip + count + 1):
        found = review(games, number, evals=asked.evals, store=asked.store, depth=asked.depth)
        for side in found.sides:
            if side.expected is not None and side.rated_by == "tag" and side.moves >= 15:
                inside = side.expected_low <= side.accuracy <= side.expected_high
                rows.append((side.rating, side.accuracy, side.expected, inside, side.expected_high - side.expected_low))
    table = np.array(rows, float)
    print("rating  sides  accuracy  expected  inside  width  deviation")
    for low in np.unique(table[:, 0] // asked.band * asked.band).tolist():
        own = table[table[:, 0] // asked.band * asked.band == low]
        print(f"{low:6.0f}  {_told(own)}")
    print(f"   all  {_told(table)}")


def _told(own: np.ndarray) -> str:
    _, accuracy, expected, inside, width = own.mean(axis=0).tolist()
    deviation = float(np.std(own[:, 1] - own[:, 2]))
    return f"{len(own):5}  {accuracy:8.1f}  {expected:8.1f}  {inside:6.0%}  {width:5.1f}  {deviation:9.1f}"


if __name__ == "__main__":
    main()
