"""Ratings over time: a rating for each player and time at which he played, from all games at once.

Games between two players at a time follow the model of the static fit: expectancy, White's advantage, draws. Between
two times of a player the strength takes a random walk (a Wiener process): the difference is normal with a variance that
grows with the time between them. A player's first strength is normal about the level of all newcomers. Both variances
are fitted. This is whole-history rating (Coulom, 2008); what is found is the joint maximum, by Newton's method: for
each player a tridiagonal matrix, joined by the games, solved by conjugate gradients with the tridiagonal parts as the
preconditioner.

The variances are those that make what was seen likeliest, in the Laplace approximation: the walk's is the mean, over
all steps of all players, of the squared step and its variance, each by its time (the fixed point of the EM algorithm).

Errors: up to some size from the inverse of the whole matrix. Beyond, for each player from the own tridiagonal part, in
which a game counts less the less sure the opponent's rating is: 1 / (1 / information + variance of the opponent).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import RatingError
from assay.records import dataclass
from assay.results.encounters import Floats, PairTable, tabulate
from assay.results.expectancy import SCALE, expectancy, slope
from assay.results.solve import WHITE_WITHIN, likeliest_draws, likelihood_gain, likelihood_weight

# Elo: variance of the walk in a month, and of newcomers, to begin with.
_WALK, _NEWCOMERS = 15.0**2, 250.0**2
_LEAST_WALK, _MOST_WALK = 0.1**2, 500.0**2
# Elo; steps below these are small: while the variances are sought, and at the end.
_NEAR, _SMALL = 0.5, 1e-3
_NEWTON = 50
_NOTHING = 1e-12  # a weight that says nothing
_HALVINGS = 30
_FLAT = 1e-3  # log-likelihood: where a step would bring less, a game or two leave it to chance where the top is
_GRADIENTS = 400
_FARTHEST = 400.0
_ROUNDS = 40
_SETTLED = 0.01
# Logarithms of the walk's variance: how far tries are apart, and how exactly it is wanted.
_JUMP, _PRECISE = math.log(4.0), 0.02
_SOFTENINGS = 3
# Up to so many unknowns the errors come from the whole matrix.
EXACT = 1500
# Months; two events of one day are not at one time.
_LEAST_TIME = 1.0 / 30.0

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Moments:
    """The times at which each player played, player by player and in order; `first` marks the first of each player.

    `months` is the time of each in months, `bin` its number among all times.
    """

    player: Ints
    bin: Ints
    months: Floats

    @cached_property
    def first(self) -> NDArray[np.bool_]:
        """Which are the first of their player."""
        return np.concatenate(([True], self.player[1:] != self.player[:-1]))

    @cached_property
    def gaps(self) -> Floats:
        """Months since the one before, for all that are not the first of their player."""
        gaps: Floats = np.maximum(np.diff(self.months), _LEAST_TIME)[~self.first[1:]]
        return gaps

    @cached_property
    def later(self) -> Ints:
        """The places of those that are not the first."""
        return np.flatnonzero(~self.first)

    def __len__(self) -> int:
        return len(self.player)


@dataclass(frozen=True)
class History:
    """Ratings over time as arrays that run over `moments`: rating, and standard error to the level of the pool.

    `walk` is the standard deviation of a player's change in a month, `newcomers` that of the players' first ratings.
    """

    moments: Moments
    table: PairTable
    ratings: Floats
    deviation: Floats
    white_advantage: float
    draw_rate: float
    walk: float
    newcomers: float
    average: float
    steps: int

    @cached_property
    def played(self) -> Floats:
        """Games of each moment."""
        return self.table.played

    @cached_property
    def points(self) -> Floats:
        """Points of each moment."""
        return self.table.points

    def at(self, months: float) -> tuple[Ints, Floats, Floats]:
        """Who had played by then, and everybody's rating and error at that time.

        Between two times of a player the walk is a bridge; after the last one the error grows.
        """
        moments = self.moments
        order = np.flatnonzero(moments.months <= months + 1e-9)
        last = order[np.concatenate((moments.player[order][1:] != moments.player[order][:-1], [True]))[: len(order)]]
        following = np.minimum(last + 1, len(moments) - 1)
        has_next = (following > last) & (moments.player[following] == moments.player[last])
        since = months - moments.months[last]
        span = np.maximum(moments.months[following] - moments.months[last], _LEAST_TIME)
        share = np.where(has_next, np.clip(since / span, 0.0, 1.0), 0.0)
        rating = (1.0 - share) * self.ratings[last] + share * self.ratings[following]
        wander = self.walk**2 * np.where(has_next, since * (1.0 - share), since)
        # The two ends of a bridge are taken to be as good as dependent: a little too wide, never too narrow.
        ends = (1.0 - share) * self.deviation[last] + share * self.deviation[following]
        return moments.player[last], rating, np.sqrt(ends**2 + np.maximum(wander, 0.0))


def moments_of(
    white: NDArray[Any], black: NDArray[Any], time: NDArray[Any], months: Floats
) -> tuple[Moments, Ints, Ints]:
    """The moments of some games, and those of White and Black in each; `time` numbers `months`, which do not fall."""
    times = len(months)
    keys = np.concatenate((white, black)).astype(np.int64) * times + np.concatenate((time, time))
    distinct, places = np.unique(keys, return_inverse=True)
    player, number = np.divmod(distinct, times)
    half = len(white)
    return Moments(player, number, months[number]), places[:half], places[half:]


def rate_history(
    white: NDArray[Any],
    black: NDArray[Any],
    outcome: NDArray[Any],
    time: NDArray[Any],
    months: Floats,
    *,
    average: float = 2300.0,
    walk: float | None = None,
    newcomers: float | None = None,
    scale: float = SCALE,
    white_advantage: float | None = None,
    draw_rate: float | None = None,
) -> History:
    """Rate players over time: `outcome` is twice White's score, `time` the number of each game's time in `months`.

    What is None is fitted: the `walk` (Elo in a month), the spread of `newcomers`, White's advantage, the draw rate.
    The average of all players, each at the mean of the own ratings, is `average`.
    """
    if not len(white):
        raise RatingError("there are no games to rate over time.")
    if np.any(np.diff(months) < 0):
        raise RatingError("the times have to be in order.")
    for name, value in (("walk", walk), ("newcomers", newcomers)):
        if value is not None and not 0.0 < value <= 1e4:
            raise RatingError(f"{name} is {value:g} Elo; it has to be above zero.")
    moments, whites, blacks = moments_of(white, black, time, np.asarray(months, np.float64))
    table = tabulate(whites, blacks, outcome, len(moments))
    fit = _Fit(
        moments,
        table,
        slope(scale),
        np.zeros(len(moments)),
        0.0 if white_advantage is None else white_advantage,
        0.5 if draw_rate is None else draw_rate,
        _WALK if walk is None else walk**2,
        _NEWCOMERS if newcomers is None else newcomers**2,
        white_advantage is None,
        draw_rate is None,
    )
    fit, steps = _likeliest(fit, walk is None, newcomers is None)
    ratings = fit.ratings
    people = np.bincount(moments.player)
    means = np.bincount(moments.player, ratings)[people > 0] / people[people > 0]
    return History(
        moments,
        table,
        ratings + average - float(means.mean()),
        np.sqrt(fit.variances()[0]),
        fit.white,
        fit.equal,
        math.sqrt(fit.walk),
        math.sqrt(fit.newcomers),
        average,
        steps,
    )


@dataclass(frozen=True)
class _Fit:
    """Where a fit stands: ratings about zero, the two rates, the two variances."""

    moments: Moments
    table: PairTable
    beta: float
    ratings: Floats
    white: float
    equal: float
    walk: float
    newcomers: float
    fit_white: bool
    fit_draws: bool
    white_precision: float = 0.0

    def chances(self, ratings: Floats, white: float) -> Floats:
        p: Floats = expectancy(self.table.gaps(ratings, white), self.beta)
        return p

    @cached_property
    def stiffness(self) -> Floats:
        """The precision of each step of a walk."""
        return 1.0 / (self.walk * self.moments.gaps)

    def gradient(self, ratings: Floats, white: float) -> Floats:
        gain = likelihood_gain(self.table, self.chances(ratings, white), self.equal, self.beta)
        with_white, with_black = self.table.by_side(gain)
        gradient = with_white - with_black
        gradient[self.moments.first] -= ratings[self.moments.first] / self.newcomers
        later = self.moments.later
        pull = self.stiffness * (ratings[later] - ratings[later - 1])
        gradient[later] -= pull
        gradient[later - 1] += pull
        return np.append(gradient, gain.sum() - white * self.white_precision if self.fit_white else 0.0)

    @cached_property
    def weight(self) -> Floats:
        """The information of each encounter, where the fit stands."""
        return likelihood_weight(self.table, self.chances(self.ratings, self.white), self.equal, self.beta)

    def chain(self) -> tuple[Floats, Floats]:
        """The tridiagonal part that the walks make: diagonal, and what stands beside it."""
        diagonal, beside = np.zeros(len(self.moments)), np.zeros(len(self.moments) - 1)
        diagonal[self.moments.first] += 1.0 / self.newcomers
        later = self.moments.later
        diagonal[later] += self.stiffness
        diagonal[later - 1] += self.stiffness
        beside[later - 1] = -self.stiffness
        return diagonal, beside

    def step(self, gradient: Floats, tolerance: float) -> Floats:
        """The Newton step: conjugate gradients, with the walks and everybody's own games as the preconditioner."""
        from scipy.linalg.lapack import dpttrf, dpttrs
        from scipy.sparse import csr_array

        table, weight, n = self.table, self.weight, len(self.moments)
        diagonal, beside = self.chain()
        with_white, with_black = table.by_side(weight)
        diagonal += with_white + with_black
        pivots, lower, failed = dpttrf(diagonal, beside)
        if failed:
            raise RatingError("the ratings over time found no maximum; leave out players with few games.")
        starts = np.concatenate(([0], np.cumsum(table.white_counts))).astype(np.int32)
        meet = csr_array((weight, table.black.astype(np.int32), starts), shape=(n, n))
        back = meet.T.tocsr()
        border = with_white - with_black if self.fit_white else np.zeros(n)
        # Where all games are drawn and the draw rate is fitted, they say nothing of White.
        corner = max(float(weight.sum()) + self.white_precision, _NOTHING) if self.fit_white else 1.0

        def multiply(x: Floats) -> Floats:
            players = x[:-1]
            y = diagonal * players - meet @ players - back @ players + border * x[-1]
            y[:-1] += beside * players[1:]
            y[1:] += beside * players[:-1]
            return np.append(y, border @ players + corner * x[-1])

        def precondition(x: Floats) -> Floats:
            solved, _ = dpttrs(pivots, lower, x[:-1])
            return np.append(solved, x[-1] / corner)

        return _conjugate(multiply, precondition, gradient, tolerance)

    def newton(self, small: float) -> tuple[_Fit, int]:
        """The maximum for these variances, to steps below `small`."""
        fit = self
        for taken in range(_NEWTON):
            gradient = fit.gradient(fit.ratings, fit.white)
            step = np.clip(fit.step(gradient, 1e-2 if not taken else 1e-4), -_FARTHEST, _FARTHEST)
            rise, share = float(gradient @ step), 1.0
            for _ in range(_HALVINGS):
                ratings, white = fit.ratings + share * step[:-1], fit.white + share * float(step[-1])
                if float(fit.gradient(ratings, white) @ step) >= -0.5 * rise:
                    break
                share /= 2.0
            equal = fit.equal
            if fit.fit_draws:
                equal = likeliest_draws(fit.table, fit.chances(ratings, white))
            moved = abs(equal - fit.equal) > 1e-6
            fit = replace(fit, ratings=ratings, white=white, equal=equal)
            if share * float(np.max(np.abs(step))) < small and not (moved and small <= _SMALL):
                return fit, taken + 1
        if self.fit_white and not self.white_precision:
            # Results that do not bound White's advantage: nobody made a point with Black.
            return replace(self, white=0.0, white_precision=1.0 / WHITE_WITHIN**2).newton(small)
        if rise < _FLAT:
            return fit, _NEWTON
        raise RatingError("the ratings over time do not settle; leave out players with few games.")

    def variances(self) -> tuple[Floats, Floats]:
        """The variance of each rating, and of each step of a walk."""
        if len(self.moments) <= EXACT:
            return self._exact()
        diagonal, beside = self.chain()
        weight, table = self.weight, self.table
        spread = np.zeros(len(self.moments))
        for _ in range(_SOFTENINGS):
            # A game tells less of a player the less is known of the opponent.
            as_white = table.by_side(weight / (1.0 + weight * spread[table.black]))[0]
            as_black = table.by_side(weight / (1.0 + weight * spread[table.white]))[1]
            spread, shared = _inverse(diagonal + as_white + as_black, beside)
        later = self.moments.later
        return spread, spread[later] + spread[later - 1] - 2.0 * shared[later - 1]

    def _exact(self) -> tuple[Floats, Floats]:
        n, table, weight = len(self.moments), self.table, self.weight
        full = np.zeros((n + 1, n + 1))
        diagonal, beside = self.chain()
        with_white, with_black = table.by_side(weight)
        full[table.white, table.black] = -weight
        full[:n, :n] += full[:n, :n].T.copy()
        at = np.arange(n)
        full[at, at] = diagonal + with_white + with_black
        full[at[:-1], at[1:]] += beside
        full[at[1:], at[:-1]] += beside
        full[:n, n] = full[n, :n] = with_white - with_black if self.fit_white else 0.0
        full[n, n] = weight.sum() + self.white_precision if self.fit_white else 1.0
        inverse = np.linalg.inv(full)[:n, :n]
        # Errors are those to the average of the pool: what moves all of a pool alike is left out.
        who = self.moments.player
        pool = connected_players(who[table.white], who[table.black], int(who.max()) + 1)[who]
        same = (pool[:, None] == pool[None, :]).astype(np.float64)
        mean = same / same.sum(axis=1, keepdims=True)
        inverse = inverse - mean @ inverse
        inverse = inverse - inverse @ mean.T
        spread, later = np.maximum(np.diagonal(inverse), 0.0), self.moments.later
        return spread, spread[later] + spread[later - 1] - 2.0 * inverse[later, later - 1]


