"""The two models of one side: whose moves they are, and what follows for the curve."""

import numpy as np

from assay.curve import GRID, Curve
from assay.moves.choice.model import human, mixed


def hill(top: float, height: float, count: int) -> Curve:
    """The same concave curve for so many turns."""
    return Curve(np.tile(height - ((GRID - top) / 1000) ** 2, (count, 1)), GRID)


def test_a_side_is_a_persons_if_the_policy_foretells_it_better() -> None:
    side = np.repeat([0, 1, 2], 30)
    policy = Curve(np.concatenate([hill(2000, height, 30).table for height in (-1.0, -1.2, -1.4)]), GRID)
    share = human(policy, hill(1800, -1.2, 90), side)
    assert share[0] > 0.99 and share[-1] < 0.02
    assert 0.4 < share[30] < 0.6
    assert all(len(np.unique(share[side == one])) == 1 for one in range(3))


def test_few_turns_tell_little() -> None:
    share = [human(hill(2000, -1.5, n), hill(2000, -1.2, n), np.zeros(n, np.intp))[0] for n in (1, 5, 40)]
    assert share[0] > share[1] > share[2] and share[0] > 0.4 and share[2] < 0.001
    assert len(human(hill(2000, 0, 0), hill(2000, 0, 0), np.zeros(0, np.intp))) == 0


def test_the_curve_is_of_both_models_and_stays_concave() -> None:
    share = np.array([0.0, 0.25, 1.0])
    curve = mixed(hill(2400, -1, 3), hill(1600, -2, 3), share)
    assert np.abs(curve.tops() - [1600, 1800, 2400]).max() < 2
    assert (np.diff(curve.table, 2, axis=1) < 0).all()
