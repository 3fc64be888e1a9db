"""The outcome of a rating: ratings, errors, chances of superiority, and the table of them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.results.fit import Fit
from assay.results.gamepairs import Pentanomial, pair_filling
from assay.results.place import ABOVE, BELOW, RATED, UNPLAYED
from assay.results.simulate import Simulation, simulate
from assay.results.solve import draw_rate_deviation, score_filling
from assay.results.table import Bools, Floats, PairTable
from assay.results.variance import MOST_IN_MATRIX, check_matrix, covariance, difference_variances, variances

SYMBOL = {RATED: "", ABOVE: ">", BELOW: "<", UNPLAYED: "*"}
REASON = {
    ABOVE: "only wins (against the rest): a lower bound",
    BELOW: "only losses (against the rest): an upper bound",
    UNPLAYED: "no games",
}


@dataclass(frozen=True)
class Ratings:
    """Ratings with all that the tables need; arrays run over the players in the order of their first appearance.

    `status` tells how a player was rated (see :mod:`assay.results.place`), `pool` which ratings compare with which,
    `group` the strongly connected component. Errors are those of the difference to the average of the pool, or to
    the anchor if there is just one and `errors_from` says so.
    """

    players: tuple[str, ...]
    fit: Fit = field(repr=False)
    skipped: dict[str, int]
    pairs: Pentanomial | None = None
    errors_from: Literal["anchor", "pool"] = "anchor"

    @property
    def ratings(self) -> Floats:
        """The rating of each player, nan where there is none."""
        return self.fit.ratings

    @property
    def white_advantage(self) -> float:
        """What the white pieces are worth, in Elo."""
        return self.fit.solution.white

    @property
    def draw_rate(self) -> float:
        """The share of draws between equals."""
        return self.fit.solution.equal

    @property
    def encounters(self) -> PairTable:
        """The table of encounters that was rated."""
        return self.fit.table

    @property
    def status(self) -> NDArray[np.int8]:
        """How each player was placed: rated, above or below what bounds the rating, or unplayed."""
        return self.fit.placement.status

    @property
    def pool(self) -> NDArray[np.int32]:
        """The pool of each player; ratings compare within a pool alone."""
        return self.fit.placement.pool

    @property
    def group(self) -> NDArray[np.int32]:
        """The group of each player that wins and losses connect both ways."""
        return self.fit.groups.label

    @property
    def played(self) -> Floats:
        """Games of each player."""
        return self.encounters.played

    @property
    def points(self) -> Floats:
        """Points of each player."""
        return self.encounters.points

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rated players, pool by pool, from the best down; equals in the order of their first appearance."""
        # Ratings are exact to 1e-5 or better; equals must not be parted by rounding.
        rounded = np.round(self.ratings, 6)
        rated = np.flatnonzero(np.isfinite(rounded))
        return rated[np.lexsort((-rounded[rated], self.pool[rated]))]

    @cached_property
    def pools(self) -> NDArray[np.int32]:
        """The numbers of the pools; nothing compares players of two of them."""
        return np.unique(self.pool[self.pool >= 0])

    def level(self, pool: int) -> str:
        """What sets the level of a pool, in words."""
        settings = self.fit.settings
        inside = self.pool == pool
        if settings.anchor is not None and inside[settings.anchor]:
            return f"{self.players[settings.anchor]} at {settings.anchor_rating:.1f}"
        known = settings.level_known
        if known is not None and (known & inside).any():
            return "as the anchors say"
        return f"average {settings.average:.1f}"

    @cached_property
    def _filling(self) -> Any:
        settings, solution = self.fit.settings, self.fit.solution
        if settings.likelihood:
            return None
        if self.pairs is not None:
            return pair_filling(self.fit.problem, solution, self.pairs)
        return score_filling(self.fit.problem, solution)

    @cached_property
    def _variance(self) -> Floats:
        return variances(self.fit.solution.information, self._filling)

    @cached_property
    def _matrix(self) -> Floats:
        return covariance(self.fit.solution.information, self._filling)

    @property
    def _reference(self) -> int | None:
        return self.fit.settings.anchor if self.errors_from == "anchor" else None

    @cached_property
    def deviation(self) -> Floats:
        """Standard error of each rating; nan where the results do not bound the rating."""
        variance = self._variance[:-1].copy()
        reference = self._reference
        if reference is not None:
            bread = self.fit.solution.information
            unit = np.zeros(bread.size)
            unit[reference] = 1.0
            column = bread.solve(unit)
            if self._filling is not None:
                column = bread.solve(self._filling.multiply(column))
            # Players of other pools have no difference to the anchor: theirs is to the average of their own.
            same = self.pool == self.pool[reference]
            variance[same] += (variance[reference] - 2.0 * column[:-1])[same]
            variance[reference] = 0.0
        return np.where(self.bounded, np.sqrt(np.maximum(variance, 0.0)), np.nan)

    @property
    def bounded(self) -> Bools:
        """Whose rating the results bound on both sides."""
        return self.fit.bounded

    @property
    def white_deviation(self) -> float:
        """Standard error of the white advantage; zero where it was given."""
        return float(np.sqrt(max(self._variance[-1], 0.0)))

    @property
    def draws_deviation(self) -> float:
        """Standard error of the draw rate: that of the number of draws, by what the rate adds to it."""
        if not self.fit.settings.fit_draws:
            return 0.0
        return draw_rate_deviation(self.fit.problem, self.fit.solution)

    def errors(self, confidence: float = 0.95) -> Floats:
        """Half-widths of the intervals of this confidence."""
        return self.deviation * confidence_factor(confidence)

    def covariance(self) -> Floats:
        """Covariance of the ratings (players x players); zero for players without a bounded rating."""
        return self._matrix[:-1, :-1].copy()

    def difference_deviation(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Standard errors of the differences between these pairs of players; nan if they are of two pools."""
        a, b = np.atleast_1d(np.asarray(i, np.intp)), np.atleast_1d(np.asarray(j, np.intp))
        bread = self.fit.solution.information
        if bread.size - 1 <= MOST_IN_MATRIX:
            matrix = self._matrix
            variance = difference_variances(np.diagonal(matrix), matrix, bread, a, b)
        else:
            variance = difference_variances(self._variance, None, bread, a, b)
        deviation = np.sqrt(np.maximum(variance, 0.0))
        return np.where(self.bounded[a] & self.bounded[b] & (self.pool[a] == self.pool[b]), deviation, np.nan)

    def superiority(self) -> Floats:
        """Likelihood that the player of the row is stronger than that of the column.

        It is nan on the diagonal and across pools.

        >>> from assay.results import rate
        >>> r = rate(["A", "B", "A", "B"], ["B", "A", "B", "A"], [1, 0, 0.5, 0.5])
        >>> r.superiority().round(2).tolist()
        [[nan, 0.95], [0.05, nan]]
        """
        n = len(self.players)
        check_matrix(n)
        i, j = np.divmod(np.arange(n * n), n)
        chance = likelihood_of_superiority(self.ratings[i] - self.ratings[j], self.difference_deviation(i, j))
        chance[:: n + 1] = np.nan
        return chance.reshape(n, n)

    def simulate(self, runs: int, seed: int | None = None, **how: Any) -> Simulation:
        """Errors from simulated results; without a seed, from the random numbers of Ordo and in its order."""
        return simulate(self.fit, runs, seed, relative_to=self._reference, **how)

    def table(self) -> list[dict[str, Any]]:
        """One row for each player, pool by pool from the best down; those without a rating follow, with the reason.

        Ranks are those within the pool.
        """
        sides = results_by_player(self.encounters)
        error = self.errors()
        rest = np.flatnonzero(~np.isfinite(self.ratings))
        rows = []
        ranks = dict(zip(self.order.tolist(), ranks_within(self.pool[self.order]), strict=True))
        for player in [*self.order.tolist(), *rest.tolist()]:
            played = int(self.played[player])
            rated = player in ranks
            rows.append(
                {
                    "rank": ranks.get(player),
                    "player": self.players[player],
                    "rating": float(self.ratings[player]) if rated else None,
                    "error": float(error[player]) if np.isfinite(error[player]) else None,
                    "points": float(self.points[player]),
                    "played": played,
                    "percent": 100.0 * float(self.points[player]) / played if played else None,
                    "wins": int(sides.wins[player]),
                    "draws": int(sides.draws[player]),
                    "losses": int(sides.losses[player]),
                    "symbol": SYMBOL[int(self.status[player])],
                    "pool": int(self.pool[player]) + 1 if rated else None,
                    "reason": REASON.get(int(self.status[player])),
                }
            )
        return rows


def ranks_within(pools: NDArray[np.int32]) -> list[int]:
    """Ranks of lines that run pool by pool: each pool begins at one.

    >>> ranks_within(np.array([0, 0, 1, 1, 1], np.int32))
    [1, 2, 1, 2, 3]
    """
    place = np.arange(len(pools))
    first = np.concatenate(([True], pools[1:] != pools[:-1]))[: len(pools)]
    ranks: list[int] = (place - np.maximum.accumulate(np.where(first, place, 0)) + 1).tolist()
    return ranks


@dataclass(frozen=True)
class Sides:
    """Wins, draws and losses of each player."""

    wins: Floats
    draws: Floats
    losses: Floats


def results_by_player(table: PairTable) -> Sides:
    """Wins, draws and losses of each player."""
    wins, draws, losses = (table.by_side(counts) for counts in (table.wins, table.draws, table.losses))
    return Sides(wins[0] + losses[1], draws[0] + draws[1], losses[0] + wins[1])


def confidence_factor(confidence: float) -> float:
    """Standard deviations on each side of an interval.

    >>> round(confidence_factor(0.95), 5)
    1.95996
    """
    return NormalDist().inv_cdf(0.5 + confidence / 2.0)


def likelihood_of_superiority(difference: ArrayLike, deviation: ArrayLike) -> Floats:
    """Chance that a normal difference of this mean and deviation is above zero (Abramowitz & Stegun 7.1.1).

    >>> likelihood_of_superiority([0.0, 20.0], [10.0, 10.0]).round(4).tolist()
    [0.5, 0.9772]
    """
    difference, deviation = np.asarray(difference, np.float64), np.asarray(deviation, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0.0, 0.0, difference / deviation)
    z = np.where(np.isnan(deviation), np.nan, z)
    return _normal_distribution(np.asarray(z))


def _normal_distribution(z: Floats) -> Floats:
    """The normal distribution function on arrays, to seven digits (Abramowitz & Stegun 26.2.17)."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(z))
    powers = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi) * powers
    return np.asarray(np.where(z >= 0, 1.0 - tail, tail))
