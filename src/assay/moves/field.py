"""A field of players: how rare a z is by chance, how many false alarms go with it, and what a field itself is like."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import chdtri, ndtr, ndtri

from assay.records import dataclass

Floats = NDArray[np.float64]

# A field smaller than this cannot be its own null.
FEWEST_FOR_NULL = 10


@dataclass(frozen=True)
class Assistance:
    """The mixture with engine-like play that fits best: its share of moves, and its likelihood ratio against none.

    `low` and `high` are the 95 % interval of the share. From few moves it is nearly everything from 0 to 1: then
    the share says nothing.
    """

    share: float
    log_ratio: float
    low: float
    high: float


def assistance(log_own: Floats, log_engine: Floats, power: float) -> Assistance:
    """Fit the share of engine-like moves: each move is the engine's with probability `share`, else the player's own.

    `log_own` and `log_engine` are the log probabilities of the moves played, for a player of this rating and for
    engine-like play. The power that keeps the posterior honest keeps this ratio honest too.

    >>> assistance(np.log([0.5, 0.5]), np.log([0.4, 0.4]), 1.0)
    Assistance(share=0.0, log_ratio=0.0, low=0.0, high=1.0)
    """
    from scipy.optimize import brentq, minimize_scalar  # a quarter of a second that other ratings need not wait for

    ratio = np.exp(np.clip(log_engine - log_own, -50, 50)) - 1

    def loss(share: float) -> float:
        return -power * float(np.sum(np.log1p(share * ratio)))

    share = 0.0
    if ratio.sum() > 0:
        share = float(minimize_scalar(loss, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-4}).x)
    least = loss(share)

    def refused(other: float) -> float:
        return loss(other) - least - float(chdtri(1, 0.05)) / 2

    # The loss is convex in the share, so that it passes the limit at most once on either side.
    low = float(brentq(refused, 0.0, share)) if refused(0.0) > 0 else 0.0
    high = float(brentq(refused, share, 1.0)) if refused(1.0) > 0 else 1.0
    return Assistance(share, -least, low, high)


def p_values(z: ArrayLike) -> Floats:
    """The chance of so high a z or a higher one in honest play.

    >>> p_values([0.0, 2.0, 4.0]).round(6).tolist()
    [0.5, 0.02275, 3.2e-05]
    """
    return np.asarray(ndtr(-np.asarray(z, dtype=np.float64)))


def q_values(p: ArrayLike, *, dependent: bool = True) -> Floats:
    """False discovery rates: Benjamini-Yekutieli (players of one event are not independent), or Benjamini-Hochberg.

    >>> q_values([0.01, 0.02, 0.9], dependent=False).round(3).tolist()
    [0.03, 0.03, 0.9]
    >>> q_values([0.01, 0.02, 0.9]).round(3).tolist()
    [0.055, 0.055, 1.0]
    """
    values = np.asarray(p, dtype=np.float64)
    count = len(values)
    if not count:
        return values
    price = float(np.sum(1 / np.arange(1, count + 1))) if dependent else 1.0
    order = np.argsort(values)
    raw = values[order] * count * price / np.arange(1, count + 1)
    out = np.empty(count)
    out[order] = np.minimum(np.minimum.accumulate(raw[::-1])[::-1], 1.0)
    return out


@dataclass(frozen=True)
class Null:
    """Centre and spread of the z's of a field, from its middle half."""

    centre: float
    spread: float
    players: int


def field_null(z: ArrayLike) -> Null:
    """The empirical null of a field: median, and the interquartile range in standard deviations (Efron 2004).

    The middle half of a field is honest, so a few assisted players do not move it. A spread below 1 is taken as 1: a
    field may excuse nobody's luck by being calm.

    >>> field_null([-0.7, 0.0, 0.7, 9.0, 0.1, -0.1, 0.4, -0.4, 0.2, -0.2]).centre.__round__(2)
    0.05
    """
    values = np.asarray(z, dtype=np.float64)
    low, middle, high = np.quantile(values, [0.25, 0.5, 0.75])
    return Null(float(middle), max(1.0, float((high - low) / (ndtri(0.75) - ndtri(0.25)))), len(values))


def null_by_group(z: ArrayLike, group: ArrayLike) -> tuple[Floats, Floats]:
    """Centre and spread for each z from its group (a rating band and speed), from all where that is too small."""
    values, codes = np.asarray(z, dtype=np.float64), np.asarray(group)
    whole = field_null(values)
    centre, spread = np.full(len(values), whole.centre), np.full(len(values), whole.spread)
    for code in np.unique(codes):
        own: NDArray[np.bool_] = codes == code
        if own.sum() >= FEWEST_FOR_NULL:
            here = field_null(values[own])
            centre[own], spread[own] = here.centre, here.spread
    return centre, spread
