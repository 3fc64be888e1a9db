"""What an engine says of the move played: rank, loss, gap to the next move, value of the position; from a store."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.engine.store import Store
from assay.engine.turns import turns
from assay.errors import StoreError
from assay.games import Game, GameArrays
from assay.learned.build import Analyst
from assay.learned.inputs import ENGINE_NAMES, Floats

_ANY_VALUE = 1e6  # pawns: no position is left out for being decided


def analyst(store: Store, depth: int) -> Analyst:
    """A function that finds the engine scalars of games in a store, by analyses of this depth.

    A game none of whose positions is stored gets nan throughout; if that is so for all games, the caller sees it in
    the count of analysed games.
    """
    store.choose(depth=depth)

    def analyse(games: list[Game], arrays: GameArrays) -> Floats:
        scalars = np.full((arrays.plies, len(ENGINE_NAMES)), np.nan, dtype=np.float32)
        try:
            found = turns(games, store, depth=depth, from_move=1, limit=_ANY_VALUE)
        except StoreError:
            return scalars  # none of these games' positions is stored
        rows = arrays.offsets[found.game] + found.ply
        scalars[rows] = engine_scalars(found.values, found.played)
        return scalars

    return analyse


def engine_scalars(values: npt.NDArray[np.float64], played: npt.NDArray[np.int64]) -> Floats:
    """Rank, loss, gap and value, each as log(1 + |x|) with its sign, from values (turns, moves) with the best first.

    A move that the engine did not list is taken for the worst listed; pawns and ranks are both on a scale of ratios,
    as people see them (Regan & Haworth 2011 scale the differences in the same spirit).

    >>> engine_scalars(np.array([[1.0, 0.5, 0.0]]), np.array([2])).astype(float).round(2).tolist()
    [[1.1, 0.69, 0.41, 0.69]]
    """
    listed = np.isfinite(values).sum(axis=1)
    at = np.where(played < 0, listed - 1, played)
    best = values[:, 0]
    rows = np.arange(len(values))
    second = np.where(listed > 1, values[:, min(1, values.shape[1] - 1)], best)
    raw = np.stack((at, best - values[rows, at], best - second, best), axis=1)
    return np.asarray(np.sign(raw) * np.log1p(np.abs(raw)), dtype=np.float32)
