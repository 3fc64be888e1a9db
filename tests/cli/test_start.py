"""The first hour: `assay demo` and `assay doctor`, with and without a chess engine."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from tests.commands import run

from assay.cli.main import assay
from assay.cli.reports import WITH_ENGINE, WITHOUT
from assay.engine import identity


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """A machine on which nothing is installed."""
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(identity, "USUAL_PLACES", ())


def found(capsys: pytest.CaptureFixture[str]) -> dict[str, dict[str, str]]:
    return {row["what"]: row for row in json.loads(capsys.readouterr().out)}


def test_doctor_finds_the_engine_and_its_calibration(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor", "--format", "json") == 0
    rows = found(capsys)
    assert rows["engine"]["state"] == "ok" and "calibration" in rows["engine"]["found"]
    assert {"assay", "python", "cores", "calibrations", "models", "policy", "[web]", "browser", "data"} <= set(rows)


def test_doctor_says_what_to_do_without_an_engine(no_engine: None, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("doctor", "--format", "json") == 0  # something is not possible, nothing is broken
    rows = found(capsys)
    assert rows["engine"]["state"] == "lacks" and "Install it" in rows["engine"]["do"]
    assert rows["browser"]["state"] == "lacks" and "Chromium" in rows["browser"]["do"]


def test_doctor_names_an_extra_that_lacks(
    monkeypatch: pytest.MonkeyPatch, no_engine: None, capsys: pytest.CaptureFixture[str]
) -> None:
    from assay.reports import checkup

    monkeypatch.setitem(checkup.EXTRAS, "learn", ("training", ("torch_that_nobody_has",)))
    assert run("doctor", "--format", "json") == 0
    assert found(capsys)["[learn]"]["do"] == 'pip install "assay[learn]"'


def test_doctor_says_what_is_broken(
    monkeypatch: pytest.MonkeyPatch, no_engine: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "stockfish"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    assert run("doctor", "--format", "json") == 1
    told = capsys.readouterr()
    (engine,) = [row for row in json.loads(told.out) if row["what"] == "engine" and row["state"] == "broken"]
    assert engine["do"] and "1 thing broken: engine" in told.err


def test_the_demo_without_an_engine(no_engine: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("demo", "-o", tmp_path / "shown") == 0
    told = capsys.readouterr()
    assert "Without a chess engine" in told.err
    assert "Kasparov, Garry" in told.out and "$ assay results" in told.out
    assert (tmp_path / "shown" / "simulated-event.manifest.json").is_file()


@pytest.mark.parametrize("line", [line for _, line in (*WITH_ENGINE, *WITHOUT)])
def test_the_commands_of_the_demo_are_commands(line: str) -> None:
    name, *words = line.split()
    command = assay.get_command(assay.make_context("assay", ["--help"], resilient_parsing=True), name)
    assert command is not None
    command.make_context(name, words)
