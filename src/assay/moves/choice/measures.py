"""What a reader can check by hand: matches with the engine's best, moves among its three best, the error of a move.

Of each turn what was played and what the model expects of a player, with the covariance of the three. Moves of equal
value count alike: all best moves are the best.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import Choices, filled, pawns
from assay.moves.choice.features import fold, losses, ranks
from assay.records import dataclass

Floats = NDArray[np.float64]

# How an engine's moves look to a shallower search of the same engine: play of 2800 to 2900. A player who is rated near
# that is compared with play so much above.
ENGINE_RATING, ENGINE_ABOVE = 2900.0, 150.0
NAMES = ("match", "top3", "error")
# Strong play has more matches and less error: with these signs more is always better.
SIGNS: Floats = np.array([1.0, 1.0, -1.0])


def scores(choices: Choices) -> NDArray[np.float32]:
    """Of every move: whether it is a best one, whether fewer than three are better, and its scaled error."""
    codes, turn = filled(choices.codes[:, -1:], choices.start), choices.turn
    rank = ranks(codes[:, 0], turn, choices.start)
    loss = losses(fold(pawns(codes)), choices.start[:-1], turn)[:, 0]
    return np.stack([rank == 0, rank < 3, loss], axis=1).astype(np.float32)


def engine_rating(elo: Floats) -> Floats:
    """The rating at which engine-like play is placed for players of these ratings.

    >>> engine_rating(np.array([2000.0, 2850.0])).tolist()
    [2900.0, 3000.0]
    """
    return np.maximum(ENGINE_RATING, np.asarray(elo, dtype=np.float64) + ENGINE_ABOVE)


@dataclass(frozen=True)
class Measures:
    """A row for each turn, or sums of turns: what was played, what is expected, and the covariance of that."""

    turns: NDArray[np.int64]
    actual: Floats
    expected: Floats
    covariance: Floats

    @property
    def residual(self) -> Floats:
        """Actual less expected, positive where play was stronger."""
        return SIGNS * (self.actual - self.expected)

    def sum(self, code: NDArray[np.integer], groups: int) -> Measures:
        """The rows of each group together; a negative code belongs to none."""
        inside = code >= 0
        own = code[inside]
        order = np.argsort(own, kind="stable")
        first = np.flatnonzero(np.diff(own[order], prepend=-1))

        def total(values: NDArray[Any]) -> NDArray[Any]:
            out = np.zeros((groups, *values.shape[1:]), values.dtype)
            if len(order):
                out[own[order][first]] = np.add.reduceat(values[inside][order], first, axis=0)
            return out

        return Measures(*(total(values) for values in (self.turns, self.actual, self.expected, self.covariance)))


def measure(scored: NDArray[np.float32], chances: Floats, choices: Choices) -> Measures:
    """What each turn scored, and what is expected of it given the chance of every move."""
    first = choices.start[:-1]
    weighed = scored * chances[:, None]
    mean = np.add.reduceat(weighed, first, axis=0) if len(first) else np.zeros((0, 3))
    covariance = np.empty((len(first), 3, 3))
    for i in range(3):
        for j in range(i + 1):
            cross = np.add.reduceat(weighed[:, i] * scored[:, j], first) if len(first) else np.zeros(0)
            covariance[:, i, j] = covariance[:, j, i] = cross - mean[:, i] * mean[:, j]
    actual = scored[choices.chosen].astype(np.float64)
    return Measures(np.ones(len(first), np.int64), actual, mean.astype(np.float64), covariance)


@dataclass(frozen=True)
class Scatter:
    """How honest games scatter about what is expected of the rating, from sides of games that no fit has seen.

    `factors` widen the model's standard deviations to those of real games, `correlation` is that of the three z's,
    `weights` mix them to the z that sees engine-like play best.
    """

    factors: Floats
    correlation: Floats
    weights: Floats

    @property
    def mix(self) -> Floats:
        """The weights, scaled so that the mixed z has variance 1."""
        return np.asarray(self.weights / np.sqrt(self.weights @ self.correlation @ self.weights))

    def z(self, sums: Measures) -> Floats:
        """The three z's of each group; nan where nothing can go wrong."""
        variance = np.einsum("nii->ni", sums.covariance)
        told = (variance > 1e-9).all(axis=1)[:, None]
        return np.where(told, sums.residual / (self.factors * np.sqrt(np.where(told, variance, 1.0))), np.nan)


def scatter(sums: Measures, helped: Floats, weight: Floats) -> Scatter:
    """Measure how sides of games scatter; `helped` is what engine-like play would have scored (sides x 3)."""
    variance = np.einsum("nii->ni", sums.covariance)
    factors = np.sqrt((weight @ sums.residual**2) / (weight @ variance))
    z = sums.residual / (factors * np.sqrt(np.maximum(variance, 1e-9)))
    square = (z * weight[:, None]).T @ z
    scale = np.sqrt(np.diag(square))
    correlation = square / np.outer(scale, scale)
    shift = SIGNS * (weight @ (helped - sums.expected)) / (factors * np.sqrt(weight @ variance))
    weights = np.maximum(np.linalg.solve(correlation, shift), 0.0)
    return Scatter(factors, correlation, weights / weights.sum())
