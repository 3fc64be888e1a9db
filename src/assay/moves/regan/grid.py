"""The grid of the papers: the percentile fit at every pair of s and c that RH11 (section 6) says it looked at.

As printed, c runs from 1 to 5, and the table of the same paper has c from .43 to .55: that cannot be the grid that was
used. Fitted so, c ends at 1, the edge, for players of every strength.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from assay.moves.regan.fitting import Fit, settled
from assay.moves.regan.models import ModelName
from assay.moves.regan.problem import PERCENTILES, Minimum, Problem, percentile_parts
from assay.moves.regan.spread import Floats
from assay.moves.regan.temptation import CurveName

# RH11: s from 0 to .70 by .02, c from 1 to 5 by .20, q by .05. s = 0 is the engine itself, which needs no fit.
S_GRID: Floats = np.linspace(0.02, 0.70, 35)
C_GRID: Floats = np.linspace(1.0, 5.0, 21)


def fit_grid(
    deltas: ArrayLike,
    played: ArrayLike,
    *,
    model: ModelName = "power",
    curve: CurveName = "invexp",
    c: float | None = None,
    games: ArrayLike | None = None,
    elsewhere: ArrayLike | None = None,
) -> Fit:
    """Fit s and c (or s alone, with `c` given) by looking at every point of the printed grid.

    Arguments and answer are those of :func:`assay.moves.regan.fit`.
    """
    problem = Problem(deltas, played, "percentile", model, curve, c, games, None, elsewhere)
    every_c = C_GRID if c is None else np.array([c])
    found = np.array([[_distance(problem, s, one) for s in S_GRID] for one in every_c])
    at_c, at_s = np.unravel_index(int(found.argmin()), found.shape)
    edge = np.array([at_s in (0, len(S_GRID) - 1), c is None and at_c in (0, len(C_GRID) - 1)])
    point = np.log([S_GRID[at_s], every_c[at_c]])
    return settled(problem, Minimum(point, float(found.min()), True, edge, found.size), method="grid")


def _distance(problem: Problem, s: float, c: float) -> float:
    """The sum over the percentiles of (R_q - q)^2."""
    curve = np.zeros(len(PERCENTILES))
    for view in problem.views(np.log([s, c]), slopes=False):
        curve += percentile_parts(view).sum(axis=1)
    return float(np.sum((curve / problem.turns - PERCENTILES) ** 2))
