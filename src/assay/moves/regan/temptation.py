"""Five curves: how tempting a move is that is worse by delta, g(0) = 1 (RH11, section 4).

A curve is a function of x = delta / s and of c. The solver wants b = ln(1 / g) and its slopes, so a curve is written
as these, with log x given: five formulas, each with its derivative. A new one is an entry of `CURVES`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from assay.errors import ModelError
from assay.moves.regan.spread import Floats, log_deltas

CurveName: TypeAlias = Literal["invexp", "ipa", "ipb", "secha", "sechb"]

# exp(300) is far beyond any spread, and its square is still a number.
LARGEST_EXPONENT = 300.0


@dataclass(frozen=True)
class Temptation:
    """`log_inverse(log_x, c)` is b = ln(1/g); `slopes(log_x, c, b)` are db/dln x and db/dln c."""

    formula: str
    log_inverse: Callable[[Floats, Floats], Floats]
    slopes: Callable[[Floats, Floats, Floats], tuple[Floats, Floats]]


def _power(log_x: Floats, c: Floats) -> Floats:
    """w = x^c."""
    w = np.multiply(log_x, c)
    np.minimum(w, LARGEST_EXPONENT, out=w)
    return np.exp(w, out=w)


def of_power(formula: str, b: Callable[[Floats], Floats], db: Callable[[Floats], Floats | float]) -> Temptation:
    """A curve that depends on w = x^c alone: dw/dln x = c w, dw/dln c = c w ln x.

    >>> double = of_power("exp(-2 x^c)", lambda w: 2 * w, lambda w: 2.0)
    >>> double.log_inverse(np.log([1.0, 4.0]), np.array(0.5)).round(6).tolist()
    [2.0, 4.0]
    """

    def slopes(log_x: Floats, c: Floats, _: Floats) -> tuple[Floats, Floats]:
        w = _power(log_x, c)
        by_x = np.multiply(w, c * db(w))
        return by_x, by_x * log_x

    return Temptation(formula, lambda log_x, c: b(_power(log_x, c)), slopes)


def _log_cosh(w: Floats) -> Floats:
    return np.asarray(w + np.log1p(np.exp(-2 * w)) - np.log(2))


CURVES: dict[CurveName, Temptation] = {
    # Here b is w itself, and its slopes come for nothing: the default should be quick.
    "invexp": Temptation("exp(-x^c)", _power, lambda log_x, c, w: (c * w, c * w * log_x)),
    "ipa": of_power("1/(1 + x^c)", np.log1p, lambda w: 1 / (1 + w)),
    "ipb": Temptation(
        "1/(1 + x)^c",
        lambda log_x, c: c * np.log1p(np.exp(np.minimum(log_x, LARGEST_EXPONENT))),
        lambda log_x, c, b: (c / (1 + np.exp(np.minimum(-log_x, LARGEST_EXPONENT))), b),
    ),
    "secha": of_power("2/(e^(x^c) + e^(-x^c))", _log_cosh, np.tanh),
    "sechb": of_power("4/(e^(x^c) + 2 + e^(-x^c))", lambda w: 2 * _log_cosh(w / 2), lambda w: np.tanh(w / 2)),
}


def curve_named(name: str) -> Temptation:
    """The curve of that name.

    >>> curve_named("ipb").formula
    '1/(1 + x)^c'
    """
    if name not in CURVES:
        raise ModelError(f"unknown curve {name!r}: choose one of {', '.join(CURVES)}.")
    return CURVES[name]


def curve_value(deltas: ArrayLike, s: float, c: float, *, curve: CurveName = "invexp") -> Floats:
    """g(delta / s): how much a move that is worse by delta counts beside the best.

    >>> curve_value([0.0, 0.1, 0.4], s=0.1, c=0.5).round(4).tolist()
    [1.0, 0.3679, 0.1353]
    >>> curve_value([0.1], s=0.1, c=0.5, curve="ipa").tolist()
    [0.5]
    """
    log_x = log_deltas(np.asarray(deltas, dtype=np.float64)) - np.log(s)
    return np.exp(-curve_named(curve).log_inverse(log_x, np.float64(c)))  # type: ignore[arg-type]
