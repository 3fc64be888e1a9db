"""The average difference, raw and scaled, from many lines or from one."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import polars as pl
import pytest
from tests.moves.simulated_turns import simulated_turns

from assay.engine.identity import Identity
from assay.moves.differences import clustered_mean, difference_table, losses
from assay.moves.regan import scaled

TURNS = simulated_turns({"Weak": (0.25, 0.45, 1600.0), "Strong": (0.09, 0.55, 2600.0)}, games=20, plies=30)
BEST = TURNS.values[:, 0]


def test_by_player() -> None:
    weak, strong = difference_table(TURNS, "player")
    assert (weak["player"], weak["elo"], weak["games"], weak["turns"]) == ("Weak", 1600, 20, 600)
    loss = (BEST - TURNS.worth)[:600]
    assert weak["raw"] == pytest.approx(np.minimum(loss, 4.0).mean())
    assert weak["scaled"] == pytest.approx((scaled(BEST) - scaled(np.maximum(TURNS.worth, BEST - 4)))[:600].mean())
    assert weak["raw"] > strong["raw"] + 2 * strong["raw_error"]


def test_by_evaluation_every_turn_is_in_one_bin() -> None:
    rows = difference_table(TURNS, "evaluation")
    assert sum(row["turns"] for row in rows) == len(TURNS)
    assert all(row["evaluation"] == "0.00" or row["evaluation"].count(" to ") == 1 for row in rows)
    fine = difference_table(TURNS, "evaluation", bin=0.05)
    assert sum(row["turns"] for row in fine) == len(TURNS)
    assert fine[-1]["evaluation"].count(".") == 2 and len(fine) > len(rows)


def test_the_origin_is_apart_and_bins_hold_what_they_say() -> None:
    for row in difference_table(TURNS, "evaluation", bin=0.05):
        if row["evaluation"] == "0.00":
            expected = BEST == 0
        else:
            low, high = map(float, row["evaluation"].split(" to "))
            last = np.isclose(high, np.ceil(BEST.max() / 0.05) * 0.05)
            expected = (low - 1e-6 < BEST) & (high - 1e-6 + 1e-5 * last > BEST) & (BEST != 0)
        assert row["turns"] == expected.sum(), row["evaluation"]


def test_players_within_events_and_matches() -> None:
    events = pl.Series("event", ["One", "Two"] * 20, dtype=pl.String)
    turns = replace(TURNS, games=TURNS.games.with_columns(events))
    rows = difference_table(turns, "player-event")
    assert {(row["event"], row["player"]) for row in rows} == {
        (event, player) for event in ("One", "Two") for player in ("Weak", "Strong")
    }
    assert sum(row["turns"] for row in rows) == len(TURNS)
    weak, strong = difference_table(TURNS, "player")
    assert weak["mm"] == pytest.approx((TURNS.played[:600] == 0).mean())
    assert strong["mm"] > weak["mm"] + 2 * weak["mm_error"]


def test_a_move_that_was_not_listed_costs_the_cap() -> None:
    turns = replace(TURNS, worth=np.where(np.arange(len(TURNS)) == 0, np.nan, TURNS.worth))
    assert losses(turns).raw[0] == pytest.approx(4.0)


def test_with_one_line_it_is_unknown_and_said_so() -> None:
    one_line = (Identity("Fake 1", "", (), 0, 1),)
    turns = replace(TURNS, worth=np.where(TURNS.ply == 16, np.nan, TURNS.worth), identities=one_line)
    assert [row["unknown"] for row in difference_table(turns, "player")] == [20, 20]


def test_a_move_better_than_the_engines_costs_nothing() -> None:
    turns = replace(TURNS, worth=BEST + 0.5)
    assert difference_table(turns, "all")[0]["raw"] == 0


def test_a_cluster_counts_once() -> None:
    values = np.random.default_rng(1).normal(size=50)
    alone = clustered_mean(values, np.arange(50))
    assert alone[1] == pytest.approx(values.std(ddof=1) / np.sqrt(50))
    assert clustered_mean(np.repeat(values, 3), np.repeat(np.arange(50), 3)) == pytest.approx(alone)
