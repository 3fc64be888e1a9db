"""The posterior over ratings, move by move: prior(R) x product of p(move | s(R), c(R))^a over the moves so far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from assay.moves.regan.calibrate import log_posterior
from assay.moves.regan.scale import Scale
from assay.moves.regan.spread import Floats
from assay.moves.regan.tally import Tally

FINE = 20.0


@dataclass(frozen=True)
class Posterior:
    """Probabilities over `ratings` before the first turn (row 0) and after each: turns + 1 rows."""

    ratings: Floats
    probability: Floats

    @property
    def mean(self) -> Floats:
        """The mean rating before the first turn and after each."""
        return np.asarray(self.probability @ self.ratings)

    def quantile(self, share: float) -> Floats:
        """The rating below which lies this share of the probability, row by row."""
        mass = np.cumsum(self.probability, axis=1) - self.probability / 2
        return np.array([np.interp(share, row, self.ratings) for row in mass])

    def interval(self, level: float = 0.95) -> tuple[Floats, Floats]:
        """The central interval of each row."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)


def normal_prior(ratings: Floats, mean: float, deviation: float) -> Floats:
    """The logarithm of a normal prior on a grid of ratings (not normalised).

    >>> normal_prior(np.array([1800.0, 2000.0, 2200.0]), 2000, 200).tolist()
    [-0.5, -0.0, -0.5]
    """
    return np.asarray(-(((ratings - mean) / deviation) ** 2) / 2)


def posterior(turns: Tally, scale: Scale, *, prior: tuple[float, float] | None = None) -> Posterior:
    """Follow the posterior through the turns of one player, in order (one cell per turn); see `posterior_along`."""
    return posterior_along(turns.ratings, turns.log_likelihood, scale, prior=prior)


def posterior_along(
    ratings: Floats, log_likelihood: Floats, scale: Scale, *, prior: tuple[float, float] | None = None
) -> Posterior:
    """Follow the posterior through turns whose log-likelihoods (turns x ratings) are known.

    `prior` is a mean and a standard deviation in Elo; without it all ratings of the artery are alike. The power a is
    that of the calibration, chosen on held-out games so that the intervals hold.
    """
    fine = np.arange(ratings[0], ratings[-1] + 1, FINE)
    start = np.zeros((1, len(ratings)))
    steps = np.concatenate([start, np.cumsum(log_likelihood, axis=0)])
    likelihood = CubicSpline(ratings, steps, axis=1)(fine)
    log_prior = None if prior is None else normal_prior(fine, *prior)
    return Posterior(fine, np.exp(log_posterior(likelihood, scale.power, log_prior)))
