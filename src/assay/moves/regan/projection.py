"""What a player of given s and c is expected to do at given turns, and one made of s and c who plays.

RMH11 and IRC12 print the variance of the average error without its square and without 1/T; the right formula is
Var(AE) = (1/T^2) sum_t [sum_i p_i delta_i^2 - e_t^2], and a match and an error are correlated: Cov = -p_0 e_t.
"""

from __future__ import annotations

from functools import cached_property
from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import ModelError
from assay.moves.regan.models import ModelName, move_probabilities, prepare
from assay.moves.regan.spread import CAP, TIE, CurveName, Floats, Scaling, blocks, scaled_deltas
from assay.records import dataclass


@dataclass(frozen=True)
class Projection:
    """Expectations turn by turn; the properties are their totals.

    `top[:, k - 1]` is the probability that the move played is among the first k; `gradient_match` and
    `gradient_error` (turns x 2) are derivatives by s and by c, there only when asked for.
    """

    match: Floats
    top: Floats
    error: Floats
    error_variance: Floats
    gradient_match: Floats | None = None
    gradient_error: Floats | None = None

    @property
    def turns(self) -> int:
        """How many turns there are."""
        return len(self.match)

    @cached_property
    def match_variance(self) -> Floats:
        """Variance of the match at each turn, p (1 - p)."""
        return self.match * (1 - self.match)

    @cached_property
    def match_error_covariance(self) -> Floats:
        """Covariance of match and error at each turn: a match has no error, so -p times its mean."""
        return -self.match * self.error

    @property
    def matches(self) -> float:
        """Expected number of first-choice matches, MM_e."""
        return float(self.match.sum())

    @property
    def matches_variance(self) -> float:
        """Variance of the number of matches."""
        return float(self.match_variance.sum())

    @property
    def top_matches(self) -> Floats:
        """Expected number of top-1, top-2, ... matches, T_k."""
        return np.asarray(self.top.sum(axis=0))

    @property
    def average_error(self) -> float:
        """Expected average scaled error, AE_e."""
        return float(self.error.mean())

    @property
    def average_error_variance(self) -> float:
        """Variance of the average error."""
        return float(self.error_variance.sum()) / self.turns**2

    @property
    def matches_average_error_covariance(self) -> float:
        """Covariance of the number of matches and the average error."""
        return float(self.match_error_covariance.sum()) / self.turns

    @property
    def average_error_gradient(self) -> Floats:
        """d AE_e / d(s, c); the projection must have been made with `gradient=True`."""
        if self.gradient_error is None:
            raise ModelError("this projection was made without gradient=True.")
        return np.asarray(self.gradient_error.mean(axis=0))


def project(
    deltas: ArrayLike,
    s: ArrayLike,
    c: ArrayLike,
    *,
    model: ModelName = "power",
    curve: CurveName = "invexp",
    weights: ArrayLike | None = None,
    top: int = 5,
    gradient: bool = False,
) -> Projection:
    """Project matches, top-k matches and errors, with variances and covariance (RH11, section 5; RMH11, section 2).

    `s` and `c` are numbers or one value per turn; errors are those of the last depth where there are several.

    >>> expected = project([[0.0, 0.0], [0.0, float("inf")]], s=0.1, c=0.5)
    >>> expected.match.tolist(), expected.matches, expected.average_error
    ([0.5, 1.0], 1.5, 0.0)
    """
    array, player = prepare(deltas, s, c, model, curve, weights)
    if not len(array):
        raise ModelError("there are no turns to project on.")
    turns, width = len(array), min(top, array.shape[1])
    match, error, variance = np.empty(turns), np.empty(turns), np.empty(turns)
    tops = np.empty((turns, width))
    slopes = np.empty((2, turns, 2)) if gradient else None
    for block in blocks(array):
        at, deltas_here = block.turns, block.deltas()
        if slopes is None:
            p = player.solve(block).p
        else:
            solved, by = player.solve_with_slopes(block)
            p = solved.p
            for i, (dp, parameter) in enumerate(((by.by_s, player.s), (by.by_c, player.c))):
                scale = parameter if parameter.ndim == 0 else parameter[at]
                slopes[0, at, i] = dp[0] / scale
                slopes[1, at, i] = np.einsum("it,it->t", dp, deltas_here) / scale
        match[at] = p[0]
        inside = min(width, block.moves)
        tops[at, :inside] = np.cumsum(p[:inside], axis=0).T
        tops[at, inside:] = 1.0
        np.multiply(p, deltas_here, out=p)
        error[at] = p.sum(axis=0)
        variance[at] = np.einsum("it,it->t", p, deltas_here) - error[at] ** 2
    return Projection(match, np.minimum(tops, 1.0), error, variance, *(slopes if slopes is not None else (None, None)))


class Values(Protocol):
    """Whatever can value the moves of a position: best first, in pawns, from the mover's side."""

    def values(self, fen: str, depth: int = ..., lines: int = ...) -> tuple[list[str], Floats]:
        """The moves of a position in UCI, best first, and their values."""
        ...


class Agent:
    """Plays like the model's player of sensitivity `s` and consistency `c`; the same seed plays the same moves.

    >>> agent = Agent(s=0.1, c=0.5, seed=1)
    >>> agent.choose([0.3, 0.3, -0.5]), agent.choose([1.0])
    (0, 0)
    """

    def __init__(
        self,
        s: float,
        c: float,
        *,
        seed: int | np.random.Generator = 0,
        model: ModelName = "power",
        curve: CurveName = "invexp",
        k: float = 1.0,
        cap: float = CAP,
        tie: float = TIE,
        scale: Scaling = "log",
    ) -> None:
        self.s, self.c, self.model, self.curve = s, c, model, curve
        self.k, self.cap, self.tie, self.scale = k, cap, tie, scale
        self._random = np.random.default_rng(seed)
        move_probabilities([0.0, 0.1], s, c, model=model, curve=curve)  # complains about bad parameters now, not later

    def probabilities(self, values: ArrayLike) -> Floats:
        """The probability of each move of one position; a single legal move is certain."""
        array = np.asarray(values, dtype=np.float64)
        if array.shape == (1,):
            return np.ones(1)
        deltas = scaled_deltas(array, k=self.k, cap=self.cap, tie=self.tie, scale=self.scale)
        return move_probabilities(deltas, self.s, self.c, model=self.model, curve=self.curve)

    def choose(self, values: ArrayLike) -> int:
        """Choose a move from its values (pawns, best first); the answer is its index."""
        return int(self._random.choice(np.size(values), p=self.probabilities(values)))

    def choose_all(self, deltas: ArrayLike) -> NDArray[np.intp]:
        """Choose a move at each turn of an array of deltas (turns x moves)."""
        p = move_probabilities(deltas, self.s, self.c, model=self.model, curve=self.curve)
        if p.ndim != 2:
            raise ModelError("choose_all takes turns x moves; for one position there is choose.")
        reached = p.cumsum(axis=1)
        draw = self._random.random((len(p), 1)) * reached[:, -1:]
        return np.asarray((reached <= draw).sum(axis=1), dtype=np.intp)

    def move(self, fen: str, engine: Values, *, depth: int = 8, lines: int = 50) -> str:
        """Choose a move in a position that an engine values now; the answer is UCI."""
        moves, values = engine.values(fen, depth, lines)
        return moves[self.choose(values)]
