"""What a person could be harmed by, in the commands that rate and screen: on a real event of simulated players."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import chess.pgn
import pytest

from assay.cli.main import main
from assay.games.samples import sample

Words = tuple[object, ...]


def run(*words: object) -> int:
    with pytest.raises(SystemExit) as end:
        main([str(word) for word in words])
    return int(end.value.code or 0)


@pytest.fixture(scope="module")
def event(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Fifteen games of six players."""
    path = tmp_path_factory.mktemp("people") / "event.pgn"
    path.write_bytes(sample("simulated-event.pgn"))
    return path


@pytest.fixture(scope="module")
def store(event: Path) -> Path:
    """Their analyses at a small depth."""
    path = event.with_name("store.db")
    assert run("analyse", event, "--store", path, "--depth", 4, "--quiet") == 0
    return path


@pytest.fixture
def stored(store: Path) -> Words:
    return ("--store", store, "--depth", 4, "--no-analysis", "--quiet")


def rows(capsys: pytest.CaptureFixture[str], *words: object) -> dict[str, dict[str, Any]]:
    """The rows of a table by player."""
    capsys.readouterr()
    assert run(*words, "--format", "json") == 0
    return {row["player"]: row for row in json.loads(capsys.readouterr().out)}


def test_one_player_is_screened_in_the_whole_field(
    event: Path, stored: Words, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = rows(capsys, "screen", event, *stored)
    for name in ("Elm", "Cedar"):
        assert rows(capsys, "screen", event, *stored, "--player", name) == {name: whole[name]}
    assert run("screen", event, *stored, "--player", "Elm") == 0
    assert "6 rows (1 of all 6 are shown)" in capsys.readouterr().out
    assert run("screen", event, *stored, "--player", "Elmo") == 1
    assert "Did you mean 'Elm'" in capsys.readouterr().err


def test_no_share_without_an_interval(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    for row in rows(capsys, "screen", event, *stored).values():
        assert row["share_low"] <= row["share"] <= row["share_high"]


def test_one_game_is_not_drawn_anew(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    how = ("--by", "player", "--interval", "bootstrap", "--min-turns", 5)
    text = event.read_text().split("[Event ")
    one = event.with_name("one.pgn")
    one.write_text("[Event " + text[8])
    for row in rows(capsys, "ipr", one, *stored, *how).values():
        assert row["high"] - row["low"] > 400
        assert "a bootstrap takes 10 games" in row["note"]


def test_notes_are_for_readers(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    notes = [row["note"] for by in ("player", "game") for row in _all(capsys, "ipr", event, *stored, "--by", by)]
    assert any("drawn towards the rating 2000 of the tags" in note for note in notes)
    plain = [row["note"] for row in _all(capsys, "ipr", event, *stored, "--no-prior")]
    assert any("trust the interval, not the rating" in note for note in plain)
    for note in [*notes, *plain]:
        assert "artery" not in note and "at most this" not in note and "at least this" not in note


def _all(capsys: pytest.CaptureFixture[str], *words: object) -> list[dict[str, Any]]:
    capsys.readouterr()
    assert run(*words, "--format", "json") == 0
    found: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    return found


@pytest.fixture
def report(store: Path, tmp_path: Path) -> Any:
    """Make a report in a format, and read it back as text."""

    def make(games: Path, format: str, *words: object) -> str:
        out = tmp_path / f"report.{format}"
        given = ("--store", store, "--calibration", "stockfish-15.1-d4", "--no-analysis", "--quiet", "-o", out, *words)
        assert run("report", games, *given) == 0
        return out.read_text(encoding="utf-8")

    return make


def test_the_value_told_with_a_move_is_its_own(event: Path, stored: Words, capsys: pytest.CaptureFixture[str]) -> None:
    (store, _, depth) = stored[1:4]
    words = ("show", event, "--store", store, "--depth", depth, "--game", 3)
    for row in _all(capsys, *words):
        own = next(said for said in row["spread"].split(", ") if said.startswith("*"))
        assert own.split()[1] == f"{row['evaluation']:+.2f}"
    assert run(*words) == 0
    assert " 0.0 %" not in capsys.readouterr().out


def test_a_report_tells_the_value_of_the_move_itself(event: Path, report: Any) -> None:
    worse = 0
    for game in json.loads(report(event, "json"))["games"]:
        for move in game["moves"]:
            own = [c["value"] for c in move["candidates"] if c["san"] == move["san"]]
            assert [move["worth"]] == (own or [None])
            worse += bool(own) and own[0] != move["value"]
    assert worse > 50
    assert "p 0.0 %" not in report(event, "pgn")
    page = report(event, "html")
    for quotable in ("assisted", "Likelihood ratio", "artery"):
        assert quotable not in page


RICH = """[Event "Simulated event"]
[Site "Assay"]
[Date "2020.01.02"]
[Round "1"]
[White "Ash"]
[Black "Birch"]
[Result "0-1"]
[ECO "A40"]
[Opening "Polish \\"Defence\\""]
[TimeControl "5400+30"]
[WhiteFideId "42"]
[WhiteElo "2400"]
[BlackElo "2300"]

{ Before the game. } 1. d4 { [%clk 1:30:00] } 1... b5! $14 {
over two lines [%clk 1:29:00] } (1... d5 2. c4 {a gambit} (2. e4 ; to the end of the line
2... dxe4) e6) 2. e4 Ba6 3.h4 Bb7 4. a4 b4 5. Nd2?! e6 6. c3 c5 ; why not
7. h5 bxc3 8. bxc3 Be7 9. Bb5 { [%clk 0:45:00] } cxd4 10. cxd4 $1 Qc8 { [%csl Gc8] } 11. Ne2 Nc6 12. O-O Nh6 13. Ra3
a6 14. Bc4 d5 15. Rh3 dxc4 0-1
"""


def nodes(text: str) -> tuple[dict[str, str], list[tuple[str, str, set[int]]]]:
    """Tags, and every move of all variations with its comment and glyphs."""
    game = chess.pgn.read_game(io.StringIO(text))
    assert game is not None and not game.errors
    found, stack = [("", game.comment, set[int]())], [*reversed(game.variations)]
    while stack:
        node = stack.pop()
        found.append((node.san(), f"{node.starting_comment}{node.comment}", node.nags))
        stack += reversed(node.variations)
    return dict(game.headers), found


def test_an_annotated_game_loses_nothing(event: Path, report: Any) -> None:
    rich = event.with_name("rich.pgn")
    rich.write_text(RICH, encoding="utf-8")
    text = report(rich, "pgn")
    (tags, before), (own, after) = nodes(RICH), nodes(text)
    assert own == tags | {"Annotator": "Assay"}
    assert list(own)[: len(tags)] == list(tags)
    assert [(san, nags) for san, _, nags in after] == [(san, nags) for san, _, nags in before]
    for (_, comment, _), (_, now, _) in zip(before, after, strict=True):
        assert " ".join(comment.split()) in " ".join(now.split())
    assert "[%eval" in text and " p " in text


def test_evaluations_of_the_file_stay_the_only_ones(event: Path, report: Any) -> None:
    rich = event.with_name("valued.pgn")
    rich.write_text(RICH.replace("[%clk 0:45:00]", "[%eval 0.77] [%clk 0:45:00]"), encoding="utf-8")
    text = report(rich, "pgn")
    assert text.count("[%eval") == 1
    assert "[%eval 0.77] [%clk 0:45:00]" in text and " p " in text
