"""Screening: how unusual is this play for that rating, and in a field of that size?

Positive z is play closer to the engine than expected. It measures surprise, not guilt: see docs/screening.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.optimize import brentq, minimize_scalar
from scipy.special import chdtri, ndtr, ndtri

from assay.moves.regan.calibrate import residuals
from assay.moves.regan.models import played_log_probabilities
from assay.moves.regan.scale import Scale, expectation
from assay.moves.regan.spread import Floats
from assay.moves.regan.tally import LAPSE, SIGNS, Tally

# A field smaller than this cannot be its own null.
FEWEST_FOR_NULL = 10
# A game so far below a player's rating was wrongly recorded or not played in earnest: see docs/validation.md. One
# blunder in a handful of turns is no more than that.
FAR_BELOW = -5.0
FEWEST_IN_A_GAME = 10


@dataclass(frozen=True)
class Screened:
    """Actual and expected totals of match, top3 and error, their z's, and the combined z."""

    turns: int
    actual: Floats
    expected: Floats
    z: Floats
    combined: float

    @property
    def roi(self) -> float:
        """Regan's raw outlier index, 50 + 5 z: 100 coin flips with so many heads."""
        return 50 + 5 * self.combined


def screen(tally: Tally, ratings: ArrayLike, scale: Scale, *, rating_error: float = 0.0) -> Screened:
    """Compare the play in some cells with what is expected of the rating that goes with each.

    z_k = (actual - expected) / (k x sigma), signed so that strong play is positive (RMH11, section 4); the combined z
    mixes the three by weight and divides by the standard deviation that their measured correlation gives the mixture.
    `rating_error` is how far the rating may be off (a standard deviation in Elo); it widens every sigma.
    """
    rating = np.broadcast_to(np.asarray(ratings, dtype=np.float64), (len(tally),))
    expected, deviation = _expected(tally, rating, scale)
    actual = tally.actual.sum(axis=0)
    mix = scale.mix("screening")
    z = SIGNS * (actual - expected) / deviation
    combined = float(z @ mix)
    if rating_error > 0:
        higher = _expected(tally, rating + rating_error, scale)[0]
        shift = SIGNS * (higher - expected) / deviation
        z, combined = z / np.sqrt(1 + shift**2), combined / float(np.sqrt(1 + (shift @ mix) ** 2))
    return Screened(int(tally.turns.sum()), actual, expected, z, combined)


def _expected(tally: Tally, rating: Floats, scale: Scale) -> tuple[Floats, Floats]:
    """Totals expected of these ratings, and the standard deviations of real games about them."""
    total = expectation(tally, rating, scale).sum(axis=0)
    covariance = tally.at(rating)[1]
    return total, scale.factors * np.sqrt(np.einsum("nii->i", covariance))


def single_z(tally: Tally, ratings: Floats, scale: Scale) -> Floats:
    """The z of each cell by itself against its own rating, mixed as ratings are.

    It is nan under ten turns, and where nothing can go wrong.
    """
    residual, variance = residuals(tally, ratings, scale.ratios)
    told = (variance > 0).all(axis=1) & (tally.turns >= FEWEST_IN_A_GAME)
    z = residual / (scale.factors * np.sqrt(np.where(told[:, None], variance, 1.0)))
    return np.where(told, z @ scale.mix("combined"), np.nan)


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


def log_chances(deltas: ArrayLike, played: ArrayLike, s: ArrayLike, c: ArrayLike, *, lapse: float = LAPSE) -> Floats:
    """ln of the probability of each move played, for a player who now and then plays anything (see `tally`).

    >>> log_chances([[0.0, 0.0]], [1], 0.1, 0.5).round(4).tolist()
    [-0.6931]
    """
    spread = np.asarray(deltas)
    index = np.asarray(played)
    own = np.where(index < 0, 0.0, np.exp(played_log_probabilities(spread, index, s, c, floor=0.0)))
    return np.asarray(np.log((1 - lapse) * own + lapse / np.isfinite(spread).sum(axis=1)))


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
