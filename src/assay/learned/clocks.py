"""Clock times as fractions of the base time, so that one model reads bullet and classical games alike."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float32]


def clock_scalars(clock: Floats, base: float | None, increment: float | None) -> Floats:
    """What is left after each ply and what the ply took, as fractions of the base: (plies, 2), nan where unknown.

    The first move of each side is taken to start from the full base.

    >>> clock_scalars(np.array([300, 300, 225, 150], dtype=np.float32), 300, 0).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.75, 0.25], [0.5, 0.5]]
    """
    scalars = np.full((len(clock), 2), np.nan, dtype=np.float32)
    if base is None or base <= 0:
        return scalars
    before = np.concatenate((np.full(2, base, dtype=np.float32), clock[:-2]))[: len(clock)]
    bonus = np.full(len(clock), increment or 0.0, dtype=np.float32)
    bonus[:2] = 0.0
    scalars[:, 0] = clock / base
    scalars[:, 1] = np.maximum(before + bonus - clock, 0.0) / base
    return scalars
