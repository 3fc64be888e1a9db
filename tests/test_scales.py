"""Lines of pools: which one serves which game, and what it makes of ratings."""

from __future__ import annotations

import numpy as np
import pytest

from assay.curve import Honesty
from assay.errors import InputError
from assay.moves.groups import games_in_pool
from assay.pools import FIRST, LINES, POOLS, line_of
from assay.scales import PoolLine, apart, line_called, shipped_lines


def test_every_line_that_pools_name_is_shipped() -> None:
    assert set(shipped_lines()) == set(LINES)
    assert {line_of(pool, date) for pool in POOLS for date in (None, "2019.??.??", "2030.01.01")} == set(LINES)
    assert all(line.sides >= 300 for name, line in shipped_lines().items() if name != FIRST)


@pytest.mark.parametrize("name", sorted(LINES))
def test_a_line_leads_there_and_back(name: str) -> None:
    line = line_called(name)
    ratings = np.arange(600.0, 3001.0, 300.0)
    assert np.allclose(line.rating(line.inside(ratings)), ratings)
    assert (np.diff(line.inside(ratings)) > 0).all()


def test_the_error_of_a_line_grows_away_from_its_middle_and_widens_intervals() -> None:
    line = PoolLine("some", 1800.0, 1000.0, 0.8, (900.0, 0.0, 400.0), spread=40.0, power=0.7, low=800.0, high=2600.0)
    assert line.error(1800.0) == pytest.approx(30 / 0.8)
    assert line.error(2600.0) == line.error(1000.0) == pytest.approx(50 / 0.8)
    assert line.honesty(1800.0, Honesty(0.9, 10.0)) == Honesty(0.7, pytest.approx(np.hypot(40.0, 37.5)))
    assert line.honesty(1800.0, Honesty(), 100.0).scale_error > line.honesty(1800.0, Honesty()).scale_error
    # Where a line has no figures of its own, those of the model serve.
    assert line_called(FIRST).honesty(2200.0, Honesty(0.9, 10.0)) == Honesty(0.9, 10.0)


def test_lines_of_speeds_lie_apart() -> None:
    assert 50 < apart(line_called("lichess-blitz"), 1800.0) < 600


def test_a_pool_or_year_that_does_not_exist() -> None:
    with pytest.raises(InputError, match="there is no pool 'otb-fast'"):
        games_in_pool(None, "otb-fast", None)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="a year such as 2024"):
        games_in_pool(None, None, 20)  # type: ignore[arg-type]


def test_quicker_games_of_a_pool_show_less() -> None:
    line = PoolLine(
        "some", spread=30.0, seconds=120.0, tempo=200.0, tempo_error=10.0, quickest=60.0, slowest=480.0, untold=40.0
    )
    assert line.at(240.0).inside(2200.0) == line.inside(2200.0) + 200.0
    assert line.at(60.0).inside(2200.0) == line.at(1.0).inside(2200.0) == line.inside(2200.0) - 200.0  # no farther
    assert line.at(120.0).error(2200.0) == 0 and line.at(480.0).error(2200.0) == pytest.approx(20.0)
    assert line.at(np.nan).spread == 50.0 and line.at(240.0).spread == 30.0
    assert PoolLine("one tempo").at(240.0) == PoolLine("one tempo")


@pytest.mark.parametrize("pool", ["lichess-bullet", "lichess-blitz"])
def test_moves_of_a_quick_game_are_worth_more(pool: str) -> None:
    quick, slow = ("60+0", "120+1") if pool.endswith("bullet") else ("180+0", "300+3")
    shown = [line_called(line_of(pool, None, control)).rating(1500.0) for control in (quick, slow)]
    assert shown[0] - shown[1] > 50
