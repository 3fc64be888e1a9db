"""Keys of positions: one for each position as an engine is told it, the same from arrays, boards and FENs."""

from __future__ import annotations

import chess
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.games import to_arrays
from assay.games.packed import (
    KEY_BYTES,
    after_last,
    as_bytes,
    decode_move,
    encode_move,
    from_board,
    from_fen,
    pack,
    played_moves,
    to_fen,
)


def play(choices: list[int]) -> tuple[list[chess.Board], str]:
    """A game of pseudo-random moves: the board before each move, and the movetext."""
    board, boards, words = chess.Board(), [], []
    for choice in choices:
        moves = sorted(board.legal_moves, key=str)
        if not moves:
            break
        boards.append(board.copy())
        words.append(board.san(moves[choice % len(moves)]))
        board.push(moves[choice % len(moves)])
    return [*boards, board], " ".join(words) + " *"


games = st.lists(st.integers(0, 10_000), min_size=1, max_size=120).map(play)


@given(games)
def test_keys_from_arrays_are_those_of_python_chess(game: tuple[list[chess.Board], str]) -> None:
    boards, text = game
    arrays = to_arrays([text])
    keys = as_bytes(pack(arrays, np.arange(arrays.plies)))
    assert keys == [from_board(board) for board in boards[:-1]]
    assert from_board(after_last(arrays, 0)) == from_board(boards[-1])
    assert [decode_move(code) for code in played_moves(arrays, np.arange(arrays.plies)).tolist()] == [
        move.uci() for move in boards[-1].move_stack
    ]


@given(games)
def test_a_fen_comes_back_but_for_the_number_of_the_move(game: tuple[list[chess.Board], str]) -> None:
    board = game[0][-1]
    assert to_fen(from_board(board)).split()[:5] == board.fen().split()[:5]
    assert len(from_board(board)) == KEY_BYTES


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("4k3/8/8/8/4P3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/4P3/8/8/4K3 b - - 0 1", True),  # nobody can capture
        ("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1", "4k3/8/8/8/3pP3/8/8/4K3 b - - 0 1", False),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k3/8/8/8/8/8/8/4K2R w - - 0 1", False),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k3/8/8/8/8/8/8/4K2R b K - 0 1", False),
        ("4k3/8/8/8/8/8/8/4K2R w K - 0 1", "4k3/8/8/8/8/8/8/4K2R w K - 7 1", False),  # engines look at the clock
        ("4k3/8/8/8/8/8/8/4K2R w K - 7 1", "4k3/8/8/8/8/8/8/4K2R w K - 7 60", True),
    ],
)
def test_what_makes_a_position(one: str, other: str, same: bool) -> None:
    assert (from_fen(one) == from_fen(other)) is same


@given(st.sampled_from(chess.SQUARES), st.sampled_from(chess.SQUARES), st.sampled_from([None, 2, 3, 4, 5]))
def test_moves_come_back(start: int, end: int, promotion: int | None) -> None:
    if start != end:
        uci = chess.Move(start, end, promotion).uci()
        assert decode_move(encode_move(uci)) == uci
