"""Curves add up, their tops lie between those of their parts, and their intervals are what theory says."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.curve import GRID, Curve, Estimate, Honesty


def normal(*means_and_errors: tuple[float, float]) -> Curve:
    rows = [-0.5 * ((GRID - mean) / error) ** 2 for mean, error in means_and_errors]
    return Curve(np.array(rows), GRID)


def test_a_normal_curve_has_its_mean_and_its_interval() -> None:
    (found,) = normal((1850, 100)).estimates()
    assert found.value == pytest.approx(1850, abs=2)
    assert found.low == pytest.approx(1850 - 196, abs=1) and found.high == pytest.approx(1850 + 196, abs=1)
    (half,) = normal((1850, 100)).estimates(level=0.5)
    assert half.high - half.low == pytest.approx(2 * 67.4, abs=1) and half.level == 0.5


def test_power_and_error_of_the_scale_widen() -> None:
    (found,) = normal((1850, 100)).estimates(Honesty(power=0.64, scale_error=60))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * math.hypot(100 / 0.8, 60), rel=0.01)


def test_the_error_of_the_scale_does_not_shrink_with_games() -> None:
    many = normal(*[(1850, 100)] * 400).sum(np.zeros(400, int))
    (found,) = many.estimates(Honesty(scale_error=60))
    assert (found.high - found.low) / 2 == pytest.approx(1.96 * math.hypot(5, 60), rel=0.02)


def test_a_curve_that_rises_to_the_end_says_at_least() -> None:
    rising = Curve((GRID / 400)[None, :], GRID)
    (found,) = rising.estimates()
    assert math.isinf(found.high) and found.value == math.inf and str(found) == f"at least {found.low:.0f}"
    (falling,) = Curve((-GRID / 400)[None, :], GRID).estimates(Honesty(scale_error=50))
    assert math.isinf(falling.low) and str(falling).startswith("at most")


def test_no_evidence_is_no_rating() -> None:
    (found,) = Curve(np.zeros((1, len(GRID))), GRID).estimates()
    assert math.isnan(found.value) and str(found) == "-" and str(Estimate(1500.4, 1400, 1600)) == "1500 (1400-1600)"


@given(st.lists(st.tuples(st.floats(700, 3100), st.floats(30, 900)), min_size=2, max_size=8), st.integers(0, 7))
def test_the_whole_lies_between_its_parts(parts: list[tuple[float, float]], cut: int) -> None:
    curve = normal(*parts)
    code = (np.arange(len(parts)) >= cut % len(parts)).astype(int)
    two, whole = curve.sum(code), curve.sum(np.zeros(len(parts), int))
    assert np.allclose(two.table.sum(axis=0), whole.table[0])
    tops = two.tops()[np.unique(code)]
    assert tops.min() - 2 <= whole.tops()[0] <= tops.max() + 2


def test_turns_of_no_group_are_left_out() -> None:
    curve = normal((1500, 100), (2500, 100), (2000, 100))
    assert curve.sum(np.array([0, -1, 2]), 3).tops()[[0, 2]].tolist() == [1500, 2000]
