"""Following an engine on a share of the moves against playing one's own, turn by turn, whatever the rating is off by.

Each turn has a log ratio and a score, the slope of the log chance of the move over the rating. Ratings are not exact:
who is stronger than the rating says finds more of the engine's moves, too. Both sums together tell the one from the
other: z is the weighted sum that sees help best where ratings have an error (a linear discriminant). A rare find counts
for much, so that sums of few turns are skewed; that is taken out, or single games would be alarming far too often.

Nobody knows which engine was followed. Each that was asked is a guess of its own with its own ratios, and so is any
other one; the highest z counts, made less by as much as the highest of so many is high by chance.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.special import log_ndtr, ndtri

from assay.engine.choices import Choices
from assay.records import dataclass

Floats = NDArray[np.float64]

# The share for which the test is made: near it, it is the best there is, and it loses little elsewhere.
SHARE = 0.3
# Where one move is so likely, nobody can be told from anybody.
OBVIOUS = 0.9
_LEAST = 1e-9
# What several z's have in common is one normal number; over these values of it their chances are summed.
_COMMON = np.linspace(-9.0, 9.0, 181)
_MOST_ALIKE = 0.98


@dataclass(frozen=True)
class Ratios:
    """The log ratios of every move for each guess, and its score, less what is expected of honest play.

    Where one move is obvious all are 0.

    `moments` has of each turn and guess what `standardised` needs: of ratio and score the second moments (three), the
    third ones (four), and what following an engine would add to each. `between` has the second moments of the ratios of
    any two guesses.
    """

    ratio: Floats
    score: Floats
    moments: Floats
    between: Floats

    @property
    def counts(self) -> NDArray[np.bool_]:
        """Which turns can tell anything."""
        return np.asarray(self.moments[:, :, 0].max(axis=1) > 0)

    def told(self, rows: NDArray[np.integer]) -> Floats:
        """The log ratios and the score of one move at each turn (turns x guesses x 2)."""
        ratio = self.ratio[rows]
        return np.stack([ratio, np.broadcast_to(self.score[rows, None], ratio.shape)], axis=2)


def ratios(own: Floats, engines: Floats, score: Floats, choices: Choices, share: float = SHARE) -> Ratios:
    """Compare both ways of choosing; `own` are the chances of every move, `score` is d ln own / d rating.

    `engines` has a column for each guess: the chances of every move where that engine is followed.
    """
    first, turn = choices.start[:-1], choices.turn

    def mean(values: Floats, chances: Floats = own) -> Floats:
        weight = chances[:, None] if values.ndim > chances.ndim else chances
        return np.asarray(np.add.reduceat(weight * values, first))

    is_open = (np.maximum.reduceat(own, first) < OBVIOUS)[turn]
    r = np.log1p(share * (engines / np.maximum(own, _LEAST)[:, None] - 1))
    r = np.where(is_open[:, None], r - mean(r)[turn], 0.0)
    s = np.where(is_open, score - mean(score)[turn], 0.0)
    t = np.broadcast_to(s[:, None], r.shape)
    products = (r * r, r * t, t * t, r**3, r * r * t, r * t * t, t**3)
    moments = [*map(mean, products), mean(r, engines), mean(t, engines)]
    between = np.stack([mean(r * one[:, None]) for one in r.T], axis=1)
    return Ratios(r, s, np.stack(moments, axis=2), between)


@dataclass(frozen=True)
class _Weighed:
    """How the sums of ratio and score are weighed: the weights of both, their covariance, and the sum's deviation."""

    x: Floats
    y: Floats
    both: Floats
    scores: Floats
    deviation: Floats


def _weighed(moments: Floats, error: Floats) -> _Weighed:
    """The weights that see help best where ratings are off by `error`."""
    variance, shared, information, *_, more, higher = np.moveaxis(moments, -1, 0)
    off = error**2
    a, b, c = variance + off * shared**2, shared * (1 + off * information), information * (1 + off * information)
    alone = ~(a * c - b * b > 1e-9 * a * c)  # no rating would choose otherwise here: the ratio stands by itself
    x, y = np.where(alone, 1.0, c * more - b * higher), np.where(alone, 0.0, a * higher - b * more)
    return _Weighed(x, y, b, c, np.sqrt(x**2 * a + 2 * x * y * b + y**2 * c))


