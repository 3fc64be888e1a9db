"""The information matrix of a rating, a weighted Laplacian of who met whom; and the errors that follow from it.

An encounter of information v adds v (e_w - e_b + e_a)(e_w - e_b + e_a)^T, where e_a is the coordinate of the white
advantage, the last one. Loose anchors add to the diagonal and relations add edges. A group of players that nothing
holds in place can be shifted freely; such shifts are left out of every solution (the pseudo-inverse).

Errors without simulation are the sandwich H^-1 V H^-1 of the fit. H is the information the fit used and V the variance
of its score, both weighted Laplacians of who met whom. For the fit of points, an encounter of N games has H-weight
beta^2 N p (1 - p) and V-weight beta^2 N (pW + pD / 4 - p^2); for the fit of the likelihood V is H and the sandwich is
H^-1.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import RatingError
from assay.records import dataclass
from assay.results.encounters import Bools, Codes, Floats, PairTable
from assay.results.systems import Reduced, conjugate_gradients, reduce

# Up to this many players a full matrix in memory (11 MB) is quicker than loading sparse ones.
DENSE = 1200
# Up to this many, elimination is quicker than conjugate gradients for a single right side.
_DIRECT = 300
# Well connected pools need some tens of steps; who needs more is better off with the thin parts eliminated first.
_CG_PATIENCE = 150
_FEW = 6
_TINY = 1e-300
# Full matrices beyond this many players are gigabytes and minutes.
MOST_IN_MATRIX = 6000
_EXACT = 500
EXACT_IF_THIN = 3000
PROBES = 16
_MOST_PROBES = 64
_SHARE = 0.9
SAMPLES = 128
_GOAL = 0.01
# Of what is solved for errors. Ten times as much left the errors of players at the end of thin ties a half too small.
NEAR = 1e-4
SEED = 5


@dataclass(frozen=True)
class Links:
    """Soft ties between players: rating a - rating b = delta, with a precision (1 / sigma^2)."""

    a: Codes
    b: Codes
    delta: Floats
    precision: Floats

    @property
    def ends(self) -> Codes:
        """The pairs that are linked."""
        return np.stack((self.a, self.b), axis=1)


NO_LINKS = Links(np.empty(0, np.intp), np.empty(0, np.intp), np.empty(0), np.empty(0))


@dataclass(frozen=True)
class Information:
    """The matrix, kept as its parts.

    `weight` is the v of each encounter. Where the parts of an encounter are not one v (game pairs), `side` has that
    between players and white advantage, and `corner` that of the white advantage alone.

    `free` says which coordinates are estimated (players, then the white advantage); `shift` gives for each player the
    number of the group that may be shifted freely, or -1 where something holds the level.
    """

    table: PairTable
    weight: Floats
    extra: Floats
    links: Links
    link_weight: Floats
    free: Bools
    shift: NDArray[np.int32]
    side: Floats | None = None
    corner: Floats | None = None

    @property
    def size(self) -> int:
        """Players, and the white advantage."""
        return self.table.players + 1

    @cached_property
    def _sums(self) -> tuple[Floats, Floats]:
        return self.table.by_side(self.weight)

    @cached_property
    def border(self) -> Floats:
        """The column between the players and the white advantage."""
        with_white, with_black = self._sums if self.side is None else self.table.by_side(self.side)
        return with_white - with_black

    @cached_property
    def own(self) -> Floats:
        """The diagonal as it is."""
        with_white, with_black = self._sums
        players = with_white + with_black
        np.add.at(players, self.links.a, self.link_weight)
        np.add.at(players, self.links.b, self.link_weight)
        corner = self.weight if self.corner is None else self.corner
        own: Floats = np.append(players, corner.sum()) + self.extra
        return own

    @cached_property
    def diagonal(self) -> Floats:
        """The diagonal with ones for all that is not estimated, and no zeros."""
        least = 1e-12 * float(np.max(self.own, initial=0.0)) or 1.0
        return np.where(self.free, np.maximum(self.own, least), 1.0)

    @cached_property
    def shift_sizes(self) -> Floats:
        """How many players each free level holds."""
        return np.bincount(self.shift[self.shift >= 0]).astype(np.float64)

    def centre(self, x: Floats) -> Floats:
        """Take from each group its mean where nothing holds its level."""
        if not len(self.shift_sizes):
            return x
        loose = self.shift >= 0
        label = self.shift[loose]
        x = x.copy()
        players = x[:-1]
        if x.ndim == 1:
            players[loose] -= (np.bincount(label, players[loose]) / self.shift_sizes)[label]
        else:
            total = np.zeros((len(self.shift_sizes), x.shape[1]))
            np.add.at(total, label, players[loose])
            players[loose] -= (total / self.shift_sizes[:, None])[label]
        return x

    @cached_property
    def matrix(self) -> Floats:
        """The full matrix; rows that are not free are those of the identity."""
        n = self.table.players
        full = np.zeros((self.size, self.size))
        if self.table.kind is None:
            full[self.table.white, self.table.black] = -self.weight
        else:
            np.subtract.at(full, (self.table.white, self.table.black), self.weight)
        full[:n, :n] += full[:n, :n].T.copy()
        np.subtract.at(full, (self.links.a, self.links.b), self.link_weight)
        np.subtract.at(full, (self.links.b, self.links.a), self.link_weight)
        full[:n, n] = full[n, :n] = self.border
        full[~self.free] = 0.0
        full[:, ~self.free] = 0.0
        full[np.arange(self.size), np.arange(self.size)] = self.diagonal
        return full

    @cached_property
    def inverse(self) -> Floats:
        """The pseudo-inverse as a full matrix: zero for what is not free, centred for what may be shifted."""
        full = self.matrix.copy()
        groups = [np.flatnonzero(self.shift == label) for label in range(len(self.shift_sizes))]
        scale = float(self.diagonal.mean())
        for members in groups:
            full[np.ix_(members, members)] += scale / len(members)
        inverse = np.linalg.inv(full)
        for members in groups:
            inverse[np.ix_(members, members)] -= 1.0 / (scale * len(members))
        inverse[~self.free] = 0.0
        inverse[:, ~self.free] = 0.0
        symmetric: Floats = (inverse + inverse.T) / 2.0
        return symmetric

    @cached_property
    def _meetings(self) -> tuple[Any, Any]:
        """What stands off the diagonal between free players, with its sign turned: one triangle, and the other."""
        from scipy.sparse import csr_array, dia_array

        n, free = self.table.players, self.free[:-1]
        meet = csr_array((self.weight, *_compressed(self.table)), shape=(n, n))
        if len(self.links.a):
            meet = meet + csr_array((self.link_weight, (self.links.a, self.links.b)), shape=(n, n))
        if not free.all():
            kept = dia_array((free[None, :].astype(np.float64), 0), shape=(n, n))
            meet = kept @ meet @ kept
        return meet, meet.T

    @cached_property
    def _reduced(self) -> Reduced:
        """The matrix with its thin parts eliminated; one player of each group that may be shifted is held at zero."""
        from scipy.sparse import coo_array

        n = self.table.players
        free = self.free.copy()
        loose = np.flatnonzero(self.shift >= 0)
        free[loose[np.unique(self.shift[loose], return_index=True)[1]]] = False
        players, last = np.arange(n), np.full(n, n)
        rows = np.concatenate((self.table.white, self.links.a, players))
        columns = np.concatenate((self.table.black, self.links.b, last))
        values = np.concatenate((-self.weight, -self.link_weight, self.border))
        kept = free[rows] & free[columns] & (values != 0.0)
        upper = coo_array((values[kept], (rows[kept], columns[kept])), shape=(self.size, self.size)).tocsr()
        return reduce(upper + upper.T, np.where(free, self.diagonal, 1.0), never=np.append(~free[:-1], True))

    @property
    def _looks_thin(self) -> bool:
        """Whether a tenth of the players, of a list too long for a full matrix, met few others."""
        met = np.bincount(self.table.white, minlength=self.size) + np.bincount(self.table.black, minlength=self.size)
        return self.size > DENSE and bool(np.count_nonzero(met[met > 0] <= _FEW) > 0.1 * np.count_nonzero(met))

    def multiply(self, x: Floats) -> Floats:
        """The matrix times a vector, or times each column."""
        if self.size <= DENSE:
            return self.matrix @ x
        result = np.empty_like(x)
        meet, back = self._meetings
        result[:-1] = (self.diagonal[:-1] * x[:-1].T).T
        result[:-1] -= meet @ x[:-1]
        result[:-1] -= back @ x[:-1]
        result[-1] = x[-1]
        if self.free[-1]:
            border = np.where(self.free[:-1], self.border, 0.0)
            result[:-1] += border * x[-1] if x.ndim == 1 else np.multiply.outer(border, x[-1])
            result[-1] = self.diagonal[-1] * x[-1] + border @ x[:-1]
        return result

    def lengths(self, x: Floats) -> Any:
        """The length of a residual, or of each column, in the measure of conjugate gradients."""
        return np.linalg.norm(x / np.sqrt(self.diagonal if x.ndim == 1 else self.diagonal[:, None]), axis=0)

    def solve(self, b: Floats, tolerance: float = 1e-10) -> Floats:
        """Solve for a right side (or for each column), leaving free shifts and held coordinates at zero."""
        if self.size <= (_DIRECT if b.ndim == 1 else DENSE):
            solution: Floats = self.inverse @ b
            return solution
        free = self.free if b.ndim == 1 else self.free[:, None]
        b = self.centre(np.where(free, b, 0.0))
        # Once reduced, the matrix is known to be thin; and where it looks thin, it is reduced for several right sides.
        done = False
        if "_reduced" not in self.__dict__ and (b.ndim == 1 or not self._looks_thin):
            found, done = conjugate_gradients(self.multiply, self.diagonal, b, tolerance, _CG_PATIENCE)
        if not done and self.size > DENSE:
            found, done = self._reduced.solve(b, tolerance)
            # The player who is held at zero gathers the rounding of all others: once more with what is left.
            rest = self.centre(b - self.multiply(found))
            left = float(np.max(self.lengths(rest) / np.maximum(self.lengths(b), _TINY)))
            if left > tolerance:
                found += self._reduced.solve(rest, min(tolerance / left, 0.1))[0]
        if done:
            return self.centre(np.where(free, found, 0.0))
        if self.size <= DENSE:
            return np.asarray(self.inverse @ b)
        raise RatingError(
            "the games connect these players too thinly to rate them together; "
            "'-g FILE' lists the groups, '-t NUM' or 'assay prep' leaves out players with few games."
        )


def _compressed(table: PairTable) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Columns and row starts of the encounters, in the form of sparse matrices; kept with the table."""
    kept = table.__dict__.get("_compressed")
    if kept is None:
        starts = np.concatenate(([0], np.cumsum(table.white_counts))).astype(np.int32)
        kept = table.__dict__["_compressed"] = (table.black.astype(np.int32), starts)
    return kept


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
        if bread.size <= EXACT_IF_THIN:
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
    generator = np.random.default_rng(SEED)
    d = information.diagonal
    known = 1.0 / d + _squares(information) / d**2
    total, squares = np.zeros(information.size), np.zeros(information.size)
    for drawn in range(PROBES, _MOST_PROBES + 1, PROBES):
        signs: Floats = generator.integers(0, 2, (information.size, PROBES)).astype(np.float64) * 2.0 - 1.0
        signs[~information.free] = 0.0
        first = signs / d[:, None]
        second = first - information.multiply(first) / d[:, None]
        third = second - information.multiply(second) / d[:, None]
        missing = signs * (information.solve(signs, NEAR) - first - second - third)
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
    generator = np.random.default_rng(SEED)
    total = np.zeros(bread.size)
    for _ in range(0, SAMPLES, PROBES):
        (scores,) = random_scores(generator, filling)
        total += (bread.solve(scores, NEAR) ** 2).sum(axis=1)
    return total / SAMPLES


def random_scores(generator: np.random.Generator, whole: Information, *parts: Information) -> list[Floats]:
    """Random scores of this variance, some columns at once; and by the same dice those of matrices that are parts.

    A part has the same encounters, some of them without weight, and as much or less of what is known beforehand.
    """
    every = (whole, *parts)
    roots = [np.sqrt(one.weight) for one in every]
    scores = [np.empty((whole.size, PROBES)) for _ in every]
    for column in range(PROBES):
        dice = generator.standard_normal(len(whole.weight))
        for root, into in zip(roots, scores, strict=True):
            noise = root * dice
            with_white, with_black = whole.table.by_side(noise)
            into[:, column] = np.append(with_white - with_black, noise.sum())
    beforehand = generator.standard_normal(scores[0].shape)
    return [into + np.sqrt(one.extra)[:, None] * beforehand for one, into in zip(every, scores, strict=True)]


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
    total = np.concatenate(([0.0], np.cumsum(information.weight)))
    between: Floats = total[np.searchsorted(keys, wanted, "right")] - total[np.searchsorted(keys, wanted)]
    return between
