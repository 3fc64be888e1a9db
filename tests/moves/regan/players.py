"""A made-up world: agents of known rating at three marks, who play made-up positions."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from tests.moves.regan.spreads import choose, random_values

from assay.moves.regan import elsewhere_deltas, move_probabilities, scaled_deltas
from assay.moves.regan.artery import Artery, Line, make_artery
from assay.moves.regan.calibrate import Measured, calibrate
from assay.moves.regan.difficulty import traits
from assay.moves.regan.marks import Sample

MARKS = (1800, 2200, 2600)
TURNS_PER_GAME = 40


@cache
def truth() -> Artery:
    """The artery that the agents of this world live on."""
    reference = scaled_deltas(random_values(600, seed=99))
    return make_artery(reference, Line(3700.0, 45_000.0, np.zeros((2, 2))), 0.53, 0.008)


def parameters(elo: float) -> tuple[float, float]:
    """s and c of an agent in this world."""
    return truth().at(elo)


def played_by(elo: float, games: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.intp], NDArray[np.intp]]:
    """Values, moves played, and the game of each turn."""
    values = random_values(games * TURNS_PER_GAME, seed=seed)
    played = choose(move_probabilities(scaled_deltas(values), *parameters(elo)), seed + 1)
    return values, played, np.repeat(np.arange(games), TURNS_PER_GAME)


def world(games: int = 110, seed: int = 10) -> Sample:
    """Agents at every mark, one side of each game."""
    parts = [played_by(mark, games, seed + 2 * i) for i, mark in enumerate(MARKS)]
    return at_marks([part[0] for part in parts], [part[1] for part in parts], games)


def at_marks(of: list[NDArray[np.float64]], played: list[NDArray[np.intp]], games: int) -> Sample:
    """A sample of so many games at each mark, from the values and the moves played there."""
    values = np.concatenate(of)
    side = np.repeat(np.arange(games * len(MARKS)), TURNS_PER_GAME)
    mark = np.repeat(MARKS, games * TURNS_PER_GAME)
    return Sample(
        deltas=scaled_deltas(values),
        played=np.concatenate(played),
        elsewhere=elsewhere_deltas(values),
        traits=traits(values, np.full(len(values), 40)),
        game=side,
        side=side,
        elo=mark.astype(np.float64),
        mark=mark,
    )


@cache
def calibrated() -> Measured:
    """The world's own calibration."""
    return calibrate(world(), method="equations")
