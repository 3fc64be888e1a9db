"""Screening: honest play is standard normal, help is seen, and the field corrections are the textbook's."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control
from tests.moves.regan.players import calibrated, played_by

from assay.moves.regan import scaled_deltas
from assay.moves.regan.tally import Tally, tally
from assay.moves.regan.zscores import assistance, field_null, log_chances, null_by_group, q_values, screen


def sides(elo: float, games: int, seed: int, helped: float = 0.0) -> Tally:
    values, played, game = played_by(elo, games, seed)
    follows = np.random.default_rng(seed).random(len(played)) < helped
    deltas = scaled_deltas(values)
    return tally(calibrated().scale.artery, deltas, np.where(follows, 0, played), cells=game)


def test_honest_play_has_standard_normal_z() -> None:
    scale = calibrated().scale
    everybody = sides(2200, 900, seed=50)
    z = np.array([screen(everybody.of(np.arange(9 * i, 9 * i + 9)), 2200.0, scale).combined for i in range(100)])
    assert abs(z.mean()) < 0.35  # a tenth by chance, the rest is the error of a small calibration
    assert z.std(ddof=1) == pytest.approx(1.0, abs=0.2)


def test_help_raises_every_z_and_more_of_it_more() -> None:
    scale = calibrated().scale
    some, much = (screen(sides(2000, 9, seed=60, helped=share), 2000.0, scale) for share in (0.25, 0.6))
    assert (much.z > some.z).all()
    assert much.combined > 4
    assert much.roi == pytest.approx(50 + 5 * much.combined)
    assert much.actual[0] > much.expected[0]


def test_play_below_the_rating_has_a_negative_z() -> None:
    assert screen(sides(1800, 9, seed=61), 2600.0, calibrated().scale).combined < -3


def test_a_doubtful_rating_makes_a_smaller_z() -> None:
    scale = calibrated().scale
    strong = sides(2500, 9, seed=62)
    sure, doubtful = screen(strong, 2000.0, scale), screen(strong, 2000.0, scale, rating_error=150.0)
    assert 0 < doubtful.combined < sure.combined


def test_the_share_of_assistance_is_found() -> None:
    scale = calibrated().scale
    values, played, _ = played_by(2000, 60, seed=63)
    deltas = scaled_deltas(values)
    own, engine = (log_chances(deltas, played, *scale.artery.at(rating)) for rating in (2000.0, 2900.0))
    none = assistance(own, engine, scale.power)
    follows = np.random.default_rng(1).random(len(played)) < 0.5
    helped = np.where(follows, 0, played)
    own, engine = (log_chances(deltas, helped, *scale.artery.at(rating)) for rating in (2000.0, 2900.0))
    half = assistance(own, engine, scale.power)
    assert none.log_ratio < 3 < half.log_ratio
    assert none.share < 0.2 < half.share


def test_a_move_outside_the_list_is_a_lapse() -> None:
    assert log_chances([[0.0, 0.1]], [-1], 0.1, 0.5, lapse=0.01)[0] == pytest.approx(np.log(0.005))


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_values_are_those_of_scipy(p: list[float]) -> None:
    assert q_values(p) == pytest.approx(false_discovery_control(p, method="by"))
    assert q_values(p, dependent=False) == pytest.approx(false_discovery_control(p, method="bh"))


def test_the_null_of_a_field_ignores_its_tail() -> None:
    rng = np.random.default_rng(2)
    honest = rng.normal(0.4, 1.3, 400)
    null = field_null(np.append(honest, [8.0] * 8))
    assert null.centre == pytest.approx(0.4, abs=0.2)
    assert null.spread == pytest.approx(1.3, abs=0.2)
    assert field_null(rng.normal(0, 0.5, 400)).spread == 1.0


def test_small_groups_take_the_null_of_the_whole_field() -> None:
    z = np.concatenate([np.linspace(-1, 1, 20), [5.0, 6.0]])
    centre, _ = null_by_group(z, ["2000"] * 20 + ["2700"] * 2)
    assert centre[0] == pytest.approx(0.0, abs=1e-9)
    assert centre[-1] == pytest.approx(field_null(z).centre)


def test_an_empty_field_has_no_q() -> None:
    assert len(q_values([])) == 0
