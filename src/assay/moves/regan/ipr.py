"""The rating of some play by Regan's way: fit s and c, project on the reference positions, read the line.

Intervals are clustered by game, Regan's, or by bootstrap.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from assay.errors import CalibrationError, ModelError, TooFewTurns
from assay.moves.regan.fitting import DEPTHS, Fit, criterion_of, fit
from assay.moves.regan.models import ModelName
from assay.moves.regan.projection import project
from assay.moves.regan.spread import CurveName, Floats
from assay.records import dataclass


@dataclass(frozen=True)
class Line:
    """IPR = `intercept` - `slope` x AE_R, with the covariance of the two numbers.

    `misfit` is chi-squared per degree of freedom of the marks about the line: above 1, the marks scatter more than
    their own errors explain, and the covariance has been widened by it.
    """

    intercept: float
    slope: float
    covariance: Floats
    misfit: float = 1.0

    def rating(self, average_error: float) -> float:
        """The rating of an average error on the reference set.

        >>> Line(3571.0, 15413.0, np.zeros((2, 2))).rating(0.0572).__round__()
        2689
        """
        return self.intercept - self.slope * average_error

    def average_error(self, rating: float) -> float:
        """The average error on the reference set that a rating stands for."""
        return (self.intercept - rating) / self.slope

    def variance(self, rating: float) -> float:
        """The variance of the line itself at a rating: how far all ratings there may be off together."""
        gradient = np.array([1.0, -self.average_error(rating)])
        return float(gradient @ self.covariance @ gradient)


def inverse_regression(elo: ArrayLike, average_error: ArrayLike, standard_error: ArrayLike) -> Line:
    """Regress the average error on Elo over the marks, and invert (RH11, section 6).

    Elo is what the marks were chosen by, and the error is what was measured there: a player's strength scatters about
    the rating that put the player into the mark, not the rating about the strength. So the regression of error on Elo
    is unbiased (Berkson's case of errors in variables), and that of Elo on error would be flattened by the noise.
    Marks weigh by their standard errors; scatter beyond these widens the covariance (Birge's ratio).

    >>> line = inverse_regression([2000, 2200, 2400], [0.10, 0.08, 0.06], [0.001] * 3)
    >>> round(line.intercept), round(line.slope)
    (3000, 10000)
    """
    x, y, e = (np.asarray(a, dtype=np.float64) for a in (elo, average_error, standard_error))
    if len(x) < 3:
        raise CalibrationError(f"a line needs at least three marks with games, and there are {len(x)}.")
    if not (np.isfinite(y).all() and np.isfinite(e).all() and (e > 0).all()):
        raise CalibrationError("some mark has no error of its own: it needs at least two games.")
    centre = float(np.average(x, weights=e**-2))
    design = np.stack([np.ones_like(x), x - centre], axis=1)
    normal = np.linalg.inv((design.T / e**2) @ design)
    level, slope = normal @ (design.T @ (y / e**2))
    if slope >= 0:
        raise CalibrationError("the average error does not fall with Elo over these marks; they need more games.")
    misfit = float(np.sum(((y - design @ [level, slope]) / e) ** 2)) / (len(x) - 2)
    # A = centre - level / slope, B = -1 / slope.
    jacobian = np.array([[-1 / slope, level / slope**2], [0.0, 1 / slope**2]])
    covariance = jacobian @ normal @ jacobian.T * max(misfit, 1.0)
    return Line(float(centre - level / slope), float(-1 / slope), covariance, misfit)


C_LEAST, C_MOST = 0.15, 1.5


def straight_c(rating: float | Floats, at_2000: float, per_100: float) -> Floats:
    """c on the artery: a line in Elo (RH11: .464 at 2000, .007 more per 100), kept in the range of a usable curve.

    >>> straight_c(2700.0, 0.464, 0.007).round(3).tolist()
    0.513
    """
    return np.clip(at_2000 + per_100 * (np.asarray(rating, dtype=np.float64) - 2000) / 100, C_LEAST, C_MOST)


FitMethod: TypeAlias = Literal["percentile", "equations", "depths"]
# Every calibration has the lines of these; weights over depths are there where they were asked for.
FIT_METHODS: tuple[FitMethod, ...] = ("percentile", "equations")
INTERVALS = ("clustered", "regan", "bootstrap")
# Both parameters cost turns: with fewer a fit says nothing.
FEW_TURNS = 200
# Fewer games drawn anew do not show how games scatter; one game shows nothing at all. See docs/validation.md.
FEWEST_TO_RESAMPLE = 10
# RMH11: "actual" intervals are 1.4 times the projected ones.
REGAN_FACTOR = 1.4


@dataclass(frozen=True)
class Layers:
    """What weights over depths measure by: the weights, and the deltas of the reference positions at these depths."""

    depths: tuple[int, ...]
    weights: Floats
    reference: Floats


@dataclass(frozen=True)
class Scale:
    """What Regan's way measures by: scaled deltas of the reference positions, the line of the marks fitted with c on a
    straight line, the lines of marks fitted with both parameters free, by method, and the marks' range; the rule and
    the curve of temptation, and the layers of the method `depths`, if there is a line for it.
    """

    reference: Floats
    line: Line
    lines: Mapping[str, Line]
    range: tuple[float, float]
    model: ModelName = "power"
    curve: CurveName = "invexp"
    layers: Layers | None = None

    def check(self, method: str) -> None:
        """Refuse a method that this scale has no line for."""
        if method == DEPTHS and method not in self.lines:
            raise CalibrationError(
                "this calibration has no weights over depths: give rated games that are analysed, or the folder of a "
                "reference set, with --reference, or make a calibration with 'assay calibrate --method depths'."
            )
        if method not in self.lines:
            raise CalibrationError(f"this calibration has no line for {method!r} fits; it has {', '.join(self.lines)}.")

    def fit(
        self, deltas: ArrayLike, played: ArrayLike, method: str, games: ArrayLike | None, elsewhere: ArrayLike | None
    ) -> Fit:
        """Fit s and c as the marks were fitted; for `depths` the deltas have a layer for each depth."""
        return fit(
            deltas,
            played,
            method=criterion_of(method),
            model=self.model,
            curve=self.curve,
            games=games,
            weights=self.weights(method),
            elsewhere=elsewhere,
        )

    def weights(self, method: str) -> Floats | None:
        """The weights over depths, where the method has any."""
        return self.layers.weights if method == DEPTHS and self.layers else None

    def rate(self, found: Fit, method: str) -> tuple[float, Floats]:
        """The rating of a fit, and the derivatives of its error on the reference set by s and c."""
        reference = self.layers.reference if method == DEPTHS and self.layers else self.reference
        projected = project(
            reference,
            found.s,
            found.c,
            model=self.model,
            curve=self.curve,
            weights=self.weights(method),
            gradient=True,
        )
        return self.lines[method].rating(projected.average_error), projected.average_error_gradient


@dataclass(frozen=True)
class Interval:
    """From `low` to `high`, in Elo."""

    low: float
    high: float

    def widened(self, centre: float, variance: float, level: float) -> Interval:
        """Add an independent normal error of this variance on both sides.

        >>> Interval(1900.0, 2100.0).widened(2000.0, 0.0, 0.95)
        Interval(low=1900.0, high=2100.0)
        """
        extra = float(ndtri(0.5 + level / 2)) * np.sqrt(variance)
        low, high = np.hypot(centre - self.low, extra), np.hypot(self.high - centre, extra)
        return Interval(float(centre - low), float(centre + high))


def fit_interval(rating: float, variance: float, games: int, level: float) -> Interval:
    """Rating plus or minus t standard errors, games - 1 degrees of freedom."""
    half = float(stdtrit(max(games - 1, 1), 0.5 + level / 2) * np.sqrt(variance))
    return Interval(rating - half, rating + half)


def regan_interval(rating: float, sigma: float, line: Line, level: float) -> Interval:
    """Regan's "actual" interval, +- 2 x 1.4 x B x sigma_AE of the player's own turns (IRC12); 2 is for 95 %.

    It leaves out how s and c trade off, what moves of one game have in common, and the error of the line.

    >>> regan_interval(2500.0, 0.005, Line(3571.0, 15413.0, np.zeros((2, 2))), 0.95)
    Interval(low=2284.218, high=2715.782)
    """
    half = 2.0 * float(ndtri(0.5 + level / 2) / ndtri(0.975)) * REGAN_FACTOR * line.slope * sigma
    return Interval(round(rating - half, 6), round(rating + half, 6))


@dataclass(frozen=True)
class Rating:
    """A rating with its interval; `beyond` is -1 or 1 where the fit lies at the edge of what it can tell."""

    rating: float
    low: float
    high: float
    s: float
    c: float
    method: str
    interval: str
    games: int
    turns: int
    beyond: int

    @property
    def half_width(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


def _possible(interval: str, games: int) -> str:
    return "clustered" if interval == "bootstrap" and games < FEWEST_TO_RESAMPLE else interval


def rate_by_fit(
    deltas: ArrayLike,
    played: ArrayLike,
    scale: Scale,
    *,
    games: ArrayLike,
    elsewhere: ArrayLike | None = None,
    method: FitMethod = "percentile",
    interval: str = "clustered",
    level: float = 0.95,
    samples: int = 200,
    seed: int = 0,
) -> Rating:
    """Rate by fitting s and c both, projecting on the reference set and reading the line (RH11, section 6).

    `percentile` is Regan's own way; `depths` weighs what shallower searches see, with deltas of turns x moves x depths
    as in the scale's layers. Both parameters cost turns: it takes a few hundred to be of use.
    """
    check_interval(interval, level)
    scale.check(method)
    line = scale.lines[method]
    found = scale.fit(deltas, played, method, games, elsewhere)
    interval = _possible(interval, found.games)
    if interval == "clustered" and found.games < 2:
        raise TooFewTurns("one game does not show how games scatter; use --interval regan, or more games.")
    rating, gradient = scale.rate(found, method)
    if interval == "bootstrap":
        span = _bootstrap_fits(deltas, played, scale, games, elsewhere, method, level, samples, seed)
    elif interval == "regan":
        test = project(deltas, found.s, found.c, model=scale.model, curve=scale.curve, weights=scale.weights(method))
        span = regan_interval(rating, float(np.sqrt(test.average_error_variance)), line, level)
    else:
        variance = line.slope**2 * float(gradient @ found.covariance @ gradient)
        span = fit_interval(rating, variance, found.games, level)
    if interval != "regan":
        span = span.widened(rating, line.variance(rating), level)
    beyond = 0 if not found.at_edge else (1 if rating > np.mean(scale.range) else -1)
    return Rating(rating, span.low, span.high, found.s, found.c, method, interval, found.games, found.turns, beyond)


def _bootstrap_fits(
    deltas: ArrayLike,
    played: ArrayLike,
    scale: Scale,
    games: ArrayLike,
    elsewhere: ArrayLike | None,
    method: FitMethod,
    level: float,
    samples: int,
    seed: int,
) -> Interval:
    """Draw whole games anew and fit each time; draws that have no fit are left out."""
    d, p, g = np.asarray(deltas), np.asarray(played), np.unique(np.asarray(games), return_inverse=True)[1]
    cap = None if elsewhere is None else np.asarray(elsewhere)
    turns_of = [np.flatnonzero(g == i) for i in range(int(g.max()) + 1)]
    rng = np.random.default_rng(seed)
    ratings = []
    for _ in range(samples):
        rows = np.concatenate([turns_of[i] for i in rng.integers(len(turns_of), size=len(turns_of))])
        try:
            again = scale.fit(d[rows], p[rows], method, None, None if cap is None else cap[rows])
        except ModelError:
            continue
        ratings.append(scale.rate(again, method)[0])
    if len(ratings) < samples / 2:
        raise TooFewTurns("most resampled sets of these games have no fit; use --interval clustered.")
    low, high = np.quantile(ratings, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def check_interval(interval: str, level: float) -> None:
    """Refuse an interval that does not exist."""
    if interval not in INTERVALS:
        raise ModelError(f"unknown interval {interval!r}: choose one of {', '.join(INTERVALS)}.")
    if not 0.5 <= level < 1:
        raise ModelError(f"the level of an interval lies between 50 and 100 per cent, not {100 * level:g}.")
