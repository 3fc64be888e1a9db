"""The rating of some play: where its evidence balances, and how far that may be off.

Intervals are clustered by game, Regan's, by bootstrap, or shrunk towards a prior.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri, stdtrit

from assay.errors import ModelError, TooFewTurns
from assay.moves.regan.artery import Artery, Line
from assay.moves.regan.fitting import Fit, fit
from assay.moves.regan.projection import project
from assay.moves.regan.scale import ARTERY_METHODS, FIT_METHODS, ArteryMethod, FitMethod, Scale, evidence
from assay.moves.regan.spread import Floats
from assay.moves.regan.tally import Tally

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


INTERVALS = ("clustered", "regan", "bootstrap")
METHODS = (*ARTERY_METHODS, *FIT_METHODS)
FEWEST_TURNS = 20
# Below this many turns the player's rating says more than the moves do; see docs/rating.md.
FEW_TURNS = 200
# Fewer games drawn anew do not show how games scatter; one game shows nothing at all. See docs/validation.md.
FEWEST_TO_RESAMPLE = 10
# The prior on ln s: how far play may lie from the player's rating, 160 to 200 Elo (an Elo is .00075 to .00095 in ln s).
PRIOR_LOG_S = 0.15


@dataclass(frozen=True)
class Rating:
    """A rating with its interval.

    `beyond` is -1 or 1 where the play lies below or above all that the artery can tell (the rating is then its end).
    `shrunk` says that the interval and the rating lean on a prior. `method` is how it was found: along the artery (see
    `ARTERY_METHODS`), or by a fit of s and c both (`FIT_METHODS`).
    """

    rating: float
    low: float
    high: float
    s: float
    c: float
    method: str
    interval: str
    games: int
    turns: int
    shrunk: bool
    beyond: int

    @property
    def half_width(self) -> float:
        """Half of the interval."""
        return (self.high - self.low) / 2


def rate(
    tally: Tally,
    scale: Scale,
    *,
    method: ArteryMethod = "combined",
    interval: str = "clustered",
    level: float = 0.95,
    prior: float | None = None,
    prior_log_s: float = PRIOR_LOG_S,
    samples: int = 1000,
    seed: int = 0,
    fewest: int = FEWEST_TURNS,
) -> Rating:
    """Rate the play in some cells (one per game) along the artery.

    The rating is where the evidence balances: actual matches, top-3 moves and errors equal what the model expects of
    that rating in these very positions. With `prior`, a rating in Elo, ln s is drawn towards the artery's there. Fewer
    than ten games cannot be drawn anew: they have the clustered interval instead of the bootstrap.
    """
    check_interval(interval, level)
    interval = _possible(interval, len(tally))
    turns = int(tally.turns.sum())
    if turns < fewest:
        raise TooFewTurns(f"{turns} turns are too few for a rating; it takes at least {fewest}.")
    own = evidence(tally, scale, method)
    z = own.sum(axis=0)
    best, beyond = crossing(tally.ratings, z)
    variance, degrees = moderated(own, tally.ratings, best, scale.prior_games)
    if prior is not None:
        best, span = shrunk_interval(tally.ratings, z, variance, degrees, scale.artery, prior, prior_log_s, level)
        beyond = 0
    elif interval == "bootstrap":
        span = bootstrap_interval(own, tally.ratings, level, samples, seed)
    elif interval == "regan":
        span = regan_interval(best, _test_deviation(tally, best), scale.line, level)
    else:
        span = clustered_interval(tally.ratings, z, best, variance, degrees, level)
    if interval != "regan":
        span = span.widened(best, scale.line.variance(best), level)
    s, c = scale.artery.at(best)
    kind = "shrunk" if prior is not None else interval
    return Rating(best, span.low, span.high, s, c, method, kind, len(tally), turns, prior is not None, beyond)


def _possible(interval: str, games: int) -> str:
    return "clustered" if interval == "bootstrap" and games < FEWEST_TO_RESAMPLE else interval


def _test_deviation(tally: Tally, rating: float) -> float:
    """sigma of the average error on the player's own turns (IRC12: sigma_AE of the test set)."""
    _, covariance = tally.at(np.full(len(tally), rating))
    return float(np.sqrt(covariance[:, 2, 2].sum()) / tally.turns.sum())


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

    `percentile` is Regan's own way. Both parameters cost turns: it takes a few hundred to be of use.
    """
    check_interval(interval, level)
    if method not in scale.lines:
        raise ModelError(f"this calibration has no line for {method!r} fits; it has {', '.join(scale.lines)}.")
    line = scale.lines[method]
    found = fit(deltas, played, method=method, games=games, elsewhere=elsewhere)
    interval = _possible(interval, found.games)
    if interval == "clustered" and found.games < 2:
        raise TooFewTurns("one game does not show how games scatter; use --interval regan, or more games.")
    rating, gradient = _project(found, scale, method)
    if interval == "bootstrap":
        span = _bootstrap_fits(deltas, played, scale, games, elsewhere, method, level, samples, seed)
    elif interval == "regan":
        test = project(deltas, found.s, found.c)
        span = regan_interval(rating, float(np.sqrt(test.average_error_variance)), line, level)
    else:
        variance = line.slope**2 * float(gradient @ found.covariance @ gradient)
        span = fit_interval(rating, variance, found.games, level)
    if interval != "regan":
        span = span.widened(rating, line.variance(rating), level)
    beyond = 0 if not found.at_edge else (1 if rating > np.mean(scale.range) else -1)
    return Rating(
        rating, span.low, span.high, found.s, found.c, method, interval, found.games, found.turns, False, beyond
    )


def _project(found: Fit, scale: Scale, method: str) -> tuple[float, Floats]:
    on_reference = project(scale.reference, found.s, found.c, gradient=True)
    return scale.lines[method].rating(on_reference.average_error), on_reference.average_error_gradient


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
            again = fit(d[rows], p[rows], method=method, elsewhere=None if cap is None else cap[rows])
        except ModelError:
            continue
        ratings.append(_project(again, scale, method)[0])
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
