"""A calibration of the made-up world, for all tests of this room."""

from __future__ import annotations

import pytest
from numpy.typing import NDArray
from tests.moves.made_up import rated_turns
from tests.moves.regan.players import MARKS

from assay.moves.calibrating import make_calibration
from assay.moves.calibration import Calibration


@pytest.fixture(scope="session")
def made() -> tuple[Calibration, NDArray]:  # type: ignore[type-arg]
    return make_calibration(
        rated_turns(),
        name="made-up",
        marks=MARKS,
        within=20,
        method="equations",
        from_move=9,
        limit=3.0,
        inputs=[{"name": "made-up.pgn", "bytes": 1, "sha256": "0"}],
    )


@pytest.fixture(scope="session")
def calibration(made: tuple[Calibration, NDArray]) -> Calibration:  # type: ignore[type-arg]
    return made[0]
