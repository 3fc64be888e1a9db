"""A field of players: how rare a z is by chance, how many false alarms go with it, what a field itself is like, and
what honest player-events are like.

A z that takes the rating for true and every turn for a draw of its own is too sure of itself: players have strengths
and styles, and published ratings lag behind. Both are measured on events of real players, and ship as a table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, ndtr, ndtri

from assay.errors import CalibrationError
from assay.records import dataclass

Floats = NDArray[np.float64]

# A field smaller than this cannot be its own null.
FEWEST_FOR_NULL = 10
_MIDDLE, _UNIT = 2200.0, 400.0
_LOW, _HIGH = 1400.0, 2800.0  # where player-events were looked at


@dataclass(frozen=True)
class Assistance:
    """The mixture with engine-like play that fits best: its share of moves, and its likelihood ratio against none.

    `low` and `high` are the 95 % interval of the share. From few moves it is nearly everything from 0 to 1: then
    the share says nothing.
    """

    share: float
    log_ratio: float
    low: float
    high: float


def assistance(log_own: Floats, log_engine: Floats, power: float) -> Assistance:
    """Fit the share of engine-like moves: each move is the engine's with probability `share`, else the player's own.

    `log_own` and `log_engine` are the log probabilities of the moves played, for a player of this rating and for
    engine-like play. The power that keeps the posterior honest keeps this ratio honest too.

    >>> assistance(np.log([0.5, 0.5]), np.log([0.4, 0.4]), 1.0)
    Assistance(share=0.0, log_ratio=0.0, low=0.0, high=1.0)
    """
    from scipy.optimize import brentq, minimize_scalar  # a quarter of a second that other ratings need not wait for

    ratio = np.exp(np.clip(log_engine - log_own, -50, 50)) - 1

    def loss(share: float) -> float:
        return -power * float(np.sum(np.log1p(share * ratio)))

    share = 0.0
    if ratio.sum() > 0:
        share = float(minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-4}).x)
    least = loss(share)

    def refused(other: float) -> float:
        return loss(other) - least - float(chdtri(1, 0.05)) / 2

    # The loss is convex in the share, so that it passes the limit at most once on either side.
    low = float(brentq(refused, 0.0, share)) if refused(0.0) > 0 else 0.0
    high = float(brentq(refused, share, 1.0)) if refused(1.0) > 0 else 1.0
    return Assistance(share, -least, low, high)


def p_values(z: ArrayLike) -> Floats:
    """The chance of so high a z or a higher one in honest play.

    >>> p_values([0.0, 2.0, 4.0]).round(6).tolist()
    [0.5, 0.02275, 3.2e-05]
    """
    return np.asarray(ndtr(-np.asarray(z, dtype=np.float64)))


def q_values(p: ArrayLike, *, dependent: bool = True) -> Floats:
    """False discovery rates: Benjamini-Yekutieli (players of one event are not independent), or Benjamini-Hochberg.

    >>> q_values([0.01, 0.02, 0.9], dependent=False).round(3).tolist()
    [0.03, 0.03, 0.9]
    >>> q_values([0.01, 0.02, 0.9]).round(3).tolist()
    [0.055, 0.055, 1.0]
    """
    values = np.asarray(p, dtype=np.float64)
    count = len(values)
    if not count:
        return values
    price = float(np.sum(1 / np.arange(1, count + 1))) if dependent else 1.0
    order = np.argsort(values)
    raw = values[order] * count * price / np.arange(1, count + 1)
    out = np.empty(count)
    out[order] = np.minimum(np.minimum.accumulate(raw[::-1])[::-1], 1.0)
    return out


@dataclass(frozen=True)
class Null:
    """Centre and spread of the z's of a field, from its middle half."""

    centre: float
    spread: float
    players: int


def field_null(z: ArrayLike) -> Null:
    """The empirical null of a field: median, and the interquartile range in standard deviations (Efron 2004).

    The middle half of a field is honest, so a few assisted players do not move it. A spread below 1 is taken as 1: a
    field may excuse nobody's luck by being calm.

    >>> field_null([-0.7, 0.0, 0.7, 9.0, 0.1, -0.1, 0.4, -0.4, 0.2, -0.2]).centre.__round__(2)
    0.05
    """
    values = np.asarray(z, dtype=np.float64)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Null(float(middle), max(1.0, float((high - low) / (ndtri(0.75) - ndtri(0.25)))), len(values))


def null_by_group(z: ArrayLike, group: ArrayLike) -> tuple[Floats, Floats]:
    """Centre and spread for each z from its group (a rating band and speed), from all where that is too small."""
    values, codes = np.asarray(z, dtype=np.float64), np.asarray(group)
    whole = field_null(values)
    centre, spread = np.full(len(values), whole.centre), np.full(len(values), whole.spread)
    for code in np.unique(codes):
        own: NDArray[np.bool_] = codes == code
        if own.sum() >= FEWEST_FOR_NULL:
            here = field_null(values[own])
            centre[own], spread[own] = here.centre, here.spread
    return centre, spread


@dataclass(frozen=True)
class NullBand:
    """The z of honest player-events of years (a line's name) and of ratings from `low` to `high`.

    The centre is that of one event of `turns` turns, and grows with the root of the turns.
    """

    line: str
    low: float
    high: float
    centre: float
    turns: float
    events: int


@dataclass(frozen=True)
class HonestNull:
    """How honest player-events scatter: ratings are off by `error` at 2200, by exp(`steep`) times as much 400 below.

    `spread` is the standard deviation that is left when this is allowed for; `bands` say where the middle is.
    """

    error: float
    steep: float
    spread: float
    bands: Sequence[NullBand]

    def rating_error(self, rating: float) -> float:
        """How far what a player shows in an event and the published rating lie apart, in Elo (a standard deviation)."""
        inside = min(max(rating, _LOW), _HIGH)
        return self.error * math.exp(self.steep * (_MIDDLE - inside) / _UNIT)

    def centred(self, z: float, line: str, rating: float, turns: int, shift: float = 0.0) -> float:
        """A z against honest player-events of the same years and band; of others the spread alone.

        `shift` is what the error of the rating, for which z allows already, would move it by.
        """
        inside = [band for band in self.bands if band.line == line and band.low <= rating < band.high]
        centre = inside[0].centre * math.sqrt(turns / inside[0].turns) if inside else 0.0
        return (z - centre / math.hypot(1.0, shift)) / self.spread

    def to_json(self) -> dict[str, Any]:
        """The table as plain values."""
        return {**asdict(self), "bands": [asdict(band) for band in self.bands]}


def from_json(data: Mapping[str, Any]) -> HonestNull:
    """A table from plain values; CalibrationError if it is none."""
    try:
        bands = tuple(NullBand(**band) for band in data["bands"])
        made = HonestNull(float(data["error"]), float(data["steep"]), float(data["spread"]), bands)
    except (KeyError, TypeError, ValueError) as error:
        raise CalibrationError(f"this is no table of honest player-events ({error}).") from error
    if not (made.error >= 0 and made.spread > 0 and math.isfinite(made.error + made.steep + made.spread)):
        raise CalibrationError("this is no table of honest player-events: a number is out of bounds.")
    return made


@lru_cache(maxsize=1)
def shipped_null() -> HonestNull:
    """The table that comes with Assay, for z of the lists alone."""
    text = (resources.files("assay.data") / "screening.json").read_text(encoding="utf-8")
    return from_json(json.loads(text)["null"])
