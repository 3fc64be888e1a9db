"""From a spread to probabilities: three ways in which temptation becomes a share of the play.

Each move has b_i = ln(1/g_i) from its curve. All three ratio rules of RH11 (section 4) then read

    p_i = exp(-phi(b_i + kappa)),   kappa such that the p_i sum to 1,

with phi = exp for `power` (p_i = p_0^(1/g_i): the papers' model, r(p) = 1/ln(1/p)), phi = identity for `shares`
(p_i proportional to g_i), and phi = Wright's omega for `third` (p ln(1/p_0) / (p_0 ln(1/p)) = g). So one formula gives
the derivatives of all of them: with the weights m_i = p_i phi'_i / sum p phi',

    dp_i/dt = -(sum p phi') m_i (db_i/dt - sum_j m_j db_j/dt).

RMH11 eq. 3-4 and IRC12 eq. 1-2 print the exponent 1/g with the wrong sign; it is exp(+(delta/s)^c).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import wrightomega

from assay.errors import ModelError, NotConverged
from assay.moves.regan.spread import Block, CurveName, Floats, Temptation, blocks, curve_named
from assay.records import dataclass

ModelName: TypeAlias = Literal["power", "shares", "third"]

# Where there is no move, and where a move is hopeless: exp(700) is still a number, exp(-exp(700)) is zero.
HOPELESS = 700.0
# Relative change of the unknown after which one more first-order correction leaves errors under 1e-12.
TOLERANCE = 1e-6
MOST_STEPS = 100
FIRST_MOVES = 8
# L of a lone move is 0; the tiny number in its place keeps what is outside outside.
TINY = 1e-290
UNSOLVED = "the probabilities of some turn could not be found; are its deltas sensible?"


@dataclass(frozen=True)
class Solved:
    """The probabilities of a block: `p` and `p phi'` (moves x turns), and kappa of each turn for a warm start."""

    p: Floats
    p_slope: Floats
    kappa: Floats


@dataclass(frozen=True)
class Slopes:
    """Derivatives by ln s and ln c: of the probabilities (moves x turns each), and of kappa (2 x turns)."""

    by_s: Floats
    by_c: Floats
    kappa: Floats


def _shares(b: Floats, start: Floats | None) -> Solved:
    """p_i = g_i / sum g: closed form."""
    p = np.exp(-b)
    total = p.sum(axis=0)
    p /= total
    return Solved(p, p, np.log(total))


def _power(b: Floats, start: Floats | None) -> Solved:
    """p_i = exp(-L a_i), a = exp(b): Newton on ln sum exp(-L a) = 0, which is convex and falls (RH11, section 4).

    From the left of the root Newton climbs to it and never beyond; from the right its first step lands on the left.
    The first few moves alone bring the start close at a fraction of the cost.
    """
    a = np.exp(b)
    if start is not None:
        L = np.exp(start)
    else:
        L = _least_power(a)
        if len(a) > FIRST_MOVES:
            for _ in range(3):
                L = _newton_power(a[:FIRST_MOVES], L)[0]
    for _ in range(MOST_STEPS):
        new, e, off = _newton_power(a, L)
        step = new - L
        # Where p_0 is 1 to the last digit, the sum is as good as it gets long before L is.
        if np.all((np.abs(step) <= TOLERANCE * new) | (np.abs(off) <= 1e-13)):
            # exp(-new a) to first order, without another pass of exp.
            e -= a * e * step
            e /= e.sum(axis=0)
            a *= e
            a *= new
            return Solved(e, a, np.log(new))
        L = new
    raise NotConverged(UNSOLVED)


def _least_power(a: Floats) -> Floats:
    """A bound below L: L a_0 >= 1 - p_0 >= k exp(-L A) with A the mean of any k others, so L >= W(k A / a_0) / A.

    Lambert's W solves w + ln w = t, which is concave, so that Newton stays below.
    """
    bound = np.full(a.shape[1], TINY)
    for k in (1, 3, 7):
        if k < len(a):
            mean = a[1 : k + 1].mean(axis=0)
            x = k * mean / a[0]
            t = np.log(x)
            w = np.minimum(x, np.maximum(t, 0.6))
            for _ in range(2):
                w *= (1 + t - np.log(w)) / (1 + w)
            np.maximum(bound, w / mean, out=bound)
    return bound


def _newton_power(a: Floats, L: Floats) -> tuple[Floats, Floats, Floats]:
    """One step from L; exp(-L a) before it, and by how much ln sum exp(-L a) misses zero."""
    e = np.multiply(a, -L)
    np.exp(e, out=e)
    total = e.sum(axis=0)
    off = np.log(total)
    new = L + off * total / np.einsum("it,it->t", a, e)
    # A step from far right may land too close to zero, whence the way back is long.
    return np.maximum(new, np.maximum(L / 20, TINY)), e, off


def _third(b: Floats, start: Floats | None) -> Solved:
    """p / ln(1/p) = K g: Newton on ln sum p = 0, with p = exp(-omega(b + kappa)), kappa = -ln K."""
    kappa = np.zeros(b.shape[1]) if start is None else start
    for _ in range(MOST_STEPS):
        omega = wrightomega(b + kappa)
        p = np.exp(-omega)
        p_slope = p * omega / (1 + omega)
        total = p.sum(axis=0)
        off = np.log(total)
        step = off * total / p_slope.sum(axis=0)
        if np.all((np.abs(step) <= TOLERANCE) | (np.abs(off) <= 1e-13)):
            p -= p_slope * step
            p /= p.sum(axis=0)
            return Solved(p, p_slope, kappa)
        kappa = kappa + np.clip(step, -8, 8)
    raise NotConverged(UNSOLVED)


MODELS: dict[ModelName, Callable[[Floats, Floats | None], Solved]] = {
    "power": _power,
    "shares": _shares,
    "third": _third,
}


@dataclass(frozen=True)
class Skill:
    """A fallible player on paper: sensitivity s, consistency c, and how temptation becomes probability.

    `s` and `c` are numbers, or arrays with one value per turn. `weights` spread the judgement over depths (RH11,
    section 8): g_i = sum_d w_d g(delta_i,d).
    """

    s: Floats
    c: Floats
    model: str = "power"
    curve: str = "invexp"
    weights: Floats | None = None

    def solve(self, block: Block, start: Floats | None = None) -> Solved:
        """The probabilities of a block of turns."""
        return MODELS[self.model](self._temptation(block)[0], start)  # type: ignore[index]

    def solve_with_slopes(self, block: Block, start: Floats | None = None) -> tuple[Solved, Slopes]:
        """The probabilities of a block, with their derivatives by ln s and ln c."""
        b, by_s, by_c = self._temptation(block, slopes=True)
        solved = MODELS[self.model](b, start)  # type: ignore[index]
        total = -solved.p_slope.sum(axis=0)
        kappa = np.stack([np.einsum("it,it->t", solved.p_slope, db) / total for db in (by_s, by_c)])
        minus = np.negative(solved.p_slope)
        for db, shift in zip((by_s, by_c), kappa, strict=True):
            db += shift
            db *= minus
        return solved, Slopes(by_s, by_c, kappa)

    def _temptation(self, block: Block, slopes: bool = False) -> tuple[Floats, Floats, Floats]:
        """b = ln(1/g) with its derivatives by ln s and ln c (left empty unless asked for)."""
        curve = curve_named(self.curve)
        s = self.s if self.s.ndim == 0 else self.s[block.turns]
        c = self.c if self.c.ndim == 0 else self.c[block.turns]
        log_s = np.log(s)
        by_s = by_c = np.empty(0)
        if block.log_delta.ndim == 2:
            log_x = block.log_delta - log_s
            b = curve.log_inverse(log_x, c)
            if slopes:
                by_x, by_c = curve.slopes(log_x, c, b)
                by_s = -by_x
        else:
            b, by_s, by_c = self._over_depths(curve, block.log_delta - log_s, c, slopes)
        np.minimum(b, HOPELESS, out=b)
        b.reshape(-1)[block.outside] = HOPELESS
        return b, by_s, by_c

    def _over_depths(self, curve: Temptation, log_x: Floats, c: Floats, slopes: bool) -> tuple[Floats, Floats, Floats]:
        """ln(1/g) of g = sum_d w_d g_d, kept in logarithms so that a hopeless move stays a number."""
        weights = np.full(len(log_x), 1 / len(log_x)) if self.weights is None else self.weights
        each = [curve.log_inverse(x, c) for x in log_x]
        least = np.minimum.reduce(each)
        parts = [w * np.exp(least - b) for w, b in zip(weights, each, strict=True)]
        total = np.sum(parts, axis=0)
        b = least - np.log(np.maximum(total, 1e-300))
        # Only differences of b matter, and the best move of the last depth may look poor at the others.
        b -= b.min(axis=0)
        if not slopes:
            return b, b, b
        by_s, by_c = np.zeros_like(b), np.zeros_like(b)
        for x, part, own in zip(log_x, parts, each, strict=True):
            by_x, by_own_c = curve.slopes(x, c, own)
            share = part / total
            by_s -= share * by_x
            by_c += share * by_own_c
        return b, by_s, by_c


def skill(
    s: ArrayLike, c: ArrayLike, *, turns: int, model: str, curve: str, weights: ArrayLike | None, depths: int | None
) -> Skill:
    """Check the parameters of the model and put them together."""
    if model not in MODELS:
        raise ModelError(f"unknown model {model!r}: choose one of {', '.join(MODELS)}.")
    curve_named(curve)
    values = []
    for name, given in (("s", s), ("c", c)):
        value = np.asarray(given, dtype=np.float64)
        if value.ndim > 1 or (value.ndim == 1 and len(value) != turns):
            raise ModelError(f"{name} is one number or one per turn ({turns}), not of shape {value.shape}.")
        bad = ~(np.isfinite(value) & (value > 0))
        if bad.any():
            where = f" (turn {int(np.argmax(bad))})" if value.ndim else ""
            raise ModelError(f"{name} must be a positive number{where}, not {value[bad].flat[0]}.")
        values.append(value)
    return Skill(values[0], values[1], model, curve, _depth_weights(weights, depths))


def _depth_weights(weights: ArrayLike | None, depths: int | None) -> Floats | None:
    if weights is None:
        return None
    if depths is None:
        raise ModelError("weights need deltas with a third axis, one layer per depth.")
    w = np.asarray(weights, dtype=np.float64)
    if w.shape != (depths,) or not np.isfinite(w).all() or (w < 0).any() or w.sum() <= 0:
        raise ModelError(f"weights are {depths} numbers, one per depth, none negative and not all zero.")
    return np.asarray(w / w.sum())


def prepare(
    deltas: ArrayLike, s: ArrayLike, c: ArrayLike, model: str, curve: str, weights: ArrayLike | None
) -> tuple[NDArray[np.floating], Skill]:
    """The checked arguments that every function of a spread shares."""
    array = np.asarray(deltas)
    if array.ndim not in (2, 3):
        raise ModelError(f"deltas are an array of turns x moves (x depths), not of shape {array.shape}.")
    depths = array.shape[2] if array.ndim == 3 else None
    return array, skill(s, c, turns=len(array), model=model, curve=curve, weights=weights, depths=depths)


def move_probabilities(
    deltas: ArrayLike,
    s: ArrayLike,
    c: ArrayLike,
    *,
    model: ModelName = "power",
    curve: CurveName = "invexp",
    weights: ArrayLike | None = None,
) -> Floats:
    """The probability of each move for a player with sensitivity `s` and consistency `c` (RH11, sections 3 and 4).

    `deltas` is turns x moves, padded with +inf (see `scaled_deltas`); rows of the answer sum to 1 and hold 0 where
    there is no move. `s` and `c` are numbers or one value per turn. A third axis of `deltas` holds depths, weighed by
    `weights` (equally without); the answer is turns x moves all the same.

    >>> move_probabilities([[0.0, 0.0, float("inf")]], s=0.1, c=0.5).tolist()
    [[0.5, 0.5, 0.0]]
    >>> move_probabilities([0.0, 0.1], s=0.1, c=0.5, model="shares").round(4).tolist()
    [0.7311, 0.2689]
    """
    if np.ndim(deltas) == 1:
        one = np.asarray(deltas)[None, :]
        return move_probabilities(one, s, c, model=model, curve=curve, weights=weights).reshape(-1)
    array, someone = prepare(deltas, s, c, model, curve, weights)
    out = np.zeros(array.shape[:2])
    for block in blocks(array):
        p = someone.solve(block).p
        p.reshape(-1)[block.outside] = 0.0
        out[block.turns, : block.moves] = p.T
    return out


def played_log_probabilities(
    deltas: ArrayLike,
    played: ArrayLike,
    s: ArrayLike,
    c: ArrayLike,
    *,
    model: ModelName = "power",
    curve: CurveName = "invexp",
    weights: ArrayLike | None = None,
    floor: float = 0.002,
) -> Floats:
    """ln p of the move played at each turn: what posteriors and likelihood ratios are made of.

    A move outside the list has the probability `floor`, which is taken off the others.

    >>> played_log_probabilities([[0.0, 0.0]], [1], 0.1, 0.5, floor=0.0).round(4).tolist()
    [-0.6931]
    """
    array, someone = prepare(deltas, s, c, model, curve, weights)
    index = check_played(played, array)
    out = np.empty(len(array))
    for block in blocks(array):
        where = index[block.turns]
        p = someone.solve(block).p
        chosen = np.take_along_axis(p, np.maximum(where, 0)[None, :], axis=0)[0]
        out[block.turns] = log_with_floor(chosen, where, floor)
    return out


def log_with_floor(chosen: Floats, where: NDArray[np.intp], floor: float) -> Floats:
    """ln of the played move's probability, with `floor` for what is elsewhere and for what underflows."""
    with np.errstate(divide="ignore"):
        inside = np.log(np.maximum(chosen, 1e-300)) + np.log1p(-floor)
        return np.asarray(np.where(where < 0, np.log(floor), inside))


def check_played(played: ArrayLike, deltas: NDArray[np.floating]) -> NDArray[np.intp]:
    """The index of the played move at each turn; -1 is "elsewhere", and so is a move outside the cap."""
    index = np.asarray(played)
    if index.shape != deltas.shape[:1]:
        raise ModelError(f"there are {len(deltas)} turns, but played has shape {index.shape}.")
    if index.size and index.dtype.kind not in "iu":
        raise ModelError("played holds indices of moves: whole numbers.")
    bad = (index < -1) | (index >= deltas.shape[1])
    if bad.any():
        turn = int(np.argmax(bad))
        raise ModelError(
            f"turn {turn}: the played move has index {index[turn]}, but there are {deltas.shape[1]} moves."
        )
    index = index.astype(np.intp)
    last = deltas if deltas.ndim == 2 else deltas[:, :, -1]
    outside = ~np.isfinite(last[np.arange(len(last)), index])
    return np.where(outside, -1, index)
