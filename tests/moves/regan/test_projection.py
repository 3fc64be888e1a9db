"""Projections against sums written out, and against repeated play."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.moves.regan.spreads import choose, random_values

from assay.moves.regan import Agent, ModelError, move_probabilities, project, scaled_deltas

S, C = 0.12, 0.5
DELTAS = scaled_deltas(random_values(600))
P = move_probabilities(DELTAS, S, C)
LOSS = np.where(np.isfinite(DELTAS), DELTAS, 0.0)


def test_expectations() -> None:
    expected = project(DELTAS, S, C)
    assert expected.match == pytest.approx(P[:, 0])
    assert expected.top == pytest.approx(P.cumsum(axis=1)[:, :5])
    assert expected.error == pytest.approx((P * LOSS).sum(axis=1))
    assert expected.matches == pytest.approx(P[:, 0].sum())
    assert expected.top_matches[2] == pytest.approx(P[:, :3].sum())
    assert expected.average_error == pytest.approx((P * LOSS).sum() / 600)


def test_variances_are_those_of_repeated_play() -> None:
    """The formula printed in RMH11 and IRC12 lacks a square and 1/T; play it out and see."""
    expected = project(DELTAS, S, C)
    matches, errors = [], []
    for seed in range(3000):
        move = choose(P, seed)
        matches.append((move == 0).sum())
        errors.append(LOSS[np.arange(600), move].mean())
    assert np.var(errors) == pytest.approx(expected.average_error_variance, rel=0.1)
    assert np.var(matches) == pytest.approx(expected.matches_variance, rel=0.1)
    assert np.cov(matches, errors)[0, 1] == pytest.approx(expected.matches_average_error_covariance, rel=0.1)


def test_gradient_agrees_with_differences() -> None:
    h = 1e-5
    found = project(DELTAS, S, C, gradient=True)
    for i, (ds, dc) in enumerate([(h, 0.0), (0.0, h)]):
        up, down = project(DELTAS, S + ds, C + dc), project(DELTAS, S - ds, C - dc)
        assert found.average_error_gradient[i] == pytest.approx((up.average_error - down.average_error) / (2 * h))
        assert found.gradient_match is not None
        assert found.gradient_match[:, i] == pytest.approx((up.match - down.match) / (2 * h), abs=1e-6)


def test_the_gradient_must_be_asked_for() -> None:
    with pytest.raises(ModelError, match="gradient=True"):
        _ = project(DELTAS, S, C).average_error_gradient


def test_fewer_moves_than_top() -> None:
    assert project([[0.0, 0.1]], S, C, top=5).top.tolist()[0][-1] == pytest.approx(1.0)


def test_a_stronger_player_errs_less() -> None:
    assert project(DELTAS, 0.08, C).average_error < project(DELTAS, 0.16, C).average_error


def test_no_turns() -> None:
    with pytest.raises(ModelError, match="no turns"):
        project(np.empty((0, 5)), S, C)


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
