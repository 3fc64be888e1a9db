"""Conjugate gradients with the diagonal as preconditioner (Hestenes and Stiefel, 1952)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from assay.results.table import Floats


def conjugate_gradients(
    multiply: Callable[[Floats], Floats], diagonal: Floats, b: Floats, tolerance: float, steps: int
) -> tuple[Floats, bool]:
    """Solve for a right side, or for all columns at once; and whether these steps were enough.

    >>> matrix = np.array([[2.0, -1.0], [-1.0, 2.0]])
    >>> found, done = conjugate_gradients(matrix.__matmul__, np.array([2.0, 2.0]), np.array([1.0, 4.0]), 1e-9, 10)
    >>> found.round(6).tolist(), done
    ([2.0, 3.0], True)
    """
    diagonal = diagonal if b.ndim == 1 else diagonal[:, None]
    x = np.zeros_like(b)
    residual = b.copy()
    z = residual / diagonal
    direction = z.copy()
    rho = np.sum(residual * z, axis=0)
    goal = rho * tolerance**2
    for _ in range(steps):
        if np.all(rho <= goal):
            return x, True
        image = multiply(direction)
        curve = np.sum(direction * image, axis=0)
        # A finished column has nothing left to gain; its step is nothing divided by nothing.
        alpha = np.divide(rho, curve, out=np.zeros_like(rho), where=curve > 0)
        x += alpha * direction
        residual -= alpha * image
        z = residual / diagonal
        new = np.sum(residual * z, axis=0)
        beta = np.divide(new, rho, out=np.zeros_like(rho), where=rho > 0)
        direction *= beta
        direction += z
        rho = new
    return x, False
