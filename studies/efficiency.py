"""Studies 7 and 8: the noise in Elo per turn of each way to the rating, at several depths.

    python studies/efficiency.py GAMES.pgn STORE.db DEPTH...

Each mark is cut into disjoint sets of games; the noise is the scatter of their ratings about the mark's own, times the
root of the turns, with the slope of each way (how its ratings follow the marks) divided out.
"""

from __future__ import annotations

import sys

import numpy as np
from rated_sample import METHOD, held, read

from assay.intrinsic.calibrate import calibrate
from assay.intrinsic.rate import rate, rate_by_fit
from assay.intrinsic.scale import ARTERY_METHODS, FIT_METHODS
from assay.report.tables import render

GAMES = 8
ways = (*ARTERY_METHODS, *FIT_METHODS)
table = []
for depth in map(int, sys.argv[3:]):
    _, sample = read(sys.argv[1], sys.argv[2], depth)
    scale = calibrate(sample, method=METHOD).scale
    part = held(scale, sample, np.arange(len(sample)))
    found: dict[str, list[tuple[float, float, float]]] = {way: [] for way in ways}
    rng = np.random.default_rng(8)
    for mark in np.unique(part.mark):
        games = rng.permutation(np.unique(part.game[part.mark == mark]))
        for start in range(0, len(games) - GAMES + 1, GAMES):
            chosen = games[start : start + GAMES]
            own = np.flatnonzero(np.isin(part.game, chosen))
            by_game = part.sides.of(own).summed(np.unique(part.game[own], return_inverse=True)[1])
            turns = np.flatnonzero(np.isin(sample.game, chosen))
            for way in ways:
                try:
                    if way in ARTERY_METHODS:
                        rating = rate(by_game, scale, method=way).rating
                    else:
                        rating = rate_by_fit(
                            sample.deltas[turns],
                            sample.played[turns],
                            scale,
                            games=sample.game[turns],
                            elsewhere=sample.elsewhere[turns],
                            method=way,
                        ).rating
                except Exception as error:
                    print(f"{way} at {mark}: {error}", file=sys.stderr)
                    continue
                found[way].append((float(mark), rating, float(len(turns))))
    row: dict[str, float | int] = {"depth": depth, "turns": len(sample), "sets": len(found["combined"])}
    for way, values in found.items():
        mark, rating, turns_each = np.array(values).T
        slope, level = np.polyfit(mark, rating, 1, w=np.sqrt(turns_each))
        left = (rating - level - slope * mark) / slope
        # The middle of the scatter: a single set that lies beyond all ratings must not decide.
        row[way] = float(np.quantile(np.abs(left) * np.sqrt(turns_each), 0.6827))
    table.append(row)
print(render(table, decimals=dict.fromkeys(ways, 0)))
