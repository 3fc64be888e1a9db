"""The commands on games, from the outside: what they print, what they write, how they end."""

from __future__ import annotations

import csv
import io
import json
import subprocess
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import polars as pl
import pytest
from tests.commands import told
from tests.games.made import game_text

from assay.games.columns import COLUMNS

Run = Callable[..., tuple[int, str, str]]
GAMES = [
    game_text(
        i + more, 12, notes=i % 2 == 0, WhiteElo=str(1500 + 20 * i), BlackElo=str(1510 + 20 * i), TimeControl=control
    )
    for i in range(20)
    for more, control in ((0, "300+0"), (100, "60+0"))
]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Run:
    return partial(told, capsys)


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    file.write_text("\n\n".join(GAMES) + "\n")
    return file


@pytest.fixture
def made(run: Run, pgn: Path) -> Path:
    assert run("index", pgn, "-o", pgn.with_suffix(".parquet"))[0] == 0
    return pgn.with_suffix(".parquet")


def test_index_tells_what_it_found(run: Run, pgn: Path, tmp_path: Path) -> None:
    code, out, err = run("index", pgn, "-o", tmp_path / "games.csv", "--format", "json")
    assert (code, err) == (0, "")
    size = pgn.stat().st_size
    assert json.loads(out) == [{"source": str(pgn), "games": 40, "bytes": size, "problems": 0, "damage": None}]
    assert tuple((tmp_path / "games.csv").read_text().splitlines()[0].split(",")) == COLUMNS


def test_index_of_damaged_files_keeps_what_is_good_and_says_so(run: Run, pgn: Path, tmp_path: Path) -> None:
    (tmp_path / "empty.pgn").touch()
    pgn.write_bytes(b'[Event "x\n\n*\n\n1. e4 *\n\n' + pgn.read_bytes())
    code, _, err = run("index", pgn, tmp_path / "empty.pgn", "-o", tmp_path / "out.parquet")
    assert code == 1
    assert "1 x tag without end" in err and "1 x game without tags" in err
    assert f"holds 42 games, but not everything could be read: {tmp_path / 'empty.pgn'}: the file is empty." in err
    assert pl.read_parquet(tmp_path / "out.parquet").height == 42


def test_index_into_nowhere(run: Run, pgn: Path, tmp_path: Path) -> None:
    code, out, err = run("index", pgn, "-o", tmp_path / "no" / "out.parquet")
    assert (code, out) == (1, "") and "does not exist" in err
    code, _, err = run("index", tmp_path / "none.pgn", "-o", tmp_path / "out.parquet")
    assert code == 1 and err == f"assay: there is no file {tmp_path / 'none.pgn'}.\n"


EXPRESSION = 'white_elo >= 1600 and white_elo < 1700 and time_control == "300+0" and has_clock and has_eval'


