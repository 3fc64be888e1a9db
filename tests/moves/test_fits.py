"""The table of fits: by group, by century mark, with c on a line, and appended to a CSV."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.moves.simulated_turns import simulated_turns

from assay.engine.identity import Identity
from assay.errors import InputError
from assay.moves.fits import APPENDED, Fitting, append_rows, fit_table

PLAYERS = {"Weak": (0.25, 0.45, 1600.0), "Fair": (0.16, 0.5, 2100.0), "Strong": (0.09, 0.55, 2600.0)}
TURNS = simulated_turns(PLAYERS, games=30, plies=40)


def test_every_player_comes_back() -> None:
    rows = {row.label: row for row in fit_table(TURNS, "player", Fitting(method="equations"))}
    for name, (s, c, elo) in PLAYERS.items():
        row = rows[name]
        assert row.free is not None
        assert abs(row.free.s - s) < 4 * row.free.s_error
        assert abs(row.free.c - c) < 4 * row.free.c_error
        assert (row.elo, row.games, row.turns) == (elo, 30, 1200)
        assert row.years == (2000, 2004)


def test_c_lies_on_a_line_in_elo() -> None:
    rows = fit_table(TURNS, "player", Fitting())
    elo = np.array([row.elo for row in rows])
    c = np.array([row.values()["c_fit"] for row in rows])
    assert np.diff(c) / np.diff(elo) == pytest.approx(np.full(2, (c[2] - c[0]) / (elo[2] - elo[0])))
    for row in rows:
        assert row.on_line is not None
        assert row.on_line.c_given


def test_groups_of_like_rating_share_one_c() -> None:
    players = {name: (0.15, 0.5, 2000.0 + 20 * i) for i, name in enumerate("ABC")}
    rows = fit_table(simulated_turns(players, games=5, plies=40), "player", Fitting())
    assert len({row.values()["c_fit"] for row in rows}) == 1


def test_the_fixed_fit_is_shown_when_asked_for() -> None:
    (row,) = fit_table(TURNS, "all", Fitting())
    assert row.on_line is not None
    assert row.values(fix_c=True)["s"] == row.on_line.s
    assert row.values()["c"] == row.values()["c_fit"], "one group: its own c"


def test_mileposts_take_games_near_the_mark() -> None:
    rows = fit_table(TURNS, "milepost", Fitting(), within=10)
    assert [row.label for row in rows] == ["1600", "2100", "2600"]
    with pytest.raises(InputError, match="within 10 points"):
        fit_table(simulated_turns({"A": (0.1, 0.5, 2050.0)}, 2, 10), "milepost", Fitting())


def test_a_group_that_cannot_be_fitted_says_why() -> None:
    few = TURNS.only(np.r_[np.arange(1200), np.arange(1200, 1205)])
    weak, fair = fit_table(few, "player", Fitting())
    assert weak.free is not None
    assert fair.free is None
    assert "too few" in fair.note


def test_no_ratings_are_no_obstacle() -> None:
    (row,) = fit_table(simulated_turns({"N.N.": (0.1, 0.5, None)}, 10, 30), "player", Fitting())
    assert np.isnan(row.elo)
    assert row.free is not None


def test_rows_are_appended(tmp_path: Path) -> None:
    file = tmp_path / "fits.csv"
    rows = fit_table(TURNS, "player", Fitting())
    assert append_rows(file, "a.pgn", rows) == 3
    assert append_rows(file, "b.pgn", rows[:1]) == 1
    with file.open() as opened:
        read = list(csv.DictReader(opened))
    assert tuple(read[0]) == APPENDED
    assert [row["file"] for row in read] == ["a.pgn"] * 3 + ["b.pgn"]
    assert rows[0].free is not None
    assert float(read[0]["s"]) == rows[0].free.s
    assert (read[0]["first_year"], read[0]["elo_least"]) == ("2000", "1600.0")


def test_another_csv_is_left_alone(tmp_path: Path) -> None:
    file = tmp_path / "shopping.csv"
    file.write_text("milk,bread\n")
    with pytest.raises(InputError, match="not a table of fits"):
        append_rows(file, "a.pgn", fit_table(TURNS, "all", Fitting()))
    assert file.read_text() == "milk,bread\n"


def test_one_line_is_not_a_spread() -> None:
    narrow = replace(TURNS, identities=(Identity("Fake 1", "", (), 0, 1),))
    with pytest.raises(InputError, match="without '--lines 1'"):
        fit_table(narrow, "all", Fitting())
