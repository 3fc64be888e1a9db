"""A player made of s and c: chooses moves with the model's probabilities, from stored spreads or with a live engine."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import ModelError
from assay.moves.regan.curves import CurveName
from assay.moves.regan.models import ModelName, move_probabilities
from assay.moves.regan.spread import CAP, TIE, Floats, Scale, scaled_deltas


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
        scale: Scale = "log",
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

    def move(self, fen: str, engine: Values, *, depth: int = 10, lines: int = 50) -> str:
        """Choose a move in a position that an engine values now; the answer is UCI."""
        moves, values = engine.values(fen, depth, lines)
        return moves[self.choose(values)]
