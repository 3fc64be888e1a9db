"""What the allowance for difficulty gains: the noise of a turn with it and without, on games not calibrated on.

    python studies/difficulty.py GAMES.pgn STORE.db DEPTH...

Three folds; each is judged by calibrations from the other two, one that looks at the traits of positions and one that
does not. `noise` is Elo per turn of the default way (root mean square over the marks); `together` is the correlation of
both players' errors in a game, beyond what is expected of them; `phases` is how far the ratings of opening, middlegame
and endgame lie apart (standard deviation).
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from efficiency import noise_on_artery
from rated_sample import Held, cross_fit, read, tallied

from assay.moves.groups import PHASES, phases
from assay.moves.regan.calibrate import residuals
from assay.moves.regan.ipr import rate
from assay.moves.regan.marks import Sample
from assay.table import render

FOLDS = 3


def noise(parts: list[Held]) -> float:
    """Elo per turn of the default way."""
    found = []
    for part in parts:
        for mark in np.unique(part.mark):
            found.append(noise_on_artery(part.by_game(part.mark == mark), part.scale, "combined"))
    return float(np.sqrt(np.mean(np.square(found))))


def together(parts: list[Held]) -> float:
    """The correlation of both sides' errors in a game, each in standard deviations of the model."""
    pairs = []
    for part in parts:
        residual, variance = residuals(part.sides, part.elo, part.scale.ratios)
        sure = np.flatnonzero(variance[:, 2] > 0)
        z = residual[sure, 2] / np.sqrt(variance[sure, 2])
        order = np.argsort(part.game[sure], kind="stable")
        game = part.game[sure][order]
        first = np.flatnonzero(game[1:] == game[:-1])
        pairs.append(np.stack([z[order][first], z[order][first + 1]], axis=1))
    return float(np.corrcoef(np.concatenate(pairs).T)[0, 1])


def apart(parts: list[Held], phase: np.ndarray) -> float:
    """How far the ratings of the phases lie from one another, over all folds and marks."""
    ratings = []
    for part in parts:
        own = phase[part.turns]
        ratings.append(
            [rate(tallied(part.scale, part.sample.of(own == one)), part.scale).rating for one in range(len(PHASES))]
        )
    return float(np.mean(ratings, axis=0).std())


def main() -> None:
    table = []
    for depth in map(int, sys.argv[3:]):
        turns, sample = read(sys.argv[1], sys.argv[2], depth)
        blind: Sample = replace(sample, traits=np.full_like(sample.traits, np.nan))
        for name, some in (("without", blind), ("with", sample)):
            parts = cross_fit(some, FOLDS)
            row = {"depth": depth, "allowance": name, "noise": noise(parts), "together": together(parts)}
            table.append(row | {"phases": apart(parts, phases(turns))})
    print(render(table, decimals={"noise": 0, "together": 2, "phases": 0}))


if __name__ == "__main__":
    main()
