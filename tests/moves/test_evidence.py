"""Evidence of groups: turns are tallied once, and every group is a sum of the same cells."""

from __future__ import annotations

import numpy as np
import pytest
from tests.moves.made_up import rated_turns

from assay.errors import InputError
from assay.moves.calibration import Calibration
from assay.moves.evidence import judge, weigh
from assay.moves.groups import Groups, group
from assay.moves.performance import How, rate_groups

TURNS = rated_turns()


@pytest.mark.parametrize("by", [("player",), ("player", "game"), ("phase",), ("player", "phase"), ("all",)])
def test_sums_of_one_tally_are_the_tallies_of_the_groups(calibration: Calibration, by: tuple[str, ...]) -> None:
    few = TURNS.only(TURNS.game < 40)
    groups = group(few, *by)
    summed, direct = weigh(few, calibration).by(groups), judge(few, calibration, groups)
    for name in ("group", "game", "white", "rating", "taken"):
        np.testing.assert_array_equal(getattr(summed, name), getattr(direct, name))
    for name in ("turns", "actual", "allowance", "expected", "covariance", "log_likelihood"):
        np.testing.assert_allclose(getattr(summed.tally, name), getattr(direct.tally, name), atol=1e-9)
    ratings = [[row.rating and row.rating.rating for row in rate_groups(each, How())] for each in (summed, direct)]
    assert ratings[0] == pytest.approx(ratings[1])


def test_groups_that_cut_through_a_cell_are_refused(calibration: Calibration) -> None:
    few = TURNS.only(TURNS.game < 2)
    halves = Groups((("even",), ("odd",)), np.arange(len(few)) % 2)
    with pytest.raises(InputError, match="different groups"):
        weigh(few, calibration).by(halves)
    assert len(judge(few, calibration, halves).groups) == 2
