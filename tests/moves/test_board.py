"""What a move does on the board, against python-chess on positions of random games."""

from __future__ import annotations

import chess
import numpy as np
from tests.moves.made import choices_of, random_fens

from assay.games.packed import decode_move, encode_move
from assay.moves.choice.board import columns, scene


def test_traits_of_moves_agree_with_python_chess() -> None:
    fens = random_fens(150)
    made = choices_of(fens)
    found = columns(scene(made.keys), made.turn, made.moves, made.before, made.own)
    for turn, fen in enumerate(fens):
        board = chess.Board(fen)
        for row in range(made.start[turn], made.start[turn + 1]):
            move = chess.Move.from_uci(decode_move(int(made.moves[row])))
            where = f"{fen} {move}"
            assert bool(found["capture"][row]) == board.is_capture(move), where
            assert bool(found["castling"][row]) == board.is_castling(move), where
            assert bool(found["onto guard"][row]) == board.is_attacked_by(not board.turn, move.to_square), where
            assert bool(found["from attack"][row]) == board.is_attacked_by(not board.turn, move.from_square), where
            others = [square for square in board.attackers(board.turn, move.to_square) if square != move.from_square]
            assert bool(found["defended"][row]) == bool(others), where
            # En passant and castling may unmask a check on a second line; the model does without.
            if not board.is_en_passant(move) and not board.is_castling(move):
                assert bool(found["check"][row]) == board.gives_check(move), where


def test_both_colours_see_the_same_board() -> None:
    fens = random_fens(40, seed=3)
    white = choices_of(fens)
    mirrored = [chess.Board(fen).mirror().fen() for fen in fens]
    black = choices_of(mirrored)
    turned = {}
    for made, name in ((white, "white"), (black, "black")):
        found = columns(scene(made.keys), made.turn, made.moves, made.before, made.own)
        squares = [chess.Move.from_uci(decode_move(int(code))) for code in made.moves]
        flip = 0 if name == "white" else 56
        turned[name] = {
            (int(turn), move.from_square ^ flip, move.to_square ^ flip, move.promotion): [
                float(column[row]) for column in found.values()
            ]
            for row, (turn, move) in enumerate(zip(made.turn, squares, strict=True))
        }
    assert turned["white"] == turned["black"]


def test_the_last_moves_tell_recaptures_and_returns() -> None:
    made = choices_of(["rnbqkbnr/ppp2ppp/8/3pp3/3PP3/8/PPP2PPP/RNBQKBNR w KQkq - 0 3"])
    rows = {decode_move(int(code)): row for row, code in enumerate(made.moves)}
    found = columns(
        scene(made.keys),
        made.turn,
        made.moves,
        np.array([encode_move("d7d5")], np.uint16),
        np.array([encode_move("c1d2")], np.uint16),
    )
    assert found["recapture"][rows["e4d5"]] == 1 and found["recapture"][rows["d4e5"]] == 0
    assert found["taken"][rows["e4d5"]] == 1 and found["taken"][rows["g1f3"]] == 0
