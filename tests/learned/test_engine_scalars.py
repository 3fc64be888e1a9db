"""Engine numbers from a store: rank, loss, gap and value of the move played, ply by ply."""

from __future__ import annotations

import json
from pathlib import Path

import chess
import numpy as np
import pytest

from assay.engine.exchange import import_file
from assay.engine.identity import Search
from assay.engine.store import Store
from assay.errors import StoreError
from assay.learned import Selection, build_dataset, open_dataset
from assay.learned.build import analyst, engine_scalars

MOVES = ["e2e4", "e7e5", "g1f3", "b8c6"]
PGN = '[WhiteElo "1500"]\n[BlackElo "1600"]\n\n1. e4 e5 2. Nf3 Nc6 *\n\n'
OTHER = '[WhiteElo "1500"]\n[BlackElo "1600"]\n\n1. d4 d5 2. c4 c6 *\n\n'


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Analyses of the first game: the move played is worth 0.10, one alternative 0.50, all others -1.00."""
    rows, board = [], chess.Board()
    for uci in MOVES:
        moves = [move.uci() for move in board.legal_moves]
        moves.sort(key=lambda move: move == uci)
        scores = [50, *[-100] * (len(moves) - 2), 10]
        rows.append({"fen": board.fen(), "moves": moves, "scores": {"1": scores}})
        board.push_uci(uci)
    file = tmp_path / "analyses.jsonl"
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    with Store(tmp_path / "store.db", create=True) as opened:
        import_file(file, opened, search=Search(), named="Tester 1", quiet=True)
    return tmp_path / "store.db"


def test_scalars_of_stored_plies_reach_the_dataset(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    file.write_text(PGN + OTHER)
    with Store(store) as opened:
        built = build_dataset([file], tmp_path / "data", Selection(min_plies=2), analyst=analyst(opened, 1))
    assert built.analysed == 2, "both games begin with a position that is stored"
    dataset = open_dataset(tmp_path / "data")
    rank, loss, gap, value = np.expm1(dataset.game(0).engine).T
    assert rank.tolist() == pytest.approx([1] * 4)
    assert loss.tolist() == pytest.approx([0.4] * 4)
    assert gap.tolist() == pytest.approx([0.4] * 4)
    assert value.tolist() == pytest.approx([0.5] * 4)
    assert np.isnan(dataset.game(1).engine[1:]).all()


def test_games_that_are_not_stored_have_none(store: Path, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    set_up = '[FEN "4k3/8/8/8/8/8/8/4K2R w - - 0 1"]\n[WhiteElo "1500"]\n[BlackElo "1600"]\n\n1. Kd2 Kd7 *\n'
    file.write_text(set_up)
    with Store(store) as opened:
        built = build_dataset([file], tmp_path / "data", Selection(min_plies=2), analyst=analyst(opened, 1))
    assert (built.analysed, sum(built.games.values())) == (0, 1)


def test_a_move_that_was_not_listed_counts_as_the_worst_listed() -> None:
    values = np.array([[2.0, 1.0, -1.0, np.nan], [0.5, np.nan, np.nan, np.nan]])
    found = np.expm1(engine_scalars(values, np.array([-1, 0])))
    assert found[0].tolist() == pytest.approx([2, 3, 1, 2])
    assert found[1].tolist() == pytest.approx([0, 0, 0, 0.5])


def test_an_empty_store_is_refused_before_any_work(tmp_path: Path) -> None:
    with Store(tmp_path / "empty.db", create=True) as opened, pytest.raises(StoreError, match="no analyses yet"):
        analyst(opened, depth=10)
