"""Probabilities: each ratio rule against its own definition, and what must hold for all."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.moves.regan.spreads import parameters_c, parameters_s, random_values, value_rows

from assay.moves.regan import (
    CURVES,
    MODELS,
    ModelError,
    curve_value,
    move_probabilities,
    played_log_probabilities,
    scaled,
    scaled_deltas,
)
from assay.moves.regan.models import prepare
from assay.moves.regan.spread import blocks

INF = float("inf")
DELTAS = scaled_deltas(random_values(700, moves=30))
every_model = pytest.mark.parametrize("model", MODELS)
every_curve = pytest.mark.parametrize("curve", CURVES)


def test_power_is_the_best_moves_probability_to_a_power() -> None:
    """RH11, section 4: p_i = p_0^(1/y_i), with y_i = exp(-(delta_i/s)^c)."""
    p = move_probabilities(DELTAS, 0.1, 0.5)
    inside = np.isfinite(DELTAS)
    assert p[inside] == pytest.approx((p[:, :1] ** (1 / curve_value(np.where(inside, DELTAS, 0), 0.1, 0.5)))[inside])


def test_power_by_bisection() -> None:
    """An independent solver, one turn at a time."""

    def solve(deltas: list[float], s: float, c: float) -> list[float]:
        powers = [math.exp((d / s) ** c) for d in deltas]
        low, high = 0.0, 1.0
        for _ in range(200):
            p0 = (low + high) / 2
            low, high = (p0, high) if sum(p0**a for a in powers) < 1 else (low, p0)
        return [low**a for a in powers]

    for row in DELTAS[:20]:
        deltas = [float(d) for d in row if math.isfinite(d)]
        assert move_probabilities(deltas, 0.13, 0.47) == pytest.approx(solve(deltas, 0.13, 0.47), abs=1e-12)


def test_shares_are_proportional_to_the_curve() -> None:
    p = move_probabilities([0.0, 0.1, 0.4], 0.1, 0.5, model="shares")
    assert p / p[0] == pytest.approx([1.0, math.exp(-1), math.exp(-2)])


def test_third_follows_its_definition() -> None:
    """p_i ln(1/p_0) / (p_0 ln(1/p_i)) = y_i."""
    deltas = [0.0, 0.1, 0.4]
    p = move_probabilities(deltas, 0.1, 0.5, model="third")
    assert p * np.log(p[0]) / (p[0] * np.log(p)) == pytest.approx(curve_value(deltas, 0.1, 0.5))


@every_model
@every_curve
def test_rows_sum_to_one_and_outside_is_zero(model: str, curve: str) -> None:
    p = move_probabilities(DELTAS, 0.2, 0.6, model=model, curve=curve)  # type: ignore[arg-type]
    assert p.sum(axis=1) == pytest.approx(1.0, abs=1e-12)
    assert (p[np.isinf(DELTAS)] == 0).all()


@every_model
@given(values=value_rows(), s=parameters_s, c=parameters_c, curve=st.sampled_from(sorted(CURVES)))
def test_invariants(model: str, values: list[list[float]], s: float, c: float, curve: str) -> None:
    deltas = scaled_deltas(values, tie=0.0)
    p = move_probabilities(deltas, s, c, model=model, curve=curve)  # type: ignore[arg-type]
    assert p.sum(axis=1) == pytest.approx(1.0, abs=1e-9)
    assert (p >= 0).all()
    assert (np.diff(p, axis=1) <= 1e-12).all(), "a worse move is never likelier"


@given(values=value_rows(), shift=st.integers(-300, 300), s=parameters_s, c=parameters_c)
def test_unscaled_probabilities_do_not_change_with_a_common_shift(
    values: list[list[float]], shift: int, s: float, c: float
) -> None:
    def p(rows: np.ndarray) -> np.ndarray:
        return move_probabilities(scaled_deltas(rows, scale="pawns", cap=20.0), s, c)

    assert p(np.array(values) + shift / 100) == pytest.approx(p(np.array(values)), abs=1e-6)


@given(values=value_rows(), s=parameters_s, c=parameters_c)
def test_the_model_is_symmetric_in_colour(values: list[list[float]], s: float, c: float) -> None:
    """A black spread in White's numbers (signs changed) has the same distances, and so the same probabilities."""
    for row in values:
        known = np.array([value for value in row if not math.isnan(value)])
        in_whites_numbers = scaled(-known) - scaled(-known[0])
        p, q = (
            move_probabilities(deltas, s, c) for deltas in (scaled_deltas(known, cap=20.0, tie=0.0), in_whites_numbers)
        )
        assert p == pytest.approx(q, abs=1e-9)


@every_model
@every_curve
@pytest.mark.parametrize(("s", "c"), [(0.002, 2.0), (0.002, 0.1), (5.0, 2.0), (5.0, 0.1), (0.01, 1.5)])
def test_the_corners_of_the_range(model: str, curve: str, s: float, c: float) -> None:
    p = move_probabilities(DELTAS, s, c, model=model, curve=curve)  # type: ignore[arg-type]
    assert p.sum(axis=1) == pytest.approx(1.0, abs=1e-12)


@every_model
def test_equal_moves_are_equally_likely(model: str) -> None:
    p = move_probabilities([[0.0] * 5], 0.1, 0.5, model=model)  # type: ignore[arg-type]
    assert p[0] == pytest.approx([0.2] * 5)


@every_model
def test_a_lone_move_is_certain(model: str) -> None:
    p = move_probabilities([[0.0, INF, INF], [0.0, 0.1, 0.2]], 0.1, 0.5, model=model)  # type: ignore[arg-type]
    assert p[0].tolist() == [1.0, 0.0, 0.0]


