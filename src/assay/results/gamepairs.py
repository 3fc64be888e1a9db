"""Errors from game pairs: two games of the same players from the same opening with the colours reversed.

The two games of a pair share what the opening gives to one side, so their results are not independent, and the
variance of the pair is less than twice that of a game. Here the pair is the unit: its residual, squared, stands in
the filling of the sandwich (the cluster-robust variance; with one pair of players it is the pentanomial of engine
testers).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from assay.records import dataclass
from assay.results.encounters import Floats
from assay.results.expectancy import score_variance
from assay.results.information import Information

if TYPE_CHECKING:
    from assay.results.solve import Equations, Solution

Codes = NDArray[np.signedinteger[Any]]


@dataclass(frozen=True)
class Pentanomial:
    """Game pairs, and the games left over, of which White scored `single_score`.

    In pair k, player `first` had White and scored `opened`, then had Black and gave `other` the score `answered`.
    """

    first: Codes
    other: Codes
    opened: Floats
    answered: Floats
    single_white: Codes
    single_black: Codes
    single_score: Floats

    @property
    def counts(self) -> NDArray[np.int64]:
        """How many pairs gave `first` 0, 1/2, 1, 1 1/2 and 2 points."""
        points = np.round(2.0 * (self.opened + 1.0 - self.answered)).astype(np.intp)
        return np.bincount(points, minlength=5)


def count_pairs(white: Codes, black: Codes, score: Floats, opening: NDArray[np.int64]) -> Pentanomial:
    """Pair games in their order: the k-th of an opening with one colouring goes with the k-th of the other.

    >>> pairs = count_pairs(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([1.0, 0.5, 0.0]), np.array([7, 7, 8]))
    >>> pairs.counts.tolist(), len(pairs.single_white)
    ([0, 0, 0, 1, 0], 1)
    """
    low, high = np.minimum(white, black), np.maximum(white, black)
    turned = white > black
    order = np.lexsort((turned, opening, high, low))
    same = np.ones(len(order), np.bool_)
    for key in (low, high, opening, turned):
        same[1:] &= key[order][1:] == key[order][:-1]
    same[:1] = False
    run = np.arange(len(order))
    place = run - np.maximum.accumulate(np.where(same, 0, run))
    rank = np.empty(len(order), np.int64)
    rank[order] = place
    # Now the two games of a pair agree in all but the colours.
    order = np.lexsort((turned, rank, opening, high, low))
    mates = np.ones(max(len(order) - 1, 0), np.bool_)
    for key in (low, high, opening, rank):
        mates &= key[order][1:] == key[order][:-1]
    a, b = order[:-1][mates], order[1:][mates]
    alone = np.ones(len(order), np.bool_)
    alone[a] = alone[b] = False
    return Pentanomial(white[a], black[a], score[a], score[b], white[alone], black[alone], score[alone])


def pair_filling(problem: Equations, solution: Solution, pairs: Pentanomial) -> Information:
    """The variance of the score with pairs as units; single games have the variance of the model."""
    table, beta = problem.table, problem.beta
    keys = table.white.astype(np.int64) * table.players + table.black

    def rows(white: Codes, black: Codes) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
        wanted = white.astype(np.int64) * table.players + black
        at = np.minimum(np.searchsorted(keys, wanted), len(keys) - 1)
        return at, keys[at] == wanted

    from assay.results.solve import expected

    p = expected(problem, solution.ratings, solution.white)
    there, within = rows(pairs.first, pairs.other)
    back, _ = rows(pairs.other, pairs.first)
    there, back = there[within], back[within]
    opened = pairs.opened[within] - p[there]
    answered = pairs.answered[within] - p[back]
    gap, both = beta * (opened - answered), beta * (opened + answered)
    alone, known = rows(pairs.single_white, pairs.single_black)
    single = np.bincount(alone[known], minlength=len(keys)) * beta**2 * score_variance(p, solution.equal)

    def gather(values: Floats) -> Floats:
        total: Floats = np.bincount(there, values, len(keys)) + single
        return total

    return replace(
        solution.information,
        weight=gather(gap**2),
        side=gather(gap * both),
        corner=gather(both**2),
        extra=np.zeros(len(solution.information.extra)),
    )
