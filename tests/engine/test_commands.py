"""The commands as a user types them: what they print, where things go, and what mistakes look like."""

from __future__ import annotations

import csv
import io
import json
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from tests.commands import told

from assay.engine.store import Store, writing

Run = Callable[..., tuple[int, str, str]]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Run:
    """Run a command in a world of its own: exit code, stdout, stderr."""
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    return partial(told, capsys)


def test_a_jury_into_the_store_of_the_data_folder(
    run: Run, fake: Callable[..., str], games_file: Path, tmp_path: Path
) -> None:
    words = ["analyse", games_file, "--depth", 2, "--from-move", 2, "--engine", fake(), "--engine", fake(name="Other")]
    code, _, said = run(*words)
    assert code == 0
    assert "2 games, 20 positions to value (left out: before move 2 4, occurred before in the game 2" in said
    assert "Fake 1.0, 50 lines: 0 stored before, 20 valued now" in said and "Other, 50 lines" in said
    assert (tmp_path / "home" / "analyses.db").exists()

    code, out, _ = run("analyses", "--format", "csv")
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["engine"], row["depth"], row["positions"], row["games"]) for row in rows] == [
        ("Fake 1.0", "2", "20", "2"),
        ("Other", "2", "20", "2"),
    ]
    assert "Fake 1.0" in run("analyses")[1]


def test_out_and_in_again(run: Run, fake: Callable[..., str], games_file: Path, tmp_path: Path) -> None:
    run("analyse", games_file, "--depth", 2, "--from-move", 1, "--engine", fake(), "--lines", "all")
    assert run("export-analyses", "-o", tmp_path / "out.jsonl")[0] == 0
    code, _, said = run("import-analyses", tmp_path / "out.jsonl", "--store", tmp_path / "back.db")
    assert code == 0 and "positions, " in said
    one, other = (
        json.loads(run("analyses", "--format", "json", *more)[1]) for more in ((), ("--store", tmp_path / "back.db"))
    )
    assert one[0]["positions"] == other[0]["positions"] > 20 and other[0]["lines"] == "all"


def test_games_are_chosen_by_a_filter_and_a_limit(run: Run, fake: Callable[..., str], games_file: Path) -> None:
    base = ["analyse", games_file, "--depth", 1, "--from-move", 1, "--engine", fake()]
    assert "1 game, " in run(*base, "--where", "black_elo is None")[2]
    assert "1 game, " in run(*base, "--limit", 1)[2]
    code, _, said = run(*base, "--where", "white_elo > 3000")
    assert code == 1 and "no game of" in said and "fits --where" in said
    code, _, said = run(*base, "--where", "whit_elo > 3000")
    assert code == 1 and "did you mean 'white_elo'" in said


def test_positions_set_aside_are_reported_with_their_fen(run: Run, fake: Callable[..., str], games_file: Path) -> None:
    board = "r1b1kbnr/pppp1Npp/8/6q1/2BnP3/8/PPPP1PPP/RNBQK2R"
    engine = fake(fault="plays illegal moves", at=board)
    code, _, said = run("analyse", games_file, "--depth", 1, "--from-move", 1, "--engine", engine, "--workers", 1)
    assert code == 0
    assert "Set aside after three tries (it plays 'x" in said
    assert f"which is not legal): {board} b KQkq - 0 1" in said
    assert "The engine was restarted 3 times" in said


def test_mistakes_are_told_in_a_sentence(run: Run, fake: Callable[..., str], games_file: Path, tmp_path: Path) -> None:
    empty = tmp_path / "empty.pgn"
    empty.touch()
    for words, code, sentence in (
        (["analyse", "nowhere.pgn"], 1, "there is no file nowhere.pgn"),
        (["analyse", empty], 1, "there is no game in"),
        (["analyse", games_file, "--engine", "no-fish"], 1, "no chess engine 'no-fish' found"),
        (["analyse"], 2, "Missing argument"),
        (["analyse", games_file, "--lines", "0"], 2, "neither a number from 1 on nor 'all'"),
        (["analyse", games_file, "--depth", "0"], 2, "--depth"),
        (["analyse", games_file, "--option", "Threads=4"], 2, "expected NAME=VALUE"),
        (["analyse", games_file, "--engine", fake(), "--option", "Style=Wild"], 1, "Fake 1.0 has no option 'Style'"),
        (["analyses", "--store", tmp_path / "none.db"], 1, "there is no analysis store"),
        (["analyses", "--store", games_file], 1, "cannot be opened as an analysis store"),
        (["export-analyses", "--store", tmp_path / "none.db", "-o", "x.jsonl"], 1, "there is no analysis store"),
        (["import-analyses", games_file, "--store", tmp_path / "new.db"], 1, "holds no analysis"),
    ):
        got, out, said = run(*words)
        assert got == code and sentence in said and "Traceback" not in said, (words, said)
        assert not out


def test_a_store_in_use_is_not_waited_for(run: Run, fake: Callable[..., str], games_file: Path, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    with writing(store):
        code, _, said = run("analyse", games_file, "--store", store, "--engine", fake())
    assert code == 1 and "is writing to" in said and "--store" in said
    with Store(store) as opened:
        assert not opened.kept()


@pytest.mark.skipif(sys.platform == "win32", reason="the engine is wrapped in a shell script")
def test_a_store_removed_under_a_running_analysis_is_an_error(
    run: Run, fake: Callable[..., str], games_file: Path, tmp_path: Path
) -> None:
    store, started = tmp_path / "store.db", tmp_path / "started"
    wrapper = tmp_path / "engine.sh"
    # The first start asks who the engine is; the second analyses.
    wrapper.write_text(f"#!/bin/sh\n[ -e {started} ] && rm -f {store}\ntouch {started}\nexec {fake()}\n")
    wrapper.chmod(0o755)
    code, _, said = run(
        "analyse", games_file, "--depth", 2, "--from-move", 2, "--engine", wrapper, "--store", store, "--workers", 1
    )
    assert code == 1
    assert "was removed or replaced" in said
    assert "valued now" not in said