def standardised(told: Floats, moments: Floats, error: Floats | float) -> Floats:
    """The z of sums of turns: of `told` (... x 2) and `moments` (... x 9), for ratings that are off by `error`.

    With C the covariance of both sums, ratings' errors included, and d what help adds to them, the weights are C^-1 d.
    nan where nothing is told.
    """
    told, moments = np.asarray(told, np.float64), np.asarray(moments, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        found = _weighed(moments, np.asarray(error, np.float64))
        x, y = found.x, found.y
        third = np.moveaxis(moments[..., 3:7], -1, 0)
        total = x**3 * third[0] + 3 * x**2 * y * third[1] + 3 * x * y**2 * third[2] + y**3 * third[3]
        z = (x * told[..., 0] + y * told[..., 1]) / found.deviation
        return unskewed(z, total / found.deviation**3)


def best(told: Floats, moments: Floats, between: Floats, error: Floats | float) -> Floats:
    """The highest z of all guesses, less what is high by chance: of `told` (... x guesses x 2) and so on.

    Honest players' z's go together, for engines choose alike: how much, their covariance says.
    """
    off, moments = np.asarray(error, np.float64)[..., None], np.asarray(moments, np.float64)
    z = standardised(told, moments, off)
    count = z.shape[-1]
    if count == 1:
        return np.asarray(z[..., 0])

    def pairs(one: Floats, other: Floats) -> Floats:
        return one[..., :, None] * other[..., None, :]

    with np.errstate(divide="ignore", invalid="ignore"):
        found = _weighed(moments, off)
        x, y, shared = found.x / found.deviation, found.y / found.deviation, off * moments[..., 1]
        mixed = pairs(x * found.both, y)
        covariance = pairs(x, x) * (between + pairs(shared, shared)) + mixed + np.swapaxes(mixed, -1, -2)
        covariance += pairs(y * found.scores, y)
        alike = (covariance.sum(axis=(-2, -1)) - count) / (count * (count - 1))
    return highest(z, alike)


def highest(z: Floats, alike: Floats | float) -> Floats:
    """The highest of several z's (the last axis) as one of a normal distribution, where any two correlate by `alike`.

    >>> highest(np.array([[4.0, 1.0, 0.0], [0.5, -0.2, 0.0]]), 0.5).round(2).tolist()
    [3.74, -0.1]
    >>> highest(np.array([4.0, 4.0, 4.0]), 0.98).round(1).tolist()
    3.9
    """
    top, count = np.asarray(z.max(axis=-1)), z.shape[-1]
    common = np.clip(np.asarray(alike, np.float64), 0.0, _MOST_ALIKE)[..., None]
    below = count * log_ndtr((top[..., None] - np.sqrt(common) * _COMMON) / np.sqrt(1 - common))
    weight = np.exp(-(_COMMON**2) / 2)
    weight /= weight.sum()
    over, under = (-np.expm1(below) * weight).sum(axis=-1), (np.exp(below) * weight).sum(axis=-1)
    return np.asarray(np.where(over < under, -ndtri(np.maximum(over, 1e-300)), ndtri(np.maximum(under, 1e-300))))


def unskewed(z: Floats, skew: Floats) -> Floats:
    """A standardised sum of this skewness as one of a normal distribution (Wilson and Hilferty 1931).

    >>> unskewed(np.array([4.0, 4.0, -2.0]), np.array([0.0, 0.5, 0.5])).round(1).tolist()
    [4.0, 3.2, -2.4]
    """
    flat = np.abs(skew) < 1e-3
    skew = np.where(flat, 1.0, skew)
    bent = 6 / skew * (np.cbrt(np.maximum(1 + skew * z / 2, 0.0)) - 1) + skew / 6
    return np.asarray(np.where(flat, z, bent))
