"""Moves in SAN: what python-chess writes, for every legal move of many positions at once."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from assay.games.notation import sans
from assay.games.packed import encode_move, from_board

ODD = {
    "pieces of a kind on one file, on one rank, on both": "4k3/8/8/2N1N3/8/2N1N3/8/4K3 w - - 0 1",
    "a pinned twin need not be told from": "4k3/4r3/8/8/8/4N1N1/8/4K3 w - - 0 1",
    "promotions, by taking, with check and mate": "1n4k1/P4ppp/8/8/8/8/p4PPP/1N4K1 b - - 0 1",
    "castling gives check": "3k1r2/8/8/8/8/8/8/R3K2R w KQ - 0 1",
    "castling gives mate": "8/8/8/8/8/7R/1R6/3k1K1R w - - 0 1",
    "in passing, with a check uncovered": "8/8/8/K2pP2r/8/8/8/4k3 w - d6 0 1",
    "in passing takes the checker": "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",
    "a step of two that only taking in passing answers": "8/8/8/1p6/kp1p4/p7/P1P5/1K6 w - - 0 1",
    "black castles long": "r3k2r/8/8/8/8/8/8/3K4 b kq - 0 1",
    "smothered": "6rk/6pp/7N/8/8/1Q6/8/6K1 w - - 0 1",
    "two kings of a colour are no position, and moves have a name all the same": "4k3/8/8/8/8/8/8/3KK2R w - - 0 1",
}


def check(boards: list[chess.Board]) -> None:
    moves = [(at, move) for at, board in enumerate(boards) for move in board.legal_moves]
    keys = np.frombuffer(b"".join(from_board(board) for board in boards), np.uint8).reshape(len(boards), -1)
    codes = np.array([encode_move(move.uci()) for _, move in moves], np.uint16)
    written = sans(keys, np.array([at for at, _ in moves], np.intp), codes)
    assert written == [boards[at].san(move) for at, move in moves]


@pytest.mark.parametrize("fen", ODD.values(), ids=ODD.keys())
def test_odd_positions(fen: str) -> None:
    check([chess.Board(fen)])


def test_games_at_random_to_their_end() -> None:
    boards = []
    for seed in range(12):
        board, dice = chess.Board(), random.Random(seed)
        while not board.is_game_over() and len(board.move_stack) < 120:
            boards.append(board.copy(stack=False))
            # Mates first: random players hardly find any.
            mates = [move for move in board.legal_moves if board.san(move).endswith("#")]
            board.push(mates[0] if mates else dice.choice(list(board.legal_moves)))
    check(boards)


def test_nothing_at_all() -> None:
    assert sans(np.empty((0, 35), np.uint8), np.empty(0, np.intp), np.empty(0, np.uint16)) == []
