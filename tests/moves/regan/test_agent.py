"""Agents: seeded, true to their probabilities, live with anything that values moves."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.moves.regan.spreads import random_values

from assay.moves.regan import Agent, ModelError, move_probabilities, scaled_deltas

VALUES = [0.4, 0.3, 0.0, -1.0, -8.0]


def test_the_same_seed_plays_the_same_moves() -> None:
    first, again, other = (Agent(0.2, 0.5, seed=seed) for seed in (1, 1, 2))
    moves = [first.choose(VALUES) for _ in range(50)]
    assert moves == [again.choose(VALUES) for _ in range(50)]
    assert moves != [other.choose(VALUES) for _ in range(50)]


def test_moves_come_with_the_models_probabilities() -> None:
    agent = Agent(0.2, 0.5, seed=3)
    expected = move_probabilities(scaled_deltas(VALUES), 0.2, 0.5)
    counts = np.bincount([agent.choose(VALUES) for _ in range(1500)], minlength=5) / 1500
    assert counts == pytest.approx(expected, abs=0.04)
    assert counts[4] == 0, "beyond the cap"


def test_many_turns_at_once() -> None:
    deltas = scaled_deltas(random_values(5000))
    played = Agent(0.2, 0.5, seed=4).choose_all(deltas)
    assert np.isfinite(deltas[np.arange(5000), played]).all()
    assert (played == 0).mean() == pytest.approx(move_probabilities(deltas, 0.2, 0.5)[:, 0].mean(), abs=0.02)


def test_a_single_legal_move_is_played() -> None:
    assert Agent(0.2, 0.5).choose([-3.0]) == 0


def test_a_live_engine() -> None:
    class Fixed:
        def values(self, fen: str, depth: int = 10, lines: int = 50) -> tuple[list[str], NDArray[np.float64]]:
            assert (fen, depth, lines) == ("a position", 8, 20)
            return ["e2e4", "a2a4"], np.array([0.3, -9.0])

    assert Agent(0.1, 0.5).move("a position", Fixed(), depth=8, lines=20) == "e2e4"


def test_bad_parameters_are_refused_at_once() -> None:
    with pytest.raises(ModelError, match="s must be a positive number"):
        Agent(0.0, 0.5)
    with pytest.raises(ModelError, match="choose_all takes turns x moves"):
        Agent(0.1, 0.5).choose_all([0.0, 0.1])
