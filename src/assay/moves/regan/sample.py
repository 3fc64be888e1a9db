"""Turns to calibrate on: spreads, what was played, by whom, in which game, at which mark."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.moves.regan.spread import Floats


@dataclass(frozen=True)
class Sample:
    """One row per turn. `traits` are those of its position (see `difficulty`), `game` and `side` (the player's turns in
    one game) are codes, `mark` is the century mark.
    """

    deltas: Floats
    played: NDArray[np.intp]
    elsewhere: Floats
    traits: Floats
    game: NDArray[np.intp]
    side: NDArray[np.intp]
    elo: Floats
    mark: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.played)

    def of(self, turns: NDArray[np.intp] | NDArray[np.bool_]) -> Sample:
        """These turns alone, with sides numbered anew."""
        return Sample(
            self.deltas[turns],
            self.played[turns],
            self.elsewhere[turns],
            self.traits[turns],
            self.game[turns],
            np.unique(self.side[turns], return_inverse=True)[1],
            self.elo[turns],
            self.mark[turns],
        )

    def per_side(self, values: NDArray[np.generic]) -> NDArray[np.generic]:
        """The value of each side's first turn: for what is the same at all turns of a side."""
        first = np.unique(self.side, return_index=True)[1]
        return values[first]


def dealt(game: NDArray[np.intp], folds: int, seed: int) -> NDArray[np.intp]:
    """The fold 0, 1, ... of each turn, by the code of its game: whole games go together."""
    return np.asarray(np.random.default_rng(seed).permutation(int(game.max()) + 1)[game] % folds)
