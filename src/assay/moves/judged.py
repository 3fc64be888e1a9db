"""Turns with all that a calibration has to say about them, ready to be summed over any group."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.engine.turns import Turns
from assay.moves.analysed import Spreads, spreads_of, traits_of
from assay.moves.calibration import Calibration
from assay.moves.groups import Groups
from assay.moves.regan.scale import Scale
from assay.moves.regan.spread import Floats
from assay.moves.regan.tally import Tally, tally
from assay.moves.tags import tag_ratings
from assay.pools import scale_of


@dataclass(frozen=True)
class Judged:
    """Turns in groups with their tally: a cell holds one side's turns in one game, within one group.

    `game` and `rating` (the tag, or that of another game of the player; nan without) belong to the cells; `white` tells
    their side, `taken` that the rating is from another game.
    """

    turns: Turns
    spreads: Spreads
    scale: Scale
    groups: Groups
    tally: Tally
    group: NDArray[np.intp]
    game: NDArray[np.intp]
    white: NDArray[np.bool_]
    rating: Floats
    taken: NDArray[np.bool_]

    def cells(self, group: int) -> NDArray[np.intp]:
        """The cells of a group."""
        return np.flatnonzero(self.group == group)

    def by_game(self, group: int) -> Tally:
        """The tally of a group, a cell per game: both sides of a game hang together."""
        cells = self.cells(group)
        return self.tally.of(cells).summed(np.unique(self.game[cells], return_inverse=True)[1])

    def pools(self, group: int) -> list[str]:
        """The pools of a group's games, the most frequent first; what is not known passes for slow."""
        games = np.unique(self.game[self.cells(group)]).tolist()
        return [name for name, _ in Counter(scale_of(self.turns.games["pool"][game]) for game in games).most_common()]

    def turns_of(self, group: int) -> NDArray[np.intp]:
        """The turns of a group."""
        return np.flatnonzero(self.groups.code == group)


def judge(turns: Turns, calibration: Calibration, groups: Groups) -> Judged:
    """Tally the turns of all groups along the calibration's artery; turns without a group are left out."""
    scale = calibration.usable()
    inside = groups.code >= 0
    kept = turns.only(inside)
    code = groups.code[inside]
    spreads = spreads_of(kept, calibration)
    key = np.stack([code, kept.game, kept.white], axis=1)
    cells, cell = np.unique(key, axis=0, return_inverse=True)
    counted = tally(
        scale.artery,
        spreads.deltas,
        spreads.played,
        elsewhere=spreads.elsewhere,
        allowance=scale.difficulty.allowance(traits_of(kept, calibration)),
        cells=cell.reshape(-1),
    )
    tags, side = tag_ratings(kept.games), 1 - cells[:, 2]
    return Judged(
        turns=kept,
        spreads=spreads,
        scale=scale,
        groups=Groups(groups.keys, code),
        tally=counted,
        group=cells[:, 0],
        game=cells[:, 1],
        white=cells[:, 2].astype(np.bool_),
        rating=tags.ratings[cells[:, 1], side],
        taken=tags.taken[cells[:, 1], side],
    )
