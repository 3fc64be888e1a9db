"""Newton's method on the table of encounters: ratings, white advantage, draw rate.

Two fits share the solver. *Points* (Ordo's default): every player's expected points equal the points made, and White's
expected points equal White's. That is the maximum of the concave function sum s ln p + (1 - s) ln (1 - p) with
fractional scores s. *Likelihood* (Ordo's -M, and whenever something has an uncertainty): the maximum of the likelihood
of wins, draws and losses with Gaussian priors. With half of the games between equals drawn both are the same.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import field, replace

import numpy as np
from numpy.typing import NDArray

from assay.errors import AssayWarning, RatingError
from assay.records import dataclass
from assay.results.encounters import Bools, Floats, PairTable
from assay.results.expectancy import (
    DrawModel,
    draw_curve,
    expectancy,
    outcome_slopes,
    score_variance,
    win_draw_loss,
)
from assay.results.information import NO_LINKS, Information, Links

_STEPS = 200
_HALVINGS = 40
_ROUNDS = 50
# Elo; after a step of this size nothing that is printed would change.
_SMALL = 1e-4
# Elo; after a step of this size the information is what it was, to a thousandth.
_CLOSE = 0.1
_FLOOR = 1e-12
# Longest step in units of 1 / beta: 500 Elo.
_FARTHEST = 2.85
_BINS = 1 << 16
# A draw rate between equals that likelihood finds: nearer to certainty its curve has a corner, and no top.
_LEAST_DRAWS, _MOST_DRAWS = 1e-4, 0.999
_TRACE = 1e-6
# Up to so many players several starts are tried; solutions whose draw rates differ by less are the same.
_SEVERAL, _SAME, _TOPS = 500, 1e-5, 4
# Elo; how far aside of a place that is no top the search goes on.
_ASIDE = 60.0
# A player this far (in units of 1 / beta) from an opponent is on the way to infinity. Where the chance of winning to
# losing is what is logistic, and not the score, engines that draw three games of four lie that far apart; beyond 36
# there is no telling a chance from one.
_INFINITE, _INFINITE_ELSE = 25.0, 36.0
# Elo; what a white advantage that the results do not bound is taken to be within.
WHITE_WITHIN = 300.0


@dataclass(frozen=True)
class Equations:
    """What is to be estimated, from which encounters, and what is known beforehand."""

    table: PairTable
    beta: float
    shift: NDArray[np.int32]
    held: Bools
    start: Floats
    white: float = 0.0
    fit_white: bool = False
    white_precision: float = 0.0
    equal: float = 0.5
    fit_draws: bool = False
    draws_precision: float = 0.0
    likelihood: bool = False
    mean: Floats | None = None
    precision: Floats | None = None
    links: Links = NO_LINKS
    several: bool = True
    model: DrawModel = "ordo"

    @property
    def free(self) -> Bools:
        """Which coordinates are estimated: players that are not held and have games or priors, then the advantage."""
        known = self.table.played > 0
        if self.precision is not None:
            known = known | (self.precision > 0)
        known[self.links.ends.ravel()] = True
        return np.append(known & ~self.held, self.fit_white)


@dataclass(frozen=True)
class Solution:
    """Ratings (about an arbitrary level where nothing holds it), white advantage, draw rate between equals.

    `trace` tells the largest change in Elo of each step.
    """

    ratings: Floats
    white: float
    equal: float
    information: Information
    trace: list[float] = field(default_factory=list)


def solve(problem: Equations) -> Solution:
    """Find the ratings, and with them the white advantage and the draw rate where these are to be fitted.

    With few games the best white advantage may be infinite: nobody made a point with Black, say. It is then fitted
    within some bounds, and a warning tells so.
    """
    try:
        return _best(problem) if problem.several and problem.likelihood and problem.fit_draws else _solve(problem)
    except _UnboundedError:
        if not problem.fit_white or problem.white_precision > 0:
            raise RatingError(
                "the ratings found no level: the results are too one-sided; '-g FILE' lists the groups."
            ) from None
    warnings.warn(
        f"the results do not bound the white advantage; it is taken to be within {WHITE_WITHIN:.0f} points of "
        f"{problem.white:.0f}.",
        AssayWarning,
        stacklevel=2,
    )
    return solve(replace(problem, white_precision=1.0 / WHITE_WITHIN**2))


class _UnboundedError(Exception):
    """The best ratings are infinite."""


def _best(problem: Equations) -> Solution:
    """The highest of the maxima that several starts lead to.

    With the draw rate fitted too the likelihood may have several tops: few draws with wide ratings, many with narrow
    ones. Where the matrix of second derivatives shows that a place is no top, both ways down from it are starts, too.
    """
    found: list[Solution] = []
    width = problem.start - problem.start.mean()
    starts = [(problem.start, problem.equal)]
    if problem.table.players <= _SEVERAL:
        level = problem.start.mean()
        wide = [np.where(problem.held, problem.start, level + share * width) for share in (0.3, 1.5)]
        starts += [(ratings, equal) for ratings in wide for equal in (0.05, 0.5, 0.95)]
    failure: _UnboundedError | None = None
    while starts:
        ratings, equal = starts.pop(0)
        try:
            solution = _solve(replace(problem, start=ratings), equal)
        except _UnboundedError as error:
            failure = failure or error
            continue
        if any(abs(solution.equal - other.equal) < _SAME for other in found):
            continue
        found.append(solution)
        if len(found) <= _TOPS and (down := _way_down(problem, solution)) is not None:
            starts += [(solution.ratings + by * down, solution.equal) for by in (-_ASIDE, _ASIDE)]
    if not found:
        raise failure or _UnboundedError
    return max(found, key=lambda solution: log_posterior(problem, solution))


def log_posterior(problem: Equations, solution: Solution) -> float:
    """The logarithm of the likelihood of wins, draws and losses, and of what is known beforehand."""
    table = problem.table
    win, draw, loss = win_draw_loss(expected(problem, solution.ratings, solution.white), solution.equal, problem.model)
    total = sum(
        float(np.sum(counts[counts > 0] * np.log(np.maximum(chance[counts > 0], _FLOOR))))
        for counts, chance in ((table.wins, win), (table.draws, draw), (table.losses, loss))
    )
    if problem.precision is not None and problem.mean is not None:
        total -= 0.5 * float(np.sum(problem.precision * (problem.mean - solution.ratings) ** 2))
    links = problem.links
    apart = links.delta - solution.ratings[links.a] + solution.ratings[links.b]
    total -= 0.5 * float(np.sum(links.precision * apart**2))
    total -= 0.5 * problem.white_precision * (problem.white - solution.white) ** 2
    return total - 0.5 * problem.draws_precision * (problem.equal - solution.equal) ** 2


def _way_down(problem: Equations, solution: Solution) -> Floats | None:
    """A direction of the ratings in which a solution is no top, by the matrix of second derivatives; None if it is."""
    if problem.table.players > _SEVERAL:
        return None
    table, step = problem.table, 1e-3

    def gain(by: float) -> Floats:
        p: Floats = expectancy(table.gaps(solution.ratings, solution.white) + by, problem.beta)
        return likelihood_gain(table, p, solution.equal, problem.beta, problem.model)

    bend = -(gain(step) - gain(-step)) / (2.0 * step)
    matrix = replace(solution.information, weight=bend).matrix
    matrix[np.diag_indices_from(matrix)] = np.where(
        solution.information.free, replace(solution.information, weight=bend).own, matrix.max()
    )
    values, vectors = np.linalg.eigh(matrix)
    if values[0] > -1e-6 * values[-1]:
        return None
    down: Floats = vectors[:-1, 0]
    return down / max(float(np.max(np.abs(down))), _FLOOR)


def _solve(problem: Equations, equal: float | None = None) -> Solution:
    ratings, white, equal = problem.start, problem.white, problem.equal if equal is None else equal
    trace: list[float] = []
    for _ in range(_ROUNDS):
        ratings, white, steps = _newton(problem, ratings, white, equal)
        trace += steps
        if not problem.fit_draws:
            break
        p = expected(problem, ratings, white)
        if not problem.likelihood:
            equal = fit_draws(problem.table, p)
            break
        # Ratings and draw rate hardly know of each other, so taking turns converges in a few rounds.
        before, equal = equal, likeliest_draws(problem.table, p, problem.equal, problem.draws_precision, problem.model)
        if abs(equal - before) < 1e-9:
            break
    return Solution(ratings, white, equal, information(problem, ratings, white, equal), trace)


def information(problem: Equations, ratings: Floats, white: float, equal: float) -> Information:
    """The (expected) information at these ratings."""
    return _information(problem, expected(problem, ratings, white), equal)


def _information(problem: Equations, p: Floats, equal: float) -> Information:
    table = problem.table
    spread = problem.beta * p * (1.0 - p)
    if problem.likelihood:
        weight = likelihood_weight(table, p, equal, problem.beta, problem.model)
    else:
        weight = table.games * spread * problem.beta
    extra = np.zeros(table.players + 1)
    if problem.precision is not None:
        extra[:-1] += problem.precision
    # Where every two players met with one colouring only, ratings and white advantage cannot be told apart. A trace of
    # information about the latter keeps it where it is; it moves nothing that the games tell.
    extra[-1] += problem.white_precision + _TRACE * float(weight.sum())
    return Information(table, weight, extra, problem.links, problem.links.precision, problem.free, problem.shift)


def score_filling(problem: Equations, solution: Solution) -> Information:
    """The variance of the score of the fit of points: weights beta^2 N (pW + pD / 4 - p^2)."""
    p = expected(problem, solution.ratings, solution.white)
    weight = problem.beta**2 * problem.table.games * score_variance(p, solution.equal)
    return replace(solution.information, weight=weight, extra=np.zeros(len(solution.information.extra)))


def _parts(p: Floats, equal: float, model: DrawModel) -> list[tuple[Floats, Floats]]:
    """For win, draw and loss: the derivative of its chance by the expectancy, and the chance."""
    pairs = zip(outcome_slopes(p, equal, model), win_draw_loss(p, equal, model), strict=True)
    parts = [(slope, np.maximum(chance, _FLOOR)) for slope, chance in pairs]
    return parts if equal > 0 else [parts[0], parts[2]]


def expected(problem: Equations, ratings: Floats, white: float) -> Floats:
    """Expected score of White in each encounter."""
    p: Floats = expectancy(problem.table.gaps(ratings, white), problem.beta)
    return p


def _gain(problem: Equations, p: Floats, equal: float) -> Floats:
    """Derivative of the objective by the difference of each encounter."""
    table = problem.table
    if not problem.likelihood:
        gain: Floats = problem.beta * (table.white_points - table.games * p)
        return gain
    return likelihood_gain(table, p, equal, problem.beta, problem.model)


def likelihood_gain(table: PairTable, p: Floats, equal: float, beta: float, model: DrawModel = "ordo") -> Floats:
    """Derivative of the log-likelihood of wins, draws and losses by the difference of each encounter."""
    counts = [table.wins, table.draws, table.losses] if equal > 0 else [table.wins, table.losses]
    slopes = [count * part / chance for count, (part, chance) in zip(counts, _parts(p, equal, model), strict=True)]
    total: Floats = beta * p * (1.0 - p) * sum(slopes)
    return total


def likelihood_weight(table: PairTable, p: Floats, equal: float, beta: float, model: DrawModel = "ordo") -> Floats:
    """The information that each encounter has of its difference."""
    spread = beta * p * (1.0 - p)
    weight: Floats = table.games * spread**2 * sum(part**2 / chance for part, chance in _parts(p, equal, model))
    return weight


def _gradient(problem: Equations, ratings: Floats, white: float, gain: Floats) -> Floats:
    with_white, with_black = problem.table.by_side(gain)
    gradient = np.append(with_white - with_black, gain.sum())
    if problem.precision is not None and problem.mean is not None:
        gradient[:-1] += problem.precision * (problem.mean - ratings)
    links = problem.links
    pull = links.precision * (links.delta - ratings[links.a] + ratings[links.b])
    np.add.at(gradient, links.a, pull)
    np.subtract.at(gradient, links.b, pull)
    gradient[-1] += problem.white_precision * (problem.white - white)
    return gradient


def _newton(problem: Equations, ratings: Floats, white: float, equal: float) -> tuple[Floats, float, list[float]]:
    """Newton steps on a concave function, each halved until it does not climb far down on the other side.

    The slope along a step falls from positive through zero (the top) to negative; a step is taken if there it is
    not steeper than half of what it was at the start (the curvature condition of Wolfe).
    """
    trace: list[float] = []
    free = problem.free
    p = expected(problem, ratings, white)
    gradient = np.where(free, _gradient(problem, ratings, white, _gain(problem, p, equal)), 0.0)
    matrix = None
    for _ in range(_STEPS):
        # A first step need not be exact: the next one starts from a better place anyway (Dembo et al., 1982).
        forcing = 1e-2 if not trace else max(1e-9, min(1e-2, 1e-3 * trace[-1]))
        # Close to the top the matrix is that of the step before, and what was made of it serves again.
        if matrix is None or trace[-1] > _CLOSE:
            matrix = _information(problem, p, equal)
        try:
            step = matrix.solve(gradient, forcing)
        except np.linalg.LinAlgError:
            raise _UnboundedError from None
        # Far from its level a player's information is next to nothing, and a step by it would lead anywhere.
        np.clip(step, -_FARTHEST / problem.beta, _FARTHEST / problem.beta, out=step)
        slope, scale = float(gradient @ step), 1.0
        for _ in range(_HALVINGS):
            moved, advantage = ratings + scale * step[:-1], white + scale * float(step[-1])
            p = expected(problem, moved, advantage)
            gradient = np.where(free, _gradient(problem, moved, advantage, _gain(problem, p, equal)), 0.0)
            if float(gradient @ step) >= -0.5 * slope:
                break
            scale /= 2.0
        ratings, white = moved, advantage
        trace.append(scale * float(np.max(np.abs(step), initial=0.0)))
        farthest = _INFINITE if problem.model == "ordo" else _INFINITE_ELSE
        if not np.max(np.abs(problem.table.gaps(ratings, white)), initial=0.0) * problem.beta < farthest:
            break
        if trace[-1] < _SMALL:
            return ratings, white, trace
    raise _UnboundedError


def fit_draws(table: PairTable, p: Floats, drawn: float | None = None, start: float | None = None) -> float:
    """The draw rate between equals at which as many draws are expected as there were (Newton's method).

    From a D^2 + 2 D = 4 p (1 - p): dD/da = -D^2 / (2 R), and da/de = 2 (e - 1) / e^3.
    """
    drawn = float(table.draws.sum()) if drawn is None else drawn
    total = float(table.games.sum())
    if drawn == 0 or total == 0:
        return 0.0
    games, p = _binned(table, p)
    least = drawn / total
    equal = start or least
    for _ in range(_STEPS):
        draw, root = draw_curve(p, equal)
        missing = drawn - float(np.sum(games * draw))
        rise = _draws_rise(games, draw, root, equal)
        step = missing / rise if rise > 0 else 0.0
        # Unequal opponents draw less than equals; and where even certain draws between equals are too few, that is all.
        before, equal = equal, min(max(equal + step, least), 1.0)
        if abs(equal - before) < 1e-12:
            break
    return equal


def _binned(table: PairTable, p: Floats) -> tuple[Floats, Floats]:
    """Games and expectancies in narrow bins: the draw curve is smooth and depends on p (1 - p) alone."""
    spread = p * (1.0 - p)
    bins = (spread * _BINS).astype(np.intp)
    games = np.bincount(bins, table.games).astype(np.float64)
    filled = games > 0
    mean = np.bincount(bins, table.games * spread)[filled] / games[filled]
    return games[filled], 0.5 + np.sqrt(np.maximum(0.25 - mean, 0.0))


def _draws_rise(games: Floats, draw: Floats, root: Floats, equal: float) -> float:
    """By how much the expected draws rise with the draw rate between equals."""
    return float(np.sum(games * draw**2 / np.maximum(root, _FLOOR))) * (1.0 - equal) / equal**3


def draw_rate_deviation(problem: Equations, solution: Solution) -> float:
    """Standard error of a fitted draw rate (the delta method).

    The draws expected at the fitted ratings move with them. With c the derivative of that sum by the ratings and
    k the covariance of draws and scores, the variance of what is left is sum N D (1 - D) - 2 u k + u V u, u = H^-1 c.
    """
    equal, table, beta = solution.equal, problem.table, problem.beta
    if not 0.0 < equal < 1.0:
        return 0.0
    p = expected(problem, solution.ratings, solution.white)
    if problem.model != "ordo":
        step = 1e-3 * min(equal, 1.0 - equal)
        ends = [_draws_slope(table, p, equal + by, problem.model) for by in (-step, step)]
        return float(np.sqrt(2.0 * step / max(ends[0] - ends[1], _FLOOR)))
    draw, root = draw_curve(p, equal)

    def gather(values: Floats) -> Floats:
        with_white, with_black = table.by_side(values)
        return np.append(with_white - with_black, values.sum())

    moves = gather(table.games * beta * p * (1.0 - p) * 2.0 * (1.0 - 2.0 * p) / np.maximum(root, _FLOOR))
    shared = gather(table.games * beta * draw * (0.5 - p))
    u = solution.information.solve(moves, 1e-6)
    filling = solution.information if problem.likelihood else score_filling(problem, solution)
    scores = float(np.sum(filling.weight * replace(table, ahead=None).gaps(u[:-1], float(u[-1])) ** 2))
    left = float(np.sum(table.games * draw * (1.0 - draw))) - 2.0 * float(u @ shared) + scores
    return float(np.sqrt(max(left, 0.0))) / _draws_rise(table.games.astype(np.float64), draw, root, equal)


def likeliest_draws(
    table: PairTable, p: Floats, known: float = 0.5, precision: float = 0.0, model: DrawModel = "ordo"
) -> float:
    """The draw rate between equals of the greatest likelihood, given the expectancies, and what is known before."""
    least, most = _LEAST_DRAWS, _MOST_DRAWS
    if model != "ordo":
        return find_root(lambda equal: -_draws_slope(table, p, equal, model) - precision * (known - equal), least, most)
    spread = p * (1.0 - p)

    def score(equal: float) -> float:
        # The derivative of the draw curve is that of `fit_draws`.
        win, draw, loss = win_draw_loss(p, equal)
        bend = -(draw**2) / np.maximum(draw_curve(p, equal)[1], _FLOOR) * (equal - 1.0) / equal**3
        gain = table.draws * bend / np.maximum(draw, _FLOOR)
        gain -= 0.5 * bend * (table.wins / np.maximum(win, _FLOOR) + table.losses / np.maximum(loss, _FLOOR))
        pull = precision * (known - equal)
        return -float(np.sum(gain[spread > 0])) - pull

    if score(least) >= 0:
        return least
    if score(most) <= 0:
        return most
    return find_root(score, least, most)


def _draws_slope(table: PairTable, p: Floats, equal: float, model: DrawModel) -> float:
    """The derivative of the log-likelihood by the draw rate between equals, by a small difference."""
    step = 1e-6 * min(equal, 1.0 - equal) + 1e-12

    def likelihood(rate: float) -> float:
        chances = win_draw_loss(p, rate, model)
        counts = (table.wins, table.draws, table.losses)
        return sum(float(count @ np.log(np.maximum(c, _FLOOR))) for count, c in zip(counts, chances, strict=True))

    return (likelihood(equal + step) - likelihood(equal - step)) / (2.0 * step)


def find_root(function: Callable[[float], float], low: float, high: float, tolerance: float = 1e-12) -> float:
    """Root of an increasing function between two ends (regula falsi, Illinois rule).

    >>> round(find_root(lambda x: x**3 - 2, 0.0, 2.0), 9)
    1.25992105
    """
    at_low, at_high = function(low), function(high)
    if at_low >= 0:
        return low
    if at_high <= 0:
        return high
    side = 0
    for _ in range(200):
        middle = (low * at_high - high * at_low) / (at_high - at_low)
        at_middle = function(middle)
        if at_middle == 0 or high - low < tolerance:
            return middle
        if at_middle > 0:
            if middle == high:
                return middle
            high, at_high = middle, at_middle
            at_low = at_low / 2 if side > 0 else at_low
            side = 1
        else:
            if middle == low:
                return middle
            low, at_low = middle, at_middle
            at_high = at_high / 2 if side < 0 else at_high
            side = -1
    return middle