def test_filter_counts(run: Run, made: Path) -> None:
    expected = sum('"300+0"' in g and "[%clk" in g and 1600 <= 1500 + 20 * (i // 2) < 1700 for i, g in enumerate(GAMES))
    assert expected > 1
    assert run("filter", made, "--where", EXPRESSION, "--count-only") == (0, f"{expected}\n", "")
    assert run("filter", made, "--where", EXPRESSION)[1].split() == ["games", "of", str(expected), "40"]
    assert run("filter", made, made, "--where", "True", "--count-only", "--keep-duplicates")[1] == "80\n"
    assert run("filter", made, made, "--where", "True", "--count-only")[1] == "40\n"


def test_filter_shows(run: Run, made: Path) -> None:
    _, out, _ = run("filter", made, "--where", "white_elo > 1800", "--preview", "2")
    table, *games = out.strip().split("\n\n[")
    assert len(table.splitlines()) == 3 and "W16" in table
    assert [f"[{game}".split() for game in games] == [game.split() for game in GAMES[32:34]], "the games, too"
    assert max(map(len, out.splitlines())) <= 80
    _, out, _ = run("filter", made, "--where", "white_elo > 1800", "--preview", "2", "--format", "csv")
    assert tuple(next(csv.reader(io.StringIO(out)))) == COLUMNS


def test_filter_writes_the_very_bytes(run: Run, made: Path, tmp_path: Path) -> None:
    code, _, err = run("filter", made, "--where", 'time_control == "60+0"', "--out-pgn", tmp_path / "out.pgn")
    assert code == 0 and "wrote 20 games" in err
    assert (tmp_path / "out.pgn").read_text() == "".join(game + "\n\n" for game in GAMES[1::2])


def test_filter_of_another_file_is_refused(run: Run, made: Path, pgn: Path, tmp_path: Path) -> None:
    pgn.write_text(pgn.read_text().replace("e4", "d4"))
    code, _, err = run("filter", made, "--where", "True", "--out-pgn", tmp_path / "out.pgn")
    assert code == 1 and "index it again" in err
    assert not (tmp_path / "out.pgn").exists()


def test_filter_mistakes(run: Run, made: Path) -> None:
    code, out, err = run("filter", made, "--where", "whit_elo > 3")
    assert (code, out, err) == (1, "", "assay: there is no column 'whit_elo'; did you mean 'white_elo'?\n")
    assert run("filter", made)[0] == 2
    assert run("filter", made.with_name("none.parquet"), "--where", "True")[0] == 1


def test_stats_in_all_formats(run: Run, made: Path) -> None:
    code, text, _ = run("stats", made)
    assert code == 0 and "40 games" in text and "1500-1599" in text and "300+0" in text
    found = json.loads(run("stats", made, "--format", "json")[1])
    assert found["games"] == 40
    assert sum(row["games"] for row in found["rating"]) == 40
    assert [row["time_control"] for row in found["time_control"]] == ["300+0", "60+0"]
    assert sum(row["games"] for row in found["rating_time_control"]) == 40
    rows = list(csv.DictReader(io.StringIO(run("stats", made, "--format", "csv")[1])))
    assert {row["table"] for row in rows} == {"rating", "time_control", "rating_time_control"}
    found = json.loads(run("stats", made, "--where", "white_elo < 1600", "--format", "json")[1])
    assert found["games"] == 10


@pytest.mark.parametrize("where", ["True", "False"])
def test_stats_draws(run: Run, made: Path, tmp_path: Path, where: str) -> None:
    from matplotlib.image import imread

    assert run("stats", made, "--where", where, "--plots", tmp_path / "plots")[0] == 0
    names = ["rating_hist.png", "rating_tc_heatmap_log.png", "rating_tc_heatmap_pct.png", "time_control.png"]
    assert sorted(file.name for file in (tmp_path / "plots").iterdir()) == names
    for name in names:
        picture = imread(tmp_path / "plots" / name)
        assert picture.shape[0] > 400 and picture.std() > 0.01


def test_balance(run: Run, made: Path, tmp_path: Path) -> None:
    out = tmp_path / "balanced.pgn"
    code, table, _ = run("balance", made, "--per-band", "6", "--out-pgn", out, "--seed", "4", "--format", "json")
    assert code == 0
    assert [(row["available"], row["drawn"]) for row in json.loads(table)] == [(10, 6)] * 4
    first = out.read_text()
    assert sum(game in first for game in GAMES) == 24
    about = json.loads(Path(f"{out}.manifest.json").read_text())
    assert about["settings"] == {"per_band": 6, "band_width": 100, "where": None, "seed": 4}
    assert about["inputs"][0]["name"] == "games.parquet"
    run("balance", made, "--per-band", "6", "--out-pgn", out, "--seed", "4")
    assert out.read_text() == first
    code, _, err = run("balance", made, "--per-band", "6", "--out-pgn", out, "--where", "white_elo > 3000")
    assert code == 1 and "no game is left to draw from" in err
    assert out.read_text() == first


def test_month_mistake(run: Run, tmp_path: Path) -> None:
    assert run("month", "June", "-o", tmp_path) == (1, "", "assay: 'June' is not a month; write it like 2018-06.\n")


@pytest.mark.parametrize("command", ["index", "month", "stats", "filter", "balance"])
def test_help_has_examples(run: Run, command: str) -> None:
    code, out, _ = run(command, "--help")
    assert code == 0 and "Examples:" in out and f"assay {command} " in out


@pytest.mark.parametrize("movetext", [(), ("--movetext",)])
def test_games_that_occur_twice_count_once(run: Run, made: Path, pgn: Path, movetext: tuple[str, ...]) -> None:
    """The same games in two indexes, one of them from a file in another spelling and with comments."""
    again = pgn.with_name("again.pgn")
    again.write_text(pgn.read_text().replace('[White "', '[White "  ').replace("1. ", "1. {a word} ", 3))
    other = again.with_suffix(".parquet")
    assert run("index", again, "-o", other, *movetext)[0] == 0
    both = ("--where", "plies > 0", made, other)
    code, out, err = run("filter", *both, "--count-only")
    assert (code, out) == (0, "40\n") and err.startswith("assay: 40 games occur twice and count once: 41 = 1 (")
    assert "and 35 more. --keep-duplicates counts them all." in err
    assert run("filter", *both, "--count-only", "--keep-duplicates") == (0, "80\n", "")
    assert json.loads(run("stats", made, other, "--format", "json")[1])["games"] == 40
    assert json.loads(run("stats", made, other, "--format", "json", "--keep-duplicates")[1])["games"] == 80
    drawn = pgn.with_name("drawn.pgn")
    for flags, games in (((), 10), (("--keep-duplicates",), 20)):
        _, out, err = run("balance", made, other, "--per-band", "99", "--out-pgn", drawn, "--format", "json", *flags)
        assert [row["drawn"] for row in json.loads(out)] == [games] * 4 and ("count once" in err) is (not flags)
    assert run("filter", *both, "--out-pgn", drawn)[0] == 0
    assert drawn.read_text().count("[White ") == 40


def test_moves_decide_which_games_are_one(run: Run, pgn: Path) -> None:
    """Same players, same length, same result: two games with other moves; and one where the moves cannot be read."""
    tags = {"White": "Elm", "Black": "Oak", "Date": "2020.01.02", "Round": "3", "Event": "Open"}
    pgn.write_text("\n\n".join([game_text(1, 30, **tags), game_text(2, 30, **tags), game_text(1, 30, **tags)]))
    made = pgn.with_suffix(".parquet")
    assert run("index", pgn, "-o", made)[0] == 0
    code, out, err = run("filter", made, "--where", "True", "--count-only")
    assert (code, out) == (0, "2\n") and "1 game occurs twice and counts once: 3 = 1 (Elm - Oak 2020.01.02)." in err
    pgn.unlink()
    code, out, err = run("filter", made, "--where", "True", "--count-only")
    assert (code, out) == (0, "1\n") and "moves could not be compared" in err


def test_count_and_preview_together(run: Run, made: Path) -> None:
    code, out, _ = run("filter", made, "--where", "avg_elo > 1800", "--count-only", "--preview", "2")
    lines = out.splitlines()
    assert code == 0 and lines[0].isdecimal() and lines[1].startswith("white") and lines[4] == ""


def test_a_preview_of_an_index_whose_archive_is_elsewhere_has_the_tags(run: Run, made: Path, pgn: Path) -> None:
    pgn.unlink()
    code, out, err = run("filter", made, "--where", "avg_elo > 1800", "--preview", "2", "--keep-duplicates")
    assert code == 0 and len(out.splitlines()) == 3 and "Tags alone: " in err


def test_pictures_are_drawn_though_nobody_reads_the_tables(made: Path, tmp_path: Path) -> None:
    """`assay stats INDEX --plots DIR | head -1`: the reader is gone before the tables are printed."""
    command = [
        sys.executable,
        "-c",
        "from assay.cli.main import main; main()",
        "stats",
        str(made),
        "--plots",
        str(tmp_path / "drawn"),
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.close()
    assert len(list((tmp_path / "drawn").glob("*.png"))) == 4


@pytest.mark.parametrize("value", ["nan", "inf", "-1", "1e308", "9" * 40])
@pytest.mark.parametrize("option", ["--per-band", "--band-width", "--seed", "--preview", "--top"])
def test_values_that_make_no_sense(run: Run, made: Path, option: str, value: str) -> None:
    command = {"--preview": "filter", "--top": "stats"}.get(option, "balance")
    where = ("--where", "True") if command == "filter" else ()
    out = ("--per-band", "1", "--out-pgn", made.with_name("out.pgn")) if command == "balance" else ()
    code, _, err = run(command, made, *where, *out, option, value)
    assert code == 2 and option in err and "bug" not in err


def test_prep_takes_a_number_of_games(run: Run, pgn: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As Ordoprep's -g; it once wrote a file called 20."""
    monkeypatch.chdir(tmp_path)
    before = set(tmp_path.iterdir())
    assert run("prep", "-g", "20", pgn)[0] == 1
    assert run("prep", "-g", "1", pgn)[0] == 0
    assert set(tmp_path.iterdir()) == before


def test_stats_have_no_empty_tables(run: Run, pgn: Path) -> None:
    untimed = pgn.with_name("untimed.pgn")
    untimed.write_text('[WhiteElo "1500"]\n[BlackElo "1500"]\n[Result "1-0"]\n\n1. e4 e5 1-0\n')
    code, out, _ = run("stats", untimed)
    assert code == 0 and "1500-1599" in out and "time control missing" in out
    assert "By time control" not in out and "Rating by" not in out
