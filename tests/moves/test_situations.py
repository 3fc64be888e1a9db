"""Blunders beside what is expected of ratings, turns that count less, and periods of ratings."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.moves.made_up import rated_turns

from assay.engine.turns import Turns
from assay.errors import InputError, WhereError
from assay.moves.calibration import Calibration
from assay.moves.evidence import Evidence, weigh
from assay.moves.groups import group, in_periods, weights_of
from assay.moves.performance import BLUNDER_NAMES, THRESHOLDS, blunder_shares

TURNS = rated_turns()
FEW = TURNS.only(TURNS.game < 12)


@pytest.fixture(scope="module")
def evidence(calibration: Calibration) -> Evidence:
    return weigh(TURNS, calibration, False)


def test_shares_of_blunders_are_those_that_were_played(evidence: Evidence) -> None:
    (row,) = blunder_shares(evidence, group(TURNS, "all"), TURNS.rating)
    loss = TURNS.values[:, 0] - TURNS.values[np.arange(len(TURNS)), TURNS.played]
    for name, threshold in zip(BLUNDER_NAMES, THRESHOLDS, strict=True):
        assert row[name] == pytest.approx((loss > threshold + 1e-6).mean())


def test_what_is_expected_falls_with_the_rating_and_is_near_for_ones_own(evidence: Evidence) -> None:
    groups = group(TURNS, "all")
    (weak,), (own,), (strong,) = (
        blunder_shares(evidence, groups, ratings)
        for ratings in (np.full(len(TURNS), 1600.0), TURNS.rating, np.full(len(TURNS), 2700.0))
    )
    for name in BLUNDER_NAMES:
        low, middle, high = (row[f"{name}_expected"] for row in (strong, own, weak))
        assert low is not None and middle is not None and high is not None
        assert low <= middle <= high
    half = BLUNDER_NAMES[0]
    assert own[half] == pytest.approx(own[f"{half}_expected"], abs=0.05)
    assert blunder_shares(evidence, groups, np.full(len(TURNS), np.nan))[0][f"{half}_expected"] is None


def test_turns_of_no_weight_are_as_good_as_absent(calibration: Calibration) -> None:
    weight, said = weights_of(FEW, ['color == "black": 0'])
    assert (weight == FEW.white).all() and said == [f'Weight 0 for color == "black": {(~FEW.white).sum()} turns.']
    weighed = replace(weigh(FEW, calibration, False), weight=weight).estimates(group(FEW, "all"))[0]
    white = FEW.only(FEW.white)
    alone = weigh(white, calibration, False).estimates(group(white, "all"))[0]
    assert weighed.value == pytest.approx(alone.value, abs=2.1)


def test_half_the_weight_widens(calibration: Calibration) -> None:
    evidence, groups = weigh(FEW, calibration, False), group(FEW, "all")
    whole = evidence.estimates(groups)[0]
    weight, _ = weights_of(FEW, ["move >= 1: 0.5", "move >= 1: 0.5"])
    assert (weight == 0.25).all(), "weights multiply"
    half = replace(evidence, weight=weight).estimates(groups)[0]
    assert half.value == pytest.approx(whole.value, abs=2.1)
    assert half.high - half.low > whole.high - whole.low


@pytest.mark.parametrize("text", ["move < 15", "move < 15: 2", "move < 15: much", "0.5"])
def test_what_is_no_weight(text: str) -> None:
    with pytest.raises(InputError, match="is no weight"):
        weights_of(FEW, [text])


def test_a_condition_is_checked() -> None:
    with pytest.raises(WhereError, match="phases"):
        weights_of(FEW, ['phases == "opening": 0.5'])


def dated(turns: Turns) -> Turns:
    years = [(1977, 1992, 2007, None)[at % 4] for at in range(turns.games.height)]
    return replace(turns, games=turns.games.with_columns(pl.Series("year", years, dtype=pl.Int32)))


def test_periods_are_groups_in_order_of_time() -> None:
    turns = in_periods(dated(TURNS), ["2006-2009", "1976-1979"])
    assert group(turns, "period").keys == (("1976-1979",), ("2006-2009",))
    assert set(turns.column("year").tolist()) == {1977, 2007}
