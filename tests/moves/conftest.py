"""A calibration of the made-up world, for all tests of this room."""

from __future__ import annotations

import pytest
from numpy.typing import NDArray
from tests.moves.made_up import ENGINE, rated_turns
from tests.moves.regan.players import MARKS

from assay.moves import calibrating
from assay.moves.calibration import Calibration


@pytest.fixture(scope="session")
def made() -> tuple[Calibration, NDArray]:  # type: ignore[type-arg]
    turns = rated_turns()
    return calibrating.make_calibration(
        calibrating.rated_turns(turns, MARKS, 20),
        ENGINE,
        4,
        name="made-up",
        network=None,
        exclusions=turns.excluded,
        inputs=[{"name": "made-up.pgn", "bytes": 1, "sha256": "0"}],
    )


@pytest.fixture(scope="session")
def calibration(made: tuple[Calibration, NDArray]) -> Calibration:  # type: ignore[type-arg]
    return made[0]
