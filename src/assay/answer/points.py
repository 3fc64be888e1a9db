"""What points against opponents say of a player: the likelihood of results as a curve over ratings.

An opponent is as strong as the rating in the tags says, give or take its error; one without a rating as strong as all
results together say. White's advantage and the share of draws are what is usual among players of that strength.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID, Curve
from assay.results.expectancy import LOGISTIC_SCALE, expectancy, slope, win_draw_loss

Floats = NDArray[np.float64]

# What is usual for White's advantage and for draws among equals, with how far it may be off: where there are few games
# this counts, where there are many their results do.
WHITE, WHITE_ERROR = 35.0, 25.0
DRAWS, DRAWS_ERROR = 0.4, 0.2
TAG_ERROR = 70.0  # of a rating in the tags: what it says, and how well people played that year
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
_PART = 20_000
_IMPOSSIBLE = 1e-300  # a chance that rounding takes to nothing: a win against somebody thousands of points away
_STEP = 0.02  # of shares of draws: games of like shares are worked out together


def result_curves(
    opponent: Floats,
    error: Floats,
    score: Floats,
    white: NDArray[np.bool_],
    *,
    advantage: Floats | float = WHITE,
    draws: Floats | float = DRAWS,
) -> Curve:
    """A row for each side of a game: the likelihood of its score against this opponent, whose rating has this error.

    `advantage` of White and the share of `draws` among equals are one for all games, or one for each. A game without a
    result, or against an opponent of whom nothing is known, says nothing.

    >>> curve = result_curves(np.array([2200.0]), np.array([70.0]), np.array([0.5]), np.array([True]))
    >>> curve.tops().tolist()  # a draw with White: a little less than the opponent
    [2164.0]
    """
    table = np.zeros((len(score), len(GRID)))
    known = np.isfinite(opponent) & np.isfinite(score)
    ahead = np.where(white, 1.0, -1.0) * advantage
    share = np.round(np.broadcast_to(draws, len(score)) / _STEP) * _STEP
    beta = slope(LOGISTIC_SCALE)
    for equal in np.unique(share[known]).tolist():
        alike = np.flatnonzero(known & (share == equal))
        for begin in range(0, len(alike), _PART):
            at = alike[begin : begin + _PART]
            against = opponent[at, None] + error[at, None] * _NODES
            p = expectancy(GRID[None, :, None] + ahead[at, None, None] - against[:, None, :], beta)
            chances = np.stack([one @ _WEIGHTS for one in reversed(win_draw_loss(p, equal))])  # loss, draw, win
            row = (2 * score[at]).astype(np.intp)
            table[at] = np.log(np.maximum(chances[row, np.arange(len(at))] / _WEIGHTS.sum(), _IMPOSSIBLE))
    return Curve(table, GRID)


def performance_error(games: int, draws: float = DRAWS) -> float:
    """The error of a performance rating over so many games against equals.

    >>> round(performance_error(9))
    90
    """
    beta = slope(LOGISTIC_SCALE)
    return float(np.sqrt((1 - draws) / 4 / games) / (beta / 4))


def worth_games(error: float, draws: float = DRAWS) -> float:
    """How many games against equals a performance rating needs for this error.

    >>> round(worth_games(performance_error(9)), 6)
    9.0
    """
    return float((performance_error(1, draws) / error) ** 2)


def names_known(names: Sequence[str], of: dict[str, tuple[float, float]]) -> tuple[Floats, Floats]:
    """Ratings and errors by name, nan where nobody knows."""
    pairs = [of.get(name, (np.nan, np.nan)) for name in names]
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])
