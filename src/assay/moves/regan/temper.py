"""The power of the posterior: how much of the model's likelihood may be believed.

Moves of one game hang together and no player is quite the model, so a product of probabilities is too sure of itself.
One power a on the likelihood mends that; it is chosen on games that the artery was not fitted to, as the one that
gives the true ratings the greatest density (a proper score), and the coverage it leads to is reported.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import logsumexp

from assay.moves.regan.spread import Floats

LEVELS = (0.5, 0.8, 0.95)
SIZES = (1, 4, 9)


@dataclass(frozen=True)
class Power:
    """The power, and the share of held-out ratings inside the central 50, 80 and 95 % of their posteriors."""

    power: float
    coverage: Floats


def log_posterior(log_likelihood: Floats, power: float, log_prior: Floats | None = None) -> Floats:
    """Normalised log posterior over the ratings (last axis); flat prior unless one is given.

    >>> np.exp(log_posterior(np.log([0.1, 0.4]), power=0.5)).round(4).tolist()
    [0.3333, 0.6667]
    """
    total = power * log_likelihood + (0.0 if log_prior is None else log_prior)
    return np.asarray(total - logsumexp(total, axis=-1, keepdims=True))


def fit_power(log_likelihood: Floats, elo: Floats, mark: Floats, ratings: Floats, *, seed: int = 0) -> Power:
    """Choose the power on held-out sides, alone and in sets of four and nine from one mark.

    The prior is flat over the ratings given.
    """
    rng = np.random.default_rng(seed)
    sets, truths = [], []
    for size in SIZES:
        for m in np.unique(mark):
            own = rng.permutation(np.flatnonzero(mark == m))
            for start in range(0, len(own) - size + 1, size):
                rows = own[start : start + size]
                sets.append(log_likelihood[rows].sum(axis=0))
                truths.append(float(elo[rows].mean()))
    table, truth = np.array(sets), np.array(truths)

    def loss(power: float) -> float:
        density = log_posterior(table, power)
        return -float(np.mean([np.interp(r, ratings, row) for r, row in zip(truth, density, strict=True)]))

    power = float(minimize_scalar(loss, bounds=(0.02, 2.0), method="bounded").x)
    rank = np.array(
        [
            np.interp(r, ratings, np.cumsum(np.exp(row)) - np.exp(row) / 2)
            for r, row in zip(truth, log_posterior(table, power), strict=True)
        ]
    )
    return Power(power, np.array([np.mean(np.abs(rank - 0.5) <= level / 2) for level in LEVELS]))
