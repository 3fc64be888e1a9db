"""Legal moves of many positions at once are those of python-chess, in every corner of the rules."""

from __future__ import annotations

import random

import chess
import numpy as np
import pytest

from assay.errors import InputError
from assay.games.legal import Positions, attacks, legal_moves, seen_by_mover
from assay.games.packed import from_board, unpack

CORNERS = (
    chess.STARTING_FEN,
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",  # castling, pins, captures in passing
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",  # promotions, check
    "rnbq1k1r/pp1Pbppp/2p5/8/2B5/8/PPP1NnPP/RNBQK2R w KQ - 1 8",
    "8/8/8/8/k2Pp2Q/8/8/4K3 b - d3 0 1",  # the capture in passing would open the rank
    "8/8/8/2k5/3Pp3/8/8/4K3 b - d3 0 1",  # the capture in passing answers the check
    "4k3/8/4r3/8/8/3n4/8/4K3 w - - 0 1",  # double check
    "4k3/4r3/8/8/8/8/4B3/4K3 w - - 0 1",  # pinned along the file
    "4k3/8/8/8/1b6/8/3P4/4K3 w - - 0 1",
    "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",  # stalemate
    "7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",  # mate
    "r3k2r/8/8/8/8/8/8/1R2K2R b Kkq - 0 1",  # the rook's path may be attacked, the king's not
    "3k4/3p4/8/K1P4r/8/8/8/8 b - - 0 1",
    "8/P6k/8/8/8/8/p6K/8 b - - 0 1",
)


def seen(boards: list[chess.Board]) -> Positions:
    return seen_by_mover(*unpack(np.array([np.frombuffer(from_board(board), np.uint8) for board in boards])))


def walks(fen: str, plies: int, seed: int) -> list[chess.Board]:
    """Positions of a game of random moves."""
    board, chance, found = chess.Board(fen), random.Random(seed), []
    for _ in range(plies):
        found.append(board.copy(stack=False))
        moves = sorted(board.legal_moves, key=str)
        if not moves:
            break
        board.push(chance.choice(moves))
    return found


def code(move: chess.Move) -> int:
    return move.from_square | move.to_square << 6 | (move.promotion or 0) << 12


@pytest.mark.parametrize("fen", CORNERS)
def test_legal_moves_are_those_of_python_chess(fen: str) -> None:
    boards = [board for seed in range(3) for board in walks(fen, 60, seed)]
    positions = seen(boards)
    moves = legal_moves(positions)
    codes = moves.codes(positions.turned)
    for number, board in enumerate(boards):
        mine = codes[moves.offsets[number] : moves.offsets[number + 1]].tolist()
        assert sorted(mine) == sorted(map(code, board.legal_moves)), board.fen()


@pytest.mark.parametrize("fen", CORNERS)
def test_attacks_checks_and_pins_are_those_of_python_chess(fen: str) -> None:
    boards = walks(fen, 60, 7)
    positions = seen(boards)
    found = attacks(positions)
    for number, board in enumerate(boards):
        turn = board.turn
        upright = board if turn else board.mirror()
        assert int(found.checkers[number]) == int(upright.checkers())
        pinned = [s for s in chess.SQUARES if upright.color_at(s) and upright.is_pinned(chess.WHITE, s)]
        assert int(found.pinned[number]) == int(chess.SquareSet(pinned))
        for piece, square, reach in zip(
            found.code[found.row == number], found.square[found.row == number], found.reach[found.row == number],
            strict=True,
        ):  # fmt: skip
            without = upright.copy()
            if piece > 6:
                without.remove_piece_at(int(found.own_king[number]))  # which their sliders look through
            assert int(reach) == int(without.attacks(int(square)))


def test_the_order_of_moves_is_that_of_their_squares() -> None:
    moves = legal_moves(seen(walks(CORNERS[3], 20, 1)))
    keys = list(zip(moves.row, moves.start, moves.end, moves.promotion, strict=True))
    assert keys == sorted(keys)
    assert moves.offsets[-1] == len(moves)


@pytest.mark.parametrize(
    ("squares", "words"),
    [({}, "one king"), ({4: 6, 60: 12, 61: 12}, "one king"), ({4: 6, 60: 12, 63: 1}, "a pawn stands")],
)
def test_what_is_no_position_is_refused(squares: dict[int, int], words: str) -> None:
    board = np.zeros((1, 64), np.uint8)
    for square, piece in squares.items():
        board[0, square] = piece
    with pytest.raises(InputError, match=words):
        seen_by_mover(board, np.array([True]), np.zeros(1, np.uint8), np.full(1, -1, np.int8))


def test_a_king_is_never_taken() -> None:
    with pytest.raises(InputError, match="in check"):
        legal_moves(seen([chess.Board("4k3/4R3/8/8/8/8/8/4K3 w - - 0 1")]))


def test_damaged_keys_are_refused() -> None:
    with pytest.raises(InputError, match="rows of 35 bytes"):
        unpack(np.zeros((1, 34), np.uint8))
    with pytest.raises(InputError, match="a piece that does not exist"):
        unpack(np.full((1, 35), 255, np.uint8))
