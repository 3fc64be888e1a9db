"""Study 6: one scale for all years? Ratings of 1976-79, 1991-94 and later against what their moves say; and phases.

    python studies/eras.py GAMES.pgn STORE.db [DEPTH]

Games of several eras, both players in the same century, analysed at the depth of a shipped calibration.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from assay.engine.store import Store
from assay.engine.turns import turns
from assay.games import read
from assay.moves.calibration import load
from assay.moves.evidence import judge
from assay.moves.groups import PHASES, Groups, phases
from assay.moves.performance import How, rate_groups
from assay.table import render

ERAS = ((1976, 1979), (1991, 1994), (2006, 2009), (2010, 2014))
pgn, store, depth = sys.argv[1], sys.argv[2], int((*sys.argv, 6)[3])
calibration = load(depth=depth)
# The error of the line is common to all eras: leave it out of the comparison.
scale = calibration.usable()
still = replace(scale, line=replace(scale.line, covariance=np.zeros((2, 2))))
calibration = replace(calibration, scale=still)
with Store(store) as opened:
    found = turns(read(pgn), opened, depth=depth)
century = (np.minimum(found.rating, found.opponent_rating) // 100 * 100).astype(int)
years = found.column("year").astype(float)
era = np.array([next((i for i, (a, b) in enumerate(ERAS) if a <= year <= b), -1) for year in years])


def show(title: str, names: list[str], code: np.ndarray) -> None:
    groups = Groups(tuple((name,) for name in names), code.astype(np.intp))
    rows = rate_groups(judge(found, calibration, groups), How(prior=False))
    out = []
    for row in rows:
        if row.rating and row.elo:
            values = row.values()
            half, off = row.rating.half_width, row.rating.rating - row.elo
            out.append(
                {"group": row.group, "games": row.games, "turns": row.turns, "elo": row.elo, "ipr": row.rating.rating}
                | {"ipr - elo": off, "+-": half, "mm": values["mm"], "ad": values["ad"]}
            )
    print(title)
    print(render(out, decimals={"elo": 0, "ipr": 0, "ipr - elo": 0, "+-": 0, "mm": 3, "ad": 3}))


labels = [f"{a}-{b}" for a, b in ERAS]
high = (century >= 2200) & (century <= 2600)
show("Eras, 2200-2699", labels, np.where(high, era, -1))
show("Eras, below 2200", labels, np.where(century < 2200, era, -1))
late = era >= 2
centuries = sorted(set(century[late].tolist()))
show(
    "Centuries, 2006-14 (held out)",
    [str(c) for c in centuries],
    np.where(late, np.searchsorted(centuries, century), -1),
)
show("Phases, all eras", list(PHASES), phases(found))
