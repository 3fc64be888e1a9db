"""Screening rows: sorted, corrected for the field, and careful with words."""

from __future__ import annotations

import numpy as np
import pytest
from tests.moves.made_up import turns_of
from tests.moves.simulated_turns import playing

from assay.engine.turns import Turns
from assay.errors import ModelError
from assay.moves.calibration import Calibration
from assay.moves.evidence import weigh
from assay.moves.groups import group
from assay.moves.screened import conclusion, sentence
from assay.moves.screening import COLUMNS, screen, screen_groups
from assay.moves.sequential import follow_players

FIELD = [
    (f"P{i}", f"P{(i + 1 + i // 12) % 12}", 2000.0 + 50 * (i % 12), 2000.0 + 50 * ((i + 1 + i // 12) % 12))
    for i in range(36)
]
FIELD = [(f"P{int(w[1:]) % 12}", b, e, f) for w, b, e, f in FIELD]


def helped(turns: Turns, name: str, share: float) -> Turns:
    follows = (turns.player == name) & (np.random.default_rng(1).random(len(turns)) < share)
    return playing(turns, np.where(follows, 0, turns.played))


def test_the_helped_player_stands_first(calibration: Calibration) -> None:
    turns = helped(turns_of(FIELD), "P3", 0.7)
    rows = screen_groups(weigh(turns, calibration, False), group(turns, "player", "all"))
    assert rows[0].player == "P3"
    assert list(rows[0].values()) == list(COLUMNS)
    values = rows[0].values()
    assert values["z"] > 3 and values["roi"] == pytest.approx(50 + 5 * values["z"])
    assert values["q_value"] >= values["p_value"]
    assert values["expected_beyond"] == pytest.approx(12 * values["p_value"])
    assert values["share_low"] > 0 and values["likelihood_ratio"] > 10
    for row in rows:
        values = row.values()
        assert 0 <= values["share_low"] <= values["share"] <= values["share_high"] <= 1
    z = [row.z for row in rows if row.z is not None]
    assert z == sorted(z, reverse=True)
    assert rows[0].ipr is not None


def test_the_field_can_be_its_own_null(calibration: Calibration) -> None:
    turns = turns_of(FIELD)
    # Everybody is underrated by the same amount: the calibration's null is surprised, the field's is not.
    low = {f"P{i}": 1700.0 + 50 * i for i in range(12)}
    judged = weigh(turns, calibration, False), group(turns, "player", "all")
    calibrated, own = (screen_groups(*judged, ratings=low, null=null) for null in ("calibrated", "field"))
    assert np.mean([row.z for row in calibrated]) > 0.5
    assert abs(float(np.median([row.z for row in own]))) < 0.2


def test_a_small_field_cannot(calibration: Calibration) -> None:
    turns = turns_of(FIELD[:2])
    with pytest.raises(ModelError, match="cannot be its own null"):
        screen_groups(weigh(turns, calibration, False), group(turns, "player", "all"), null="field")


def test_no_rating_no_z_but_an_ipr(calibration: Calibration) -> None:
    turns = turns_of([("A", "B", None, 2200.0)] * 3)
    rows = {row.player: row for row in screen_groups(weigh(turns, calibration, False), group(turns, "player", "event"))}
    assert rows["A"].z is None and rows["A"].ipr is not None and "--rating" in rows["A"].note
    given = screen_groups(weigh(turns, calibration, False), group(turns, "player", "all"), ratings={"A": 2200.0})
    assert all(row.z is not None for row in given)


def test_sides_without_a_name_are_nobody(calibration: Calibration) -> None:
    turns = turns_of([("A", "?", 2200.0, 2200.0)] * 3)
    evidence = weigh(turns, calibration, False)
    rows = {row.player: row for row in screen_groups(evidence, group(turns, "player", "all"))}
    assert rows["A"].z is not None and rows["A"].expected_beyond == rows["A"].p_value  # of a field of one
    assert rows["?"].z is None and rows["?"].ipr is None and "without a name" in rows["?"].note
    assert [row.player for row in follow_players(evidence)] == ["A"]


def test_parts_of_the_games(calibration: Calibration) -> None:
    turns = turns_of(FIELD)
    rows = screen_groups(weigh(turns, calibration, False), group(turns, "player", "round"), min_turns=60)
    assert {row.part for row in rows} <= {"0", "1", "2", "3", "4"}
    assert all("too few" in row.note for row in rows if row.turns < 60)


def test_the_words_accuse_nobody(calibration: Calibration) -> None:
    turns = turns_of(FIELD)
    text = conclusion(screen_groups(weigh(turns, calibration, False), group(turns, "player", "all")))
    for needed in ("2.50-2.75", "1 in 30,000", "5,000 to 10,000", "never a finding"):
        assert needed in text
    for word in ("cheat", "guilty", "fraud"):
        assert word not in text.lower()


def test_a_row_of_a_round_is_called_so_and_the_shown_are_counted(calibration: Calibration) -> None:
    turns = turns_of(FIELD)
    rounds = screen_groups(weigh(turns, calibration, False), group(turns, "player", "round"))
    best = max((row for row in rounds if row.z is not None), key=lambda row: row.z or 0.0)
    assert f"{best.player} (round {best.part}) at" in sentence(rounds, by="round")
    whole = screen_groups(weigh(turns, calibration, False), group(turns, "player", "all"))
    assert conclusion(whole, 1).startswith(f"{len(whole)} rows (1 shown), each")
    turns = turns_of([("A", "B", None, 2200.0)] * 3)
    part = screen_groups(weigh(turns, calibration, False), group(turns, "player", "event"))
    assert conclusion(part, 1).startswith("2 rows (4 with those that have no z; 1 shown), each")


def test_honest_play_is_standard_normal_and_a_doubtful_rating_makes_a_smaller_z(calibration: Calibration) -> None:
    turns = turns_of([(f"W{i // 5}", f"B{i // 5}", 2200.0, 2200.0) for i in range(200)], seed=4000)
    evidence = weigh(turns, calibration, False)
    z = np.array([row.z for row in screen_groups(evidence, group(turns, "player", "all"))])
    assert abs(z.mean()) < 0.4 and z.std(ddof=1) == pytest.approx(1.0, abs=0.25)
    ratings = dict.fromkeys((row[0] for row in group(turns, "player").keys), 1900.0)
    sure, doubtful = (
        {r.player: r.z for r in screen_groups(evidence, group(turns, "player", "all"), ratings=ratings, rating_error=e)}
        for e in (0.0, 150.0)
    )
    assert all(abs(doubtful[name] or 0) < abs(sure[name] or 0) for name in sure)


def test_screening_does_not_take_ratings_for_true(calibration: Calibration) -> None:
    turns = turns_of([(f"W{i % 3}", f"B{i % 4}", 1800.0, 1800.0) for i in range(40)])
    evidence = weigh(turns, calibration, False)
    groups = group(turns, "player", "all")
    rows = {row.player: row for row in screen_groups(evidence, groups)}
    for key, own in zip(groups.keys, groups.turns, strict=True):
        true = screen(evidence.only(own), np.full(len(own), 1800.0)).combined
        assert rows[key[0]].z is not None and abs(rows[key[0]].z) < abs(true)
        assert np.sign(rows[key[0]].z) == np.sign(true)
