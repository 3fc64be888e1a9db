"""What clocks tell of moves: increments that no tag tells, periods, time trouble."""

from __future__ import annotations

import numpy as np
import pytest

from assay.games import Game, to_arrays
from assay.reports.reviewed import Control, Thought, clock_said, control_of

MOVES = ["e4", "e5", "Nf3", "Nc6", "Bb5", "a6", "Ba4", "Nf6"]


def control(clocks: list[int], tag: str = "", site: str = "Berlin", pool: str = "otb-slow") -> Control:
    """The time control of a game with these clocks, a ply each; knights go to and fro."""
    sans = MOVES + ["Ng1", "Ng8", "Nf3", "Nf6"] * 30
    told = [f"{sans[at]} {{ [%clk {s // 3600}:{s // 60 % 60:02}:{s % 60:02}] }}" for at, s in enumerate(clocks)]
    data = f'[Site "{site}"]\n\n{" ".join(told)} *\n'.encode()
    return control_of(to_arrays([Game("", 0, len(data), data)]), site, "Open", tag, pool)


def test_an_increment_that_no_tag_tells_is_read_from_the_clocks() -> None:
    found = control([5428, 5429, 5450, 5400, 5420, 5428, 5300, 5450])
    assert found.base == 5400
    # Two seconds and half a minute back; a minute and a half and half a minute back.
    assert found.spent[2:].tolist() == [8, 59, 60, 2, 150, 8]
    assert np.isnan(found.spent[:2]).all()  # nobody knows what was there at first


def test_a_tag_is_believed() -> None:
    found = control([600, 600, 605, 590, 604, 560], "600+5", "https://lichess.org/abc", "lichess-rapid")
    assert found.base == 600 and found.spent.tolist() == [0, 0, 0, 15, 6, 35]


def test_the_time_of_a_new_period_is_no_time_of_a_move() -> None:
    before = [7000 - 30 * (at // 2) for at in range(78)]
    late = [5860, 5860, 7655, 7655, 7680, 7600, 7660, 7610]
    found = control(before + late, "40/7200:1800+30")
    assert found.spent[10] == 30  # no increment in the first forty moves
    assert np.isnan(found.spent[80:82]).all()
    assert found.spent[82:].tolist() == [5, 85, 50, 20]


@pytest.mark.parametrize(("left", "trouble"), [(400.0, 0), (200.0, 2)])
def test_time_trouble_is_a_twentieth_of_the_base_time(left: float, trouble: int) -> None:
    said = clock_said([Thought("1.e4", 5.0, left, 90.0), Thought("2.d4", 15.0, left, 70.0)], 5400.0)
    assert said is not None and (said.mean, said.longest_move, said.trouble) == (10.0, "2.d4", trouble)
    assert said.trouble_accuracy == (80.0 if trouble else None)
    assert clock_said([], 5400.0) is None
