"""The unit of the evaluations in games: the factor that brings them to those of 2022, on which the model stands.

The engine that analyses games on Lichess has changed, and the unit of its values with it. For Lichess the factor is
known by the date of the game, from positions that Stockfish 15.1 valued, too (studies/evals_units.py). Elsewhere what
common openings are worth in a file, beside what they were worth in 2022, tells it; that is a rough measure, since
values of openings moved in their own way (on Lichess of 2013 they say 1.4, and of 2023 1.0).
"""

from __future__ import annotations

from bisect import bisect_right

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.games import GameArrays
from assay.games import keys as position_numbers
from assay.records import dataclass

Floats = NDArray[np.float64]
FEWEST = 12
_LAST_MOVE = 12
SOFT = 2.5  # pawns: how quickly the factor of small values becomes that of large ones
# From which month on a unit of Lichess held, and the factors of small and of large values.
LICHESS = (
    ("2013.01", 2.12, 1.79),
    ("2016.07", 2.00, 1.53),
    ("2018.01", 1.85, 1.43),
    ("2018.07", 1.55, 1.35),
    ("2019.01", 1.44, 1.25),
    ("2021.01", 1.11, 1.17),
    ("2021.07", 1.07, 1.02),
    ("2022.01", 1.00, 1.00),
    ("2023.01", 1.33, 1.37),
    ("2024.01", 1.16, 1.60),
)
Unit = tuple[float, float]


@dataclass(frozen=True)
class Openings:
    """What common positions of the opening were worth in 2022: numbers, ascending, and pawns from White's side."""

    numbers: NDArray[np.uint64]
    pawns: NDArray[np.float32]


def lichess_unit(date: str | None) -> Unit | None:
    """The factors of small and large values of games on Lichess of a day; None where their month is not told.

    >>> lichess_unit("2022.03.01"), lichess_unit("2018.05.??"), lichess_unit("????.??.??")
    ((1.0, 1.0), (1.85, 1.43), None)
    """
    month = (date or "")[:7]
    if len(month) < 7 or not (month[:4] + month[5:]).isdecimal():
        return None
    _, small, large = LICHESS[max(bisect_right([first for first, _, _ in LICHESS], month) - 1, 0)]
    return small, large


def factors(pawns: Floats, small: Floats | float, large: Floats | float) -> Floats:
    """What values are to be multiplied with, by a factor for small ones and one for large ones.

    >>> factors(np.array([0.0, 20.0]), 1.0, 1.5).round(2).tolist()
    [1.0, 1.5]
    """
    return np.asarray(large + (np.asarray(small) - large) * np.exp(-np.abs(pawns) / SOFT))


def game_units(arrays: GameArrays, games: pl.DataFrame, openings: Openings, beside: GameArrays | None = None) -> Floats:
    """The factors of each game's small and large values: on Lichess by its date, elsewhere one by its year's openings.

    The openings of games `beside` these tell more than those of a single one.
    """
    day = [
        lichess_unit(date) if (pool or "").startswith("lichess") else None
        for pool, date in games.select("pool", "date").iter_rows()
    ]
    years = games["year"].to_list()
    if all(one is not None for one in day):
        by_year = {}
    elif beside is not None:
        by_year = dict.fromkeys(years, opening_unit(*opening_values(beside)[:2], openings)[0])
    else:
        by_year = units_by_year(arrays, years, openings)
    found = [(by_year[year], by_year[year]) if one is None else one for one, year in zip(day, years, strict=True)]
    return np.array(found, np.float64).reshape(-1, 2)


def opening_values(arrays: GameArrays) -> tuple[NDArray[np.uint64], Floats, NDArray[np.int64]]:
    """Of the positions after the moves of the opening whose values are known: numbers, values in pawns, games."""
    after = position_numbers(arrays)
    next_known = np.zeros(arrays.plies, np.bool_)
    next_known[:-1] = arrays.game[1:] == arrays.game[:-1]
    early = (arrays.fullmove <= _LAST_MOVE) & next_known & np.isfinite(arrays.eval)
    at = np.flatnonzero(early)
    return after[at + 1], arrays.eval[at].astype(np.float64), arrays.game[at]


def units_by_year(arrays: GameArrays, years: list[int | None], openings: Openings) -> dict[int | None, float]:
    """The factor of the games of each year; of all together where a year's have too few common openings."""
    number, value, game = opening_values(arrays)
    whole, _ = opening_unit(number, value, openings)
    year = np.array([-1 if one is None else one for one in years])[game] if len(game) else np.zeros(0, np.int64)
    found: dict[int | None, float] = {}
    for one in set(years):
        own = year == (-1 if one is None else one)
        here, positions = opening_unit(number[own], value[own], openings)
        found[one] = here if positions >= FEWEST else whole
    return found


def opening_unit(number: NDArray[np.uint64], value: Floats, openings: Openings) -> tuple[float, int]:
    """The factor by what common openings are worth, and how many of them told it; 1 where too few do."""
    if not len(openings.numbers) or not len(number):
        return 1.0, 0
    at = np.minimum(np.searchsorted(openings.numbers, number), len(openings.numbers) - 1)
    found = openings.numbers[at] == number
    at, value = at[found], value[found]
    positions, code = np.unique(at, return_inverse=True)
    if len(positions) < FEWEST:
        return 1.0, len(positions)
    count = np.bincount(code.reshape(-1))
    mean = np.bincount(code.reshape(-1), value) / count
    then = openings.pawns[positions].astype(np.float64)
    side, weight = np.sign(then), np.sqrt(count)
    now = float(weight @ (side * mean))
    if now <= 0:
        return 1.0, len(positions)
    return min(max(float(weight @ (side * then)) / now, 0.4), 2.5), len(positions)
