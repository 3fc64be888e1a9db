"""Turns as a calibration judges them for a rating: by the model that knows the policy, and by the values alone.

What `assay.moves.evidence` does with the turns of games, for turns that studies put together themselves: how far each
side passes for a person says how much of its curve is by which model (`assay.moves.choice.model`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields, replace

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID, Curve
from assay.engine.choices import Choices
from assay.moves.calibration import Calibration
from assay.moves.choice.model import UNIT, curve_of, exponents, human, mixed
from assay.moves.evidence import log_policy
from assay.policy.chances import shipped

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class TwoModels:
    """The exponents of every move by both models, and of every turn how far its side passes for a person."""

    g0: Floats
    g1: Floats
    plain0: Floats
    plain1: Floats
    human: Floats
    lift: float

    def only(self, turns: NDArray[np.bool_], moves: NDArray[np.bool_]) -> TwoModels:
        """Some turns, with the moves of these."""
        each = (self.g0[moves], self.g1[moves], self.plain0[moves], self.plain1[moves])
        return TwoModels(*each, self.human[turns], self.lift)

    def playing(self, choices: Choices, side: NDArray[np.integer]) -> TwoModels:
        """The same turns where other moves were played: how far each side passes for a person is asked anew."""
        own, plain = curve_of(self.g0, self.g1, choices), curve_of(self.plain0, self.plain1, choices)
        _, code = np.unique(side, return_inverse=True)
        return replace(self, human=human(own, plain, code.reshape(-1)))

    def curve(self, choices: Choices, at: Floats = GRID) -> Curve:
        """The curve of every turn, where `at` are the ratings of the grid on the inner scale."""
        own, plain = (
            curve_of(*both, choices, at - self.lift) for both in ((self.g0, self.g1), (self.plain0, self.plain1))
        )
        return Curve(mixed(own, plain, self.human).table, GRID)

    def voices(self) -> Iterator[tuple[Floats, Floats, Floats]]:
        """Each model's exponents, and how much of every turn is by it."""
        yield self.g0, self.g1, self.human
        yield self.plain0, self.plain1, 1 - self.human

    @property
    def shift(self) -> float:
        """What is taken from the strength that a turn is judged by."""
        return self.lift / UNIT


def two_models(calibration: Calibration, choices: Choices, side: NDArray[np.integer]) -> TwoModels:
    """Judge turns, of each of which is told to which side of a game it belongs."""
    model = calibration.model()
    models = [model, calibration.models["engine"]]
    own, plain = exponents(models, choices, log_policy(choices, shipped()))
    return TwoModels(*own, *plain, np.ones(len(choices)), model.lift).playing(choices, side)


def joined_models(parts: Sequence[TwoModels]) -> TwoModels:
    """The turns of several samples, judged by the same calibration, one after the other."""
    names = [field.name for field in fields(TwoModels) if field.name != "lift"]
    return TwoModels(*(np.concatenate([getattr(one, name) for one in parts]) for name in names), parts[0].lift)
