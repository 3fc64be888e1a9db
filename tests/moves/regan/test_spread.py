"""Values to deltas: the scaling law, the cap, ties, depths, and what is refused."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from tests.moves.regan.spreads import value_rows

from assay.moves.regan import ModelError, elsewhere_deltas, scaled, scaled_deltas

NAN, INF = float("nan"), float("inf")


def test_scaling_is_the_integral_of_the_law() -> None:
    """RH11, section 3.1: delta is the integral of dz / (1 + |z|) from v_i to v_0, also across zero."""
    z = np.linspace(-0.7, 1.2, 200_001)
    integral = np.trapezoid(1 / (1 + np.abs(z)), z)
    assert scaled_deltas([[1.2, -0.7]])[0, 1] == pytest.approx(integral, abs=1e-9)


def test_k_stretches_the_scale() -> None:
    z = np.linspace(0.0, 1.0, 100_001)
    assert scaled(1.0, k=0.5) == pytest.approx(np.trapezoid(1 / (0.5 + z), z), abs=1e-8)


def test_moves_beyond_the_cap_are_out() -> None:
    deltas = scaled_deltas([[0.07, -3.93, -3.94]])
    assert np.isfinite(deltas).tolist() == [[True, True, False]]
    assert np.isfinite(scaled_deltas([[0.07, -3.93, -3.94]], cap=10.0)).all()


def test_later_moves_equal_to_the_best_get_the_tie_value() -> None:
    assert scaled_deltas([[1.0, 1.0, 1.0, 0.5]], tie=0.04)[0, :3].tolist() == [0.0, 0.04, 0.04]


def test_other_scales() -> None:
    values = [[2.0, 1.0, 0.0]]
    assert scaled_deltas(values, scale="pawns").tolist() == [[0.0, 1.0, 2.0]]
    winning = scaled_deltas([[0.0, -1.0], [9.0, 8.0]], scale="winprob")
    assert winning[0, 1] > 4 * winning[1, 1] > 0


def test_padding_with_nan_or_minus_infinity_is_the_same() -> None:
    assert np.array_equal(scaled_deltas([[0.3, 0.1, NAN]]), scaled_deltas([[0.3, 0.1, -INF]]))


def test_one_turn_alone() -> None:
    assert scaled_deltas([0.3, 0.1]).shape == (2,)


def test_each_depth_is_measured_from_its_own_best() -> None:
    shallow, deep = [0.0, 0.5, -9.0], [0.6, 0.2, -5.0]
    deltas = scaled_deltas(np.stack([shallow, deep], axis=-1)[None], scale="pawns")
    assert deltas[0, :, 0].tolist() == [0.5, 0.0, INF]
    assert deltas[0, :, 1].tolist() == pytest.approx([0.0, 0.4, INF])


def test_an_error_elsewhere_is_that_of_the_cap() -> None:
    values = np.array([[0.5, 0.1], [-1.0, -2.0]])
    at_the_cap = np.stack([values[:, 0], values[:, 0] - 4.0], axis=1)
    assert elsewhere_deltas(values).tolist() == pytest.approx(scaled_deltas(at_the_cap)[:, 1].tolist())


@given(value_rows())
def test_deltas_start_at_zero_and_rise(values: list[list[float]]) -> None:
    deltas = scaled_deltas(values, tie=0.0)
    assert (deltas[:, 0] == 0).all()
    assert (deltas[:, 1:] >= deltas[:, :-1]).all()


@given(value_rows())
def test_unscaled_deltas_do_not_change_with_a_common_shift(values: list[list[float]]) -> None:
    plain = scaled_deltas(values, scale="pawns", cap=20.0)
    shifted = scaled_deltas(np.array(values) + 0.5, scale="pawns", cap=20.0)
    assert np.allclose(plain, shifted, atol=1e-9)


@given(value_rows())
def test_the_scale_is_symmetric_in_colour(values: list[list[float]]) -> None:
    """Seen from the other side every value changes its sign, and no difference its size."""
    assert np.allclose(scaled(values), -scaled(-np.array(values)), equal_nan=True)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([[0.5, 0.1], [NAN, NAN]], "turn 1 has no moves"),
        ([[0.5, NAN]], "turn 0 has a single legal move"),
        ([[0.5, NAN, 0.1]], "turn 0 has a gap"),
        ([[0.1, 0.5]], "turn 0 is not in order"),
        ([[0.5, 0.1], [INF, 0.1]], "turn 1 has an infinite value"),
        ([[]], "array of turns x moves"),
    ],
)
def test_bad_spreads_are_refused_by_turn(values: list[list[float]], sentence: str) -> None:
    with pytest.raises(ModelError, match=sentence):
        scaled_deltas(values)


def test_bad_settings_are_refused() -> None:
    with pytest.raises(ModelError, match="k must be a positive number"):
        scaled_deltas([[0.5, 0.1]], k=0.0)
    with pytest.raises(ModelError, match="unknown scale 'log10'"):
        scaled_deltas([[0.5, 0.1]], scale="log10")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="cap must be positive"):
        scaled_deltas([[0.5, 0.1]], cap=-1.0)
