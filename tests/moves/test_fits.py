"""The table of fits: by group, by century mark, with c on a line, and appended to a CSV."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import polars as pl
import pytest
from tests.moves.simulated_turns import simulated_turns

from assay.engine.identity import Identity
from assay.engine.turns import Turns
from assay.errors import AssayWarning, InputError
from assay.moves.appending import APPENDED, REGAN_COLUMNS, append_rows
from assay.moves.fits import Fitting, fit_table

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


def periods() -> Turns:
    """The same games in two times: the first half of each player's in 1976, the others in 2006."""
    years = [1976 if number % 30 < 15 else 2006 for number in range(90)]
    return replace(TURNS, games=TURNS.games.with_columns(pl.Series("year", years, dtype=pl.Int32)))


def test_periods_are_rows_in_order_of_time() -> None:
    rows = fit_table(periods(), "milepost", Fitting(), periods=["2006-2009", "1976-79"])
    marks = ["1600", "2100", "2600"]
    assert [row.keys for row in rows] == [(time, mark) for time in ("1976-1979", "2006-2009") for mark in marks]
    assert all(row.games == 15 for row in rows)
    (one,) = fit_table(periods(), "period", Fitting(), periods=["2006"])
    assert (one.keys, one.games) == (("2006-2006",), 45)
    years = [row.label for row in fit_table(periods(), "year", Fitting())]
    assert years == sorted(years)
    with pytest.raises(InputError, match="no turn is of 1991-1994"):
        fit_table(periods(), "milepost", Fitting(), periods=["1991-1994"])
    with pytest.raises(InputError, match="no period"):
        fit_table(periods(), "milepost", Fitting(), periods=["the seventies"])


def test_c_can_be_imposed() -> None:
    rows = fit_table(TURNS, "player", Fitting(), c_line=(0.464, 0.007))
    assert [row.on_line.c for row in rows if row.on_line] == pytest.approx([0.436, 0.471, 0.506])


def test_the_printed_grid_ends_at_its_edge() -> None:
    with pytest.warns(AssayWarning, match="edge"):
        (row,) = fit_table(TURNS.only(TURNS.player == "Strong"), "all", Fitting(method="grid"))
    assert row.free is not None
    assert (row.free.c, row.free.method) == (1.0, "grid")
    assert row.free.s / 0.02 == pytest.approx(round(row.free.s / 0.02))
    best = fit_table(TURNS.only(TURNS.player == "Strong"), "all", Fitting())[0].free
    assert best is not None and best.qfit_root < row.free.qfit_root


def test_measures_of_fit() -> None:
    (row,) = fit_table(TURNS, "all", Fitting())
    found = row.free
    assert found is not None
    total = np.sum((found.percentile_curve - found.percentiles) ** 2)
    values = row.values()
    assert values["qfit_mean"] == pytest.approx(total / 19)
    assert values["qfit_root"] == pytest.approx(np.sqrt(total / 19))
    assert values["qfit"] == pytest.approx(1e4 * np.mean((found.rank_predicted - found.rank_actual) ** 2))


def test_few_turns_are_fitted_with_a_warning() -> None:
    (row,) = fit_table(TURNS.only(np.arange(25)), "all", Fitting(method="ranks"))
    assert row.free is not None
    assert row.note.startswith("25 turns are few")
    assert fit_table(TURNS.only(np.arange(40)), "all", Fitting(method="ranks"))[0].note == ""


def test_rows_in_the_columns_of_the_seeds_program(tmp_path: Path) -> None:
    file = tmp_path / "ipr.csv"
    begun = ",".join(REGAN_COLUMNS) + "\r\nold.pgn,9,400,2000,1980,2020,0.1,0.5,0.07,0.07,50.0,51.0,0.01,2006,2009\r\n"
    file.write_bytes(begun.encode())
    (row,) = fit_table(TURNS, "all", Fitting())
    assert append_rows(file, "new.pgn", [row], format="regan") == 1
    assert file.read_bytes().decode().startswith(begun) and file.read_bytes().count(b"\r\n") == 3
    with file.open(newline="") as opened:
        old, new = csv.DictReader(opened)
    assert tuple(new) == REGAN_COLUMNS and old["filename"] == "old.pgn"
    assert (new["filename"], new["Games"], new["Moves"], new["MinElo"]) == ("new.pgn", "90", "3600", "1600")
    assert row.free is not None
    assert float(new["Match_a"]) == pytest.approx(100 * row.free.mm_actual, abs=0.01)
    assert float(new["Qfit"]) == pytest.approx(row.free.qfit_root, abs=1e-5)
    with pytest.raises(InputError, match="not a table of fits"):
        append_rows(file, "new.pgn", [row])


def test_a_table_of_an_earlier_version_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "fits.csv"
    old = [name for name in APPENDED if not name.startswith("qfit_")]
    file.write_text(",".join(old) + "\n")
    assert append_rows(file, "a.pgn", fit_table(TURNS, "all", Fitting())) == 1
    with file.open() as opened:
        (row,) = csv.DictReader(opened)
    assert list(row) == old and row["last_year"] == "2004"
