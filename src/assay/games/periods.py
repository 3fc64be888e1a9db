"""When games were played, as numbered times: months, years, or events with their dates."""

from __future__ import annotations

import datetime
import re
from collections.abc import Sequence
from typing import Literal

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games.outcomes import Codes, Outcomes
from assay.records import dataclass

Period = Literal["month", "year", "event"]
PERIODS: tuple[Period, ...] = ("month", "year", "event")
TAGS_OF_TIME = ("Date", "Event", "Site")
NO_DATE = "no month in the Date tag"
NO_YEAR = "no year in the Date tag"
_DATE = re.compile(r"\s*(\d{4})(?:[./-](\d{1,2}|\?+))?(?:[./-](\d{1,2}|\?+))?\s*$")
_MIDDLE = 5.5


@dataclass(frozen=True)
class Times:
    """The time of each game (-1 where it is not told), and for each time its name and when it was, in months."""

    of_game: Codes
    names: tuple[str, ...]
    months: npt.NDArray[np.float64]


def months_of(date: str) -> tuple[float, bool] | None:
    """Months since the year 0 of a date, a day being a 31st part, and whether the month is told; None if it is no date.

    >>> months_of("2012.01.01"), months_of("2012-03"), months_of("2012.??.??"), months_of("????.??.??")
    ((24144.0, True), (24146.0, True), (24149.5, False), None)
    """
    found = _DATE.match(date)
    if found is None:
        return None
    year, month, day = (int(part) if part and part.isdecimal() else 0 for part in found.groups())
    if not year:
        return None
    if not 1 <= month <= 12:
        return 12.0 * year + _MIDDLE, False
    return 12.0 * year + month - 1 + (min(max(day, 1), 31) - 1) / 31.0, True


def day_of(text: str, by: Period) -> float:
    """A day as it is asked for, such as 2012-05-14 or 2012-05, on the scale of the times."""
    found = months_of(text)
    try:
        year, month, day = (int(part) for part in (*text.replace(".", "-").split("-"), "1", "1")[:3])
        datetime.date(year, month, day)
    except ValueError:
        found = None
    if found is None:
        raise InputError(f"{text!r} is no date: write 2012-05-14, 2012-05 or 2012.")
    if by == "year":
        return 12.0 * (found[0] // 12) + _MIDDLE
    return float(np.floor(found[0])) if by == "month" else found[0]


def times_of(found: Outcomes, by: Period) -> Times:
    """The times of games that were read with the tags of time."""
    if by not in PERIODS:
        raise InputError(f"times are by {', '.join(PERIODS)}, not {by!r}.")
    codes, values = found.tags["Date"]
    dates = [months_of(value) for value in values]
    when = np.array([*(np.nan if date is None else date[0] for date in dates), np.nan])[codes]
    if by == "event":
        return _events(found, when)
    if by == "year":
        number = np.floor(when / 12.0)
    else:
        told = np.array([*(date is not None and date[1] for date in dates), False])[codes]
        number = np.where(told, np.floor(when), np.nan)
    known = np.isfinite(number)
    distinct, places = np.unique(number[known], return_inverse=True)
    of_game = np.full(len(when), -1, np.int32)
    of_game[known] = places
    if by == "year":
        return Times(of_game, tuple(f"{int(year)}" for year in distinct), 12.0 * distinct + _MIDDLE)
    return Times(of_game, tuple(f"{int(m) // 12}-{int(m) % 12 + 1:02}" for m in distinct), distinct)


def _events(found: Outcomes, when: npt.NDArray[np.float64]) -> Times:
    """An event is what has one name and site in one year; its time is the middle day of its games."""
    event, events = found.tags["Event"]
    site, sites = found.tags["Site"]
    known = np.flatnonzero(np.isfinite(when) & (event >= 0))
    year = np.floor(when[known] / 12.0).astype(np.int64)
    key = (year * (len(events) + 1) + event[known]) * (len(sites) + 1) + site[known] + 1
    distinct, places = np.unique(key, return_inverse=True)
    order = np.lexsort((when[known], places))
    starts = np.searchsorted(places[order], np.arange(len(distinct) + 1))
    middle = when[known][order][(starts[:-1] + starts[1:] - 1) // 2]
    by_time = np.argsort(middle, kind="stable")
    rank = np.empty(len(distinct), np.int32)
    rank[by_time] = np.arange(len(distinct))
    of_game = np.full(len(when), -1, np.int32)
    of_game[known] = rank[places]
    named = (distinct // (len(sites) + 1)) % (len(events) + 1)
    return Times(of_game, _event_names(middle[by_time], named[by_time], events), middle[by_time])


def _event_names(
    months: npt.NDArray[np.float64], event: npt.NDArray[np.int64], events: Sequence[str]
) -> tuple[str, ...]:
    def day(month: float) -> str:
        whole = int(month)
        return f"{whole // 12}-{whole % 12 + 1:02}-{round((month - whole) * 31) + 1:02}"

    return tuple(f"{day(month)} {events[name]}" for month, name in zip(months.tolist(), event.tolist(), strict=True))
