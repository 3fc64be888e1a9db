"""Study 1: the twelve published (s, c) pairs projected on our own spreads.

python studies/model_1_published.py GAMES STORE [DEPTH]

RH11 gives s and c for twelve century marks and the rating of each. If the model is the papers' own, the average errors
that these pairs project on any engine's spreads lie on one straight line with those ratings.
"""

from __future__ import annotations

import sys

import numpy as np
from spreads import load, show

from assay.moves.regan import project, scaled_deltas

MARKS = np.arange(2700, 1500, -100)
S = [0.080, 0.089, 0.093, 0.100, 0.111, 0.120, 0.130, 0.143, 0.153, 0.149, 0.155, 0.168]
C = [0.513, 0.506, 0.499, 0.492, 0.485, 0.478, 0.471, 0.464, 0.457, 0.450, 0.443, 0.436]
IPR = np.array([2698, 2589, 2528, 2435, 2304, 2192, 2072, 1922, 1802, 1801, 1712, 1565])


def main(games: str, store: str, depth: int = 10) -> None:
    values = load(games, store, depth).values
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
        slope, start = np.polyfit(error, IPR, 1)
        residual = IPR - start - slope * error
        print(f"{name:<15} {start:.0f} - {-slope:.0f} AE, largest residual {np.abs(residual).max():.1f} Elo")
        columns[name] = (error, residual)
    show(
        [
            {"mark": int(mark), "s": S[i], "c": C[i], "published": int(IPR[i])}
            | {"AE " + name: error[i] for name, (error, _) in columns.items() if "100" not in name}
            | {"off " + name: residual[i] for name, (_, residual) in columns.items() if "100" not in name}
            for i, mark in enumerate(MARKS)
        ],
        s=3, c=3, **{"AE " + name: 4 for name in ways}, **{"off " + name: 1 for name in ways},
    )  # fmt: skip


if __name__ == "__main__":
    main(*sys.argv[1:3], *(int(arg) for arg in sys.argv[3:]))
