"""What was played and what was to be expected, all along the artery.

Three numbers are counted: first-choice matches, moves among the first three, and scaled error. At every rating of the
artery's grid the model says what they should have been, with variances and covariances, and how likely the played
moves were. Turns are summed into cells (a player's turns in one game, say); groups are sums of cells. Everything that
follows (ratings, intervals, resampling, screening) works on these sums and never looks at a spread again.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from assay.errors import ModelError
from assay.moves.regan.artery import Artery
from assay.moves.regan.models import Skill, check_played
from assay.moves.regan.spread import CAP, Block, Floats, blocks, scaled

Statistic: TypeAlias = Literal["match", "top3", "error"]
STATISTICS: tuple[Statistic, ...] = ("match", "top3", "error")
# A better player matches more and errs less: the sign that makes every statistic rise with strength.
SIGNS: Floats = np.array([1.0, 1.0, -1.0])
# The share of moves that no judgement explains: so much of every probability is spread evenly over the listed moves.
# Without it a single blunder outweighs a tournament (docs/validation.md: the noise of the likelihood falls by a fifth).
LAPSE = 0.01


@dataclass(frozen=True)
class Tally:
    """Sums over the turns of each cell.

    `actual` is cells x 3 (match, top3, error), and `allowance` what the positions' difficulty adds to what is expected
    of everybody (see `difficulty`); `expected` cells x ratings x 3, `covariance` cells x ratings x 3 x 3 and
    `log_likelihood` cells x ratings hold the same under the model at each rating of the artery.
    """

    ratings: Floats
    turns: Floats
    actual: Floats
    allowance: Floats
    expected: Floats
    covariance: Floats
    log_likelihood: Floats

    def __len__(self) -> int:
        return len(self.turns)

    @property
    def _rows(self) -> tuple[Floats, ...]:
        return self.turns, self.actual, self.allowance, self.expected, self.covariance, self.log_likelihood

    def of(self, cells: NDArray[np.intp] | NDArray[np.bool_]) -> Tally:
        """These cells alone."""
        return Tally(self.ratings, *(array[cells] for array in self._rows))

    def summed(self, codes: ArrayLike, count: int | None = None) -> Tally:
        """Add up the cells that have the same code 0, 1, ...

        >>> from assay.moves.regan.artery import Artery
        >>> one = Artery(np.array([2000.0]), np.array([0.1]), np.array([0.5]))
        >>> two = tally(one, [[0.0, 0.1], [0.0, 0.2]], [0, 1])
        >>> two.summed([0, 0]).actual.round(3).tolist()
        [[1.0, 2.0, 0.2]]
        """
        code = np.asarray(codes, dtype=np.intp)
        groups = int(code.max(initial=-1)) + 1 if count is None else count
        gather = csr_array((np.ones(len(code)), (code, np.arange(len(code)))), shape=(groups, len(code)))
        rows = self._rows
        flat = (gather @ array.reshape(len(code), math.prod(array.shape[1:])) for array in rows)
        return Tally(self.ratings, *(f.reshape(groups, *array.shape[1:]) for f, array in zip(flat, rows, strict=True)))

    def at(self, ratings: ArrayLike) -> tuple[Floats, Floats]:
        """Expectation (cells x 3) and covariance (cells x 3 x 3), each cell at its own rating."""
        rating = np.clip(np.asarray(ratings, dtype=np.float64), self.ratings[0], self.ratings[-1])
        low = np.clip(np.searchsorted(self.ratings, rating, side="right") - 1, 0, max(len(self.ratings) - 2, 0))
        high = np.minimum(low + 1, len(self.ratings) - 1)
        width = np.where(high > low, self.ratings[high] - self.ratings[low], 1.0)
        share = (rating - self.ratings[low]) / width
        rows = np.arange(len(self))
        means = [_between(array[rows, low], array[rows, high], share) for array in (self.expected, self.covariance)]
        return means[0], means[1]


def _between(low: Floats, high: Floats, share: Floats) -> Floats:
    part = share.reshape(-1, *[1] * (low.ndim - 1))
    return np.asarray(low * (1 - part) + high * part)


def tally(
    artery: Artery,
    deltas: ArrayLike,
    played: ArrayLike,
    *,
    elsewhere: ArrayLike | None = None,
    allowance: ArrayLike | None = None,
    cells: ArrayLike | None = None,
    lapse: float = LAPSE,
    chances: Floats | None = None,
) -> Tally:
    """Count what was played at each turn and what the model expects along the artery.

    `cells` are codes 0, 1, ... of the cell that each turn belongs to; without them every turn is a cell of its own.
    `allowance` (turns x 3) is for the difficulty of the positions; without it there is none. The likelihood
    is that of a player who now and then (`lapse`) plays anything; a move outside the list is such a lapse. `chances`
    (turns x ratings), if given, is filled with the log-likelihood of each turn.
    """
    array = np.asarray(deltas)
    index = check_played(played, array)
    code = np.arange(len(array)) if cells is None else np.asarray(cells, dtype=np.intp)
    if code.shape != (len(array),):
        raise ModelError(f"there are {len(array)} turns, but cells has shape {code.shape}.")
    count = int(code.max(initial=-1)) + 1
    cap_error = np.full(len(array), -float(scaled(-CAP))) if elsewhere is None else np.asarray(elsewhere, np.float64)
    grid = len(artery.ratings)
    expected = np.zeros((count, grid, 3))
    covariance = np.zeros((count, grid, 3, 3))
    likelihood = np.zeros((count, grid))
    gather = csr_array((np.ones(len(code)), (code, np.arange(len(code)))), shape=(count, len(code)))
    parts = [(block, index[block.turns], block.deltas()) for block in blocks(array)]
    actual = gather @ _played_row(parts, cap_error)
    warm: list[Floats | None] = [None] * len(parts)
    row = np.empty((len(array), 13))
    even = lapse / np.isfinite(array).sum(axis=1)
    for k, (s, c) in enumerate(zip(artery.s, artery.c, strict=True)):
        someone = Skill(np.asarray(s), np.asarray(c))
        for i, (block, where, deltas_here) in enumerate(parts):
            solved = someone.solve(block, warm[i])
            warm[i] = solved.kappa
            row[block.turns, :12] = _moments(solved.p, deltas_here)
            picked = np.take_along_axis(solved.p, np.maximum(where, 0)[None, :], axis=0)[0]
            row[block.turns, 12] = np.log((1 - lapse) * np.where(where < 0, 0.0, picked) + even[block.turns])
        if chances is not None:
            chances[:, k] = row[:, 12]
        sums = gather @ row
        expected[:, k] = sums[:, :3]
        covariance[:, k] = sums[:, 3:12].reshape(count, 3, 3)
        likelihood[:, k] = sums[:, 12]
    turns = np.bincount(code, minlength=count).astype(np.float64)
    extra = np.zeros((len(array), 3)) if allowance is None else np.asarray(allowance, dtype=np.float64)
    return Tally(artery.ratings, turns, actual, gather @ extra, expected, covariance, likelihood)


def _played_row(parts: Sequence[tuple[Block, NDArray[np.intp], Floats]], cap_error: Floats) -> Floats:
    """Match, top3 and error of the move that was played, turns x 3."""
    out = np.empty((len(cap_error), 3))
    for block, where, deltas in parts:
        chosen = np.take_along_axis(deltas, np.maximum(where, 0)[None, :], axis=0)[0]
        error = np.where(where < 0, cap_error[block.turns], chosen)
        out[block.turns] = np.stack([where == 0, (where >= 0) & (where < 3), error], axis=1)
    return out


def _moments(p: Floats, deltas: Floats) -> Floats:
    """Mean and covariance (3 + 3 x 3 numbers per turn) of match, top3 and error; `p` is moves x turns.

    Section 4 of RMH11 with its misprints mended: the variance of an error is sum p delta^2 - e^2, and the three are not
    independent, Cov(match, error) = -p_0 e.
    """
    weighted = p * deltas
    match, top3, error = p[0], p[:3].sum(axis=0), weighted.sum(axis=0)
    squared = np.einsum("it,it->t", weighted, deltas)
    match_top3, match_error = match * (1 - top3), -match * error
    top3_error = weighted[:3].sum(axis=0) - top3 * error
    rows = [match, top3, error, match * (1 - match), match_top3, match_error, match_top3, top3 * (1 - top3), top3_error]
    return np.stack([*rows, match_error, top3_error, squared - error**2], axis=1)
