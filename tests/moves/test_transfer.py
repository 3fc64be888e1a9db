"""Paired transfer: another engine's calibration on the same turns, and the engines that it must not trust."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.commands import run
from tests.engine import fake_engine

from assay.engine import score
from assay.engine.identity import Identity, find
from assay.errors import EngineError
from assay.moves.calibrating import reference_turns
from assay.moves.calibration import for_engine, load
from assay.moves.transfer import Paired, insanity, shipped_turns, transfer, transferred

ECHO = Identity("Echo 1", "", (("Hash", "16"),), 0, 50)
TURNS = 720


@pytest.fixture(scope="module")
def same() -> Paired:
    """Turns by an engine that says what 15.1 says."""
    rated = reference_turns(shipped_turns(6).first(TURNS))
    return Paired(rated, rated, ECHO)


def _changed(found: Paired, change: object) -> Paired:
    codes = found.old.choices.codes
    plain = np.abs(codes) <= score.LIMIT
    new = np.where(plain, change(codes.astype(np.float64)), codes).astype(np.int16)  # type: ignore[operator]
    return replace(found, new=replace(found.new, choices=replace(found.new.choices, codes=new)))


def test_the_turns_that_ship_are_spread_over_all_marks() -> None:
    found = shipped_turns(8)
    rated = reference_turns(found)
    assert len(rated) == len(found) and found.identity.engine == "Stockfish 15.1"
    marks, count = np.unique(rated.mark, return_counts=True)
    assert marks.tolist() == list(range(1600, 2701, 100)) and len(set(count.tolist())) == 1
    assert len(np.unique(rated.game)) >= 100
    # Any beginning is, too.
    part = reference_turns(found.first(TURNS))
    assert len(part) == TURNS and len(np.unique(part.mark)) == 12


def test_an_engine_that_says_the_same_has_the_same_model(same: Paired) -> None:
    base = load(depth=6)
    made = transferred(same, base, name="echo-1-d6", network=None)
    figures = made.figures["transfer"]["engine"]
    assert figures["untouched"] == 0 and figures["untouched_error"] == 0
    # Drawn as strongly as need be; what the fit learns from so few turns is little, and known.
    assert abs(figures["apart"]) < 30 and figures["apart_error"] < 30
    assert (made.engine, made.depth, made.pools) == ("Echo 1", 6, base.pools)
    assert made.settings["transferred_from"] == base.name and set(made.models) == {"engine"}
    assert for_engine(ECHO, 6, made).stand_in is None


def test_values_in_another_unit_are_brought_onto_the_scale(same: Paired) -> None:
    """An engine whose pawn is worth 30 % more makes all moves look worse: as it is it is off, transferred not."""
    base = load(depth=6).models["engine"]
    found = transfer(_changed(same, lambda codes: codes * 1.3), base)
    assert abs(found.untouched.value) > 2 * abs(found.apart.value)
    assert abs(found.apart.value) < 30
    assert found.model.honesty.scale_error >= base.honesty.scale_error


@pytest.mark.parametrize(
    ("what", "change"),
    [
        ("best", lambda codes: -codes),
        ("ties", lambda codes: np.round(codes / 300) * 300),
        ("error", lambda codes: codes / 20),
    ],
)
def test_an_engine_that_cannot_be_trusted(same: Paired, what: str, change: object) -> None:
    assert not insanity(same, 6)
    why = insanity(_changed(same, change), 6)
    assert "cannot be trusted" in why and "Echo 1" in why


def test_a_transfer_by_command_is_found_without_being_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With the engine that is here: the calibration goes where it is found."""
    engine = _second() or find()[0]
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    words = ("calibrate", "--engine", engine, "--transfer", "--depth", 6, "--turns", TURNS, "--policy", "none")
    assert run(*words, "--format", "json") == 0
    out, err = capsys.readouterr()
    (row,) = json.loads(out)
    assert row["model"] == "engine" and row["games"] == TURNS // 30 and abs(row["apart"]) < 200
    (file,) = (tmp_path / "calibrations").glob("*.json")
    assert f"Written to {file}" in err
    assert run("engines", "--engine", Path(engine).name, "--engine", engine, "--format", "csv") == 0
    rows = list(csv.DictReader(io.StringIO(capsys.readouterr().out)))
    assert (rows[0]["quick"], rows[0]["quick_off"]) == (file.stem, "")
    assert len({find(row["program"]) for row in rows}) == len(rows), "each once, by whatever name it was asked for"
    assert run("calibration", "show", file) == 0
    assert "Elo from Stockfish 15.1" in " ".join(capsys.readouterr().out.split())


def _second() -> str | None:
    """Another real engine than Stockfish, if there is one."""
    for name in ("ethereal-chess", "ethereal", "fairy-stockfish"):
        try:
            return find(name)[0]
        except EngineError:
            continue
    return None


def test_a_second_real_engine_is_rated_by_a_stand_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    engine = _second()
    if engine is None:
        pytest.skip("no second engine here: install ethereal-chess or fairy-stockfish")
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    assert run("sample", "-o", tmp_path) == 0
    games = tmp_path / "kasparov-deep-blue-1997.pgn"
    one = tmp_path / "one.pgn"
    one.write_text("[Event " + games.read_text().split("[Event ")[2])
    capsys.readouterr()
    assert run("ipr", one, "--quick", "--engine", engine, "--format", "json") == 0
    rows = json.loads(capsys.readouterr().out)
    assert rows and all(row["ipr"] is not None or row["note"] for row in rows)


def test_too_few_turns_and_nonsense(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    words = ("calibrate", "--transfer", "--depth", 6, "--quiet", "--engine")
    assert run(*words, fake_engine.command(name="Toy 1"), "--turns", 12) == 1
    assert "a transfer takes 600" in capsys.readouterr().err
    assert run(*words, "no-such-engine") == 1
    assert "no chess engine 'no-such-engine' found" in capsys.readouterr().err
    assert run(*words, fake_engine.command(name="Toy 1"), "a", "b") == 2
    assert run("calibrate", "-o", tmp_path / "x.json") == 2
    assert "--transfer" in capsys.readouterr().err
    assert not list(tmp_path.glob("calibrations/*"))
