"""Rows of ratings: by any group, with or without ratings in the tags, or with the reason why not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.moves.made_up import turns_of

from assay.errors import InputError, ModelError
from assay.moves.calibration import Calibration
from assay.moves.evidence import weigh
from assay.moves.groups import KEYS, group, mileposts, rename
from assay.moves.performance import COLUMNS, How, performance_rating, rate_groups, sort_rows

PAIRS = [("Strong", "Weak", 2600.0, 1800.0), ("Weak", "Strong", 1800.0, 2600.0)] * 4


@pytest.mark.parametrize(
    "by", ["player", "event", "game", "color", "year", "opponent", "all", "phase", "speed", "band"]
)
def test_a_row_for_every_group(calibration: Calibration, by: str) -> None:
    turns = turns_of(PAIRS)
    rows = rate_groups(weigh(turns, calibration, False), group(turns, by), How())
    assert sum(row.turns for row in rows) == len(turns)
    for row in rows:
        assert list(row.values()) == list(COLUMNS)
        assert row.rating is not None and row.estimate.low < row.rating < row.estimate.high


def test_the_stronger_player_comes_first(calibration: Calibration) -> None:
    turns = turns_of(PAIRS)
    strong, weak = sort_rows(rate_groups(weigh(turns, calibration, False), group(turns, "player"), How()))
    assert (strong.group, weak.group) == ("Strong", "Weak")
    assert strong.estimate.low < 2600 < strong.estimate.high
    assert weak.estimate.low < 1800 < weak.estimate.high
    assert strong.elo == 2600 and strong.games == 8
    assert strong.expected is not None
    assert strong.actual[0] == pytest.approx(strong.expected[0], rel=0.15)


def test_without_ratings_the_expectations_are_empty(calibration: Calibration) -> None:
    turns = turns_of([("A", "B", None, None)] * 3)
    row = rate_groups(weigh(turns, calibration, False), group(turns, "player"), How())[0]
    values = row.values()
    assert values["elo"] is None and values["mm_expected"] is None and values["performance"] is None
    assert row.rating is not None


def test_a_draw_counts_however_it_is_written(calibration: Calibration) -> None:
    turns = turns_of([("A", "B", 2400.0, 2000.0)])
    found = []
    for draw in ("1/2-1/2", "1/2", "½-½"):
        drawn = replace(turns, games=turns.games.with_columns(result=pl.lit(draw)))
        found.append(
            [row.performance for row in rate_groups(weigh(drawn, calibration, False), group(drawn, "player"), How())]
        )
    assert found == [[2000.0, 2400.0]] * 3


def test_under_the_minimum_there_is_a_reason_instead(calibration: Calibration) -> None:
    turns = turns_of([("A", "B", 2400.0, 2000.0)])
    row = rate_groups(weigh(turns, calibration, False), group(turns, "player"), How(min_turns=100))[0]
    assert row.rating is None and row.values()["ipr"] is None
    assert row.note == "40 turns are too few for a rating; it takes at least 100"


def test_regans_way_by_name(calibration: Calibration) -> None:
    turns = turns_of(PAIRS)
    evidence = weigh(turns, calibration, False)
    row = rate_groups(evidence, group(turns, "player"), How(method="regan", interval="regan"))[0]
    assert row.rating is not None and row.s is not None and row.c is not None and row.method == "regan"
    few = turns_of(PAIRS[:1])
    poor = rate_groups(weigh(few, calibration, False), group(few, "player"), How(method="regan"))[0]
    assert poor.rating is None and "too few for a fit" in poor.note


def test_a_player_under_two_names(calibration: Calibration) -> None:
    turns = rename(turns_of([("A", "B", 2400.0, 2000.0), ("A.", "B", 2400.0, 2000.0)]), {"A.": "A"})
    rows = rate_groups(weigh(turns, calibration, False), group(turns, "player"), How())
    assert {row.group: row.games for row in rows} == {"A": 2, "B": 2}


def test_a_missing_tag_makes_a_group_of_its_own(calibration: Calibration) -> None:
    turns = turns_of(PAIRS)
    assert group(turns, "speed").labels == ("?",)
    assert "phase" in KEYS


def test_grouping_by_something_else_is_refused() -> None:
    with pytest.raises(InputError, match="choose one of"):
        group(turns_of(PAIRS[:1]), "shoe size")


@pytest.mark.parametrize("how", [{"method": "guess"}, {"interval": "wide"}, {"interval": "regan"}])
def test_an_unknown_way_is_refused(how: dict[str, str]) -> None:
    with pytest.raises(ModelError, match=r"choose one of|belongs to a fit"):
        How(**how)  # type: ignore[arg-type]


def test_both_players_must_be_near_the_same_mark() -> None:
    turns = turns_of([("A", "B", 2195.0, 2210.0), ("A", "B", 2195.0, 2310.0), ("A", "B", None, 2200.0)])
    marks = mileposts(turns, range(1600, 2701, 100), 20)
    assert np.unique(marks[turns.game == 0]).tolist() == [2200]
    assert np.unique(marks[turns.game > 0]).tolist() == [0]


def test_the_performance_of_results() -> None:
    assert performance_rating([2400.0] * 4, 2.0) == 2400.0
    assert performance_rating([2400.0] * 4, 3.0) == pytest.approx(2400 + 190.85, abs=0.01)
    assert performance_rating([2400.0] * 4, 0.0) == 1600.0
