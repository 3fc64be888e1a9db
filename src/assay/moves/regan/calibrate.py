"""Calibrate: from games of players of known rating to the scale that rates everybody else (RH11, section 6).

Measured too is what real games do that the model does not say: ratios, factors, correlations, and the best mixture of
the three, on the calibration's own games, with a player's turns in one game as the unit. And how much of the model's
likelihood may be believed: moves of one game hang together and no player is quite the model, so a product of
probabilities is too sure of itself. One power a on the likelihood mends that; it is chosen on games that the artery was
not fitted to, as the one that gives the true ratings the greatest density (a proper score), and the coverage it leads
to is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp, polygamma

from assay.moves.regan.artery import Artery, Line
from assay.moves.regan.difficulty import Difficulty, fit_difficulty
from assay.moves.regan.marks import Course, Sample, dealt, fit_marks, free_line
from assay.moves.regan.problem import MethodName
from assay.moves.regan.scale import FIT_METHODS, PUBLISHED_CORRELATION, PUBLISHED_FACTORS, Scale, Trend, engine_rating
from assay.moves.regan.spread import Floats
from assay.moves.regan.tally import SIGNS, Tally, tally


@dataclass(frozen=True)
class Measured:
    """A scale, and how it came about."""

    scale: Scale
    course: Course
    power: Power


def calibrate(sample: Sample, *, method: MethodName = "percentile", seed: int = 0) -> Measured:
    """Measure everything that turns play into Elo on games of known ratings.

    Two halves of the games are calibrated apart to choose the power of the posterior on games not fitted.
    """
    course = fit_marks(sample, method=method)
    lines: dict[str, Line] = {name: free_line(sample, course.reference, name) for name in FIT_METHODS}
    difficulty = difficulty_of(sample, course.artery)
    sides = tally(
        course.artery,
        sample.deltas,
        sample.played,
        elsewhere=sample.elsewhere,
        allowance=difficulty.allowance(sample.traits),
        cells=sample.side,
    )
    elo = sample.per_side(sample.elo).astype(np.float64)
    mark = sample.per_side(sample.mark).astype(np.float64)
    trends = ratios(sides, elo, mark)
    residual, variance = residuals(sides, elo, trends)
    spread = scatter(residual, variance, seed=seed)
    weights = rating_weights(sides, elo, trends, spread)
    offset, score_variance = _score(sides, elo, mark)
    power = held_out_power(sample, method=method, seed=seed)
    scale = Scale(
        reference=course.reference,
        c_at_2000=course.c_at_2000,
        c_per_100=course.c_per_100,
        line=course.line,
        lines=lines,
        artery=course.artery,
        difficulty=difficulty,
        ratios=trends,
        factors=spread.factors,
        correlation=spread.correlation,
        weights=weights,
        screening_weights=screening_weights(sides, elo, trends, spread),
        prior_games=prior_games(residual, variance, spread, weights, mark, seed=seed),
        power=power.power,
        score_offset=offset,
        score_variance=score_variance,
    )
    return Measured(scale, course, power)


def difficulty_of(sample: Sample, artery: Artery) -> Difficulty:
    """What the traits of these positions add to what the artery expects of each mark."""
    surplus = np.empty((len(sample), 3))
    for mark in np.unique(sample.mark):
        own = sample.mark == mark
        here = np.array([float(mark)])
        alone = Artery(here, *artery.points(here))
        each = tally(alone, sample.deltas[own], sample.played[own], elsewhere=sample.elsewhere[own])
        surplus[own] = each.actual - each.expected[:, 0]
    return fit_difficulty(sample.traits, surplus, sample.mark)


def _score(sides: Tally, elo: Floats, mark: Floats) -> tuple[Trend, Trend]:
    """Mean and variance, per turn, of the slope of the log-likelihood at the true rating: a trend in Elo each.

    Were players the model, they would be 0 and Fisher's information.
    """
    slopes = np.gradient(sides.log_likelihood, sides.ratings, axis=1)
    own = np.array([np.interp(r, sides.ratings, row) for r, row in zip(elo, slopes, strict=True)])
    means, offsets, errors, variances, weights = [], [], [], [], []
    for m in np.unique(mark):
        here = mark == m
        turns = sides.turns[here]
        offset = own[here].sum() / turns.sum()
        left = own[here] - offset * turns
        means.append(np.average(elo[here], weights=turns))
        offsets.append(offset)
        errors.append(np.sqrt(np.sum(left**2)) / turns.sum())
        variances.append(np.sum(left**2) / turns.sum())
        weights.append(variances[-1] / np.sqrt(here.sum()))
    where = np.array(means)
    variance = trend_of(where, np.array(variances), np.array(weights))
    if min(variance(where)) <= 0:
        variance = Trend(float(np.mean(variances)), 0.0, variance.low, variance.high)
    return trend_of(where, np.array(offsets), np.array(errors)), variance


def held_out_power(sample: Sample, *, method: MethodName, seed: int = 0) -> Power:
    """The power of the posterior, each half of the games judged on an artery fitted to the other."""
    half = dealt(sample.game, 2, seed)
    tables, elos, marks = [], [], []
    ratings: Floats | None = None
    for held in (0, 1):
        course = fit_marks(sample.of(half != held), method=method)
        rest = sample.of(half == held)
        sides = tally(course.artery, rest.deltas, rest.played, elsewhere=rest.elsewhere, cells=rest.side)
        own = sides.ratings if ratings is None else np.intersect1d(ratings, sides.ratings)
        tables.append(sides)
        ratings = own
        elos.append(rest.per_side(rest.elo).astype(np.float64))
        marks.append(rest.per_side(rest.mark).astype(np.float64))
    assert ratings is not None
    likelihood = [side.log_likelihood[:, np.isin(side.ratings, ratings)] for side in tables]
    return fit_power(np.concatenate(likelihood), np.concatenate(elos), np.concatenate(marks), ratings, seed=seed)


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


LEVELS = (0.5, 0.8, 0.95)
SIZES = (1, 4, 9)


@dataclass(frozen=True)
class Power:
    """The power, and the share of held-out ratings inside the central 50, 80 and 95 % of their posteriors."""

    power: float
    coverage: Floats


def log_posterior(log_likelihood: Floats, power: float, log_prior: Floats | None = None) -> Floats:
    """Normalised log posterior over the ratings (last axis); flat prior unless one is given.

    >>> np.exp(log_posterior(np.log([0.1, 0.4]), power=0.5)).round(4).tolist()
    [0.3333, 0.6667]
    """
    total = power * log_likelihood + (0.0 if log_prior is None else log_prior)
    return np.asarray(total - logsumexp(total, axis=-1, keepdims=True))


def fit_power(log_likelihood: Floats, elo: Floats, mark: Floats, ratings: Floats, *, seed: int = 0) -> Power:
    """Choose the power on held-out sides, alone and in sets of four and nine from one mark.

    The prior is flat over the ratings given.
    """
    rng = np.random.default_rng(seed)
    sets, truths = [], []
    for size in SIZES:
        for m in np.unique(mark):
            own = rng.permutation(np.flatnonzero(mark == m))
            for start in range(0, len(own) - size + 1, size):
                rows = own[start : start + size]
                sets.append(log_likelihood[rows].sum(axis=0))
                truths.append(float(elo[rows].mean()))
    table, truth = np.array(sets), np.array(truths)

    def loss(power: float) -> float:
        density = log_posterior(table, power)
        return -float(np.mean([np.interp(r, ratings, row) for r, row in zip(truth, density, strict=True)]))

    power = float(minimize_scalar(loss, bounds=(0.02, 2.0), method="bounded").x)
    rank = np.array(
        [
            np.interp(r, ratings, np.cumsum(np.exp(row)) - np.exp(row) / 2)
            for r, row in zip(truth, log_posterior(table, power), strict=True)
        ]
    )
    return Power(power, np.array([np.mean(np.abs(rank - 0.5) <= level / 2) for level in LEVELS]))
