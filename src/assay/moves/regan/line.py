"""The line from average error to Elo, and the c that goes with a rating (RH11, section 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from assay.errors import CalibrationError
from assay.moves.regan.spread import Floats


@dataclass(frozen=True)
class Line:
    """IPR = `intercept` - `slope` x AE_R, with the covariance of the two numbers.

    `misfit` is chi-squared per degree of freedom of the marks about the line: above 1, the marks scatter more than
    their own errors explain, and the covariance has been widened by it.
    """

    intercept: float
    slope: float
    covariance: Floats
    misfit: float = 1.0

    def rating(self, average_error: float) -> float:
        """The rating of an average error on the reference set.

        >>> Line(3571.0, 15413.0, np.zeros((2, 2))).rating(0.0572).__round__()
        2689
        """
        return self.intercept - self.slope * average_error

    def average_error(self, rating: float) -> float:
        """The average error on the reference set that a rating stands for."""
        return (self.intercept - rating) / self.slope

    def variance(self, rating: float) -> float:
        """The variance of the line itself at a rating: how far all ratings there may be off together."""
        gradient = np.array([1.0, -self.average_error(rating)])
        return float(gradient @ self.covariance @ gradient)


def inverse_regression(elo: ArrayLike, average_error: ArrayLike, standard_error: ArrayLike) -> Line:
    """Regress the average error on Elo over the marks, and invert (RH11, section 6).

    Elo is what the marks were chosen by, and the error is what was measured there: a player's strength scatters about
    the rating that put the player into the mark, not the rating about the strength. So the regression of error on Elo
    is unbiased (Berkson's case of errors in variables), and that of Elo on error would be flattened by the noise.
    Marks weigh by their standard errors; scatter beyond these widens the covariance (Birge's ratio).

    >>> line = inverse_regression([2000, 2200, 2400], [0.10, 0.08, 0.06], [0.001] * 3)
    >>> round(line.intercept), round(line.slope)
    (3000, 10000)
    """
    x, y, e = (np.asarray(a, dtype=np.float64) for a in (elo, average_error, standard_error))
    if len(x) < 3:
        raise CalibrationError(f"a line needs at least three marks with games, and there are {len(x)}.")
    if not (np.isfinite(y).all() and np.isfinite(e).all() and (e > 0).all()):
        raise CalibrationError("some mark has no error of its own: it needs at least two games.")
    centre = float(np.average(x, weights=e**-2))
    design = np.stack([np.ones_like(x), x - centre], axis=1)
    normal = np.linalg.inv((design.T / e**2) @ design)
    level, slope = normal @ (design.T @ (y / e**2))
    if slope >= 0:
        raise CalibrationError("the average error does not fall with Elo over these marks; they need more games.")
    misfit = float(np.sum(((y - design @ [level, slope]) / e) ** 2)) / (len(x) - 2)
    # A = centre - level / slope, B = -1 / slope.
    jacobian = np.array([[-1 / slope, level / slope**2], [0.0, 1 / slope**2]])
    covariance = jacobian @ normal @ jacobian.T * max(misfit, 1.0)
    return Line(float(centre - level / slope), float(-1 / slope), covariance, misfit)


C_LEAST, C_MOST = 0.15, 1.5


def straight_c(rating: float | Floats, at_2000: float, per_100: float) -> Floats:
    """c on the artery: a line in Elo (RH11: .464 at 2000, .007 more per 100), kept in the range of a usable curve.

    >>> straight_c(2700.0, 0.464, 0.007).round(3).tolist()
    0.513
    """
    return np.clip(at_2000 + per_100 * (np.asarray(rating, dtype=np.float64) - 2000) / 100, C_LEAST, C_MOST)