def _likeliest(fit: _Fit, walk: bool, newcomers: bool) -> tuple[_Fit, int]:
    """The fit with the variances that make what was seen likeliest, as far as they are to be found."""
    taken = 0
    walk = walk and len(fit.moments.later) > 0

    def look(fit: _Fit) -> tuple[_Fit, float]:
        """The maximum for a walk, the spread of newcomers there, and by how much the walk seems too small."""
        nonlocal taken
        for _ in range(_ROUNDS):
            fit, steps = fit.newton(_NEAR)
            taken += steps
            spread, moved = fit.variances()
            first, later = fit.moments.first, fit.moments.later
            level = float(fit.ratings[first].mean())
            # One newcomer more as they are usually: a game or two, which tell no spread, give nobody an error of zero.
            seen = float(np.sum((fit.ratings[first] - level) ** 2 + spread[first]))
            now = (seen + _NEWCOMERS) / (np.count_nonzero(first) + 1)
            settled = not newcomers or abs(math.log(now / fit.newcomers)) < _SETTLED
            if settled:
                break
            fit = replace(fit, newcomers=now)
        squares = (fit.ratings[later] - fit.ratings[later - 1]) ** 2 + moved
        return fit, math.log(float(np.mean(squares / fit.moments.gaps)) / fit.walk) if walk else 0.0

    if walk or newcomers:
        fit, short = look(fit)
    if walk:
        # Close to the fixed point each try leads on by a few percent only: its sign and size are that of a slope, and
        # the root is looked for between a walk that is too small and one that is too large (regula falsi, Illinois).
        ends: dict[bool, tuple[float, float]] = {}
        at = math.log(fit.walk)
        for _ in range(_ROUNDS):
            ends[short > 0] = at, short
            if len(ends) < 2:
                step = _JUMP if short > 0 else -_JUMP
                following = min(max(at + step, math.log(_LEAST_WALK)), math.log(_MOST_WALK))
            else:
                (low, rise), (high, fall) = ends[True], ends[False]
                following = (low * fall - high * rise) / (fall - rise)
            if abs(following - at) < _PRECISE:
                break
            at = following
            fit, now = look(replace(fit, walk=math.exp(at)))
            if len(ends) == 2 and (now > 0) == (short > 0):
                other = ends[now <= 0]
                ends[now <= 0] = other[0], other[1] / 2.0
            short = now
    fit, steps = fit.newton(_SMALL)
    return fit, taken + steps


