"""A conditional logit whose tastes change with strength: P(move) ~ exp(g0 + z g1), g0 = a.x, g1 = b.x.

As the exponent is linear in z, the log-likelihood of every turn is concave in z, and so is every sum of turns.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
_STEPS = 40
_ROWS = 200_000


@dataclass(frozen=True)
class Taste:
    """What draws everybody (`a`) and what strength changes (`b`), by standardised feature."""

    a: Floats
    b: Floats


def log_chances(g: Floats, start: NDArray[np.int64], turn: NDArray[np.int64]) -> Floats:
    """Log-probabilities of moves from their exponents, turn by turn."""
    first = start[:-1]
    shifted = g - np.maximum.reduceat(g, first)[turn]
    return shifted - np.log(np.add.reduceat(np.exp(shifted), first))[turn]


def fit(
    table: NDArray[np.float32],
    start: NDArray[np.int64],
    chosen: NDArray[np.int64],
    z: Floats,
    weight: Floats,
    ridge_a: Floats,
    ridge_b: Floats,
    *,
    begin: Taste | None = None,
) -> Taste:
    """Maximise the penalised log-likelihood by Newton's method, halving steps that do not improve."""
    count = table.shape[1]
    turn = np.repeat(np.arange(len(chosen)), np.diff(start))
    first = start[:-1]
    ridge = np.concatenate([ridge_a, ridge_b])
    theta = np.zeros(2 * count) if begin is None else np.concatenate([begin.a, begin.b])
    row_z, row_weight = z[turn], weight[turn]
    picked = table[chosen].astype(np.float64)

    def value(theta: Floats) -> tuple[float, Floats]:
        g = table @ theta[:count].astype(np.float32) + row_z * (table @ theta[count:].astype(np.float32))
        log_p = log_chances(g, start, turn)
        return float(weight @ log_p[chosen] - 0.5 * ridge @ theta**2), log_p

    best, log_p = value(theta)
    for _ in range(_STEPS):
        p = np.exp(log_p)
        gradient, hessian = _derivatives(table, first, turn, p, picked, z, weight, row_z, row_weight)
        gradient -= ridge * theta
        hessian[np.diag_indices(2 * count)] += ridge
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-4:
            new, new_log_p = value(theta + size * step)
            if new > best:
                break
            size /= 2
        else:
            break
        theta = theta + size * step
        gained, best, log_p = new - best, new, new_log_p
        if gained < 1e-6 * abs(best) / 100:
            break
    return Taste(theta[:count], theta[count:])


def _derivatives(
    table: NDArray[np.float32],
    first: NDArray[np.int64],
    turn: NDArray[np.int64],
    p: Floats,
    picked: Floats,
    z: Floats,
    weight: Floats,
    row_z: Floats,
    row_weight: Floats,
) -> tuple[Floats, Floats]:
    """Gradient and negative Hessian, without the ridge; the Hessian's three blocks differ in the power of z alone."""
    count = table.shape[1]
    mean = np.empty((len(first), count), np.float32)
    blocks = [np.zeros((count, count)) for _ in range(3)]
    bounds = np.append(np.arange(0, len(first), 4096), len(first))
    ends = np.append(first, len(table))
    for low, high in pairwise(bounds.tolist()):
        rows = slice(ends[low], ends[high])
        x = table[rows]
        own = p[rows].astype(np.float32)
        weighed = x * own[:, None]
        mean[low:high] = np.add.reduceat(weighed, first[low:high] - ends[low], axis=0)
        for power, block in enumerate(blocks):
            by_row = (row_weight[rows] * row_z[rows] ** power).astype(np.float32)
            by_turn = (weight[low:high] * z[low:high] ** power).astype(np.float32)
            block += weighed.T @ (x * by_row[:, None]) - mean[low:high].T @ (mean[low:high] * by_turn[:, None])
    off = picked - mean
    gradient = np.concatenate([(weight[:, None] * off).sum(axis=0), ((weight * z)[:, None] * off).sum(axis=0)])
    one, two, three = blocks
    return gradient, np.block([[one, two], [two, three]])
