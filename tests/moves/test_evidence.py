"""Evidence: every turn has a concave curve, groups are sums, and the whole lies between its parts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.moves.made_up import rated_turns, turns_of

from assay.errors import CalibrationError
from assay.moves.calibration import Calibration
from assay.moves.choice.features import NATURAL
from assay.moves.choice.model import Taste, mixed
from assay.moves.evidence import weigh
from assay.moves.groups import Groups, group
from assay.moves.performance import rate_groups
from assay.moves.review import running
from assay.moves.screening import screen_groups
from assay.policy.chances import shipped

TURNS = rated_turns()
FEW = TURNS.only(TURNS.game < 12)


def test_every_curve_is_concave(calibration: Calibration) -> None:
    table = weigh(FEW, calibration, False).curve.table
    assert (np.diff(table, 2, axis=1) < 1e-5).all()


@pytest.mark.parametrize("by", [("player",), ("player", "game"), ("phase",), ("player", "phase"), ("all",)])
def test_groups_are_sums_of_the_same_curves(calibration: Calibration, by: tuple[str, ...]) -> None:
    evidence, groups = weigh(FEW, calibration, False), group(FEW, *by)
    rows = rate_groups(evidence, groups)
    for at, row in enumerate(rows):
        alone = FEW.only(groups.code == at)
        own = rate_groups(weigh(alone, calibration, False), group(alone, "all"))[0]
        assert own.estimate.value == pytest.approx(row.estimate.value, abs=2.1)
        assert (own.estimate.low, own.estimate.high) == pytest.approx((row.estimate.low, row.estimate.high), abs=2.1)
        np.testing.assert_allclose(own.actual, row.actual, rtol=1e-5)


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 10**6), parts=st.integers(2, 6))
def test_the_whole_lies_between_its_parts(calibration: Calibration, seed: int, parts: int) -> None:
    code = np.random.default_rng(seed).integers(parts, size=len(FEW))
    evidence = weigh(FEW, calibration, False)
    tops = [one.value for one in evidence.estimates(Groups(tuple((str(i),) for i in range(parts)), code))]
    whole = evidence.estimates(group(FEW, "all"))[0].value
    assert min(tops) - 2 <= whole <= max(tops) + 2


def test_one_turn_more_never_makes_a_rating_jump(calibration: Calibration) -> None:
    """No switch at any number of turns: the running rating moves less and less."""
    turns = turns_of([("A", "B", 2400.0, 2400.0)] * 8)
    one = replace(turns, game=np.zeros_like(turns.game))
    values = np.array([said.value for said in running(weigh(one, calibration, False), 0)[0].estimates])
    steps = np.abs(np.diff(values[100:]))
    assert len(values) > 300 and np.isfinite(values[100:]).all() and steps.max() < 100


def test_the_same_moves_have_the_same_rating_everywhere(calibration: Calibration) -> None:
    evidence = weigh(FEW, calibration, False)
    game = rate_groups(evidence, group(FEW, "player", "game"))
    screened = {row.player: row.ipr for row in screen_groups(evidence, group(FEW, "player", "all"))}
    players = {row.group: row.estimate for row in rate_groups(evidence, group(FEW, "player"))}
    assert screened == players
    for number in range(3):
        last = [side.estimates[-1] for side in running(evidence, number)]
        own = [row.estimate for row in game if f"/ {number + 1}. " in row.group]
        assert [one.value for one in last] == pytest.approx([one.value for one in own], abs=2.1)


def test_a_flat_curve_says_nothing_and_a_rising_one_at_least(calibration: Calibration) -> None:
    first = FEW.choices.start[:-1]
    best = replace(FEW, choices=replace(FEW.choices, played=np.zeros_like(first)))
    row = rate_groups(weigh(best, calibration, False), group(best, "all"))[0]
    assert math.isinf(row.estimate.high) and row.note.startswith("at least ")
    nothing = FEW.only(np.zeros(len(FEW), np.bool_))
    empty = weigh(FEW, calibration, False).estimates(Groups((("none",),), np.full(len(FEW), -1)))
    assert len(nothing) == 0 and math.isnan(empty[0].value)


def test_shallower_turns_are_refused(calibration: Calibration) -> None:
    with pytest.raises(CalibrationError, match="depth 3"):
        weigh(replace(FEW, depth=3), calibration, False)


def test_a_side_that_does_not_play_as_people_do_is_rated_by_the_values(calibration: Calibration) -> None:
    """The curve is of both models, by the side of the game; a part of the turns keeps the share of the whole."""
    plain = calibration.models["engine"]
    taste = Taste(np.append(plain.taste.a, 1.0), np.append(plain.taste.b, -0.5))
    names, kinds = (*plain.names, NATURAL), (*plain.kinds, "policy")
    natural = replace(plain, names=names, kinds=kinds, divisors=np.append(plain.divisors, 1.0), taste=taste)
    both = replace(calibration, models={"engine": plain, "policy": natural}, network=shipped().identity)
    evidence, alone = weigh(FEW, both), weigh(FEW, replace(both, models={"policy": natural}))
    assert evidence.human is not None and evidence.plain is not None and alone.human is None
    assert evidence.human.mean() < 0.3 and np.ptp(evidence.human) > 0.1  # they know nothing of what is natural
    assert all(np.ptp(evidence.human[evidence.sides.of == side]) == 0 for side in np.unique(evidence.sides.of))
    expected = mixed(alone.curve, weigh(FEW, both, False).curve, evidence.human).table
    assert np.allclose(evidence.curve.table, expected) and not np.allclose(expected, alone.curve.table, atol=0.1)
    few = np.arange(len(FEW)) % 7 == 0
    assert np.allclose(evidence.only(few).curve.table, expected[few])
    lifted = weigh(FEW, replace(both, models={"engine": plain, "policy": replace(natural, lift=50.0)}))
    assert np.allclose(lifted.curve.table[:, 1:], expected[:, :-1])  # a step of the grid higher
