"""Witnesses joined: the sum lies among its parts, an honest curve is wider, and only what lies apart is an alarm."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.answer.joining import (
    EVALS,
    WITNESSES,
    Joint,
    agreement,
    honest,
    joined,
    normal_prior,
    population_of,
    shipped,
)
from assay.answer.voices import performance_error, result_curves, worth_games
from assay.curve import GRID, Curve, Honesty

PLAIN = Joint()
bells = st.tuples(st.floats(1000, 2800), st.floats(60, 300))


def top(row: np.ndarray) -> float:
    return float(Curve(row[None], GRID).tops()[0])


@given(st.lists(bells, min_size=2, max_size=3))
def test_the_sum_lies_among_its_parts(parts: list[tuple[float, float]]) -> None:
    curves = {name: normal_prior(*one) for name, one in zip(WITNESSES, parts, strict=False)}
    own = [top(row) for row in curves.values()]
    assert min(own) - 4 <= top(joined(curves, PLAIN)) <= max(own) + 4


def test_what_is_surer_counts_for_more() -> None:
    curves = {"results": normal_prior(2200, 100), "moves": normal_prior(2300, 50)}
    assert top(joined(curves, PLAIN)) == pytest.approx(2280, abs=4)
    (one,) = Curve(joined(curves, PLAIN)[None], GRID).estimates()
    assert one.half_width == pytest.approx(1.96 / np.hypot(1 / 100, 1 / 50), rel=0.02)


def test_an_honest_curve_is_as_wide_as_its_error_says() -> None:
    row = honest(normal_prior(2200, 100), Honesty(0.5, 80))
    (one,) = Curve(row[None], GRID).estimates()
    assert one.value == pytest.approx(2200, abs=4)
    assert one.half_width == pytest.approx(1.96 * np.hypot(100 / np.sqrt(0.5), 80), rel=0.02)


def test_the_alarm_is_for_those_who_lie_apart() -> None:
    near = agreement({"results": normal_prior(2200, 100), "moves": normal_prior(2300, 100)}, PLAIN)
    far = agreement({"results": normal_prior(2200, 100), "moves": normal_prior(2600, 100)}, PLAIN)
    assert near is not None and far is not None
    assert not near.alarm and far.alarm
    # Two normals: the drop is a quarter of the squared difference in errors, chi-square with one degree of freedom.
    assert near.drop == pytest.approx(0.25, abs=0.01) and far.drop == pytest.approx(4.0, abs=0.05)
    assert near.p == pytest.approx(0.4795, abs=0.01) and far.p == pytest.approx(0.0047, abs=0.001)
    assert agreement({"results": normal_prior(2200, 100)}, PLAIN) is None


def test_points_say_what_a_performance_rating_says() -> None:
    rng = np.random.default_rng(1)
    opponent, white = rng.uniform(2100, 2300, 400), np.arange(400) % 2 == 0
    p = 1 / (1 + 10 ** (-(2300 + np.where(white, 35, -35) - opponent) / 400))
    score = (rng.random(400) < p).astype(float)
    curve = result_curves(opponent, np.full(400, 70.0), score, white)
    (one,) = curve.sum(np.zeros(400, np.intp)).estimates()
    assert one.low < 2300 < one.high and one.half_width < 60
    nothing = result_curves(np.array([np.nan, 2200.0]), np.zeros(2), np.array([1.0, np.nan]), np.array([True, True]))
    assert not nothing.table.any()


def test_a_result_that_cannot_be_is_not_impossible() -> None:
    curve = result_curves(np.array([7810.0]), np.array([20.0]), np.array([1.0]), np.array([True]))
    assert np.isfinite(curve.table).all()


def test_what_ships_is_sound() -> None:
    for joint in (each.over(games) for each in shipped().values() for games in (1, 4, 9, 100)):
        assert set(joint.powers) <= {*WITNESSES, EVALS}
        assert all(0 < power <= 2 for power in joint.powers.values())
        assert 30 <= joint.tag(2200) <= 150
    assert worth_games(performance_error(9)) == pytest.approx(9)
    for pool in ("otb-slow", "otb-blitz", "lichess-rapid", "chess.com-blitz", "online"):
        name, who = population_of(pool)
        assert 1000 < who.mean < 2500 and 100 < who.spread < 500, name
