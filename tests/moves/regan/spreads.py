"""Spreads to test with: made from a seed, shaped like those of real positions."""

from __future__ import annotations

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from assay.moves.regan import move_probabilities, scaled_deltas


def random_values(turns: int, moves: int = 20, seed: int = 1) -> NDArray[np.float64]:
    """Values in pawns, best first, of different lengths; most moves are close, some lose everything."""
    rng = np.random.default_rng(seed)
    best = rng.normal(0, 0.8, (turns, 1))
    drops = np.sort(rng.gamma(0.6, 1.2, (turns, moves - 1)), axis=1)
    values = np.round(np.concatenate([best, best - drops], axis=1), 2)
    lengths = rng.integers(2, moves + 1, turns)
    values[np.arange(moves) >= lengths[:, None]] = np.nan
    return values


def choose(probabilities: NDArray[np.float64], seed: int) -> NDArray[np.intp]:
    """Draw a move at each turn."""
    draw = np.random.default_rng(seed).random((len(probabilities), 1))
    last = np.max(np.where(probabilities > 0, np.arange(probabilities.shape[1]), 0), axis=1)
    return np.minimum((probabilities.cumsum(axis=1) < draw).sum(axis=1), last)


def simulated(
    turns: int, s: float, c: float, *, moves: int = 20, seed: int = 1, **model: str
) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Deltas, and the moves of a player of this s and c."""
    deltas = scaled_deltas(random_values(turns, moves, seed))
    return deltas, choose(move_probabilities(deltas, s, c, **model), seed + 1)  # type: ignore[arg-type]


parameters_s = st.floats(0.01, 2.0)
parameters_c = st.floats(0.15, 1.5)


@st.composite
def value_rows(draw: st.DrawFn) -> list[list[float]]:
    """A few rows of values, best first, padded with nan."""
    row = st.lists(st.integers(-600, 600), min_size=2, max_size=12)
    rows = draw(st.lists(row, min_size=1, max_size=5))
    width = max(len(r) for r in rows)
    return [[v / 100 for v in sorted(r, reverse=True)] + [float("nan")] * (width - len(r)) for r in rows]
