"""What real games do that the model does not say: ratios, factors, correlations, and the best mixture of the three.

All of it is measured on the calibration's own games, with a player's turns in one game as the unit.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import polygamma

from assay.moves.regan.scale import PUBLISHED_CORRELATION, PUBLISHED_FACTORS, Trend, engine_rating
from assay.moves.regan.spread import Floats
from assay.moves.regan.tally import SIGNS, Tally

EVENT_GAMES = 9
FEWEST_SIDES = 40
RESAMPLES = 4000
MOST_PRIOR_GAMES = 60.0


def trend_of(elo: Floats, values: Floats, errors: Floats) -> Trend:
    """A straight line through the values of the marks, weighed by their errors."""
    slope, level = np.polyfit((elo - 2000) / 100, values, 1, w=1 / errors)
    return Trend(float(level), float(slope), float(elo.min()), float(elo.max()))


def ratios(sides: Tally, elo: Floats, mark: Floats) -> tuple[Trend, Trend, Trend]:
    """Actual (less the allowance) over projected matches, top-3 and errors, a trend in Elo each.

    The fit by percentiles does not make them 1: it is not these that it fits.
    """
    expected, _ = sides.at(elo)
    means, values, errors = [], [], []
    for m in np.unique(mark):
        own = mark == m
        total = expected[own].sum(axis=0)
        played = sides.actual[own] - sides.allowance[own]
        scatter = played - expected[own]
        means.append(float(np.average(elo[own], weights=sides.turns[own])))
        values.append(played.sum(axis=0) / total)
        errors.append(np.sqrt(np.sum((scatter - scatter.mean(axis=0)) ** 2, axis=0)) / total)
    where, ratio, error = np.array(means), np.array(values), np.array(errors)
    first, second, third = (trend_of(where, ratio[:, i], error[:, i]) for i in range(3))
    return first, second, third


@dataclass(frozen=True)
class Scatter:
    """Factors that widen the model's standard deviations, and the correlation of the z's."""

    factors: Floats
    correlation: Floats


def residuals(sides: Tally, elo: Floats, trends: tuple[Trend, Trend, Trend]) -> tuple[Floats, Floats]:
    """Actual minus expected of each side (so signed that strength is positive), and the model's variances."""
    expected, covariance = sides.at(elo)
    ratio = np.stack([trend(elo) for trend in trends], axis=-1)
    return SIGNS * (sides.actual - sides.allowance - expected * ratio), np.einsum("nii->ni", covariance)


def scatter(residual: Floats, variance: Floats, *, seed: int = 0, games: int = EVENT_GAMES) -> Scatter:
    """k_MM, k_T3, k_AE and the correlation of the z's, by resampling whole games (RMH11, section 4).

    Sets of nine sides, an event's worth, are drawn anew from all; k is the standard deviation of their z's. Where there
    are too few sides to draw from, the published bounds stand in.
    """
    if len(residual) < FEWEST_SIDES:
        return Scatter(PUBLISHED_FACTORS, np.where(np.eye(3) == 1, 1.0, PUBLISHED_CORRELATION))
    drawn = np.random.default_rng(seed).integers(len(residual), size=(RESAMPLES, games))
    z = residual[drawn].sum(axis=1) / np.sqrt(variance[drawn].sum(axis=1))
    return Scatter(np.sqrt(np.mean(z**2, axis=0)), np.corrcoef(z.T))


def rating_weights(sides: Tally, elo: Floats, trends: tuple[Trend, Trend, Trend], found: Scatter) -> Floats:
    """The weights of the three z's that give the rating with the least noise: those that see a step in Elo best."""
    return _weights(_shift(sides, elo - 50, elo + 50, trends) / _deviation(sides, elo, found), found)


def screening_weights(sides: Tally, elo: Floats, trends: tuple[Trend, Trend, Trend], found: Scatter) -> Floats:
    """The weights that see engine-like play best: a step from the player's rating to that of an engine."""
    return _weights(_shift(sides, elo, engine_rating(elo), trends) / _deviation(sides, elo, found), found)


def _shift(sides: Tally, before: Floats, after: Floats, trends: tuple[Trend, Trend, Trend]) -> Floats:
    """How the totals move when every rating moves from `before` to `after`."""
    low, high = (sides.at(r)[0] * np.stack([trend(r) for trend in trends], axis=-1) for r in (before, after))
    return np.asarray(SIGNS * (high - low).sum(axis=0))


def _deviation(sides: Tally, elo: Floats, found: Scatter) -> Floats:
    """The standard deviations of the totals in real games."""
    return np.asarray(found.factors * np.sqrt(np.einsum("nii->i", sides.at(elo)[1])))


def _weights(d: Floats, found: Scatter) -> Floats:
    """Fisher's discriminant C^-1 d, scaled to sum to 1; what would enter with the wrong sign is left out."""
    used = np.ones(3, dtype=bool)
    while True:
        w = np.zeros(3)
        w[used] = np.linalg.solve(found.correlation[np.ix_(used, used)], d[used])
        if (w[used] > 0).all() or used.sum() == 1:
            return np.asarray(w / w.sum())
        used[int(np.argmin(np.where(used, w, np.inf)))] = False


def prior_games(
    residual: Floats, variance: Floats, found: Scatter, weights: Floats, mark: Floats, *, seed: int = 0
) -> float:
    """How many games the common variance is worth beside the scatter of a player's own (Smyth 2004, section 6.2).

    Event-sized sets of one mark are drawn without overlap; what the log variances of their evidence scatter beyond that
    of nine normal values tells how much true variances differ.
    """
    rng = np.random.default_rng(seed)
    mix = weights / np.sqrt(weights @ found.correlation @ weights)
    logs = []
    for m in np.unique(mark):
        own = rng.permutation(np.flatnonzero(mark == m))
        for start in range(0, len(own) - EVENT_GAMES + 1, EVENT_GAMES):
            rows = own[start : start + EVENT_GAMES]
            evidence = (residual[rows] / (found.factors * np.sqrt(variance[rows].sum(axis=0)))) @ mix
            logs.append(np.log(np.var(evidence, ddof=1)))
    if len(logs) < 3:
        return MOST_PRIOR_GAMES
    beyond = float(np.var(logs, ddof=1)) - float(polygamma(1, (EVENT_GAMES - 1) / 2))
    return MOST_PRIOR_GAMES if beyond <= 0 else float(min(2 * _inverse_trigamma(beyond), MOST_PRIOR_GAMES))


def _inverse_trigamma(y: float) -> float:
    """x with trigamma(x) = y, by Newton on 1 / trigamma, which is nearly straight."""
    x = 0.5 + 1 / y
    for _ in range(50):
        value = float(polygamma(1, x))
        step = value * (1 - value / y) / float(polygamma(2, x))
        x += step
        if abs(step) < 1e-10 * x:
            break
    return x
