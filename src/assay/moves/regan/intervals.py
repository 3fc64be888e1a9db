"""Intervals for a rating: clustered by game, Regan's, by bootstrap, and shrunk towards a prior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtri, stdtrit

from assay.moves.regan.artery import Artery
from assay.moves.regan.line import Line
from assay.moves.regan.spread import Floats

# RMH11: "actual" intervals are 1.4 times the projected ones.
REGAN_FACTOR = 1.4
FINE = 5.0


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


def crossing(ratings: Floats, z: Floats, target: float = 0.0) -> tuple[float, int]:
    """Where z, falling with the rating, passes `target`; at an end of the ratings, -1 or 1 says that it lies beyond.

    >>> crossing(np.array([1000.0, 2000.0, 3000.0]), np.array([3.0, 1.0, -1.0]))
    (2500.0, 0)
    >>> crossing(np.array([1000.0, 2000.0]), np.array([3.0, 1.0]))
    (2000.0, 1)
    """
    above = z > target
    if above.all():
        return float(ratings[-1]), 1
    if not above.any():
        return float(ratings[0]), -1
    # The last rating from which the evidence points up: noise may make z cross more than once near the ends.
    last = int(np.flatnonzero(above[:-1] & ~above[1:])[-1]) if (above[:-1] & ~above[1:]).any() else len(z) - 2
    share = (z[last] - target) / (z[last] - z[last + 1])
    return float(ratings[last] + share * (ratings[last + 1] - ratings[last])), 0


def moderated(evidence: Floats, ratings: Floats, rating: float, prior_games: float) -> tuple[float, float]:
    """Variance of the evidence at a rating, from the scatter of its games, and the degrees of freedom behind it.

    A handful of games tells little of their own scatter. The calibration knows what is usual (variance 1), and that
    counts like `prior_games` games more: Smyth's moderated t (2004). With one game it is all there is.
    """
    games = len(evidence)
    here = np.array([np.interp(rating, ratings, row) for row in evidence])
    own = float(np.sum((here - here.mean()) ** 2)) * games / (games - 1) if games > 1 else 0.0
    degrees = prior_games + games - 1
    return (prior_games + (games - 1) * own) / degrees, degrees


def clustered_interval(
    ratings: Floats, z: Floats, rating: float, variance: float, degrees: float, level: float
) -> Interval:
    """The ratings that the evidence does not refuse: |z(R)| at most t x its standard deviation.

    To first order this is the delta method, Var(R) = V / J^2 with V from sums over games and J the slope of z; taking
    the crossings themselves keeps the skewness of small samples.
    """
    reach = float(stdtrit(degrees, 0.5 + level / 2)) * np.sqrt(variance)
    low, high = crossing(ratings, z, reach)[0], crossing(ratings, z, -reach)[0]
    return Interval(min(low, rating), max(high, rating))


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


def bootstrap_interval(evidence: Floats, ratings: Floats, level: float, samples: int, seed: int) -> Interval:
    """Percentiles of the rating over sets of games drawn anew."""
    games = len(evidence)
    drawn = np.random.default_rng(seed).multinomial(games, np.full(games, 1 / games), size=samples)
    again = [crossing(ratings, z)[0] for z in drawn @ evidence]
    low, high = np.quantile(again, [(1 - level) / 2, (1 + level) / 2])
    return Interval(float(low), float(high))


def shrunk_interval(
    ratings: Floats,
    z: Floats,
    variance: float,
    degrees: float,
    artery: Artery,
    prior: float,
    prior_log_s: float,
    level: float,
) -> tuple[float, Interval]:
    """Median and central interval of the posterior: evidence (as t) times a normal prior on ln s about the prior's."""
    fine = np.arange(ratings[0], ratings[-1] + 1, FINE)
    here = np.interp(fine, ratings, z)
    log_s = artery.log_s(fine)
    apart = (log_s - artery.log_s(prior)) / prior_log_s
    log_density = -(degrees + 1) / 2 * np.log1p(here**2 / (variance * degrees)) - apart**2 / 2
    log_density += np.log(np.maximum(-np.gradient(log_s, fine), 1e-12))
    mass = np.cumsum(np.exp(log_density - log_density.max()))
    low, middle, high = np.interp(np.array([(1 - level) / 2, 0.5, (1 + level) / 2]) * mass[-1], mass, fine)
    return float(middle), Interval(float(low), float(high))
