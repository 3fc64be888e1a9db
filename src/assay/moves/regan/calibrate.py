"""Calibrate: from games of players of known rating to the scale that rates everybody else (RH11, section 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay.moves.regan.artery import Artery
from assay.moves.regan.criteria import MethodName
from assay.moves.regan.difficulty import Difficulty, fit_difficulty
from assay.moves.regan.line import Line
from assay.moves.regan.marks import Course, fit_marks, free_line
from assay.moves.regan.measure import (
    prior_games,
    rating_weights,
    ratios,
    residuals,
    scatter,
    screening_weights,
    trend_of,
)
from assay.moves.regan.sample import Sample, dealt
from assay.moves.regan.scale import FIT_METHODS, Scale, Trend
from assay.moves.regan.spread import Floats
from assay.moves.regan.tally import Tally, tally
from assay.moves.regan.temper import Power, fit_power


@dataclass(frozen=True)
class Calibrated:
    """A scale, and how it came about."""

    scale: Scale
    course: Course
    power: Power


def calibrate(sample: Sample, *, method: MethodName = "percentile", seed: int = 0) -> Calibrated:
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
    return Calibrated(scale, course, power)


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