def _inverse(diagonal: Floats, beside: Floats) -> tuple[Floats, Floats]:
    """Diagonal of the inverse of a tridiagonal matrix, and what stands beside it."""
    from scipy.linalg.lapack import dpttrf

    down, lower, _ = dpttrf(diagonal, beside)
    up = dpttrf(diagonal[::-1].copy(), beside[::-1].copy())[0][::-1]
    spread: Floats = 1.0 / (down + up - diagonal)
    return spread, -lower * spread[1:]


def _conjugate(multiply: Any, precondition: Any, b: Floats, tolerance: float) -> Floats:
    x, residual = np.zeros_like(b), b.copy()
    z = precondition(residual)
    direction, rho = z.copy(), float(residual @ z)
    goal = rho * tolerance**2
    for _ in range(_GRADIENTS):
        if rho <= goal or rho == 0.0:
            break
        image = multiply(direction)
        alpha = rho / float(direction @ image)
        x += alpha * direction
        residual -= alpha * image
        z = precondition(residual)
        new = float(residual @ z)
        direction = z + (new / rho) * direction
        rho = new
    return x


def connected_players(white: NDArray[Any], black: NDArray[Any], players: int) -> NDArray[np.int32]:
    """The pool of each player: who has met whom, in a chain; the largest is number 0, who never played has -1."""
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(white), np.int8), (white, black)), shape=(players, players))
    label = connected_components(graph, directed=False)[1]
    there = np.zeros(players, np.bool_)
    there[white] = there[black] = True
    number = np.full(players, -1, np.int32)
    for place, pool in enumerate(_by_size(label[there])):
        number[there & (label == pool)] = place
    return number


def _by_size(labels: NDArray[Any]) -> Iterator[int]:
    values, counts = np.unique(labels, return_counts=True)
    yield from values[np.argsort(-counts, kind="stable")].tolist()
