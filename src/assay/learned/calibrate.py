"""One temperature for all logits (Guo et al. 2017), and one power for the evidence of several games."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]


def log_softmax(logits: Floats) -> Floats:
    """Logarithms of the probabilities that logits stand for, over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def fit_temperature(logits: Floats, bands: npt.NDArray[np.int64]) -> float:
    """The temperature T for which softmax(logits / T) makes the true bands most likely.

    >>> rng = np.random.default_rng(1)
    >>> true = rng.normal(size=(20_000, 5))
    >>> bands = (log_softmax(true) + rng.gumbel(size=true.shape)).argmax(axis=1)
    >>> round(fit_temperature(3 * true, bands), 1)
    3.0
    """

    from scipy.optimize import minimize_scalar  # half a second that a guess need not wait for

    def nll(log_temperature: float) -> float:
        logs = log_softmax(logits / np.exp(log_temperature))
        return float(-np.take_along_axis(logs, bands[:, None], axis=-1).mean())

    found = minimize_scalar(nll, bounds=(np.log(0.2), np.log(10.0)), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x))


def pool(logs: Floats, prior: Floats, power: float) -> Floats:
    """The posterior of a player from the log posteriors (games, bands) of several games.

    Each game's evidence is its posterior with the prior divided out. The evidences are averaged and count as n to the
    `power` games: n if games of one player were independent given the band, fewer as they are not (the same openings).

    >>> even = np.full(2, 0.5)
    >>> pool(np.log([[0.6, 0.4], [0.6, 0.4]]), even, 1.0).round(3).tolist()
    [0.692, 0.308]
    """
    evidence = (logs - np.log(prior)).mean(axis=0)
    return np.asarray(np.exp(log_softmax(np.log(prior) + len(logs) ** power * evidence)))


def fit_power(players: list[tuple[Floats, int]], prior: Floats) -> float:
    """The power for which pooled posteriors make the true bands of these players most likely.

    Each player is the log posteriors of several games and the index of the true band.
    """

    from scipy.optimize import minimize_scalar

    def nll(power: float) -> float:
        return -float(np.mean([np.log(max(pool(logs, prior, power)[band], 1e-300)) for logs, band in players]))

    return float(minimize_scalar(nll, bounds=(0.0, 1.5), method="bounded", options={"xatol": 1e-3}).x)
