"""From engine values to a spread: how much worse each move is than the best, on a scale that players feel.

A centipawn matters less the more one side is ahead. Regan and Haworth (RH11, section 3.1) therefore weigh a
difference by dz / (k + abs(z)); integrated, a value x stands at F(x) = sign(x) ln(1 + abs(x) / k).

Blocks are spreads laid out for speed. Most of a padded array is padding (some 20 of 50 moves are inside the cap). Turns
are therefore sorted by their number of moves and cut into blocks, each as narrow as its widest turn and a cache-full at
a time. Within a block the moves run down and the turns across, so that a sum over moves is a sum of long rows.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import ModelError
from assay.records import dataclass

Floats: TypeAlias = NDArray[np.float64]
Scaling: TypeAlias = Literal["log", "pawns", "winprob"]

SCALES: tuple[Scaling, ...] = ("log", "pawns", "winprob")
CAP = 4.0
TIE = 0.03

# Expected score 1 / (1 + 10^(-cp / 400)): the curve of Elo, with a centipawn for a point.
WIN_PROBABILITY_SLOPE = math.log(10) / 4


def scaled(values: ArrayLike, *, k: float = 1.0, scale: Scaling = "log") -> Floats:
    """Put values in pawns on the scale where differences count alike: F(x) of RH11, section 3.1, or another.

    `pawns` leaves them as they are, `winprob` is the chance of winning, 1 / (1 + 10^(-cp / 400)).

    >>> scaled([0.0, 1.0, -1.0]).round(4).tolist(), scaled([0.0, 4.0], scale="winprob").round(4).tolist()
    ([0.0, 0.6931, -0.6931], [0.5, 0.9091])
    """
    x = np.asarray(values, dtype=np.float64)
    if scale == "log":
        if not (np.isfinite(k) and k > 0):
            raise ModelError(f"k must be a positive number, not {k!r}.")
        return np.sign(x) * np.log1p(np.abs(x) / k)
    if scale == "pawns":
        return x
    if scale == "winprob":
        return 0.5 + 0.5 * np.tanh(0.5 * WIN_PROBABILITY_SLOPE * x)
    raise ModelError(f"unknown scale {scale!r}: choose one of {', '.join(SCALES)}.")


def scaled_deltas(
    values: ArrayLike, *, k: float = 1.0, cap: float = CAP, tie: float = TIE, scale: Scaling = "log"
) -> Floats:
    """Turn values (pawns, mover's view, best first) into deltas, delta_i = F(v_0) - F(v_i) (RH11, section 3.1).

    Rows are turns, padded with nan or -inf; the answer has the same shape, padded with +inf. A move more than `cap`
    pawns below the best is out (+inf too). A later move equal to the best gets `tie`, for people prefer the move that
    the engine lists first. A third axis holds depths, the last one deepest: rows are in its order and its cap
    decides, while each depth is measured from its own best move.

    >>> scaled_deltas([[0.5, 0.5, 0.2, -9.0, float("nan")]]).round(3).tolist()
    [[0.0, 0.03, 0.223, inf, inf]]
    """
    v = np.asarray(values, dtype=np.float64)
    if v.ndim == 1:
        return scaled_deltas(v[None, :], k=k, cap=cap, tie=tie, scale=scale).reshape(-1)
    if v.ndim not in (2, 3) or v.shape[-1] == 0:
        raise ModelError(f"spreads are an array of turns x moves (x depths), not of shape {v.shape}.")
    if not (cap > 0 and np.isfinite(tie) and tie >= 0):
        raise ModelError(f"the cap must be positive and the tie value not negative, not {cap!r} and {tie!r}.")
    last = v if v.ndim == 2 else v[:, :, -1]
    listed = _listed(last)
    # A hair of slack: 0.07 - 4.00 is not quite -3.93 in binary.
    inside = listed & (np.where(listed, last, -np.inf) >= last[:, :1] - cap - 1e-9)
    if v.ndim == 3:
        inside_depths = inside[:, :, None]
        if not np.isfinite(v[np.broadcast_to(inside_depths, v.shape)]).all():
            turn = int(np.argwhere(inside_depths & ~np.isfinite(v))[0, 0])
            raise ModelError(f"turn {turn}: a move has a value at the last depth and none at an earlier one.")
        best = np.max(np.where(inside_depths, v, -np.inf), axis=1, keepdims=True)
        first = np.argmax(np.where(inside_depths, v, -np.inf), axis=1)[:, None, :]
    else:
        inside_depths, best, first = inside, v[:, :1], np.zeros((len(v), 1), dtype=np.intp)
    safe = np.where(inside_depths, v, best)
    deltas = scaled(best, k=k, scale=scale) - scaled(safe, k=k, scale=scale)
    deltas[safe == best] = tie
    np.put_along_axis(deltas, first, 0.0, axis=1)
    deltas[~np.broadcast_to(inside_depths, v.shape)] = np.inf
    return deltas


def elsewhere_deltas(values: ArrayLike, *, k: float = 1.0, cap: float = CAP, scale: Scaling = "log") -> Floats:
    """The error that counts for a played move outside the list: the cap's own delta, F(v_0) - F(v_0 - cap), per turn.

    >>> elsewhere_deltas([[0.0, -1.0], [2.0, 1.0]]).round(3).tolist()
    [1.609, 2.197]
    """
    v = np.atleast_2d(np.asarray(values, dtype=np.float64))
    best = v[:, 0] if v.ndim == 2 else v[:, 0, -1]
    return scaled(best, k=k, scale=scale) - scaled(best - cap, k=k, scale=scale)


def _listed(values: Floats) -> NDArray[np.bool_]:
    """Which cells hold a move; complain about the first turn that is no spread."""
    listed = np.isfinite(values)
    counts = listed.sum(axis=1)
    _refuse(np.isposinf(values).any(axis=1), "has an infinite value; give a mate a finite one, beyond any other")
    _refuse(counts == 0, "has no moves; leave it out")
    _refuse(listed[:, 1:].any(axis=1) & (listed[:, 1:] > listed[:, :-1]).any(axis=1), "has a gap (nan) among its moves")
    _refuse(counts == 1, "has a single legal move, which tells nothing of the player; leave it out")
    falls = np.where(listed[:, 1:], values[:, 1:], -np.inf) <= values[:, :-1]
    _refuse(~(falls | ~listed[:, 1:]).all(axis=1), "is not in order: values must come best first")
    return listed


def _refuse(bad: NDArray[np.bool_] | np.bool_, why: str) -> None:
    if bad.any():
        raise ModelError(f"turn {int(np.argmax(bad))} {why}.")


# ln 0 for the best move itself: small enough that x^c vanishes for every c in use, and 0 x ln 0 stays 0.
LOG_ZERO = -1000.0


def log_deltas(deltas: Floats) -> Floats:
    """ln(delta), with a finite stand-in for the best move's ln 0."""
    with np.errstate(divide="ignore"):
        logs = np.log(deltas)
    return np.maximum(logs, LOG_ZERO, out=logs)


# 1,024 turns x 50 moves x 8 bytes: a few such arrays fit in the second-level cache of a usual core.
BLOCK_TURNS = 512


@dataclass(frozen=True)
class Block:
    """Some turns, as columns.

    `turns` are their numbers, `log_delta` is (depths,) moves x turns, `outside` the flat places of cells that hold no
    move.
    """

    turns: NDArray[np.intp]
    log_delta: Floats
    outside: NDArray[np.intp]

    @property
    def moves(self) -> int:
        """Moves of the longest turn."""
        return int(self.log_delta.shape[-2])

    def deltas(self) -> Floats:
        """The deltas again (of the last depth), moves x turns; arbitrary but finite where there is no move."""
        return np.exp(self.log_delta if self.log_delta.ndim == 2 else self.log_delta[-1])


def blocks(deltas: ArrayLike) -> Iterator[Block]:
    """Cut an array of deltas (turns x moves, or turns x moves x depths) into blocks, after checking every turn."""
    array = np.asarray(deltas)
    if array.ndim not in (2, 3):
        raise ModelError(f"deltas are an array of turns x moves (x depths), not of shape {array.shape}.")
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    listed = np.isfinite(array if array.ndim == 2 else array[:, :, -1])
    width = _width(array, listed)
    order = np.argsort(width, kind="stable")
    for start in range(0, len(order), BLOCK_TURNS):
        turns = order[start : start + BLOCK_TURNS]
        moves = int(width[turns[-1]])
        part = np.ascontiguousarray(array[turns, :moves].T, dtype=np.float64)  # (depths,) moves, turns
        outside = np.flatnonzero(np.isinf(part if part.ndim == 2 else part[-1]))
        if len(outside):
            part.reshape(-1, moves * len(turns))[:, outside] = 1.0
        yield Block(turns, log_deltas(part), outside)


def _width(array: NDArray[np.floating], listed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """One past the last move of each turn; complain about the first turn that is no spread."""
    good = array >= 0  # false for nan too
    if not good.all():
        turn = int(np.argwhere(~good)[0, 0])
        raise ModelError(f"turn {turn}: a delta is negative or no number; deltas come from scaled_deltas.")
    if array.ndim == 3 and (np.isfinite(array) != listed[:, :, None]).any():
        turn = int(np.argwhere(np.isfinite(array) != listed[:, :, None])[0, 0])
        raise ModelError(f"turn {turn}: a move is listed at one depth and not at another.")
    if not listed.shape[1] or not (some := listed.any(axis=1)).all():
        turn = int(np.argmin(some)) if listed.shape[1] else 0
        raise ModelError(f"turn {turn} has no moves; leave it out.")
    return np.asarray(listed.shape[1] - np.argmax(listed[:, ::-1], axis=1))


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
