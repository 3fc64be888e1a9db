"""The commands of ratings from moves: with a real engine on the sample games, and with every mistake of a user."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest
from tests.commands import run
from tests.engine import fake_engine

import assay
from assay.moves.performance import COLUMNS as IPR_COLUMNS
from assay.moves.performance import with_blunders
from assay.moves.screening import COLUMNS as SCREEN_COLUMNS

SAMPLE = Path(assay.__file__).parent / "data" / "kasparov-deep-blue-1997.pgn"


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two of the six games of the match."""
    path = tmp_path_factory.mktemp("rating") / "two.pgn"
    path.write_text("[Event " + "[Event ".join(SAMPLE.read_text().split("[Event ")[1:3]))
    return path


@pytest.fixture(scope="module")
def store(games: Path) -> Path:
    """Their analyses at a small depth, made by the first rating."""
    path = games.with_name("store.db")
    assert run("ipr", games, "--store", path, "--depth", 6, "--quiet") == 0
    return path


@pytest.fixture
def stored(store: Path) -> tuple[object, ...]:
    return ("--store", store, "--depth", 6, "--no-analysis", "--quiet")


def test_ipr_prints_a_row_per_player(
    games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("ipr", games, *stored, "--format", "json") == 0
    out, err = capsys.readouterr()
    rows = json.loads(out)
    assert {row["player"] for row in rows} == {"Kasparov, Garry", "Deep Blue"}
    assert list(rows[0]) == ["player", *with_blunders(IPR_COLUMNS)[1:]]
    kasparov = next(row for row in rows if row["player"] == "Kasparov, Garry")
    assert kasparov["elo"] == 2795 and kasparov["games"] == 2
    assert kasparov["low"] < kasparov["ipr"] < (kasparov["high"] or 9999)
    blue = next(row for row in rows if row["player"] == "Deep Blue")
    assert blue["elo"] is None and blue["mm_expected"] is None and blue["ipr"] is not None
    assert "Stockfish" in err and "before move 9" in err


@pytest.mark.parametrize("by", ["game", "phase", "color", "all"])
def test_ipr_by_other_groups(
    games: Path, stored: tuple[object, ...], by: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("ipr", games, *stored, "--by", by, "--format", "csv", "--plots", tmp_path) == 0
    assert capsys.readouterr().out.startswith(f"{by},games,turns,elo,performance,ipr,low,high")
    assert (tmp_path / f"ipr_by_{by}.png").stat().st_size > 5000


def test_screen_explains_itself(
    games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ratings = tmp_path / "ratings.csv"
    ratings.write_text('"Kasparov, Garry",2795\nDeep Blue,2700\n')
    assert run("screen", games, *stored, "--rating", ratings) == 0
    out = capsys.readouterr().out
    assert out.startswith(("Nobody of 2 passes 2.75; the highest is ", "1 of 2 passes 2.75: "))
    assert "are expected" in " ".join(out.split("\n\n")[0].split()) and "never a finding about a person" in out
    heads = ["player", "rating", "games", "turns", "z", "roi", "strength", "verdict"]
    assert heads in [line.split() for line in out.splitlines()] and max(map(len, out.splitlines())) <= 100
    assert "%" not in out.split("Prior odds")[0] and "lr" not in out.split()
    assert run("screen", games, *stored, "--rating", ratings, "--wide") == 0
    wide = capsys.readouterr().out
    assert "z_mm" in wide and re.search(r"anything from \d+ to \d+ % fits", wide)
    assert run("screen", games, *stored, "--rating", ratings, "--by", "round") == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["player", "round", "opponent", "result", "turns", "z", "verdict"] in rows
    assert any(row[:4] == ["Deep", "Blue", "1", "Kasparov,"] and row[5] == "0" for row in rows)
    assert run("screen", games, *stored, "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert list(rows[0]) == with_blunders(SCREEN_COLUMNS)


def test_posterior_follows_both_players(
    games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("posterior", games, "--game", 2, *stored, "--format", "json", "--plots", tmp_path) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["player"] for row in rows} == {"Kasparov, Garry", "Deep Blue"}
    assert [row["ply"] for row in rows] == sorted(row["ply"] for row in rows)
    last = {row["player"]: row for row in rows}
    assert all(row["low"] < row["rating"] < (row["high"] or 9999) for row in last.values())
    assert run("ipr", games, *stored, "--by", "player", "--without", 1, "--format", "json") == 0
    whole = {row["player"]: row["ipr"] for row in json.loads(capsys.readouterr().out)}
    assert {name: row["rating"] for name, row in last.items()} == whole
    assert (tmp_path / "posterior.png").is_file()
    assert run("posterior", games, "--game", 2, *stored, "--plots", tmp_path / "it.svg") == 0
    assert (tmp_path / "it.svg").is_file()
    capsys.readouterr()
    assert run("posterior", games, "--game", 2, *stored, "--plots", tmp_path / "it.odd") == 1
    assert "no picture is called .odd; name it .svg" in capsys.readouterr().err


def test_the_same_moves_have_one_rating_in_every_command(
    games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    one, ratings, out = tmp_path / "one.pgn", tmp_path / "ratings.csv", tmp_path / "one.json"
    one.write_text("[Event " + games.read_text().split("[Event ")[2])
    ratings.write_text('"Kasparov, Garry",2795\nDeep Blue,2700\n')

    def said(*words: object) -> list[dict[str, Any]]:
        capsys.readouterr()
        assert run(*words, *stored, "--format", "json") == 0
        rows: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
        return rows

    by_player = {row["player"]: (row["ipr"], row["low"], row["high"]) for row in said("ipr", one)}
    running = {row["player"]: (row["rating"], row["low"], row["high"]) for row in said("posterior", one)}
    screened = {
        row["player"]: (row["ipr"], row["ipr_low"], row["ipr_high"]) for row in said("screen", one, "--rating", ratings)
    }
    alone = {
        name: tuple(said("ipr", one, "--by", "game", "--player", name)[0][end] for end in ("ipr", "low", "high"))
        for name in by_player
    }
    assert run("report", one, *stored, "-o", out) == 0
    reported = {
        player["name"]: tuple(player["intrinsic"][end] for end in ("value", "low", "high"))
        for player in json.loads(out.read_text())["players"]
    }
    for other in (running, screened, alone, reported):
        assert other.keys() == by_player.keys()
        for name, said_here in by_player.items():
            assert other[name] == pytest.approx(said_here, nan_ok=True), name


def test_calibration_show(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("calibration", "show", "--plots", tmp_path) == 0
    out = capsys.readouterr().out
    assert "Stockfish 15.1, depth 8" in out and "IPR = " in out and "s_fit" in out
    assert (tmp_path / "stockfish-15.1-d8.png").exists()
    assert run("calibration", "show", "rybka-3-d13", "--plots", tmp_path) == 0
    heads, *rows = capsys.readouterr().out.split("\n\n")[-1].splitlines()
    assert heads.split() == ["period", "elo", "s", "c", "c_fit", "s_fit", "mm_exp", "mm", "ad_exp", "ad", "qfit"]
    assert len(rows) == 22 and rows[0].split()[:6] == ["1976-1979", "2300", "0.121", "0.502", "0.485", "0.116"]
    assert (tmp_path / "rybka-3-d13.png").exists()
    assert run("calibration", "show", "rybka-3-d13", "--format", "csv") == 0
    assert "2006-2009,1600,9050,0.165,0.431,0.436,0.168," in capsys.readouterr().out
    assert run("calibration", "list", "--format", "json") == 0
    assert {"rybka-3-d13", "stockfish-15.1-d8"} <= {row["name"] for row in json.loads(capsys.readouterr().out)}


@pytest.mark.parametrize("command", ["ipr", "screen"])
def test_games_left_out_keep_the_numbers_of_the_others(
    command: str, games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(command, games, *stored, "--without", 1, "--format", "json") == 0
    out, err = capsys.readouterr()
    assert {row["games"] for row in json.loads(out)} == {1} and "Left out as asked: game 1; " in err


def test_a_game_left_out_is_no_row(games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("ipr", games, *stored, "--by", "game", "--without", 1, "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["game"].startswith("2. ")


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        (("--player", "Kasparof"), 1, "Did you mean 'Kasparov, Garry'"),
        (("--calibration", "rybka-3-d13"), 1, "for reading"),
        (("--level", "20"), 2, "between 50 and 100"),
        (("--quick",), 2, "exclude each other"),
        (("--interval", "regan"), 1, "belongs to a fit"),
        (("--policy", "none.npz"), 1, "cannot read none.npz"),
        (("--aliases", "none.csv"), 1, "cannot read none.csv"),
        (("--without", "3"), 1, "--without 3: there are 2 games."),
        (("--without", "1", "--without", "2"), 1, "no turns to judge"),
        (("--without", "0"), 2, "Invalid value for '--without'"),
    ],
)
def test_mistakes_get_a_sentence(
    games: Path,
    stored: tuple[object, ...],
    words: tuple[str, ...],
    code: int,
    sentence: str,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run("ipr", games, *stored, *words) == code
    assert sentence in capsys.readouterr().err


def test_names_that_nobody_bears_are_refused(
    games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = tmp_path / "names.csv"
    for row, sentence in (
        ("Garry,Garry Kasparof", 'Did you mean "Kasparov, Garry"?'),
        ('"Kasparov, Garry",Garri', 'If "Garri" is to be shown, put it first.'),
    ):
        names.write_text(row + "\n")
        assert run("ipr", games, *stored, "--aliases", names) == 1
        assert sentence in capsys.readouterr().err
    names.write_text('Garri,"Kasparov, Garry"\n')
    assert run("ipr", games, *stored, "--aliases", names, "--format", "json") == 0
    assert {row["player"] for row in json.loads(capsys.readouterr().out)} == {"Garri", "Deep Blue"}
    names.write_text("Deep Blue,2700\nGarry Kasparof,2795\n")
    assert run("screen", games, *stored, "--rating", names) == 1
    assert 'Did you mean "Kasparov, Garry"?' in capsys.readouterr().err


def test_ratings_are_checked_before_any_engine_starts(
    games: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    names = tmp_path / "names.csv"
    names.write_text("Deep Blue,2700\nGarry Kasparof,2795\n")
    assert run("screen", games, "--store", tmp_path / "new.db", "--depth", 6, "--rating", names) == 1
    assert 'Did you mean "Kasparov, Garry"?' in capsys.readouterr().err
    assert not (tmp_path / "new.db").exists()


def test_ratings_go_by_aliases_too(
    games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    ratings, aliases = tmp_path / "ratings.csv", tmp_path / "aliases.csv"
    aliases.write_text('Garri,"Kasparov, Garry"\n')

    def screened(rows: str) -> dict[str, object]:
        ratings.write_text(rows)
        words = ("--rating", ratings, "--aliases", aliases, "--format", "json")
        assert run("screen", games, *stored, *words) == 0
        return {row["player"]: row["rating"] for row in json.loads(capsys.readouterr().out)}

    under_main = screened("Garri,2795\nDeep Blue,2700\n")
    assert under_main["Garri"] == 2795
    assert screened('"Kasparov, Garry",2795\nDeep Blue,2700\n') == under_main
    ratings.write_text('"Kasparov, Garry",2795\nGarri,2600\nDeep Blue,2700\n')
    assert run("screen", games, *stored, "--rating", ratings, "--aliases", aliases) == 1
    assert 'rates "Garri" twice' in capsys.readouterr().err


def test_a_calibration_that_is_none(
    games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    (tmp_path / "x.json").write_text("{}")
    assert run("ipr", games, *stored[:2], *stored[4:], "--calibration", tmp_path / "x.json") == 1
    assert "is not a calibration" in capsys.readouterr().err


def test_a_store_without_the_games(
    stored: tuple[object, ...], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    other = tmp_path / "other.pgn"
    other.write_text(
        '[White "A"]\n[Black "B"]\n\n1. b4 b5 2. a4 a5 3. axb5 axb4 4. c4 c5 5. d4 d5 6. e4 e5 '
        "7. f4 f5 8. g4 g5 9. h4 h5 10. Nf3 Nf6 1-0\n"
    )
    assert run("ipr", other, *stored) == 1
    assert "assay analyse" in capsys.readouterr().err


def test_nothing_but_an_opening(capsys: pytest.CaptureFixture[str], tmp_path: Path, store: Path) -> None:
    short = tmp_path / "short.pgn"
    short.write_text('[White "A"]\n[Black "B"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1/2-1/2\n')
    assert run("ipr", short, "--store", store, "--depth", 6, "--no-analysis") == 1
    assert "no turns" in capsys.readouterr().err


def test_another_engine_is_taken_and_every_row_says_so(
    games: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    words = ("ipr", games, "--store", tmp_path / "s.db", "--depth", 6, "--quiet", "--format", "json")
    assert run(*words, "--engine", fake_engine.command(name="Toy 1")) == 0
    out, err = capsys.readouterr()
    assert "Analysed by Toy 1" in err and "calibrate --engine PATH --transfer" in err
    for row in json.loads(out):
        assert "Toy 1 has no calibration: that of Stockfish 15.1 serves, and may be off by" in row["note"]
    # The same from the store, without an engine; and in the screening.
    assert run(*words, "--no-analysis") == 0
    assert json.loads(capsys.readouterr().out) == json.loads(out)
    assert run("screen", *words[1:], "--no-analysis") == 0
    assert "may be off by" in json.loads(capsys.readouterr().out)[0]["note"]


def test_stored_analyses_of_a_calibrated_engine_go_before_others(
    games: Path, store: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    both = tmp_path / "both.db"
    shutil.copy(store, both)
    words = ("ipr", games, "--store", both, "--depth", 6, "--quiet")
    assert run(*words, "--engine", fake_engine.command(name="Toy 1")) == 0
    assert "Analysed by Toy 1" in capsys.readouterr().err
    assert run(*words) == 0 and "calibration stockfish-15.1-d6" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("engine", "words"),
    [
        ("no-such-engine", "no chess engine 'no-such-engine' found"),
        ("/bin/true", "does not start: it died (exit code 0)"),
        (fake_engine.command(fault="dies"), "finished 0, which is too often to go on: it died"),
        (
            "sh -c 'while read word rest; do case $word in uci) echo id name Netless 1; "
            "echo option name MultiPV type spin default 1 min 1 max 500; echo uciok;; isready) echo readyok;; "
            "go) echo info string ERROR: The network file nn-1.nnue was not loaded successfully.; exit 1;; esac; done'",
            "The network file nn-1.nnue was not loaded successfully",
        ),
    ],
)
def test_an_engine_that_is_none_or_dies_or_lacks_its_net(
    games: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path, engine: str, words: str
) -> None:
    for command in (("ipr", games, "--depth", 6), ("calibrate", "--transfer", "--depth", 6)):
        assert run(*command, "--store", tmp_path / "s.db", "--engine", engine, "--quiet") == 1
        err = capsys.readouterr().err
        assert words in err and err.count("assay:") == 1


def test_a_game_that_is_not_there(games: Path, stored: tuple[object, ...], capsys: pytest.CaptureFixture[str]) -> None:
    assert run("posterior", games, "--game", 9, *stored) == 1
    assert "no game 9" in capsys.readouterr().err
    assert run("posterior", games, *stored, "--prior", "2400") == 2
    assert "MEAN:SD" in capsys.readouterr().err


def test_calibrate_needs_rated_games(
    games: Path, store: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert run("calibrate", games, "--store", store, "--depth", 6, "-o", tmp_path / "c.json") == 1
    assert "--within" in capsys.readouterr().err
    assert run("calibrate", games, "--store", store, "--mileposts", "many", "-o", tmp_path / "c.json") == 2
    assert not (tmp_path / "c.json").exists()
