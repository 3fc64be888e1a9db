"""Where engines are found, and what is said when there is none."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.engine import identity as find_module
from assay.engine.identity import find
from assay.errors import EngineError


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A program in an empty world: nothing on PATH, nothing in the usual places."""
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    monkeypatch.setattr(find_module, "USUAL_PLACES", (str(tmp_path / "games"),))
    file = tmp_path / "my engine"
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


def test_a_path_even_with_spaces(program: Path) -> None:
    assert find(str(program)) == (str(program),)


def test_a_command_with_arguments(program: Path) -> None:
    assert find(f"'{program}' --fast 'two words'") == (str(program), "--fast", "two words")


@pytest.mark.parametrize("place", ["path", "games"])
def test_a_name_on_path_or_in_a_usual_place(place: str, program: Path) -> None:
    folder = program.parent / place
    folder.mkdir()
    (folder / "stockfish").symlink_to(program)
    assert find() == (str(folder / "stockfish"),)


def test_a_missing_engine_comes_with_advice(program: Path) -> None:
    with pytest.raises(EngineError, match=r"Stockfish was not found\. .*[Ii]nstall"):
        find()
    with pytest.raises(EngineError, match="no chess engine 'komodo' found"):
        find("komodo")
    with pytest.raises(EngineError, match="is empty"):
        find("")


def test_a_file_that_cannot_be_run_is_told_from_a_missing_one(program: Path) -> None:
    program.chmod(0o644)
    with pytest.raises(EngineError, match="is not executable"):
        find(str(program))
