"""Names that act on terminals, spreadsheets and pages, through the commands that show people and write files."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path

import pytest

from assay.cli.main import main
from assay.printable import spreadsheet

NAMES = (
    "<script>alert(1)</script>",
    '=HYPERLINK("http://x")',
    "+cmd|'/C calc'!A0",
    "@SUM(1)",
    "\x1b]0;owned\x07\x1b[2J",
    "a\u202eb\u2066c",
    "</title><img src=x onerror=alert(1)>",
    "-2+3",
)
ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
MOVES = "1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } 2. Qh5 { [%eval -0.4] } Ke7 { [%eval #1] } 3. Qxe5# "
COMMANDS: dict[str, tuple[str, ...]] = {
    "rate": ("rate", "--witness", "results"),
    "rate by evaluations": ("rate", "--evals", "--witness", "results,moves"),
    "match": ("match", "--players", NAMES[0], NAMES[1]),
    "event": ("event",),
    "players": ("players",),
    "review": ("review", "--evals"),
    "over time": ("results", "--over-time", "month"),
    "a player over time": ("results", "--over-time", "month", "--player", NAMES[0]),
    "chances": ("chances", "--elo", "1500"),
}


@pytest.fixture
def games(tmp_path: Path) -> Path:
    """Everybody plays everybody once."""
    file = tmp_path / "games.pgn"
    texts, pairs = [], [(a, b) for at, a in enumerate(NAMES) for b in NAMES[at + 1 :]]
    for number, (white, black) in enumerate(pairs):
        result = ("1-0", "1/2-1/2", "0-1")[number % 3]
        white, black = (name.replace('"', '\\"') for name in (white, black))
        texts.append(
            f'[Event "{black}"]\n[Site "https://lichess.org/{number}"]\n[Date "2022.0{number % 9 + 1}.03"]\n'
            f'[Round "{number}"]\n[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n[WhiteElo "1800"]\n'
            f'[BlackElo "1810"]\n[TimeControl "600+0"]\n[Opening "{white}"]\n[Termination "{white}"]\n\n'
            f"{MOVES}{result}\n"
        )
    file.write_text("\n".join(texts), encoding="utf-8")
    return file


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> str:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    assert end.value.code in (0, None), err
    assert not ACTS.search(out) and not ACTS.search(err)
    return out


@pytest.mark.parametrize("command", COMMANDS)
def test_no_name_acts_in_a_terminal_a_spreadsheet_or_a_program(
    command: str, games: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = (*COMMANDS[command], games)
    assert printed(capsys, *words)
    for row in csv.reader(io.StringIO(printed(capsys, *words, "--format", "csv"))):
        for cell in row:
            assert cell == spreadsheet(cell) or re.fullmatch(r"[+-]?[\d.]+(e[+-]?\d+)?", cell), cell
    json.loads(printed(capsys, *words, "--format", "json"))


@pytest.mark.parametrize("words", [("event",), ("results",), ("results", "--over-time", "month")], ids="-".join)
def test_no_name_acts_on_a_page(
    words: tuple[str, ...], games: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "page.html"
    printed(capsys, *words, games, "-o", page)
    text = page.read_text(encoding="utf-8")
    assert "alert(1)" in text, "the names are there"
    assert "<script>alert" not in text and "<img src=x" not in text and "</title><" not in text.partition("</title>")[2]
