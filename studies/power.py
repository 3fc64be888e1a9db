"""Study 5: how often is help found? Real games of honest players, with the engine's first choice on some moves.

    python studies/power.py GAMES.pgn STORE.db [DEPTH] [REPETITIONS]

Nine games of one mark make a player, whose rating is what all games of the mark give, so that z is 0 without help. From
move 12 on, each move is the engine's first choice with the probability `helped`.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from rated_sample import METHOD, held, read, tallied

from assay.moves.regan.calibrate import calibrate
from assay.moves.regan.ipr import rate
from assay.moves.regan.zscores import screen
from assay.table import render

pgn, store, depth, repetitions = sys.argv[1], sys.argv[2], int((*sys.argv, 10)[3]), int((*sys.argv, 10, 400)[4])
turns, sample = read(pgn, store, depth)
scale = calibrate(sample, method=METHOD).scale
rng = np.random.default_rng(5)
table = []
for elo in (1800, 2200, 2500):
    honest = held(scale, sample, np.flatnonzero(sample.mark == elo))
    own = rate(honest.sides, scale).rating
    for share in (0.0, 0.1, 0.2, 0.3, 0.5):
        z = []
        for _ in range(max(1, repetitions // 40)):
            helped = (rng.random(len(sample)) < share) & (turns.move >= 12)
            changed = replace(sample, played=np.where(helped, 0, sample.played))
            rows = np.flatnonzero(sample.mark == elo)
            part = changed.of(rows)
            sides = tallied(scale, part)
            for _ in range(40):
                cells = rng.choice(len(sides), 9, replace=False)
                z.append(screen(sides.of(cells), own, scale).combined)
        found = np.array(z)
        row = {"elo": elo, "helped": share, "z": float(found.mean()), "roi": 50 + 5 * float(found.mean())}
        table.append(row | {f"z > {limit}": float(np.mean(found > limit)) for limit in (2.75, 4, 5)})
print(render(table, decimals={"helped": 1, "roi": 0}))
