"""Every command that reads games takes them in every form, and a filter; it says what it says of a plain file."""

from __future__ import annotations

import importlib
import io
import lzma
import os
import sys
import threading
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.commands import run

from assay.cli.main import COMMANDS
from assay.games import index, read
from assay.games.archives import sample

WHERE = 'black == "Ash" and plies > 20'
MANY = 5  # games of the event, of which the filter takes some
STORED = "--store STORE --depth 6 --no-analysis"
# What to run on the games; OUT stands for what is written.
CASES = {
    "index": "-o OUT.parquet",
    "stats": "--format json",
    "filter": "--count-only",
    "balance": "--per-band 9 --out-pgn OUT.pgn",
    "analyse": "--store STORE --depth 6",
    "fit": "--store STORE --depth 6 --format json",
    "show": "--store STORE --depth 6 --game 2 --elo 2000 --format json",
    "difference": "--store STORE --depth 6 --format json",
    "export-turns": "--store STORE --depth 6 -o OUT.jsonl",
    "rate": f"{STORED} --format json",
    "compare": f"{STORED} --players Ash Cedar --format json",
    "ipr": f"{STORED} --format json",
    "posterior": f"{STORED} --game 2 --format json",
    "screen": f"{STORED} --format json",
    "calibrate": "--store STORE --depth 6 -o OUT.json",
    "review": f"{STORED} --game 2 --format json",
    "report": f"{STORED} -o OUT.csv",
    "results": "--format json",
    "event": "--format json",
    "players": "--format json",
    "prep": "-o OUT.pgn",
    "guess": "--model otb --format json",
    "planes": "--game 2 --ply 30 --format json",
    "encode": "-o OUT --min-plies 2 --format json",
    "policy gather": "-o OUT",
}
FORMS = ("UTF-16 in a zip", "folder", "several files", "index", "index with text", "CSV index", "stdin", "pipe")
NO_GAMES = {"month", "sample", "analyses", "export-analyses", "import-analyses", "simulate", "calibration", "train"}
NO_GAMES |= {"demo", "doctor", "fetch", "ratings", "match", "engines"}  # none, lists, games of two players
NO_GAMES |= {"evaluate", "chances", "policy", "serve"}  # of these some read a single position or hold commands


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some games in all forms, those that the filter takes in a plain file, and their analyses."""
    folder = tmp_path_factory.mktemp("inputs")
    event = folder / "event.pgn"
    event.write_bytes(sample("simulated-event.pgn"))
    games = list(read(event))[:MANY]
    whole = b"\n\n".join(game.data for game in games) + b"\n"
    event.write_bytes(whole)
    (folder / "chosen.pgn").write_bytes(b"\n\n".join(game.data for game in read(event, where=WHERE)) + b"\n")
    (folder / "apart").mkdir()
    (folder / "apart" / "a.pgn").write_bytes(games[0].data + b"\n\n" + games[1].data)
    (folder / "apart" / "b.pgn.xz").write_bytes(lzma.compress(b"\n\n".join(game.data for game in games[2:])))
    with zipfile.ZipFile(folder / "games.zip", "w") as archive:
        archive.writestr("games.pgn", whole.decode().encode("utf-16"))
    index(event, folder / "plain.parquet")
    index(event, folder / "text.parquet", movetext=True)
    index(event, folder / "index.csv")
    assert run("analyse", folder / "chosen.pgn", "--store", folder / "store.db", "--depth", 6, "--quiet") == 0
    return folder


def given(form: str, folder: Path, here: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path | str]:
    match form:
        case "several files":
            return sorted((folder / "apart").iterdir())
        case "stdin":
            packed = lzma.compress((folder / "event.pgn").read_bytes())
            monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(packed)))
            return ["-"]
        case "pipe":
            os.mkfifo(here / "pipe")
            data = (folder / "event.pgn").read_bytes()
            threading.Thread(target=(here / "pipe").write_bytes, args=(data,), daemon=True).start()
            return [here / "pipe"]
    names = {"index": "plain.parquet", "index with text": "text.parquet", "CSV index": "index.csv", "folder": "apart"}
    return [folder / names.get(form, "games.zip")]


def told(command: str, files: list[Path | str], where: str, folder: Path, out: Path, capsys: Any) -> Any:
    """The exit code of a command, and what it printed or wrote about the games."""
    words = CASES[command].replace("STORE", str(folder / "store.db")).replace("OUT", str(out)).split()
    capsys.readouterr()
    code = run(*command.split(), *files, *(("--where", where) if where else ()), *words, "--quiet")
    said = capsys.readouterr()
    if command == "index":
        rows = read(out.with_suffix(".parquet")).frame
        return code, rows.drop("source", "start_offset", "end_offset").rows()
    if command == "encode":  # how many were not chosen is said, too
        return code, [line for line in said.out.splitlines() if '"in ' in line]
    if command in ("analyse", "calibrate"):
        return code, said.err
    written = [out.with_suffix(end) for end in (".pgn", ".csv", ".jsonl") if out.with_suffix(end).exists()]
    return code, written[0].read_text() if written else said.out


@pytest.mark.parametrize("command", CASES)
def test_a_command_takes_games_in_every_form(
    command: str,
    folder: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    all_ = "True" if command == "filter" else ""
    expected = told(command, [folder / "chosen.pgn"], all_, folder, tmp_path / "plain", capsys)
    assert expected[0] == (1 if command == "calibrate" else 0), expected  # so few games have no marks
    for number, form in enumerate(FORMS):
        files = given(form, folder, tmp_path, monkeypatch)
        assert told(command, files, WHERE, folder, tmp_path / f"out{number}", capsys) == expected, form


def figures(said: str | list[str]) -> list[str]:
    """What a command says, but for how many games it read and found again."""
    lines = said.splitlines() if isinstance(said, str) else said
    return [line for line in lines if not any(word in line for word in ("occur again", '"read":', '"duplicates":'))]


@pytest.mark.parametrize("command", [name for name in CASES if name != "index"])
def test_a_game_that_occurs_twice_counts_once(
    command: str, folder: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    once, copy = folder / "chosen.pgn", tmp_path / "copy.pgn"
    copy.write_text(once.read_text().replace('[Event "', '[Event "Copied: ').replace(" 2. ", " {a comment} 2. "))
    all_ = "True" if command == "filter" else ""
    expected = told(command, [once], all_, folder, tmp_path / "once", capsys)
    found = told(command, [once, copy], all_, folder, tmp_path / "twice", capsys)
    if command == "analyse":  # the same positions, whosever they are
        assert found[0] == 0 and " 0 valued now" in found[1]
    elif command == "calibrate":  # so few games have no marks
        assert found[0] == 1 and "2 games occur twice and count once" in found[1]
    else:
        assert (found[0], figures(found[1])) == (expected[0], figures(expected[1]))


def test_no_command_is_forgotten() -> None:
    names = {name for section in COMMANDS.values() for name in section}
    assert names == {name.split()[0] for name in CASES} | NO_GAMES
    for section in COMMANDS.values():
        for name, (module, function, _) in section.items():
            if name in CASES:
                params = {
                    param.name for param in getattr(importlib.import_module(f"assay.cli.{module}"), function).params
                }
                assert {"files", "where"} <= params, name
