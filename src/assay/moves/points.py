"""The performance rating of a score against opponents of known rating."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from assay.moves.regan.spread import Floats

# FIDE's table ends at 800 points above or below the opposition.
MOST = 800.0
POINTS = {"1-0": 1.0, "0-1": 0.0, "1/2-1/2": 0.5}


def performance_rating(opponents: Sequence[float] | Floats, points: float) -> float:
    """The rating at which the expected score against these opponents equals the points, by the logistic curve.

    Perfect scores have none; they are placed 800 points beyond the average opponent, as FIDE's table does.

    >>> performance_rating([2400.0, 2400.0], 1.0), performance_rating([2000.0, 2200.0], 2.0)
    (2400.0, 2900.0)
    """
    ratings = np.asarray(opponents, dtype=np.float64)
    mean = float(ratings.mean())
    low, high = mean - MOST, mean + MOST
    if points <= 0:
        return low
    if points >= len(ratings):
        return high
    for _ in range(60):
        middle = (low + high) / 2
        if np.sum(1 / (1 + 10 ** ((ratings - middle) / 400))) < points:
            low = middle
        else:
            high = middle
    return round((low + high) / 2, 6)
