"""Measure the unit of Lichess' evaluations by years: python studies/evals_units.py DATA STORE.

The engine that analyses games on Lichess, and the unit of its values, changed several times. Of each half-year some
positions from move 9 on are drawn (at most so many of a game) and valued by Stockfish 15.1 (one line, depth 10). In
2022, whose games the model of evaluations was fitted on, the mean win chance by 15.1 is told for every value; the
factor of another half-year is the one by which its values tell the same, by least squares; errors by game. Then two
factors, of small and of large values; then both for the periods that ship (`assay.moves.eval_units`), without the two
months that serve for checks. Ratings are not looked at. Values stay in STORE: a second run costs little.
"""

from __future__ import annotations

import sys
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import least_squares

from assay.engine.analysis import value
from assay.engine.choices import load_spreads
from assay.engine.identity import Search
from assay.engine.parsed import Wanted, read_plies
from assay.engine.store import Store
from assay.games import read
from assay.moves.eval_units import LICHESS, factors

Floats = NDArray[np.float64]
FILES = (
    "lichess-rapid-2022",
    "lichess-2013-17",
    "lichess-rapid-2014-21-evals",
    "lichess-45-45",
    "lichess-2022-26-mixed",
    "lichess-2025-05",
    "lichess-2026-06",
)
BASE = "2022 "
A_GAME, A_HALF, OF_2022 = 10, 800, 3000
DEPTH = 10
DRAWS = 20
STEEP = 0.368208 * 1.6  # win chances of 15.1's pawns
KNOTS = np.array([-12, -8, -6, -4.5, -3, -2, -1.2, -0.6, 0, 0.6, 1.2, 2, 3, 4.5, 6, 8, 12], np.float64)


def drawn(data: Path, name: str, rng: np.random.Generator) -> list[tuple[str, str, bytes, float]]:
    """Of each half-year: (half, game, position, its value in pawns from White's side), with the side to move in it."""
    plies = read_plies(islice(read(data / f"{name}.pgn.zst", where="has_eval"), 12_000), 1)
    arrays, dates = plies.arrays, plies.games["date"].to_list()
    names = plies.names
    order = rng.permutation(arrays.games)
    taken: dict[str, int] = {}
    found = []
    for game in order.tolist():
        day = dates[game] or ""
        if not day[:4].isdecimal() or not day[5:7].isdecimal():
            continue
        half = f"{day[:4]} " if name == "lichess-rapid-2022" else f"{day[:4]}{'a' if day[5:7] < '07' else 'b'}"
        half = f"{half} {name}" if name in ("lichess-2025-05", "lichess-2026-06") else half
        begin, end = int(arrays.offsets[game]), int(arrays.offsets[game + 1])
        at = np.arange(begin + 16, end)
        at = at[np.isfinite(arrays.eval[at - 1]) & (np.abs(arrays.eval[at - 1]) < 15)]
        if taken.get(half, 0) >= (OF_2022 if half == BASE else A_HALF) or not len(at):
            continue
        for one in rng.choice(at, min(A_GAME, len(at)), replace=False).tolist():
            sign = 1.0 if arrays.turn[one] else -1.0
            found.append((half, f"{name} {game}", names[one], sign * float(arrays.eval[one - 1])))
            taken[half] = taken.get(half, 0) + 1
    return found


def chance(pawns: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-STEEP * np.clip(pawns, -20, 20))))


def curve(values: Floats, told: Floats) -> Floats:
    """The mean of what 15.1 tells at each knot, hats between them."""
    x = hats(values)
    gram = x.T @ x + 0.5 * np.diff(np.eye(len(KNOTS)), axis=0).T @ np.diff(np.eye(len(KNOTS)), axis=0)
    return np.asarray(np.linalg.solve(gram, x.T @ told))


def hats(values: Floats) -> Floats:
    inside = np.clip(values, KNOTS[0], KNOTS[-1])
    at = np.clip(np.searchsorted(KNOTS, inside, side="right") - 1, 0, len(KNOTS) - 2)
    share = (inside - KNOTS[at]) / (KNOTS[at + 1] - KNOTS[at])
    x = np.zeros((len(values), len(KNOTS)))
    x[np.arange(len(x)), at] = 1 - share
    x[np.arange(len(x)), at + 1] += share
    return x


def fitted(values: Floats, told: Floats, base: Floats, count: int) -> Floats:
    found = least_squares(
        lambda f: hats(values * factors(values, f[0], f[-1])) @ base - told, np.ones(count), bounds=(0.3, 4.0)
    )
    return np.asarray(found.x)


def main(data: str, store_path: str) -> None:
    rng = np.random.default_rng(1)
    rows = [row for name in FILES for row in drawn(Path(data), name, rng)]
    keys = list(dict.fromkeys(row[2] for row in rows))
    with Store(store_path, create=True) as store:
        done = value(
            Wanted(keys=keys, read=1, turns=len(keys)), store, Search(depth=DEPTH, lines=1), workers=1, quiet=True
        )
        found = load_spreads(store, [done.identity], DEPTH, set(keys))
    best = found.best(found.find([row[2] for row in rows]))
    half = np.array([row[0] for row in rows], object)
    game = np.unique([row[1] for row in rows], return_inverse=True)[1].reshape(-1)
    values, good = np.array([row[3] for row in rows]), np.isfinite(best)
    told = chance(np.nan_to_num(best))
    of_base = good & (half == BASE)
    base = curve(values[of_base], told[of_base])
    print("positions, games, one factor, factors of small and large values")

    def show(words: str, own: NDArray[np.intp]) -> None:
        if len(own) < 60:
            return
        codes = np.unique(game[own], return_inverse=True)[1].reshape(-1)
        count = int(codes.max()) + 1
        draws = []
        for _ in range(DRAWS):
            again = np.repeat(own, np.bincount(rng.integers(count, size=count), minlength=count)[codes])
            draws.append([one for number in (1, 2) for one in fitted(values[again], told[again], base, number)])
        found = [one for number in (1, 2) for one in fitted(values[own], told[own], base, number)]
        cells = [f"{one:.2f} ± {error:.2f}" for one, error in zip(found, np.std(draws, axis=0), strict=True)]
        print(f"{words:24} {len(own):5} {count:4}  {'   '.join(cells)}", flush=True)

    for one in np.unique(half):
        show(one, np.flatnonzero(good & (half == one)))
    print("by the periods that ship")
    starts = [month for month, _, _ in LICHESS]
    month = np.array([f"{one[:4]}.{'07' if one[4:5] == 'b' else '01'}" for one in half], object)
    period = np.searchsorted(starts, month.astype(str), side="right") - 1
    checks = np.array([" lichess" in one for one in half])
    for number, first in enumerate(starts):
        show(f"from {first}", np.flatnonzero(good & (period == number) & ~checks))


if __name__ == "__main__":
    main(*sys.argv[1:])
