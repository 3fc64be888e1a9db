"""Curves: the log-likelihood of a rating, on a grid; they add up, and their top with its interval is the estimate.

A row for each turn, game or player. What several rows say together is their sum: turns make games, games make players,
and witnesses of different kinds make one answer. Powers and errors that belong to the estimate alone (games of one
player hang together, the scale has an error of its own) come in at the end, once.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import field, replace
from functools import cache

import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.records import dataclass

Floats = NDArray[np.float64]

GRID = np.arange(600.0, 3200.1, 50.0)
LEVEL = 0.95
_FINE = 2.0  # Elo; between the points of the grid a cubic spline runs


@dataclass(frozen=True)
class Estimate:
    """A rating with its interval at a level; without bounds where nothing sets them, nan where there is no rating.

    The note says why there is none, or what is to be known of it.

    >>> print(Estimate(2500.4, 2410.0, 2590.0), Estimate(2700.0, low=2650.0), Estimate(2300.0), Estimate())
    2500 (2410-2590) at least 2650 2300 -
    """

    value: float = math.nan
    low: float = -math.inf
    high: float = math.inf
    level: float = LEVEL
    note: str = ""

    @classmethod
    def about(cls, value: float, half: float, level: float = LEVEL, note: str = "") -> Estimate:
        """A rating with half its interval; nan where nobody knows how wide it is.

        >>> print(Estimate.about(2500.0, 90.0), Estimate.about(2300.0, math.nan))
        2500 (2410-2590) 2300
        """
        return (
            cls(value, level=level, note=note)
            if math.isnan(half)
            else cls(value, value - half, value + half, level, note)
        )

    @property
    def known(self) -> bool:
        """Whether there is a rating, be it no more than a bound."""
        return not math.isnan(self.value)

    @property
    def bounded(self) -> bool:
        """Whether the interval has two ends."""
        return math.isfinite(self.low) and math.isfinite(self.high)

    @property
    def half_width(self) -> float:
        """Half the interval; 0 where there is none (a rating in a tag is taken as it stands)."""
        return (self.high - self.low) / 2 if self.bounded else 0.0

    def __str__(self) -> str:
        if not self.known or (math.isinf(self.value) and math.isinf(self.low) and math.isinf(self.high)):
            return "-"
        if math.isinf(self.high):
            return f"at least {self.low:.0f}" if math.isfinite(self.low) else f"{self.value:.0f}"
        if math.isinf(self.low):
            return f"at most {self.high:.0f}"
        return f"{self.value:.0f} ({self.low:.0f}-{self.high:.0f})"


NOTHING = Estimate()


@dataclass(frozen=True)
class Honesty:
    """What makes an interval hold: the power of the curve, and the error of the scale in Elo.

    Of that error everybody on the same line shares `shared`; two of them who are so far apart share it but for `tilt`
    (for each point between them).
    """

    power: float = 1.0
    scale_error: float = 0.0
    shared: float = field(default=0.0, compare=False)
    tilt: float = field(default=0.0, compare=False)


@dataclass(frozen=True)
class Curve:
    """Log-likelihoods of ratings: `table` is rows x `grid`, up to a constant for each row."""

    table: Floats
    grid: Floats

    def __len__(self) -> int:
        return len(self.table)

    def __add__(self, other: Curve) -> Curve:
        """Both together, row by row: what is said of the same rating by two who know nothing of each other.

        >>> one, other = (Curve(-((GRID - top)[None] / 200) ** 2, GRID) for top in (2000.0, 2100.0))
        >>> one + other
        Curve of 1 row, ratings 600 to 3200; top 2050
        """
        if not isinstance(other, Curve):
            return NotImplemented
        if not np.array_equal(self.grid, other.grid) or len(self) != len(other):
            raise InputError(f"curves of {len(self)} and {len(other)} rows, or of other ratings, cannot be added.")
        return replace(self, table=self.table + other.table)

    def __repr__(self) -> str:
        rows = f"{len(self)} row" + ("" if len(self) == 1 else "s")
        flat = len(self) != 1 or np.ptp(self.table) == 0
        top = "" if flat else f"; top {self.tops()[0]:.0f}"
        return f"Curve of {rows}, ratings {self.grid[0]:.0f} to {self.grid[-1]:.0f}{top}"

    def __getitem__(self, rows: NDArray[np.int64] | NDArray[np.bool_] | slice) -> Curve:
        return replace(self, table=self.table[rows])

    def sum(self, code: NDArray[np.integer], count: int | None = None) -> Curve:
        """The rows of each group together; a negative code belongs to none."""
        groups = int(code.max(initial=-1)) + 1 if count is None else count
        inside = code >= 0
        total = np.zeros((groups, len(self.grid)))
        order = np.argsort(code[inside], kind="stable")
        sorted_code = code[inside][order]
        if len(sorted_code):
            first = np.flatnonzero(np.concatenate([[True], sorted_code[1:] != sorted_code[:-1]]))
            total[sorted_code[first]] = np.add.reduceat(self.table[inside][order], first, axis=0)
        return replace(self, table=total)

    def tops(self) -> Floats:
        """The most likely rating of each row; an end of the grid where the curve still rises there."""
        fine, values = self.fine()
        tops: Floats = fine[np.argmax(values, axis=1)]
        return tops

    def fine(self) -> tuple[Floats, Floats]:
        fine = np.arange(self.grid[0], self.grid[-1] + _FINE / 2, _FINE)
        return fine, self.table @ _spline(tuple(self.grid.tolist()))

    def slopes(self, at: Floats) -> tuple[Floats, Floats]:
        """First and second derivative of each row, each at its own rating."""
        from scipy.interpolate import CubicSpline

        rows = [CubicSpline(self.grid, row) for row in self.table]
        first = np.array([float(row(x, 1)) for row, x in zip(rows, at, strict=True)])
        second = np.array([float(row(x, 2)) for row, x in zip(rows, at, strict=True)])
        return first, second

    def estimates(self, honesty: Honesty | Sequence[Honesty] | None = None, level: float = LEVEL) -> list[Estimate]:
        """The top of each row and the ratings that the evidence does not rule out at this level.

        `honesty` is one for all rows, or one for each.

        The interval is where the curve, taken to its power and blurred by the error of the scale, lies within half a
        chi-square quantile of its own top (Wilks). A curve that is flat says nothing, one that still rises at the end
        of the scale says "at least".
        """
        each = [honesty or Honesty()] * len(self) if isinstance(honesty, Honesty | None) else honesty
        fine, values = self.fine()
        from statistics import NormalDist  # slow to load

        drop = NormalDist().inv_cdf(0.5 + level / 2) ** 2 / 2
        return [_estimate(fine, row, own, drop, level) for row, own in zip(values, each, strict=True)]

    def posterior(self, prior: Floats, honesty: Honesty | None = None) -> Floats:
        """Probabilities on the grid for each row, given a prior there."""
        power = (honesty or Honesty()).power
        log = self.table * power + np.log(np.maximum(prior, 1e-300))
        weight = np.exp(log - log.max(axis=1, keepdims=True))
        chances: Floats = weight / weight.sum(axis=1, keepdims=True)
        return chances


@cache
def _spline(grid: tuple[float, ...]) -> Floats:
    """The spline through points of a grid as a matrix: values there times it are values in fine steps."""
    x = np.array(grid)
    return spline_matrix(x, np.arange(x[0], x[-1] + _FINE / 2, _FINE))


def spline_matrix(x: Floats, at: Floats) -> Floats:
    """The cubic spline through the points `x` as a matrix: values there times it are those `at` places between them.

    Its third derivative is continuous at the last points but one ("not a knot"), as in scipy's CubicSpline, which
    takes longer to import than a rating takes.
    """
    n, h = len(x), np.diff(x)
    bend, rise = np.zeros((n, n)), np.zeros((n, n))  # bend @ second derivatives = rise @ values
    for i in range(1, n - 1):
        bend[i, i - 1 : i + 2] = h[i - 1], 2 * (h[i - 1] + h[i]), h[i]
        rise[i, i - 1 : i + 2] = 6 / h[i - 1], -6 / h[i - 1] - 6 / h[i], 6 / h[i]
    bend[0, :3] = h[1], -h[0] - h[1], h[0]
    bend[-1, -3:] = h[-1], -h[-2] - h[-1], h[-2]
    second = np.linalg.solve(bend, rise)
    place = np.clip(np.searchsorted(x, at, side="right") - 1, 0, n - 2)
    share = ((at - x[place]) / h[place])[:, None]
    eye = np.eye(n)
    out: Floats = (1 - share) * eye[place] + share * eye[place + 1]
    out += ((h[place] ** 2)[:, None] / 6) * (
        ((1 - share) ** 3 - (1 - share)) * second[place] + (share**3 - share) * second[place + 1]
    )
    return out.T


def _estimate(fine: Floats, row: Floats, honesty: Honesty, drop: float, level: float) -> Estimate:
    if row.max() - row.min() < 1e-9:
        return replace(NOTHING, level=level)
    at = int(np.argmax(row))
    wide = blurred(fine, row * honesty.power, honesty.scale_error)
    inside = np.flatnonzero(wide >= wide.max() - drop)
    low, high = _crossing(fine, wide, drop, inside[0], -1), _crossing(fine, wide, drop, inside[-1], 1)
    # A curve that still rises at an end of the scale has no top.
    value = -math.inf if at == 0 else math.inf if at == len(fine) - 1 else float(fine[at])
    return Estimate(value, low, high, level)


def _crossing(fine: Floats, row: Floats, drop: float, at: int, way: int) -> float:
    """Where the row leaves the interval, beyond the point `at`; infinite at an end of the scale."""
    beyond = at + way
    if not 0 <= beyond < len(row):
        return way * math.inf
    bound = row.max() - drop
    share = (row[at] - bound) / (row[at] - row[beyond])
    return float(fine[at] + way * share * abs(fine[beyond] - fine[at]))


def blurred(fine: Floats, row: Floats, error: float) -> Floats:
    """The log of the likelihood convolved with a normal of this error; beyond its ends the row goes on in a line."""
    if error <= 0:
        return row
    step = fine[1] - fine[0]
    reach = math.ceil(5 * error / step)
    offsets = np.arange(-reach, reach + 1) * step
    kernel = np.exp(-0.5 * (offsets / error) ** 2)
    before = row[0] - (row[1] - row[0]) * np.arange(reach, 0, -1)
    after = row[-1] + (row[-1] - row[-2]) * np.arange(1, reach + 1)
    wide = np.concatenate([before, row, after])
    top = wide[reach:-reach].max() if reach else wide.max()
    # Where a curve still rises at an end, its line would run off to infinity.
    likelihood = np.exp(np.minimum(wide - top, 50.0))
    convolved: Floats = np.log(np.maximum(np.convolve(likelihood, kernel / kernel.sum(), mode="valid"), 1e-300)) + top
    return convolved
