"""Study 2: rate games that the calibration has not seen, mark by mark.

    python studies/held_out.py GAMES.pgn STORE.db [DEPTH] [FOLDS]

The games are split into folds; each is rated by a calibration made from the others.
"""

from __future__ import annotations

import sys

import numpy as np
from rated_sample import cross_fit, read

from assay.intrinsic.rate import rate
from assay.report.tables import render

pgn, store, depth, folds = sys.argv[1], sys.argv[2], int((*sys.argv, 10)[3]), int((*sys.argv, 10, 3)[4])
_, sample = read(pgn, store, depth)
rows = []
for number, part in enumerate(cross_fit(sample, folds)):
    for mark in np.unique(part.mark):
        own = np.flatnonzero(part.mark == mark)
        by_game = part.sides.of(own).summed(np.unique(part.game[own], return_inverse=True)[1])
        found = rate(by_game, part.scale)
        elo = float(np.average(part.elo[own], weights=part.sides.turns[own]))
        rows.append((int(mark), number, elo, found))
table = []
for mark in sorted({row[0] for row in rows}):
    own = [(elo, found) for m, _, elo, found in rows if m == mark]
    weight = np.array([found.half_width**-2.0 for _, found in own])
    ipr = float(np.average([found.rating for _, found in own], weights=weight))
    table.append(
        {
            "elo": mark,
            "turns": sum(found.turns for _, found in own),
            "ipr": ipr,
            "error": ipr - mark,
            "half_width": float(weight.sum() ** -0.5),
            "inside": f"{sum(found.low <= elo <= found.high for elo, found in own)} of {len(own)}",
        }
    )
print(render(table, decimals={"ipr": 0, "error": 0, "half_width": 0}))
errors = np.array([found.rating - elo for _, _, elo, found in rows])
inside = np.mean([found.low <= elo <= found.high for _, _, elo, found in rows])
line = np.polyfit([row["elo"] for row in table], [row["ipr"] for row in table], 1)
centuries = [row for row in table if 1700 <= row["elo"] <= 2600]
print(f"depth {depth}, {folds} folds: {inside:.0%} of {len(rows)} intervals hold the Elo; ", end="")
print(f"mean error {errors.mean():+.0f}, SD {errors.std(ddof=1):.0f}; slope of IPR on Elo {line[0]:.2f}; ", end="")
print(f"{sum(abs(row['error']) <= 60 for row in centuries)} of {len(centuries)} centuries 1700-2600 within 60")
