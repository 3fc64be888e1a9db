"""Names from files: none takes over a terminal, a line, or a spreadsheet."""

from __future__ import annotations

import csv
import io
import json
import re
import unicodedata
from pathlib import Path

import pytest
from tests.commands import told as run

from assay.printable import json_text, printable, spreadsheet
from assay.table import render

HOSTILE = "\x1b[2J\x1b]0;title\x07Bob\r\b\x9b31m\u202eevil\u2066\u200b"
FORMULAS = ("=cmd|' /C calc'!A0", "+49 Karl", "-2+3", "@SUM(A1)", "\t=1+1", "\r=1+1", " =1+1", "＝1+1")


def harmless(text: str) -> bool:
    """Whether a terminal shows this as it is: only whole characters, spaces and line ends."""
    return all(c == "\n" or unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """Four games of a player whose name is an attack, one with a name of 3,000 letters, one with a formula."""
    name = HOSTILE.replace("\r", "")  # which ends a line of PGN
    tags = [(name, "Ann"), ("Ann", name), ("N" * 3000, "Ann"), ("=cmd|x", "Ann")]
    text = "".join(
        f'[Event "{name}"]\n[Site "{name}"]\n[White "{white}"]\n[Black "{black}"]\n[WhiteElo "1900"]\n'
        f'[BlackElo "1900"]\n[TimeControl "{name}"]\n[Opening "{name}"]\n[Result "1/2-1/2"]\n\n'
        "1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1/2-1/2\n\n"
        for white, black in tags
    )
    path = tmp_path / "games.pgn"
    path.write_bytes(text.encode())
    return path


def test_every_character_that_is_not_seen_is_written_out() -> None:
    seen_joiners = "\u200c\u200d"
    for number in range(0x110000):
        character = chr(number)
        category = unicodedata.category(character)
        hidden = category in ("Cc", "Cf", "Cs", "Zl", "Zp") and character not in seen_joiners
        if category != "Cn":
            assert (printable(character) != character) == hidden, hex(number)


def test_lines_stay_where_they_are_asked_for() -> None:
    assert printable("a\tb\nc\r") == r"a\tb\nc\r"
    assert printable("a\tb\nc\r", lines=True) == "a\tb\nc\\r"


@pytest.mark.parametrize("text", FORMULAS)
def test_no_text_is_calculated(text: str) -> None:
    cell = spreadsheet(text)
    assert not re.match(r"\s*[=+\-@＝\t\r]", cell)
    (row,) = csv.DictReader(io.StringIO(render([{"name": text}], format="csv")))
    assert row["name"] == cell


@pytest.mark.parametrize("text", ["-12", "+5", "-1.5e3", "-", "Anand", "0-1", "Nepomniachtchi, I"])
def test_plain_numbers_and_names_stay(text: str) -> None:
    assert spreadsheet(text) == text


def test_json_reads_back_as_it_was() -> None:
    value = {"name": HOSTILE + "\U000e0041", HOSTILE: [HOSTILE]}
    assert harmless(json_text(value, indent=1))
    assert json.loads(json_text(value)) == value


@pytest.mark.parametrize("format", ["table", "csv", "json"])
@pytest.mark.parametrize("command", ["filter", "stats", "results", "guess"])
def test_names_reach_no_terminal_raw(
    games: Path, command: str, format: str, capsys: pytest.CaptureFixture[str]
) -> None:
    index = games.with_suffix(".parquet")
    run(capsys, "index", games, "-o", index)
    more = {"filter": [index, "--where", "plies > 0", "--preview", 9], "stats": [index]}.get(command, [games])
    code, out, err = run(capsys, command, *more, "--format", format)
    assert code == 0
    assert harmless(out)
    assert harmless(err)
    assert "evil" in out or r"\x1b[2J" in out, "a table may cut it"


def test_one_game_names_its_players_harmlessly(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = run(capsys, "guess", games, "--game", 1)
    assert code == 0
    assert harmless(out + err)


def test_long_values_are_cut_in_text_alone(games: Path, capsys: pytest.CaptureFixture[str]) -> None:
    index = games.with_suffix(".parquet")
    run(capsys, "index", games, "-o", index)
    shown = {
        format: run(capsys, "filter", index, "--where", "plies > 0", "--preview", 9, "--format", format)[1]
        for format in ("table", "csv", "json")
    }
    assert max(map(len, shown["table"].splitlines())) < 1000
    assert "N" * 3000 in shown["csv"]
    assert "N" * 3000 in shown["json"]


@pytest.mark.parametrize(
    "args",
    [
        ["index", "no\x1b[2J.pgn", "-o", "x.parquet"],
        ["results", "--\x1b[2J"],
        ["no\x1b[2J"],
        ["results", "GAMES", "-r", "LIST"],
        ["results", "GAMES", "-A", HOSTILE + "x"],
        ["filter", "GAMES", "--where", '"\x1b[2J'],
        ["posterior", "no\x1b[2J.pgn", "--debug"],
    ],
)
def test_messages_quote_harmlessly(
    games: Path, tmp_path: Path, args: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    rated = tmp_path / "list.csv"
    rated.write_text(f'"{HOSTILE}y", 2000\n{"z" * 100_000}, {HOSTILE}\n', encoding="utf-8")
    names = {"GAMES": str(games), "LIST": str(rated)}
    code, out, err = run(capsys, *(names.get(arg, arg) for arg in args))
    assert code in (1, 2)
    assert err
    assert harmless(out + err)
    assert len(err) < 20_000
