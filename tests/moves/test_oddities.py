"""A game given away is told, in ratings and in screening; honest games are not."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.moves.made_up import turns_of
from tests.moves.simulated_turns import playing

from assay.engine.turns import Turns
from assay.moves.calibration import Calibration
from assay.moves.evidence import weigh
from assay.moves.groups import group
from assay.moves.performance import How, rate_groups
from assay.moves.screening import screen_groups

PAIRS = [("A", "B", 2500.0, 2500.0)] * 6
RATINGS = {"A": 2500.0, "B": 2500.0}


def given_away(turns: Turns, *games: int) -> Turns:
    """Every other move of both players in these games is the last on the list."""
    worst = np.isfinite(turns.values).sum(axis=1) - 1
    thrown = np.isin(turns.game, games) & (turns.move % 2 == 0)
    return playing(turns, np.where(thrown, worst, turns.played))


@pytest.mark.parametrize("by", ["player", "all", "phase", "game"])
def test_a_game_given_away_is_told(calibration: Calibration, by: str) -> None:
    turns = given_away(turns_of(PAIRS), 3)
    told = [
        row.note
        for row in rate_groups(weigh(turns, calibration, False), group(turns, by), How())
        if "earnest" in row.note
    ]
    assert told and all("game 4 is far below the rating (z -" in note for note in told)


def test_several_games_given_away_are_counted(calibration: Calibration) -> None:
    turns = given_away(turns_of(PAIRS), 1, 3)
    row = rate_groups(weigh(turns, calibration, False), group(turns, "all"), How())[0]
    assert "2 games are far below the rating, game " in row.note


def test_honest_games_are_not(calibration: Calibration) -> None:
    turns = turns_of(PAIRS)
    judged = weigh(turns, calibration, False), group(turns, "player", "all")
    assert all("earnest" not in row.note for row in [*rate_groups(*judged, How()), *screen_groups(*judged)])


def test_screening_tells_it_with_and_without_enough_turns(calibration: Calibration) -> None:
    turns = given_away(turns_of(PAIRS), 0)
    judged = weigh(turns, calibration, False), group(turns, "player", "all")
    for row in screen_groups(*judged):
        assert row.note.startswith("game 1 is far below the rating (z -")
    for row in screen_groups(*judged, min_turns=10_000):
        assert "turns are too few" in row.note and "game 1 is far below" in row.note


def test_without_tags_the_rating_found_is_the_measure(calibration: Calibration) -> None:
    untagged = given_away(turns_of([("A", "B", None, None)] * 12), 5)
    judged = weigh(untagged, calibration, False), group(untagged, "player", "all")
    assert all("game 6 is far below" in row.note for row in rate_groups(*judged, How()))
    assert all("earnest" not in row.note for row in screen_groups(*judged))
    assert all("game 6 is far below" in row.note for row in screen_groups(*judged, ratings=RATINGS))


def test_single_z_of_honest_games(calibration: Calibration) -> None:
    turns = turns_of([("A", "B", 2300.0, 2300.0)] * 60)
    evidence = weigh(turns, calibration, False)
    scatter, sides = calibration.model().scatter, evidence.sides
    z = scatter.z(evidence.by_tag.sum(sides.of, len(sides.game))) @ scatter.mix
    assert abs(z.mean()) < 0.4 and 0.7 < z.std() < 1.3


def test_where_nothing_can_go_wrong_there_is_no_z(calibration: Calibration) -> None:
    turns = turns_of(PAIRS[:1])
    first = turns.choices.start[:-1]
    codes = np.full_like(turns.choices.codes, -5000)
    codes[first] = 0
    only = replace(turns, choices=replace(turns.choices, codes=codes, played=np.zeros_like(first)))
    by_event = weigh(only, calibration, False), group(only, "player", "event")
    for row in screen_groups(*by_event):
        assert row.z is None or abs(row.z) < 0.2


def test_a_blunder_in_a_few_turns_is_only_that(calibration: Calibration) -> None:
    turns = given_away(turns_of(PAIRS), 3)
    few = turns.only((turns.game != 3) | (turns.move < 14))
    rows = rate_groups(weigh(few, calibration, False), group(few, "player"), How())
    assert all("earnest" not in row.note for row in rows)
