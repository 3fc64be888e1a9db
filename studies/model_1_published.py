"""Study 1: the published (s, c) pairs projected on our own spreads.

python studies/model_1_published.py REFERENCE [DEPTH]

RH11 gives s and c for twelve century marks of 2006-09 and the rating of each. If the model is the papers' own, the
average errors that these pairs project on any engine's spreads lie on one straight line with those ratings; and so do,
on the same line, the ten pairs of 1976-79 and 1991-94.
"""

from __future__ import annotations

import sys

import numpy as np
from spreads import load, show

from assay.moves.calibration import load as published
from assay.moves.regan import project, scaled_deltas

PRINTED = published("rybka-3-d13").marks[::-1]
LATER = np.array([mark["period"] == "2006-2009" for mark in PRINTED])
MARKS, S, C, IPR = (np.array([mark[name] for mark in PRINTED]) for name in ("elo", "s_fit", "c_fit", "ipr"))


def main(folder: str, depth: int = 8) -> None:
    values = load(folder, depth).values
    ways = {
        "power, cap 4": ("power", 4.0),
        "power, cap 100": ("power", 100.0),
        "shares, cap 4": ("shares", 4.0),
        "third, cap 4": ("third", 4.0),
    }
    columns = {}
    for name, (model, cap) in ways.items():
        deltas = scaled_deltas(values, cap=cap)
        error = np.array([project(deltas, s, c, model=model).average_error for s, c in zip(S, C, strict=True)])
        slope, start = np.polyfit(error[LATER], IPR[LATER], 1)
        residual = IPR - start - slope * error
        most, others = np.abs(residual[LATER]).max(), np.abs(residual[~LATER]).max()
        print(f"{name:<15} {start:.0f} - {-slope:.0f} AE, off by {most:.1f} Elo at most, earlier periods {others:.1f}")
        columns[name] = (error, residual)
    show(
        [
            {"period": PRINTED[i]["period"], "mark": int(mark), "s": S[i], "c": C[i], "published": int(IPR[i])}
            | {"AE " + name: error[i] for name, (error, _) in columns.items() if "100" not in name}
            | {"off " + name: residual[i] for name, (_, residual) in columns.items() if "100" not in name}
            for i, mark in enumerate(MARKS)
        ],
        s=3, c=3, **{"AE " + name: 4 for name in ways}, **{"off " + name: 1 for name in ways},
    )  # fmt: skip


if __name__ == "__main__":
    main(sys.argv[1], *(int(arg) for arg in sys.argv[2:]))
