"""Study 4: the z's of honest play, in units of the size of an event, on games that the calibration has not seen.

    python studies/false_alarms.py GAMES.pgn STORE.db [DEPTH] [FOLDS]

A unit is nine sides of one mark, drawn without overlap (and over again with other draws, for steadier shares).
"""

from __future__ import annotations

import sys

import numpy as np
from rated_sample import cross_fit, read
from scipy.stats import norm

from assay.moves.regan.zscores import screen
from assay.table import render

pgn, store, depth, folds = sys.argv[1], sys.argv[2], int((*sys.argv, 10)[3]), int((*sys.argv, 10, 3)[4])
_, sample = read(pgn, store, depth)
rng = np.random.default_rng(4)
SIZE, DRAWS = 9, 40
z, units = [], 0
for part in cross_fit(sample, folds):
    for draw in range(DRAWS):
        for mark in np.unique(part.mark):
            own = rng.permutation(np.flatnonzero(part.mark == mark))
            for start in range(0, len(own) - SIZE + 1, SIZE):
                cells = own[start : start + SIZE]
                found = screen(part.sides.of(cells), part.elo[cells], part.scale)
                z.append([*found.z, found.combined])
                units += draw == 0
values = np.array(z)
table = []
for name, column in zip(("z_mm", "z_t3", "z_ae", "z"), values.T, strict=True):
    row = {"statistic": name, "mean": column.mean(), "sd": column.std(ddof=1)}
    for limit in (2.0, 2.5, 3.0):
        row[f"beyond {limit}"] = float(np.mean(column > limit))
    table.append(row)
table.append({"statistic": "normal", "mean": 0.0, "sd": 1.0} | {f"beyond {x}": norm.sf(x) for x in (2.0, 2.5, 3.0)})
print(render(table, decimals=dict.fromkeys(table[0], 4) | {"mean": 2, "sd": 2}))
print(f"depth {depth}: {units} units of {SIZE} sides, drawn {DRAWS} times; standard error of a mean {units**-0.5:.2f}")
