"""Following an engine on a share of the moves against playing one's own, turn by turn, whatever the rating is off by.

Each turn has a log ratio and a score, the slope of the log chance of the move over the rating. Ratings are not exact:
who is stronger than the rating says finds more of the engine's moves, too. Both sums together tell the one from the
other: z is the weighted sum that sees help best where ratings have an error (a linear discriminant). A rare find counts
for much, so that sums of few turns are skewed; that is taken out, or single games would be alarming far too often.
"""

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
    """The log ratio and the score of every move, less what is expected of honest play; 0 where it is obvious.

    `moments` has of each turn what `standardised` needs: of ratio and score the second moments (three), the third ones
    (four), and what following an engine would add to each.
    """

    ratio: Floats
    score: Floats
    moments: Floats

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which turns can tell anything."""
        return self.moments[:, 0] > 0

    def told(self, rows: NDArray[np.integer]) -> Floats:
        """The log ratio and the score of one move at each turn."""
        return np.stack([self.ratio[rows], self.score[rows]], axis=1)


def ratios(own: Floats, engine: Floats, score: Floats, choices: Choices, share: float = SHARE) -> Ratios:
    """Compare both ways of choosing; `own` and `engine` are the chances of every move, `score` d ln own / d rating."""
    first, turn = choices.start[:-1], choices.turn

    def mean(values: Floats, chances: Floats = own) -> Floats:
        return np.asarray(np.add.reduceat(chances * values, first))

    is_open = (np.maximum.reduceat(own, first) < OBVIOUS)[turn]
    r = np.log1p(share * (engine / np.maximum(own, _LEAST) - 1))
    r = np.where(is_open, r - mean(r)[turn], 0.0)
    s = np.where(is_open, score - mean(score)[turn], 0.0)
    products = (r * r, r * s, s * s, r**3, r * r * s, r * s * s, s**3)
    moments = [*map(mean, products), mean(r, engine), mean(s, engine)]
    return Ratios(r, s, np.stack(moments, axis=1))


def standardised(told: Floats, moments: Floats, error: Floats | float) -> Floats:
    """The z of sums of turns: of `told` (... x 2) and `moments` (... x 9), for ratings that are off by `error`.

    With C the covariance of both sums, ratings' errors included, and d what help adds to them, the weights are C^-1 d.
    nan where nothing is told.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        variance, shared, information, *third, more, higher = np.moveaxis(np.asarray(moments, np.float64), -1, 0)
        off = np.asarray(error, np.float64) ** 2
        a, b, c = variance + off * shared**2, shared * (1 + off * information), information * (1 + off * information)
        alone = ~(a * c - b * b > 1e-9 * a * c)  # no rating would choose otherwise here: the ratio stands by itself
        x, y = np.where(alone, 1.0, c * more - b * higher), np.where(alone, 0.0, a * higher - b * more)
        deviation = np.sqrt(x**2 * a + 2 * x * y * b + y**2 * c)
        skew = (x**3 * third[0] + 3 * x**2 * y * third[1] + 3 * x * y**2 * third[2] + y**3 * third[3]) / deviation**3
        told = np.asarray(told, np.float64)
        return unskewed((x * told[..., 0] + y * told[..., 1]) / deviation, skew)


def unskewed(z: Floats, skew: Floats) -> Floats:
    """A standardised sum of this skewness as one of a normal distribution (Wilson and Hilferty 1931).

    >>> unskewed(np.array([4.0, 4.0, -2.0]), np.array([0.0, 0.5, 0.5])).round(1).tolist()
    [4.0, 3.2, -2.4]
    """
    flat = np.abs(skew) < 1e-3
    skew = np.where(flat, 1.0, skew)
    bent = 6 / skew * (np.cbrt(np.maximum(1 + skew * z / 2, 0.0)) - 1) + skew / 6
    return np.asarray(np.where(flat, z, bent))
