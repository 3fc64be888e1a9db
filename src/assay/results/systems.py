"""Large symmetric systems solved: conjugate gradients, several right sides at once, and thin parts eliminated first.

Along chains and trees of players conjugate gradients only crawl. There a round takes players with few neighbours, no
two of them neighbours, out of the equations at once (Gaussian elimination; the players left get the equations of the
Schur complement). Half of a chain goes in a few rounds, and 20,000 in a row are gone after some twenty. What is left,
where everybody has many neighbours, is small enough for a full matrix or well enough connected for conjugate
gradients.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.records import dataclass
from assay.results.encounters import Bools, Floats

# First players with at most so many neighbours are taken out, then those with twice as many, and so on; who has more
# than the most stays, for each two of the neighbours become neighbours.
_FEWEST, _MOST = 2, 64
# A round that takes fewer than this share of the players is not worth its time.
_WORTH = 0.01
# By how much the equations may grow.
_GROWTH = 1.5
_FULL = 1200
_STEPS = 20_000
_SEED = 3
# Of the square of the longest direction: what is left of two columns that are alike.
_NOTHING = 1e-13

Places = NDArray[np.intp]


def conjugate_gradients(
    multiply: Callable[[Floats], Floats], diagonal: Floats, b: Floats, tolerance: float, steps: int
) -> tuple[Floats, bool]:
    """Solve for a right side, or for all columns together; and whether these steps were enough.

    >>> matrix = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> found, done = conjugate_gradients(matrix.__matmul__, np.array([2.0, 2.0]), np.array([1.0, 4.0]), 1e-9, 10)
    >>> found.round(6).tolist(), done
    ([2.0, 3.0], True)
    """
    return (_of_one if b.ndim == 1 else _of_several)(multiply, diagonal, b, tolerance, steps)


def _of_one(
    multiply: Callable[[Floats], Floats], diagonal: Floats, b: Floats, tolerance: float, steps: int
) -> tuple[Floats, bool]:
    by = 1.0 / diagonal
    x = np.zeros_like(b)
    residual = b.copy()
    z = residual * by
    direction = z.copy()
    rho = float(residual @ z)
    goal = rho * tolerance**2
    for _ in range(steps):
        if rho <= goal:
            return x, True
        image = multiply(direction)
        curve = float(direction @ image)
        alpha = rho / curve if curve > 0 else 0.0
        x += np.multiply(alpha, direction, out=z)
        image *= alpha
        residual -= image
        np.multiply(residual, by, out=z)
        rho, before = float(residual @ z), rho
        direction *= rho / before
        direction += z
    return x, False


def _of_several(
    multiply: Callable[[Floats], Floats], diagonal: Floats, b: Floats, tolerance: float, steps: int
) -> tuple[Floats, bool]:
    """All columns share what each has searched, which takes a third of the steps (O'Leary, 1980; Ji and Li, 2017).

    Residuals are kept as orthonormal columns and what these are to be multiplied with, so that columns which are alike,
    or done before the others, spoil nothing: what adds nothing is dropped.
    """
    root = 1.0 / np.sqrt(diagonal)[:, None]
    scaled = b * root
    size = np.linalg.norm(scaled, axis=0)
    there = size > 0
    x = np.zeros_like(b)
    basis, parts = _orthonormal(scaled[:, there] / size[there])
    direction, found = basis, np.zeros((len(b), int(there.sum())))
    for _ in range(steps):
        if np.all(np.linalg.norm(parts, axis=0) <= tolerance):
            x[:, there] = found * (root * size[there])
            return x, True
        image = multiply(direction * root) * root
        bend = direction.T @ image
        try:
            step = np.linalg.inv((bend + bend.T) / 2.0)
        except np.linalg.LinAlgError:
            break
        found += direction @ (step @ parts)
        basis, turn = _orthonormal(basis - image @ step)
        direction = basis + direction @ turn.T
        parts = turn @ parts
    x[:, there] = found * (root * size[there])
    return x, False


def _orthonormal(columns: Floats) -> tuple[Floats, Floats]:
    """Orthonormal columns, and what they are multiplied with to give these; as many as these have of their own."""
    values, vectors = np.linalg.eigh(columns.T @ columns)
    kept = values > _NOTHING * np.max(values, initial=0.0)
    lengths = np.sqrt(values[kept])
    return columns @ (vectors[:, kept] / lengths), lengths[:, None] * vectors[:, kept].T


@dataclass(frozen=True)
class Round:
    """One round: who is taken out and who stays (places in the system before it), and what ties them."""

    out: Places
    stay: Places
    diagonal: Floats
    ties: Any


@dataclass(frozen=True)
class Reduced:
    """A symmetric system after some rounds: what is left of it, and how to get the rest back."""

    rounds: list[Round]
    matrix: Any
    inverse: Floats | None

    def solve(self, b: Floats, tolerance: float) -> tuple[Floats, bool]:
        """Solve for a right side, or for each column; and whether that was possible."""
        sides = []
        for step in self.rounds:
            part = _by(b[step.out], step.diagonal)
            sides.append(part)
            b = b[step.stay] - step.ties @ part
        if self.inverse is not None:
            x, done = self.inverse @ b, True
        else:
            x, done = conjugate_gradients(self.matrix.__matmul__, self.matrix.diagonal(), b, tolerance, _STEPS)
        for step, part in zip(reversed(self.rounds), reversed(sides), strict=True):
            whole = np.empty((len(step.out) + len(step.stay), *x.shape[1:]))
            whole[step.stay] = x
            whole[step.out] = part - _by(step.ties.T @ x, step.diagonal)
            x = whole
        return x, done


def reduce(between: Any, diagonal: Floats, never: Bools) -> Reduced:
    """Reduce the system with this diagonal and these symmetric values off it; some coordinates are never taken out.

    >>> from scipy.sparse import csr_array
    >>> chain = csr_array(-(np.eye(4, k=1) + np.eye(4, k=-1)))
    >>> found = reduce(chain, np.array([2.0, 2.0, 2.0, 2.0]), np.array([False, False, False, True]))
    >>> found.solve(np.array([0.0, 0.0, 0.0, 5.0]), 1e-9)[0].round(6).tolist()
    [1.0, 2.0, 3.0, 4.0]
    """
    from scipy.sparse import csr_array, dia_array

    generator = np.random.default_rng(_SEED)
    most = _GROWTH * (between.nnz + len(diagonal))
    rounds: list[Round] = []
    between = csr_array(between)
    few = _FEWEST
    while few <= _MOST and len(diagonal) > 1:
        # Those who are never taken out but tied to all, such as the white advantage, are not counted as neighbours.
        chosen = _apart(between, ~never, few, generator)
        if np.count_nonzero(chosen) < max(1.0, _WORTH * len(diagonal)):
            few *= 2
            continue
        out, stay = np.flatnonzero(chosen), np.flatnonzero(~chosen)
        ties = between[stay][:, out]
        scaled = ties @ dia_array((1.0 / diagonal[out][None, :], 0), shape=(len(out), len(out)))
        left = csr_array(between[stay][:, stay] - scaled @ ties.T)
        if left.nnz > most:
            break
        rounds.append(Round(out, stay, diagonal[out], ties))
        diagonal = diagonal[stay] + left.diagonal()
        left.setdiag(0.0)
        left.eliminate_zeros()
        between, never = left, never[stay]
    matrix = csr_array(between + dia_array((diagonal[None, :], 0), shape=between.shape))
    full = len(diagonal) <= _FULL
    return Reduced(rounds, matrix, np.linalg.inv(matrix.toarray()) if full else None)


def _apart(between: Any, may: Bools, few: int, generator: np.random.Generator) -> Bools:
    """Some of those with few neighbours, no two of them neighbours: who has the fewest, by lot among equals."""
    starts, columns = between.indptr, between.indices
    counted = may[columns]
    neighbours = np.diff(np.concatenate(([0], np.cumsum(counted)))[starts])
    candidates = may & (neighbours <= few)
    order = np.where(candidates, neighbours + generator.random(len(may)), np.inf)
    # The end is a place of its own, for rows without neighbours.
    around = np.append(order[columns], np.inf)
    least = np.minimum.reduceat(around, np.minimum(starts[:-1], len(columns)))
    least[starts[:-1] == starts[1:]] = np.inf
    apart: Bools = candidates & (order < least)
    return apart


def _by(values: Floats, diagonal: Floats) -> Floats:
    return values / (diagonal if values.ndim == 1 else diagonal[:, None])
