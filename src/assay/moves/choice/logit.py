"""A conditional logit whose tastes change with strength: P(move) ~ exp(g0 + z g1), g0 = a.x, g1 = b.x.

As the exponent is linear in z, the log-likelihood of every turn is concave in z, and so is every sum of turns.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from assay.records import dataclass

Floats = NDArray[np.float64]
_STEPS = 40
_TURNS = 2_000


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
    group: NDArray[np.int64],
    *,
    begin: Taste | None = None,
    centre: Taste | None = None,
    steps: int = _STEPS,
) -> Taste:
    """Maximise the penalised log-likelihood by Newton's method, halving steps that do not improve.

    The ridge draws to zero, or to the taste at the `centre`.

    The Hessian is added up by `group`, turns of like strength, whose mean z stands for theirs: a matrix for each turn's
    z, z squared and 1 would cost three times as much, and the gradient alone decides where the steps end.
    """
    count = table.shape[1]
    turn = np.repeat(np.arange(len(chosen)), np.diff(start))
    ridge = np.concatenate([ridge_a, ridge_b])
    theta = np.zeros(2 * count) if begin is None else np.concatenate([begin.a, begin.b])
    middle = np.zeros(2 * count) if centre is None else np.concatenate([centre.a, centre.b])
    row_z = z[turn]
    order = _blocks(group, weight)
    picked = table[chosen].astype(np.float64)

    def value(theta: Floats) -> tuple[float, Floats]:
        g = table @ theta[:count].astype(np.float32) + row_z * (table @ theta[count:].astype(np.float32))
        log_p = log_chances(g, start, turn)
        return float(weight @ log_p[chosen] - 0.5 * ridge @ (theta - middle) ** 2), log_p

    best, log_p = value(theta)
    for _ in range(steps):
        p = np.exp(log_p)
        gradient, hessian = _derivatives(table, order, start, p, picked, z, weight)
        gradient -= ridge * (theta - middle)
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


def _blocks(group: NDArray[np.int64], weight: Floats) -> list[list[NDArray[np.int64]]]:
    """Turns with any weight, group by group, in blocks that are small enough to work on."""
    blocks = []
    for one in np.unique(group):
        own = np.flatnonzero((group == one) & (weight > 0))
        if len(own):
            blocks.append(np.array_split(own, math.ceil(len(own) / _TURNS)))
    return blocks


def _derivatives(
    table: NDArray[np.float32],
    blocks: list[list[NDArray[np.int64]]],
    start: NDArray[np.int64],
    p: Floats,
    picked: Floats,
    z: Floats,
    weight: Floats,
) -> tuple[Floats, Floats]:
    """Gradient and negative Hessian, without the ridge."""
    count = table.shape[1]
    gradient = np.zeros((2, count))
    hessian = np.zeros((2 * count, 2 * count))
    width = np.diff(start)
    for group in blocks:
        total = np.zeros((count, count), np.float32)
        for turns in group:
            own = width[turns]
            first = np.cumsum(own) - own
            rows = np.repeat(start[turns] - first, own) + np.arange(own.sum())
            x = table[rows]
            share = (p[rows] * np.repeat(weight[turns], own)).astype(np.float32)
            weighed = x * np.sqrt(share)[:, None]
            mean = np.add.reduceat(x * share[:, None], first, axis=0)  # times the weight
            total += weighed.T @ weighed
            spread = mean / np.sqrt(weight[turns]).astype(np.float32)[:, None]
            total -= spread.T @ spread
            off = picked[turns] * weight[turns, None] - mean
            gradient[0] += off.sum(axis=0)
            gradient[1] += z[turns] @ off
        everyone = np.concatenate(group)
        mid = float(weight[everyone] @ z[everyone] / weight[everyone].sum())
        hessian += np.kron(np.array([[1, mid], [mid, mid * mid]]), total)
    return gradient.ravel(), hessian
