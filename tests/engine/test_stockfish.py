"""The real engine, end to end: from the sample games to a store, and the same again by another way."""

from __future__ import annotations

import json
from itertools import islice
from pathlib import Path

import chess
import chess.engine
import numpy as np
import pytest
from tests.commands import run

import assay
from assay.engine.identity import find
from assay.engine.local import Engine
from assay.engine.store import Store
from assay.engine.turns import turns
from assay.errors import EngineError
from assay.games import read
from assay.games.packed import to_fen

SAMPLE = Path(assay.__file__).parent / "data" / "kasparov-deep-blue-1997.pgn"
WON = "4k3/8/8/8/8/8/8/Q2QK3 w - - 0 1"


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The last moves of two of the sample games at a small depth."""
    path = tmp_path_factory.mktemp("stockfish") / "store.db"
    assert run("analyse", SAMPLE, "--store", path, "--depth", 4, "--from-move", 30, "--limit", 2, "--quiet") == 0
    return path


def test_the_sample_goes_from_pgn_to_turns(store: Path) -> None:
    with Store(store) as opened:
        found = turns(islice(read(SAMPLE), 2), opened, depth=4, from_move=30, limit=100)
    assert found.identities[0].engine.startswith("Stockfish") and found.identities[0].net
    assert len(found) > 60 and not found.excluded["not analysed"]
    assert (found.played >= 0).all()
    assert (found.played == 0).mean() > 0.3
    assert len(set(found.player)) == 2


def test_a_second_run_analyses_nothing(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyse", SAMPLE, "--store", store, "--depth", 3, "--from-move", 30, "--limit", 2) == 0
    assert " 0 valued now" in capsys.readouterr().err


def test_the_list_of_analyses(store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("analyses", "--store", store, "--format", "json") == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["engine"].startswith("Stockfish") and (row["lines"], row["depth"], row["games"]) == (50, 4, 2)


def test_values_do_not_depend_on_what_was_asked_before(store: Path) -> None:
    with Store(store) as opened, Engine() as engine:
        for valued in islice(opened.all_valued(1), 0, 30, 6):
            again = engine.analyse(to_fen(valued.key), depth=4)
            assert (again.moves, again.scores) == (valued.moves, valued.scores)


def test_values_are_those_of_python_chess() -> None:
    board = chess.Board("r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3")
    with Engine() as engine:
        moves, values = engine.values(board.fen(), depth=5)
    with chess.engine.SimpleEngine.popen_uci(list(find())) as other:
        other.configure({"Threads": 1, "Hash": 16})
        said = other.analyse(board, chess.engine.Limit(depth=5), multipv=50, game=object())
    assert moves == [info["pv"][0].uci() for info in said]
    np.testing.assert_allclose(values, [info["score"].relative.score() / 100 for info in said])


def test_decided_and_forced_positions_are_left_out(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "won.pgn"
    games.write_text(f'[SetUp "1"]\n[FEN "{WON}"]\n\n1. Qa7 Kf8 2. Qdd8# 1-0\n')
    assert run("analyse", games, "--store", tmp_path / "store.db", "--depth", 9, "--from-move", 1) == 0
    with Store(tmp_path / "store.db") as store:
        reasons = sorted(out.reason for out in store.all_left_out(1))
        assert reasons == ["decided", "decided", "forced"]
        assert store.kept()[0].positions == 0
    assert "decided 2, forced 1" in capsys.readouterr().err


def test_a_live_engine_recovers_and_refuses_nonsense() -> None:
    with Engine() as engine:
        with pytest.raises(EngineError, match="no legal move"):
            engine.values("7k/5QQ1/8/8/8/8/8/K7 b - - 0 1")
        with pytest.raises(ValueError, match="expected"):
            engine.values("nonsense")
        assert engine.values(chess.STARTING_FEN, depth=1, lines=3)[0]
