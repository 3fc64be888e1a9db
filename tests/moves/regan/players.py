"""A made-up world: agents of known rating at three marks, who play made-up positions."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray
from tests.moves.regan.spreads import choose, random_values

from assay.moves.regan import elsewhere_deltas, move_probabilities, scaled_deltas
from assay.moves.regan.ipr import Scale
from assay.moves.regan.marks import Course, Sample, fit_marks

MARKS = (1800, 2200, 2600)
TURNS_PER_GAME = 40


def parameters(elo: float) -> tuple[float, float]:
    """s and c of an agent in this world."""
    return 0.13 * float(np.exp(-(elo - 2200) / 1000)), 0.53 + 0.008 * (elo - 2000) / 100


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
        game=side,
        elo=mark.astype(np.float64),
        mark=mark,
    )


@cache
def course() -> Course:
    """The world's own marks and lines."""
    return fit_marks(world(), method="equations")


def scale() -> Scale:
    """The world's own scale."""
    found = course()
    return Scale(found.reference, found.line, found.lines, (MARKS[0], MARKS[-1]))
