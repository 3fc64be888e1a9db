"""Study 7: the average difference by evaluation, raw and scaled, and the k that levels it best.

python studies/model_7_scaling.py REFERENCE [DEPTH [FIGURE_FOLDER]]
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from spreads import load, show

from assay.moves.differences import difference_table, losses
from assay.reports.plots import plot_scaling


def main(folder: str, depth: str = "8", figures: str = "") -> None:
    turns = load(folder, int(depth))
    show(difference_table(turns, "evaluation"), raw=3, raw_error=3, scaled=3, scaled_error=3, elo=0)
    rows = []
    for k in (0.25, 0.5, 0.75, 1.0, 1.5, 2.0, 3.0, 5.0, 1000.0):
        bins = difference_table(turns, "evaluation", k=k)
        mean, error = (np.array([row[name] for row in bins]) for name in ("scaled", "scaled_error"))
        overall = np.average(mean, weights=error**-2)
        chi2 = float(np.sum(((mean - overall) / error) ** 2))
        uneven = float(np.sqrt(np.average((mean / overall - 1) ** 2, weights=[row["turns"] for row in bins])))
        rows.append({"k": k, "average": overall, "unevenness %": 100 * uneven, "chi2": chi2, "bins": len(bins)})
    show(rows, k=2, average=4, chi2=1, **{"unevenness %": 1})
    if figures:
        found = losses(turns)
        print(plot_scaling(turns.values[:, 0], found.raw, found.scaled, turns.game, Path(figures)))


if __name__ == "__main__":
    main(*sys.argv[1:])
