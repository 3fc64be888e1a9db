"""Errors without simulation: the sandwich H^-1 V H^-1 of the fit.

H is the information the fit used and V the variance of its score, both weighted Laplacians of who met whom. For the fit
of points, an encounter of N games has H-weight beta^2 N p (1 - p) and V-weight beta^2 N (pW + pD / 4 - p^2); for the
fit of the likelihood V is H and the sandwich is H^-1.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.errors import RatingError
from assay.results.information import Information
from assay.results.table import Floats

# Full matrices beyond this many players are gigabytes and minutes.
MOST_IN_MATRIX = 6000
_EXACT = 500
_PROBES = 16
_MOST_PROBES = 256
_GOAL = 0.01
_SEED = 5


def covariance(bread: Information, filling: Information | None) -> Floats:
    """Covariance of all ratings, and of the white advantage in the last row and column."""
    if bread.size > MOST_IN_MATRIX:
        gigabytes = 8e-9 * bread.size**2
        raise RatingError(
            f"a matrix of {bread.size - 1:,} players needs {3 * gigabytes:.0f} GB; at most {MOST_IN_MATRIX:,} are "
            "possible: leave out players with few games ('-t NUM' in the list, 'assay prep' in the input)."
        )
    if filling is None:
        return bread.inverse
    return np.asarray(bread.inverse @ filling_matrix(filling) @ bread.inverse)


def filling_matrix(filling: Information) -> Floats:
    """The variance of the score as a full matrix, without the ones that make the information invertible."""
    full = filling.matrix.copy()
    idle = ~filling.free
    full[idle, idle] = 0.0
    return full


def variances(bread: Information, filling: Information | None) -> Floats:
    """The diagonal of the covariance, exact up to 500 players and to about 1 % beyond."""
    if bread.size <= _EXACT:
        if filling is None:
            return np.diagonal(bread.inverse).copy()
        half = bread.inverse @ filling_matrix(filling)
        return np.asarray(np.einsum("ij,ij->i", half, bread.inverse))
    spread = _inverse_diagonal(bread)
    if filling is not None:
        # Each player's own mix of opponents decides by how much wins and losses vary less than coins.
        ratio = np.divide(filling.own, bread.own, out=np.ones(bread.size), where=bread.free & (bread.own > 0))
        spread *= ratio
    return np.where(bread.free, spread, 0.0)


def _inverse_diagonal(information: Information) -> Floats:
    """Diagonal of the (pseudo-)inverse: a Neumann series of two terms, and random signs for the rest.

    With H = D - W, the series D^-1 + D^-1 W D^-1 + D^-1 W D^-1 W D^-1 has a diagonal known in closed form. What is
    missing is estimated as the mean of z * (H^-1 - series) z over random signs z (Hutchinson, 1990); it is so small
    that a few of them do. More are drawn until the estimate is within one percent for nine players in ten.
    """
    generator = np.random.default_rng(_SEED)
    d = information.diagonal
    known = 1.0 / d + _squares(information) / d**2
    rest = np.zeros(information.size)
    rest_squared = np.zeros(information.size)
    drawn = 0
    while drawn < _MOST_PROBES:
        signs: Floats = generator.integers(0, 2, (information.size, _PROBES)).astype(np.float64) * 2.0 - 1.0
        signs[~information.free] = 0.0
        first = signs / d[:, None]
        second = first - information.multiply(first) / d[:, None]
        third = second - information.multiply(second) / d[:, None]
        missing = signs * (information.solve(signs, 1e-3) - first - second - third)
        rest += missing.sum(axis=1)
        rest_squared += (missing**2).sum(axis=1)
        drawn += _PROBES
        estimate = np.maximum(known + rest / drawn, 0.5 / d)
        error = np.sqrt(np.maximum(rest_squared / drawn - (rest / drawn) ** 2, 0.0) / drawn)
        if np.quantile((error / estimate)[information.free], 0.9) < 2 * _GOAL:
            break
    return estimate


def _squares(information: Information) -> Floats:
    """For each coordinate, the sum over its neighbours of weight^2 / diagonal."""
    table, d = information.table, information.diagonal
    # Both encounters of two players, one with each colour, are one edge.
    n = table.players
    low, high = np.minimum(table.white, table.black), np.maximum(table.white, table.black)
    edge, index = np.unique(low * n + high, return_inverse=True)
    square = np.bincount(index, information.weight) ** 2
    low, high = edge // n, edge % n
    total = np.zeros(information.size)
    total[:-1] += np.bincount(low, square / d[high], n) + np.bincount(high, square / d[low], n)
    border = np.where(information.free[:-1], information.border, 0.0) ** 2
    if information.free[-1]:
        total[:-1] += border / d[-1]
        total[-1] += float(np.sum(border / d[:-1]))
    held = ~information.free
    total[held] = 0.0
    return total


def difference_variances(
    variance: Floats, matrix: Floats | None, bread: Information, i: NDArray[np.intp], j: NDArray[np.intp]
) -> Floats:
    """Variances of the differences of these pairs of players.

    Without the matrix, what two players share is taken from their own games: the first term of the series of
    :func:`_inverse_diagonal`.
    """
    if matrix is not None:
        return np.asarray(variance[i] + variance[j] - 2.0 * matrix[i, j])
    d = bread.diagonal
    shared = (_weight_between(bread, i, j) + _weight_between(bread, j, i)) / np.sqrt(d[i] * d[j])
    return np.asarray(variance[i] + variance[j] - 2.0 * shared * np.sqrt(variance[i] * variance[j]))


def _weight_between(information: Information, white: NDArray[np.intp], black: NDArray[np.intp]) -> Floats:
    table = information.table
    keys = table.white * table.players + table.black
    wanted = white * table.players + black
    at = np.minimum(np.searchsorted(keys, wanted), max(len(keys) - 1, 0))
    return np.where(keys[at] == wanted, information.weight[at], 0.0)
