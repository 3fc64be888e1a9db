"""How hard a position is beyond what its values say, and what that adds to matches and errors.

Two positions with the same spread are not equally hard. Players lose more when they are ahead, with many moves to
choose from, late in the game, and where a shallow look misleads. A calibration measures by how much, and what is
expected of a player gets an **allowance** for it: the same for every rating, and zero on average over the calibration's
own turns. So a rating depends less on which positions the games happened to bring (docs/validation.md: the noise of a
turn falls by a sixth).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import ModelError
from assay.moves.regan.models import move_probabilities
from assay.moves.regan.spread import CAP, TIE, Floats, elsewhere_deltas, scaled, scaled_deltas

# What is looked at. The last two need the values of two lesser depths; without them they are unknown (nan).
TRAITS = ("error", "match", "value", "ahead", "moves", "ply", "shallow_error", "shallow_loss")
# What is fitted: the traits, and their squares.
TERMS = (*TRAITS, *(f"{name}^2" for name in TRAITS))
# An average player, whose expected error and matches are traits.
S, C = 0.2, 0.54
LAST_PLY = 120.0
# So many lesser depths, and how far below the depth of the analysis they are.
LESSER = (3, 5)
# Beyond so many standard deviations a trait counts no more; so many turns does the belief in no effect weigh.
FURTHEST = 3.0
BELIEF_TURNS = 200.0
_CHUNK = 20_000


def lesser_depths(depth: int) -> tuple[int, ...]:
    """The lesser depths whose values the traits are made from.

    >>> lesser_depths(10), lesser_depths(4)
    ((7, 5), (1, 1))
    """
    return tuple(max(depth - below, 1) for below in LESSER)


def traits(
    values: ArrayLike,
    ply: ArrayLike,
    lesser: ArrayLike | None = None,
    *,
    k: float = 1.0,
    cap: float = CAP,
    tie: float = TIE,
) -> Floats:
    """The traits of positions, turns x 8.

    `values` are turns x moves in pawns, best first, padded with nan; `lesser` has the same moves at two lesser depths,
    turns x moves x 2 (nan where unknown). In turn: error and matches of an average player; the value of the best move,
    and how far that is above zero; ln of the number of moves; the ply; the error (by `values`) of an average player who
    sees the first lesser depth only; the loss of the move that is best at the second.

    >>> traits([[0.5, 0.2], [0.1, 0.0]], [20, 21]).round(2)[:, :6].tolist()
    [[0.07, 0.68, 0.41, 0.41, 0.69, 20.0], [0.04, 0.61, 0.1, 0.1, 0.69, 21.0]]
    """
    v, when = np.asarray(values, dtype=np.float64), np.asarray(ply, dtype=np.float64)
    below = np.empty((*v.shape, 0)) if lesser is None else np.asarray(lesser, dtype=np.float64)
    if v.ndim != 2 or when.shape != v.shape[:1] or below.shape[:2] != v.shape or below.shape[2] not in (0, len(LESSER)):
        raise ModelError(
            f"values (turns x moves), plies (turns) and lesser depths (turns x moves x {len(LESSER)}) do not go "
            f"together: {v.shape}, {when.shape}, {below.shape}."
        )
    out = np.full((len(v), len(TRAITS)), np.nan)
    for start in range(0, len(v), _CHUNK):
        part = slice(start, start + _CHUNK)
        deltas = scaled_deltas(v[part], k=k, cap=cap, tie=tie)
        losses = np.where(np.isfinite(deltas), deltas, elsewhere_deltas(v[part], k=k, cap=cap)[:, None])
        chance = move_probabilities(deltas, S, C)
        best = scaled(v[part, 0], k=k)
        out[part, 0] = (chance * losses).sum(axis=1)
        out[part, 1] = chance[:, 0]
        out[part, 2], out[part, 3] = best, np.maximum(best, 0)
        out[part, 4] = np.log(np.isfinite(v[part]).sum(axis=1))
        out[part, 5] = np.minimum(when[part], LAST_PLY)
        if below.shape[2]:
            first, second = (_ranked(below[part, :, at], losses) for at in range(2))
            seen = np.isfinite(first[0]).sum(axis=1) > 1
            chance = move_probabilities(scaled_deltas(first[0][seen], k=k, cap=cap, tie=tie), S, C)
            out[np.flatnonzero(seen) + start, 6] = (chance * first[1][seen]).sum(axis=1)
            out[part, 7] = np.where(np.isfinite(second[0][:, 0]), second[1][:, 0], np.nan)
    return out


def _ranked(values: Floats, losses: Floats) -> tuple[Floats, Floats]:
    """Values best first, unknown ones last, and the losses of the same moves in that order."""
    order = np.argsort(np.where(np.isfinite(values), -values, np.inf), axis=1, kind="stable")
    return np.take_along_axis(values, order, axis=1), np.take_along_axis(losses, order, axis=1)


@dataclass(frozen=True)
class Difficulty:
    """What each trait adds to matches, top-3 moves and errors.

    Traits are centred, divided by `deviation`, cut at three and taken with their squares; `centre` is the mean of these
    terms, so that the allowance is zero on average; `coefficients` are terms x 3. An unknown trait adds nothing.
    """

    mean: Floats
    deviation: Floats
    centre: Floats
    coefficients: Floats

    def allowance(self, of: ArrayLike) -> Floats:
        """What the traits add to match, top3 and error at each turn, turns x 3."""
        terms, known = _terms(np.asarray(of, dtype=np.float64), self.mean, self.deviation)
        return np.asarray(np.where(known, terms - self.centre, 0.0) @ self.coefficients)

    def strongest(self, count: int) -> list[tuple[str, float, float]]:
        """The traits that weigh most, with what a standard deviation more of them adds to matches and errors."""
        linear = self.coefficients[: len(TRAITS)]
        order = np.argsort(-np.abs(linear[:, 0]), kind="stable")[:count]
        return [(TRAITS[i], float(linear[i, 0]), float(linear[i, 2])) for i in order]


def no_difficulty() -> Difficulty:
    """Every position as hard as its values say.

    >>> no_difficulty().allowance(traits([[0.5, 0.2]], [20])).tolist()
    [[0.0, 0.0, 0.0]]
    """
    count = len(TRAITS)
    return Difficulty(np.zeros(count), np.ones(count), np.zeros(2 * count), np.zeros((2 * count, 3)))


def fit_difficulty(of: Floats, surplus: Floats, mark: NDArray[np.intp]) -> Difficulty:
    """Measure what traits add, within the marks, so that it is not the players' strength that is explained.

    `of` are the traits, `surplus` (turns x 3) is what was played less what one and the same player would have done, at
    each turn. Least squares, held towards no effect by a belief that is worth a few hundred turns.
    """
    known = np.isfinite(of)
    seen = np.maximum(known.sum(axis=0), 1)
    mean = np.where(known, of, 0).sum(axis=0) / seen
    deviation = np.sqrt((np.where(known, of - mean, 0) ** 2).sum(axis=0) / seen)
    deviation = np.where(deviation > 1e-9, deviation, 1.0)
    terms, filled = _terms(of, mean, deviation)
    centre = np.where(filled, terms, 0).sum(axis=0) / np.maximum(filled.sum(axis=0), 1)
    away = np.where(filled, terms - centre, 0.0)
    x, y = (_within(columns, mark) for columns in (away, surplus))
    coefficients = np.linalg.solve(x.T @ x + BELIEF_TURNS * np.eye(x.shape[1]), x.T @ y)
    return Difficulty(mean, deviation, centre, np.asarray(coefficients, dtype=np.float64))


def _terms(of: Floats, mean: Floats, deviation: Floats) -> tuple[Floats, NDArray[np.bool_]]:
    """Traits and their squares, and where they are known."""
    known = np.isfinite(of)
    z = np.clip(np.where(known, (of - mean) / deviation, 0.0), -FURTHEST, FURTHEST)
    return np.hstack([z, z**2]), np.hstack([known, known])


def _within(columns: Floats, mark: NDArray[np.intp]) -> Floats:
    """Columns less their means at each mark."""
    _, code = np.unique(mark, return_inverse=True)
    counts = np.bincount(code)
    means = [np.bincount(code, column) / counts for column in columns.T]
    return columns - np.stack(means, axis=1)[code]
