"""Scales of pools: the line from the strength that moves show to the ratings of a pool of players.

Moves have one inner scale, that of the choice model: Elo of slow games over the board in 2006-14. What a rating of
another pool or of other years means on it is a line, fitted on rated games of that pool, with an error of its own,
which no number of games makes smaller. A pool without a line is rated on the nearest one, and its interval is widened
by how far lines lie apart.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from importlib import resources
from statistics import NormalDist
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.curve import NOTHING, Estimate, Honesty
from assay.pools import SLOW, scale_of, split_line
from assay.records import dataclass

Floats = NDArray[np.float64]
UNIT = 400.0


@dataclass(frozen=True)
class PoolLine:
    """A pool's ratings in terms of the inner scale: inner = `inner` + `slope` x (rating - `middle`).

    `covariance` is that of `inner` and of the slope for 400 points; `spread` how far players of one rating and the line
    lie apart beyond chance, in the pool's points; `power` makes intervals hold, `noise` is the error of one game, `z`
    how much wider sides of games scatter than those of the calibration. It was fitted on `sides` from `low` to `high`.

    Quicker games of a pool show less: `tempo` is added to `inner` for each doubling of the time, which is `seconds` in
    the middle and was told from `quickest` to `slowest`; where it is not told, ratings may be off by `untold` more.
    """

    name: str
    middle: float = 2200.0
    inner: float = 2200.0
    slope: float = 1.0
    covariance: tuple[float, float, float] = (0.0, 0.0, 0.0)
    spread: float | None = None
    power: float | None = None
    noise: float = math.nan
    z: float = 1.0
    sides: int = 0
    low: float = 1600.0
    high: float = 2700.0
    seconds: float = 0.0
    tempo: float = 0.0
    tempo_error: float = 0.0
    quickest: float = 0.0
    slowest: float = 0.0
    untold: float = 0.0
    bands: Sequence[Mapping[str, float]] = field(default=(), compare=False)

    def doublings(self, seconds: Floats | float) -> Floats:
        """How many times the time of the middle was doubled; none where it is not told (nan)."""
        if not self.seconds:
            return np.zeros_like(np.asarray(seconds, np.float64))
        inside = np.clip(np.asarray(seconds, np.float64), self.quickest, self.slowest)
        return np.nan_to_num(np.log2(inside / self.seconds), nan=0.0)

    def at(self, seconds: float) -> PoolLine:
        """The line of games of this length; of any, where it is not told (nan)."""
        if not self.seconds:
            return self
        if math.isnan(seconds):
            return self if self.spread is None else replace(self, spread=math.hypot(self.spread, self.untold))
        times = float(self.doublings(seconds))
        own, cross, steep = self.covariance
        more = (self.tempo_error * times) ** 2
        return replace(self, inner=self.inner + self.tempo * times, covariance=(own + more, cross, steep))

    def inside(self, rating: Floats | float) -> Floats:
        """Ratings of the pool on the inner scale."""
        return self.inner + self.slope * (np.asarray(rating, np.float64) - self.middle)

    def rating(self, inner: Floats | float) -> Floats:
        """What the inner scale's ratings are in the pool."""
        return self.middle + (np.asarray(inner, np.float64) - self.inner) / self.slope

    def error(self, rating: float) -> float:
        """The error of the line at a rating, in points of the pool."""
        x = (rating - self.middle) / UNIT
        own, cross, steep = self.covariance
        return math.sqrt(max(own + 2 * cross * x + steep * x * x, 0.0)) / self.slope

    def honesty(self, rating: float, model: Honesty, apart: float = 0.0) -> Honesty:
        """What makes an interval about this rating hold: the model's own figures where the line has none."""
        power = model.power if self.power is None else self.power
        spread = model.scale_error / self.slope if self.spread is None else self.spread
        x = min(max(rating, self.low - UNIT), self.high + UNIT) if math.isfinite(rating) else self.middle
        shared, tilt = math.hypot(self.error(x), apart), math.sqrt(max(self.covariance[2], 0.0)) / UNIT / self.slope
        return Honesty(power, math.hypot(spread, shared), shared, tilt)


def from_json(data: Mapping[str, Any]) -> dict[str, PoolLine]:
    """Lines by name from plain values."""
    found = {}
    for one in data["lines"]:
        made = PoolLine(**{**one, "covariance": tuple(one["covariance"]), "bands": tuple(one.get("bands", ()))})
        if not made.slope > 0 or not all(map(math.isfinite, (made.middle, made.inner, *made.covariance))):
            raise ValueError(f"the line of {made.name} cannot be right")
        found[made.name] = made
    return found


@lru_cache(maxsize=1)
def shipped_lines() -> dict[str, PoolLine]:
    """The lines that come with Assay, by name.

    >>> sorted(shipped_lines())[0]
    'lichess-blitz'
    """
    text = (resources.files("assay.data") / "lines.json").read_text(encoding="utf-8")
    return from_json(json.loads(text))


def apart(line: PoolLine, rating: float) -> float:
    """How far the lines of one server's speeds lie apart, in points of this line: what another pool may be off by."""
    x = rating if math.isfinite(rating) else line.middle
    speeds = [other for name, other in shipped_lines().items() if name.startswith("lichess")]
    ratings = [float(other.rating(float(line.inside(x)))) for other in speeds]
    return float(np.std(ratings)) if len(ratings) > 1 else 0.0


@lru_cache(maxsize=10_000)
def line_called(name: str) -> PoolLine:
    """A line by the name that `pools.line_of` gives it."""
    line, seconds = split_line(name)
    return shipped_lines()[line].at(seconds)


# What a Lichess rating would be in FIDE's: published regressions on some 28,000 profiles (intercept, slope), and how
# far 79 people with both ratings scatter about them (studies/fide_lichess.py).
FIDE = {
    "lichess-bullet": (506.0, 0.62, 624.0),
    "lichess-blitz": (78.6, 0.804, 450.0),
    "lichess-rapid": (-178.7, 0.899, 446.0),
    "lichess-classical": (-277.3, 0.985, 715.0),
}


def in_fide(pool: str | None, found: Estimate) -> Estimate:
    """What a rating of a pool would be in FIDE's, with the spread of people about the conversion; unknown elsewhere.

    >>> print(in_fide("lichess-blitz", Estimate(2000.0, 1900.0, 2100.0)))
    1687 (801-2572)
    >>> print(in_fide("chess.com-blitz", Estimate(2000.0, 1900.0, 2100.0)))
    -
    """
    if scale_of(pool) == SLOW:
        return found
    if pool not in FIDE or not found.bounded:
        return replace(NOTHING, level=found.level)
    intercept, slope, spread = FIDE[str(pool)]
    beyond = NormalDist().inv_cdf(0.5 + found.level / 2) * spread
    value = intercept + slope * found.value
    low = value - math.hypot(slope * (found.value - found.low), beyond)
    high = value + math.hypot(slope * (found.high - found.value), beyond)
    return Estimate(value, low, high, found.level)
