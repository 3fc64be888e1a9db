"""Study 6: of two moves tied at the top, how often is the first-listed played, and which tie value gives that share?

python studies/model_6_ties.py REFERENCE
"""

from __future__ import annotations

import sys

import numpy as np
from scipy.optimize import brentq
from spreads import load, show

from assay.moves.fits import Fitting, spread_of
from assay.moves.regan import move_probabilities, scaled_deltas


def main(folder: str) -> None:
    rows = []
    for depth in (6, 8):
        turns = load(folder, depth)
        v = turns.values
        how = Fitting()
        fitted = spread_of(turns, how).fit(how, np.ones(len(turns), dtype=bool))
        tied = (v[:, 0] == v[:, 1]) & (turns.played >= 0) & (turns.played <= 1)
        tied &= ~(v[:, 2] == v[:, 0])
        share = float((turns.played[tied] == 0).mean())
        count = int(tied.sum())

        def first(tie: float, some: np.ndarray = v[tied], s: float = fitted.s, c: float = fitted.c) -> float:
            p = move_probabilities(scaled_deltas(some, tie=tie), s, c)
            return float((p[:, 0] / (p[:, 0] + p[:, 1])).mean())

        wanted = [share, share - np.sqrt(0.25 / count), share + np.sqrt(0.25 / count)]
        ties = [brentq(lambda x, w=w: first(x) - w, 0, 0.5) if first(0) < w < first(0.5) else np.nan for w in wanted]
        rows.append(
            {"depth": depth, "turns": count, "first played %": 100 * share, "+- %": 100 * np.sqrt(0.25 / count)}
            | {"model at 0.03 %": 100 * first(0.03), "tie value": ties[0], "from": ties[1], "to": ties[2]}
        )
    show(rows, **{"first played %": 1, "+- %": 1, "model at 0.03 %": 1, "tie value": 4, "from": 4, "to": 4})


if __name__ == "__main__":
    main(sys.argv[1])
