"""Rated games with their analyses as a sample, and cross-fitted scales: what the studies of ratings share."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from assay import games
from assay.engine.store import Store
from assay.engine.turns import Turns, turns
from assay.moves.calibrating import sample_of
from assay.moves.groups import mileposts
from assay.moves.regan.calibrate import calibrate
from assay.moves.regan.marks import Sample, dealt
from assay.moves.regan.problem import MethodName
from assay.moves.regan.scale import Scale
from assay.moves.regan.tally import Tally, tally

MARKS = range(1600, 2701, 100)
# As the shipped calibrations are made.
METHOD: MethodName = "equations"


def read(pgn: str, store: str, depth: int, within: float = 20) -> tuple[Turns, Sample]:
    """The turns of the games at the marks, and the same as a sample."""
    found = _turns(pgn, store, depth)
    return sample_of(found, mileposts(found, MARKS, within))


def read_all(pgn: str, store: str, depth: int) -> tuple[Turns, Sample]:
    """The turns of all rated players as a sample of one mark: to be rated, not to calibrate on."""
    found = _turns(pgn, store, depth)
    return sample_of(found, np.where(np.isfinite(found.rating), MARKS[0], 0))


def _turns(pgn: str, store: str, depth: int) -> Turns:
    with Store(store) as opened:
        return turns(games.read(pgn), opened, depth=depth)


@dataclass(frozen=True)
class Held:
    """Games that a scale has not seen: a tally with a cell per side, and each side's rating, mark and game."""

    scale: Scale
    sides: Tally
    elo: np.ndarray
    mark: np.ndarray
    game: np.ndarray
    turns: np.ndarray
    sample: Sample

    def by_game(self, own: np.ndarray) -> Tally:
        """The tally of these sides, a cell per game."""
        return self.sides.of(own).summed(np.unique(self.game[own], return_inverse=True)[1])


def cross_fit(sample: Sample, folds: int, seed: int = 1) -> list[Held]:
    """Calibrate on all folds but one and tally that one, for each fold; whole games go together."""
    fold = dealt(sample.game, folds, seed)
    return [
        held(calibrate(sample.of(fold != k), method=METHOD).scale, sample, np.flatnonzero(fold == k))
        for k in range(folds)
    ]


def tallied(scale: Scale, part: Sample) -> Tally:
    """A cell per side, under a scale."""
    allowance = scale.difficulty.allowance(part.traits)
    return tally(scale.artery, part.deltas, part.played, elsewhere=part.elsewhere, allowance=allowance, cells=part.side)


def held(scale: Scale, sample: Sample, rows: np.ndarray) -> Held:
    """These turns under a scale."""
    part = sample.of(rows)
    sides = tallied(scale, part)
    elo, mark, game = (part.per_side(values) for values in (part.elo, part.mark, part.game))
    return Held(scale, sides, elo, mark, game, rows, part)
