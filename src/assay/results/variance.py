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
_EXACT_IF_THIN = 3000
_PROBES = 16
_MOST_PROBES = 64
_SHARE = 0.9
_SAMPLES = 128
_GOAL = 0.01
_NEAR = 1e-3
_SEED = 5


def check_matrix(players: int) -> None:
    """Refuse a matrix that would take gigabytes, before it does."""
    if players > MOST_IN_MATRIX:
        raise RatingError(
            f"a matrix of {players:,} players needs {24e-9 * players**2:.0f} GB; at most {MOST_IN_MATRIX:,} are "
            "possible: leave out players with few games ('-t NUM' in the list, 'assay prep' in the input)."
        )


def covariance(bread: Information, filling: Information | None) -> Floats:
    """Covariance of all ratings, and of the white advantage in the last row and column."""
    check_matrix(bread.size - 1)
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
    """The diagonal of the covariance.

    Exact up to 500 players. Beyond, it is estimated to about one percent where games connect players well; if they do
    not, it is exact up to 3,000 players and, beyond, sampled to about six percent for those in question.
    """
    if bread.size <= _EXACT:
        return _exact(bread, filling)
    spread, error = _inverse_diagonal(bread)
    if filling is not None:
        # Each player's own mix of opponents decides by how much wins and losses vary less than coins.
        ratio = np.divide(filling.own, bread.own, out=np.ones(bread.size), where=bread.free & (bread.own > 0))
        spread *= ratio
        error *= ratio
    thin = bread.free & (error > 2.0 * _GOAL * spread)
    if np.count_nonzero(thin) > (1.0 - _SHARE) * np.count_nonzero(bread.free):
        if bread.size <= _EXACT_IF_THIN:
            return _exact(bread, filling)
        spread = np.where(thin, _sampled(bread, filling or bread), spread)
    return np.where(bread.free, spread, 0.0)


def _exact(bread: Information, filling: Information | None) -> Floats:
    if filling is None:
        return np.diagonal(bread.inverse).copy()
    half = bread.inverse @ filling_matrix(filling)
    return np.asarray(np.einsum("ij,ij->i", half, bread.inverse))


def _inverse_diagonal(information: Information) -> tuple[Floats, Floats]:
    """Diagonal of the (pseudo-)inverse, and its standard error: two terms of a series, random signs for the rest.

    With H = D - W, the series D^-1 + D^-1 W D^-1 + D^-1 W D^-1 W D^-1 has a diagonal known in closed form. What is
    missing is estimated as the mean of z * (H^-1 - series) z over random signs z (Hutchinson, 1990). Where everybody
    has met many others it is so small that a few of them do.
    """
    generator = np.random.default_rng(_SEED)
    d = information.diagonal
    known = 1.0 / d + _squares(information) / d**2
    total, squares = np.zeros(information.size), np.zeros(information.size)
    for drawn in range(_PROBES, _MOST_PROBES + 1, _PROBES):
        signs: Floats = generator.integers(0, 2, (information.size, _PROBES)).astype(np.float64) * 2.0 - 1.0
        signs[~information.free] = 0.0
        first = signs / d[:, None]
        second = first - information.multiply(first) / d[:, None]
        third = second - information.multiply(second) / d[:, None]
        missing = signs * (information.solve(signs, _NEAR) - first - second - third)
        total += missing.sum(axis=1)
        squares += (missing**2).sum(axis=1)
        estimate = np.maximum(known + total / drawn, 0.5 / d)
        error = np.sqrt(np.maximum(squares / drawn - (total / drawn) ** 2, 0.0) / drawn)
        off = np.quantile((error / estimate)[information.free], _SHARE)
        # Four times as many halve the error; what is farther off will not be reached.
        if off < 2.0 * _GOAL or off > 4.0 * _GOAL:
            break
    return estimate, error


def _sampled(bread: Information, filling: Information) -> Floats:
    """Mean squares of H^-1 g over random scores g of variance V: the covariance by its definition."""
    generator = np.random.default_rng(_SEED)
    root, extra = np.sqrt(filling.weight), np.sqrt(filling.extra)
    total = np.zeros(bread.size)
    for _ in range(0, _SAMPLES, _PROBES):
        scores = np.empty((bread.size, _PROBES))
        for column in range(_PROBES):
            noise = root * generator.standard_normal(len(root))
            with_white, with_black = bread.table.by_side(noise)
            scores[:, column] = np.append(with_white - with_black, noise.sum())
        scores += extra[:, None] * generator.standard_normal(scores.shape)
        total += (bread.solve(scores, _NEAR) ** 2).sum(axis=1)
    return total / _SAMPLES


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
