"""The likelihood ratio of following an engine on a share of the moves against playing one's own, turn by turn."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import Choices

Floats = NDArray[np.float64]

# The share for which the test is made: near it, it is the best there is, and it loses little elsewhere.
SHARE = 0.3
# Where one move is so likely, nobody can be told from anybody.
OBVIOUS = 0.9
_LEAST = 1e-9


@dataclass(frozen=True)
class Ratios:
    """Of each turn the log ratio of the move played, and its mean and variance in honest play; 0 where it is obvious.

    `mixed` has the log ratio of every move: what another way of choosing would be expected to score.
    """

    told: Floats
    expected: Floats
    variance: Floats
    mixed: Floats

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which turns can tell anything."""
        return self.variance > 0

    def z(self, code: NDArray[np.integer], groups: int) -> Floats:
        """The standardised sum of each group; nan where nothing is told. A negative code belongs to none."""
        inside = code >= 0
        sums = (
            np.bincount(code[inside], values[inside], groups) for values in (self.told - self.expected, self.variance)
        )
        off, variance = sums
        return np.where(variance > 0, off / np.sqrt(np.where(variance > 0, variance, 1.0)), np.nan)


def ratios(own: Floats, engine: Floats, choices: Choices, share: float = SHARE) -> Ratios:
    """Compare the moves played with both ways of choosing; `own` and `engine` are the chances of every move."""
    first, turn = choices.start[:-1], choices.turn
    mixed = np.log1p(share * (engine / np.maximum(own, _LEAST) - 1))
    mean = np.add.reduceat(own * mixed, first)
    variance = np.add.reduceat(own * (mixed - mean[turn]) ** 2, first)
    told = np.maximum.reduceat(own, first) < OBVIOUS
    played, mean, variance = (np.where(told, values, 0.0) for values in (mixed[choices.chosen], mean, variance))
    return Ratios(played, mean, variance, np.where(told[turn], mixed, 0.0))