def test_the_unit_of_delta_is_s() -> None:
    assert move_probabilities(DELTAS, 0.1, 0.5) == pytest.approx(move_probabilities(3 * DELTAS, 0.3, 0.5), abs=1e-12)


@every_model
@every_curve
def test_slopes_agree_with_differences(model: str, curve: str) -> None:
    s, c, h = 0.15, 0.6, 1e-4
    array, player = prepare(DELTAS[:40], s, c, model, curve, None)
    (block,) = blocks(array)
    _, found = player.solve_with_slopes(block)

    def solved(s: float, c: float) -> np.ndarray:
        return prepare(array, s, c, model, curve, None)[1].solve(block).p

    by_differences = (solved(s * math.exp(h), c) - solved(s * math.exp(-h), c)) / (2 * h)
    assert found.by_s == pytest.approx(by_differences, abs=1e-6)
    by_differences = (solved(s, c * math.exp(h)) - solved(s, c * math.exp(-h))) / (2 * h)
    assert found.by_c == pytest.approx(by_differences, abs=1e-6)


def test_one_s_and_c_per_turn() -> None:
    s, c = np.linspace(0.05, 0.3, len(DELTAS)), np.linspace(0.4, 0.6, len(DELTAS))
    together = move_probabilities(DELTAS, s, c)
    for turn in (0, 300, 699):
        assert together[turn] == pytest.approx(move_probabilities(DELTAS[turn], s[turn], c[turn]), abs=1e-12)


class TestDepths:
    shallow = scaled_deltas(random_values(50, seed=5))
    both = np.stack([np.where(np.isfinite(shallow), shallow[:, ::1] * 0.5, INF), shallow], axis=-1)

    def test_all_the_weight_on_the_last_depth_is_the_paper(self) -> None:
        p = move_probabilities(self.both, 0.1, 0.5, weights=[0, 1])
        assert p == pytest.approx(move_probabilities(self.shallow, 0.1, 0.5), abs=1e-12)

    def test_the_curve_is_averaged_over_depths(self) -> None:
        """RH11, section 8: y_i = sum_d w_d g(delta_i,d), here with the shares rule, where y can be read off."""
        p = move_probabilities(self.both, 0.1, 0.5, model="shares", weights=[1, 3])
        g = 0.25 * curve_value(self.both[:, :, 0], 0.1, 0.5) + 0.75 * curve_value(self.both[:, :, 1], 0.1, 0.5)
        g[np.isinf(self.shallow)] = 0
        assert p == pytest.approx(g / g.sum(axis=1, keepdims=True), abs=1e-12)

    def test_a_move_that_only_the_last_depth_likes(self) -> None:
        deltas = np.array([[[3.0, 0.0], [0.0, 0.1]]])
        p = move_probabilities(deltas, 0.01, 1.0, weights=[1, 0])
        assert p[0, 1] == pytest.approx(1.0)

    @pytest.mark.parametrize("weights", [[1.0], [-1.0, 2.0], [0.0, 0.0], [1.0, float("nan")]])
    def test_bad_weights(self, weights: list[float]) -> None:
        with pytest.raises(ModelError, match="weights are 2 numbers"):
            move_probabilities(self.both, 0.1, 0.5, weights=weights)

    def test_weights_without_depths(self) -> None:
        with pytest.raises(ModelError, match="third axis"):
            move_probabilities(self.shallow, 0.1, 0.5, weights=[1.0])


@pytest.mark.parametrize(
    ("deltas", "s", "c", "sentence"),
    [
        ([[0.0, 0.1]], 0.0, 0.5, "s must be a positive number, not 0.0"),
        ([[0.0, 0.1]], 0.1, 0.0, "c must be a positive number, not 0.0"),
        ([[0.0, 0.1]] * 2, [0.1, -1.0], 0.5, r"s must be a positive number \(turn 1\), not -1.0"),
        ([[0.0, 0.1]] * 2, [0.1, 0.1, 0.1], 0.5, r"one per turn \(2\)"),
        ([[0.0, 0.1], [0.0, float("nan")]], 0.1, 0.5, "turn 1: a delta is negative or no number"),
        ([[0.0, -0.1]], 0.1, 0.5, "turn 0: a delta is negative"),
        ([[0.0, 0.1], [INF, INF]], 0.1, 0.5, "turn 1 has no moves"),
    ],
)
def test_bad_arguments(deltas: list[list[float]], s: float, c: float, sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        move_probabilities(deltas, s, c)


def test_the_probability_of_what_was_played() -> None:
    played = np.array([0, 3, -1, 29] + [0] * 696)
    p = move_probabilities(DELTAS, 0.1, 0.5)
    logs = played_log_probabilities(DELTAS, played, 0.1, 0.5, floor=0.01)
    assert logs[0] == pytest.approx(math.log(0.99 * p[0, 0]))
    assert logs[2] == pytest.approx(math.log(0.01)), "elsewhere"
    outside = np.isinf(DELTAS[np.arange(700), played]) | (played < 0)
    assert logs[outside] == pytest.approx(math.log(0.01))


def test_a_played_move_that_does_not_exist() -> None:
    with pytest.raises(ModelError, match="turn 1: the played move has index 2, but there are 2 moves"):
        played_log_probabilities([[0.0, 0.1], [0.0, 0.2]], [0, 2], 0.1, 0.5)
    with pytest.raises(ModelError, match="whole numbers"):
        played_log_probabilities([[0.0, 0.1]], [0.5], 0.1, 0.5)
