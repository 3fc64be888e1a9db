"""Study 5: simulated agents on real spreads; do s and c come back, and are their standard errors right?

python studies/model_5_recovery.py REFERENCE [REPETITIONS [METHOD ...]]

Each repetition draws whole player-games at random until there are enough turns, lets an agent of known s and c choose
every move, and fits. Intervals are those of Fit.interval, clustered by player-game.
"""

from __future__ import annotations

import sys
import warnings

import numpy as np
from spreads import load, show

from assay.errors import AssayWarning, NotConverged
from assay.moves.regan import Agent, fit, scaled_deltas

S, C = 0.12, 0.5
SIZES = (200, 1000, 5000)


def main(folder: str, repetitions: int = 1000, *methods: str) -> None:
    turns = load(folder, 8)
    deltas = scaled_deltas(turns.values)
    unit = turns.game * 2 + turns.white
    members = [np.flatnonzero(unit == u) for u in np.unique(unit)]
    warnings.simplefilter("ignore", AssayWarning)
    for method in methods or ("percentile", "equations", "likelihood", "ranks", "equations, c given"):
        c = C if method.endswith("c given") else None
        rows = []
        for size in SIZES:
            random = np.random.default_rng(size)
            found, unfit = [], 0
            for _ in range(repetitions):
                chosen = np.concatenate([members[i] for i in random.permutation(len(members))[: size // 8]])[:size]
                played = Agent(S, C, seed=random).choose_all(deltas[chosen])
                try:
                    fitted = fit(deltas[chosen], played, method=method.split(",")[0], c=c, games=unit[chosen])
                except NotConverged:
                    unfit += 1
                    continue
                if fitted.at_edge:
                    unfit += 1
                    continue
                found.append(fitted)
            row: dict[str, object] = {"method": method, "turns": size, "no fit": unfit}
            for name, true in (("s", S), ("c", C))[: 1 if c else 2]:
                value = np.array([getattr(f, name) for f in found])
                error = np.array([getattr(f, f"{name}_error") for f in found])
                inside = [low < true < high for low, high in (f.interval(name) for f in found)]
                row[f"{name} median"] = float(np.median(value))
                row[f"{name} sd %"] = 100 * float(np.log(value).std())
                row[f"{name} stated %"] = 100 * float(np.sqrt(np.mean((error / value) ** 2)))
                row[f"{name} covered %"] = 100 * float(np.mean(inside))
            rows.append(row)
        decimals = {f"{name} {what}": 1 for name in "sc" for what in ("sd %", "stated %", "covered %")}
        show(rows, **{"s median": 4, "c median": 4}, **decimals)


if __name__ == "__main__":
    main(sys.argv[1], *(int(arg) for arg in sys.argv[2:3]), *sys.argv[3:])
