"""Win, draw and loss as functions of a rating difference: the model of Ordo, in a few formulas.

A scale is given by the rating difference at which the stronger side scores 76 %: 202 points in Ordo, 200.24 on the
logistic curve with 400 in it.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np

DrawModel = Literal["ordo", "davidson", "rao-kupper"]
DRAW_MODELS: tuple[DrawModel, ...] = ("ordo", "davidson", "rao-kupper")
SCALE = 202.0
_FLOOR = 1e-12
LOGISTIC_SCALE = 400.0 * math.log10(0.76 / 0.24)


def scale_of(scale: float | Literal["logistic"] | None) -> float:
    """The difference that scores 76 %: Ordo's, unless another is given or the logistic curve with 400 points in it.

    >>> scale_of(None), round(scale_of("logistic"), 2)
    (202.0, 200.24)
    """
    return SCALE if scale is None else LOGISTIC_SCALE if scale == "logistic" else scale


def slope(scale: float = SCALE) -> float:
    """Beta of the expectancy: ln(0.76 / 0.24) / scale.

    >>> round(math.log(10) / slope(LOGISTIC_SCALE), 6)
    400.0
    """
    return math.log(0.76 / 0.24) / scale


def expectancy(difference: Any, beta: float) -> Any:
    """Expected score of the side that is `difference` points ahead: 1 / (1 + exp(-beta d)).

    >>> float(expectancy(202.0, slope()).round(4))
    0.76
    """
    # Far beyond any rating difference the power is infinite and the expectancy rightly zero.
    with np.errstate(over="ignore"):
        return 1.0 / (1.0 + np.exp(np.multiply(difference, -beta)))


def draw_curve(p: Any, equal: float) -> tuple[Any, Any]:
    """Chance of a draw at expectancy `p` when equals draw with chance `equal`, and the root R it is made with.

    The chance D solves a D^2 + 2 D = 4 p (1 - p) with a = (1 - 2 equal) / equal^2, so that D = 4 p (1 - p) / (1 + R)
    with R^2 = 1 + 4 a p (1 - p). At equal = 1/2 this is 2 p (1 - p): two independent half-games.

    >>> [round(float(draw_curve(p, equal)[0]), 4) for p, equal in ((0.5, 0.3), (0.76, 0.5), (0.6, 1.0), (0.6, 0.0))]
    [0.3, 0.3648, 0.8, 0.0]
    """
    spread = np.multiply(p, np.subtract(1.0, p))
    if equal <= 0.0:
        return np.zeros_like(spread), np.full_like(spread, np.inf)
    a = (1.0 - 2.0 * equal) / equal**2
    # At equal = 1 the root is |1 - 2 p|, and rounding alone may carry its square below zero.
    root = np.sqrt(np.maximum(1.0 + 4.0 * a * spread, 0.0))
    return 4.0 * spread / (1.0 + root), root


def win_draw_loss(p: Any, equal: float, model: DrawModel = "ordo") -> tuple[Any, Any, Any]:
    """Chances of a win, a draw and a loss at expectancy `p`.

    With wins W, draws D and losses L, Davidson (1970) has D = v sqrt(W L) and W / L = p / (1 - p); Ordo has the same
    relation of draws to wins and losses, and W + D / 2 = p; Rao and Kupper (1967) have a threshold t:
    W = p / (p + t (1 - p)). In all of them p is the logistic curve, and equals draw with chance `equal`.

    >>> [round(float(chance), 4) for chance in win_draw_loss(0.76, 0.5)]
    [0.5776, 0.3648, 0.0576]
    >>> [round(float(chance), 4) for chance in win_draw_loss(0.76, 0.5, "davidson")]
    [0.4099, 0.4607, 0.1294]
    >>> [round(float(chance), 4) for chance in win_draw_loss(0.76, 0.5, "rao-kupper")]
    [0.5135, 0.3912, 0.0952]
    """
    if model == "davidson":
        tie = _tie(equal) * np.sqrt(np.multiply(p, np.subtract(1.0, p)))
        return p / (1.0 + tie), tie / (1.0 + tie), np.subtract(1.0, p) / (1.0 + tie)
    if model == "rao-kupper":
        threshold = _threshold(equal)
        win, loss = p / (p + threshold * np.subtract(1.0, p)), np.subtract(1.0, p) / (1.0 - p + threshold * p)
        return win, np.maximum(1.0 - win - loss, 0.0), loss
    draw = draw_curve(p, equal)[0]
    win = np.maximum(p - draw / 2.0, 0.0)
    return win, draw, np.maximum(1.0 - win - draw, 0.0)


def outcome_slopes(p: Any, equal: float, model: DrawModel = "ordo") -> tuple[Any, Any, Any]:
    """Derivatives of the chances of a win, a draw and a loss by the expectancy `p`."""
    if model == "davidson":
        v = _tie(equal)
        root = np.maximum(np.sqrt(np.multiply(p, 1.0 - p)), _FLOOR)
        total, bend = 1.0 + v * root, v * (1.0 - 2.0 * p) / (2.0 * root)
        return 1.0 / total - p * bend / total**2, bend / total**2, -1.0 / total - (1.0 - p) * bend / total**2
    if model == "rao-kupper":
        threshold = _threshold(equal)
        win, loss = threshold / (p + threshold * (1.0 - p)) ** 2, -threshold / (1.0 - p + threshold * p) ** 2
        return win, -win - loss, loss
    bend = 2.0 * (1.0 - 2.0 * p) / np.maximum(draw_curve(p, equal)[1], _FLOOR)
    return 1.0 - bend / 2.0, bend, -1.0 - bend / 2.0


def _tie(equal: float) -> float:
    """Davidson's v, at which equals draw with this chance."""
    return 2.0 * equal / max(1.0 - equal, _FLOOR)


def _threshold(equal: float) -> float:
    """The threshold of Rao and Kupper, at which equals draw with this chance."""
    return (1.0 + equal) / max(1.0 - equal, _FLOOR)


def score_variance(p: Any, equal: float) -> Any:
    """Variance of the score of one game: pW + pD / 4 - p^2 = p (1 - p) - pD / 4.

    >>> float(score_variance(0.5, 0.0)), float(score_variance(0.5, 0.5))
    (0.25, 0.125)
    """
    return np.multiply(p, np.subtract(1.0, p)) - draw_curve(p, equal)[0] / 4.0
