"""Ratings in the tags of games: what a missing one probably was, by the player's other games."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import date

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.games.moves import STANDARD
from assay.moves.regan.spread import Floats
from assay.pools import scale_of

_DATE = re.compile(r"(\d{4})(?:\.(\d\d|\?\?))?(?:\.(\d\d|\?\?))?")
_SIDES = ("white", "black")


@dataclass(frozen=True)
class TagRatings:
    """The ratings of both sides of games: White in the first column, nan where nobody knows.

    `taken` tells which were not in the tags of the game itself but in those of another of the player's.
    """

    ratings: Floats
    taken: NDArray[np.bool_]


def is_standard(games: pl.DataFrame) -> list[bool]:
    """Whether each game is chess by the usual rules; ratings and results of variants are another matter."""
    return [(name or "").lower() in STANDARD for name in games["variant"]]


def tag_ratings(games: pl.DataFrame) -> TagRatings:
    """The ratings in the tags; a missing one is that of the player's game of the same pool that is nearest in date.

    Of games equally near, or where no date tells, the earlier one in the file counts. Variants lend no ratings.
    """
    ratings = np.array([games[f"{side}_elo"].to_numpy() for side in _SIDES], dtype=np.float64).T
    taken = np.zeros(ratings.shape, dtype=np.bool_)
    if np.isfinite(ratings).all():
        return TagRatings(ratings, taken)
    days = [_day(text) for text in games["date"]]
    standard, pools = is_standard(games), [scale_of(pool) for pool in games["pool"]]
    known: dict[tuple[str, str], list[tuple[int, float]]] = {}
    lacking = []
    for side, column in enumerate(_SIDES):
        for at, name in enumerate(games[column]):
            if name is None or not standard[at]:
                continue
            if np.isfinite(ratings[at, side]):
                known.setdefault((name, pools[at]), []).append((at, float(ratings[at, side])))
            else:
                lacking.append((at, side, (name, pools[at])))
    for at, side, who in lacking:
        if others := known.get(who):
            ratings[at, side] = min(others, key=lambda other: (_apart(days[at], days[other[0]]), other[0]))[1]
            taken[at, side] = True
    return TagRatings(ratings, taken)


def _day(text: str | None) -> int | None:
    """A Date tag as a number of days; an unknown month or day is the middle of what is known.

    >>> _day("2020.03.01") - _day("2020.02.28"), _day("????.??.??")
    (2, None)
    """
    match = _DATE.fullmatch(text or "")
    if not match:
        return None
    year, month, day = match.groups()
    rough = 7 if not month or "?" in month else int(month), 15 if not day or "?" in day else int(day)
    try:
        return date(int(year), *rough).toordinal()
    except ValueError:
        return None


def _apart(one: int | None, other: int | None) -> float:
    return float("inf") if one is None or other is None else abs(one - other)
