"""Where engines are found, and what is said when there is none."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from assay.engine import identity as find_module
from assay.engine.identity import Search, find
from assay.engine.local import identify
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


def _speaks(path: Path, *lines: str) -> str:
    """A program that answers `uci` with these lines."""
    told = "; ".join(f"echo '{line}'" for line in lines)
    path.write_text(
        f"#!/bin/sh\nwhile read word rest; do case $word in uci) {told}; echo uciok;; isready) echo readyok;; "
        "quit) exit;; esac; done\n"
    )
    path.chmod(0o755)
    return str(path)


def test_another_engine_serves_where_there_is_no_stockfish(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(find_module, "USUAL_PLACES", ())
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(EngineError, match="Stockfish was not found"):
        find()
    other = _speaks(tmp_path / "ethereal-chess", "id name Ethereal 12.00")
    _speaks(tmp_path / "something-else", "id name No engine")
    assert find_module.installed() == [other] and find() == (other,)
    usual = _speaks(tmp_path / "stockfish", "id name Stockfish 15.1")
    assert find() == (usual,)


@pytest.mark.parametrize(("use", "net"), [("true", "nn-1.nnue nn-2.nnue"), ("false", "")])
def test_the_net_is_what_the_engine_uses(tmp_path: Path, use: str, net: str) -> None:
    engine = _speaks(
        tmp_path / "stockfish",
        "id name Stockfish 16 64 POPCNT WASM",
        "option name MultiPV type spin default 1 min 1 max 500",
        f"option name Use NNUE type check default {use}",
        "option name EvalFile type string default /somewhere/nn-1.nnue",
        "option name EvalFileSmall type string default nn-2.nnue",
    )
    found = asyncio.run(identify(Search(engine)))
    assert (found.engine, found.net) == ("Stockfish 16 64 POPCNT WASM", net)
