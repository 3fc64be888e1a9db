"""What a person could be harmed by, in the commands that rate and screen: on a real event of simulated players."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

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
