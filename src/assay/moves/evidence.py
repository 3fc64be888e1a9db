"""Turns with all that a calibration has to say about them, ready to be summed over any group."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.engine.turns import Turns
from assay.errors import InputError
from assay.moves.calibration import Calibration
from assay.moves.groups import Groups, phases, tag_ratings
from assay.moves.regan.difficulty import traits
from assay.moves.regan.scale import Scale
from assay.moves.regan.spread import Floats, elsewhere_deltas, scaled_deltas
from assay.moves.regan.tally import Tally, tally
from assay.pools import scale_of


@dataclass(frozen=True)
class Deltas:
    """What the model needs of some turns: deltas, played moves, and the error of a move elsewhere."""

    deltas: Floats
    played: np.ndarray[tuple[int], np.dtype[np.int64]]
    elsewhere: Floats


@dataclass(frozen=True)
class Evidence:
    """Turns in groups with their tally: a cell holds one side's turns in one game, within one group.

    `game` and `rating` (the tag, or that of another game of the player; nan without) belong to the cells; `white` tells
    their side, `taken` that the rating is from another game.
    """

    turns: Turns
    spreads: Deltas
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


@dataclass(frozen=True)
class Weighed:
    """Turns tallied once, a cell for each game, side and phase, from which the evidence of all groups is summed.

    `chances` are the log-likelihoods of each turn along the artery's ratings.
    """

    turns: Turns
    deltas: Deltas
    scale: Scale
    tally: Tally
    chances: Floats
    cell: NDArray[np.intp]

    def by(self, groups: Groups) -> Evidence:
        """The evidence of these groups, whose turns are whole cells: by player, game, phase, event and the like."""
        inside = groups.code >= 0
        own = np.full(len(self.tally), -1, dtype=np.intp)
        own[self.cell] = groups.code
        if (own[self.cell] != groups.code).any():
            raise InputError("turns of one game, side and phase stand in different groups: tally them with judge.")
        first = np.full(len(self.tally), -1, dtype=np.intp)
        first[self.cell[::-1]] = np.arange(len(self.turns))[::-1]
        used = np.flatnonzero(own >= 0)
        keys = np.stack([own[used], self.turns.game[first[used]], self.turns.white[first[used]]], axis=1)
        cells, code = np.unique(keys, axis=0, return_inverse=True)
        deltas = Deltas(self.deltas.deltas[inside], self.deltas.played[inside], self.deltas.elsewhere[inside])
        return _evidence(
            self.turns.only(inside),
            deltas,
            self.scale,
            Groups(groups.keys, groups.code[inside]),
            cells,
            self.tally.of(used).summed(code.reshape(-1), len(cells)),
        )


def weigh(turns: Turns, calibration: Calibration) -> Weighed:
    """Tally the turns along the calibration's artery by game, side and phase, for groups of many kinds to come."""
    scale = calibration.usable()
    key = np.stack([turns.game, turns.white, phases(turns)], axis=1)
    cell = np.unique(key, axis=0, return_inverse=True)[1].reshape(-1)
    deltas = deltas_of(turns, calibration)
    chances = np.empty((len(turns), len(scale.artery.ratings)))
    return Weighed(turns, deltas, scale, _tally(turns, deltas, calibration, cell, chances), chances, cell)


def judge(turns: Turns, calibration: Calibration, groups: Groups) -> Evidence:
    """Tally the turns of all groups along the calibration's artery; turns without a group are left out."""
    inside = groups.code >= 0
    kept = turns.only(inside)
    code = groups.code[inside]
    deltas = deltas_of(kept, calibration)
    cells, cell = np.unique(np.stack([code, kept.game, kept.white], axis=1), axis=0, return_inverse=True)
    counted = _tally(kept, deltas, calibration, cell.reshape(-1))
    return _evidence(kept, deltas, calibration.usable(), Groups(groups.keys, code), cells, counted)


def _tally(
    turns: Turns, deltas: Deltas, calibration: Calibration, cell: NDArray[np.intp], chances: Floats | None = None
) -> Tally:
    scale = calibration.usable()
    return tally(
        scale.artery,
        deltas.deltas,
        deltas.played,
        elsewhere=deltas.elsewhere,
        allowance=scale.difficulty.allowance(traits_of(turns, calibration)),
        cells=cell,
        chances=chances,
    )


def _evidence(
    turns: Turns, deltas: Deltas, scale: Scale, groups: Groups, cells: NDArray[np.intp], counted: Tally
) -> Evidence:
    """Evidence from its cells, whose columns are group, game and whether White."""
    tags, side = tag_ratings(turns.games), 1 - cells[:, 2]
    return Evidence(
        turns=turns,
        spreads=deltas,
        scale=scale,
        groups=groups,
        tally=counted,
        group=cells[:, 0],
        game=cells[:, 1],
        white=cells[:, 2].astype(np.bool_),
        rating=tags.ratings[cells[:, 1], side],
        taken=tags.taken[cells[:, 1], side],
    )


def deltas_of(found: Turns, calibration: Calibration) -> Deltas:
    """Deltas as the calibration scales them."""
    return deltas_with(found, **_scaling(calibration))


def traits_of(found: Turns, calibration: Calibration) -> Floats:
    """The traits of the positions, for the calibration's allowance for difficulty."""
    return traits(
        found.values, found.ply, found.at_depths(calibration.settings.get("lesser", ())), **_scaling(calibration)
    )


def _scaling(calibration: Calibration) -> dict[str, float]:
    return {name: float(calibration.settings[name]) for name in ("k", "cap", "tie")}


def deltas_with(found: Turns, *, k: float, cap: float, tie: float) -> Deltas:
    """Deltas by given settings; a played move beyond the cap is elsewhere."""
    deltas = scaled_deltas(found.values, k=k, cap=cap, tie=tie)
    inside = np.isfinite(deltas[np.arange(len(deltas)), np.maximum(found.played, 0)]) & (found.played >= 0)
    return Deltas(deltas, np.where(inside, found.played, -1), elsewhere_deltas(found.values, k=k, cap=cap))
