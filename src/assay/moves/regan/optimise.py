"""The one loop of all fits: damped Gauss-Newton in (ln s, ln c) inside a box."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.moves.regan.spread import Floats

# Objective, gradient, and a positive curvature (Gauss-Newton or Fisher).
Evaluation = tuple[float, Floats, Floats]


@dataclass(frozen=True)
class Minimum:
    """Where the loop ended: the point, its objective, whether it converged, which coordinates lie on the box."""

    point: Floats
    value: float
    converged: bool
    on_box: NDArray[np.bool_]
    evaluations: int

    @property
    def at_edge(self) -> bool:
        """Whether the minimum lies at the edge of its range."""
        return bool(self.on_box.any())


def minimise(
    evaluate: Callable[[Floats], Evaluation],
    start: Floats,
    low: Floats,
    high: Floats,
    *,
    fixed: NDArray[np.bool_] | None = None,
    tolerance: float = 1e-7,
    most: int = 80,
) -> Minimum:
    """Minimise by damped Gauss-Newton (Levenberg-Marquardt); a coordinate that pushes against the box stays there.

    `fixed` coordinates keep their start.

    >>> square = lambda x: (float(((x - 1) ** 2).sum()), 2 * (x - 1), 2 * np.eye(len(x)))
    >>> minimise(square, np.zeros(2), np.full(2, -5.0), np.array([5.0, 0.5])).point.round(6).tolist()
    [1.0, 0.5]
    """
    held = np.zeros(len(start), dtype=bool) if fixed is None else fixed
    x = np.where(held, start, np.clip(start, low, high))
    value, gradient, curvature = evaluate(x)
    damping, evaluations, converged = 1e-4, 1, False
    while evaluations < most:
        free = ~(held | ((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
        if not free.any():
            converged = True
            break
        step = np.zeros_like(x)
        inner = curvature[np.ix_(free, free)]
        diagonal = np.diag(inner)
        # A direction without any curvature (nothing at stake) must not make the system singular.
        lift = np.diag(damping * diagonal + 1e-12 * (diagonal.max() + 1e-300))
        step[free] = -np.linalg.solve(inner + lift, gradient[free])
        step /= max(1.0, float(np.abs(step).max()))
        trial = np.where(held, x, np.clip(x + step, low, high))
        if np.abs(trial - x).max() < tolerance:
            converged = True
            break
        new = evaluate(trial)
        evaluations += 1
        if np.isfinite(new[0]) and new[0] < value:
            x, (value, gradient, curvature) = trial, new
            damping = max(damping / 10, 1e-12)
        elif damping > 1e10 or abs(new[0] - value) <= 1e-14 * abs(value):
            # No step is small enough to improve: the objective is flat to the last digit.
            converged = True
            break
        else:
            damping = max(damping * 10, 1e-3)
    return Minimum(x, value, converged, ~held & ((x <= low) | (x >= high)), evaluations)
