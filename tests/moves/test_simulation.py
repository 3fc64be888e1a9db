"""Tournaments among agents: fair pairings, the same games from the same seed, help where help was promised."""

from __future__ import annotations

import io
from pathlib import Path

import chess.pgn
import numpy as np
import pytest

from assay.engine.identity import find
from assay.engine.store import LeftOut
from assay.engine.uci import Valued
from assay.errors import EngineError, InputError
from assay.games.packed import encode_move, from_board
from assay.moves.simulation import Assist, Entrant, listed, pairings, play, tournament, truth

ALICE, BOB, CAROL = (Entrant(name, 0.3, 0.5, elo) for name, elo in (("Alice", 2000), ("Bob", 2100), ("Carol", None)))


def material(fen: str) -> Valued:
    """A very simple engine: it counts what a move takes, and prefers central squares a little."""
    board = chess.Board(fen)
    worth = {None: 0, 1: 100, 2: 300, 3: 300, 4: 500, 5: 900, 6: 0}
    scored = []
    for move in board.legal_moves:
        centre = abs(chess.square_file(move.to_square) - 3.5) + abs(chess.square_rank(move.to_square) - 3.5)
        scored.append((worth[board.piece_type_at(move.to_square)] - int(5 * centre), move.uci()))
    scored.sort(reverse=True)
    moves = np.array([encode_move(move) for _, move in scored], dtype="<u2").tobytes()
    scores = np.array([score for score, _ in scored], dtype="<i2").tobytes()
    return Valued(from_board(board), 1, 1, len(scored), 1, 1, moves, scores)


def test_every_pair_meets_with_both_colours() -> None:
    pairs = [(white.name, black.name) for white, black in pairings([ALICE, BOB, CAROL], 6)]
    assert len(set(pairs)) == 6
    assert {frozenset(pair) for pair in pairs[:3]} == {frozenset(pair) for pair in pairs[3:]}
    with pytest.raises(InputError, match="at least two players"):
        pairings([ALICE], 3)


def test_the_same_seed_plays_the_same_game_and_it_is_legal() -> None:
    first, again, other = (play(ALICE, BOB, material, seed=seed) for seed in (1, 1, 2))
    assert first == again
    assert first.moves != other.moves
    game = chess.pgn.read_game(io.StringIO(first.pgn("Test")))
    assert game is not None
    assert not game.errors
    assert [move.uci() for move in game.mainline_moves()] == list(first.moves)
    assert (game.headers["WhiteElo"], game.headers["Result"]) == ("2000", first.result)


def test_help_is_given_as_promised() -> None:
    helped = Entrant("Bob", 0.3, 0.5, assist=Assist("Bob", 1.0, from_move=5))
    game = play(ALICE, helped, material, seed=3)
    assert game.assisted == tuple(range(9, len(game.moves), 2)), "every black move from the fifth on"
    board = chess.Board()
    for ply, move in enumerate(game.moves):
        if ply in game.assisted:
            assert move == listed(material(board.fen()))[0][0]
        board.push_uci(move)
    assert truth([ALICE, helped], [game])["games"][0]["assisted_plies"] == list(game.assisted)


@pytest.mark.parametrize("text", ["Bob", "Bob:x", "Bob:1.5", "Bob:0.5:0", "Bob:0.5:1:1"])
def test_assist_must_make_sense(text: str) -> None:
    with pytest.raises(InputError, match=r"NAME:SHARE|between 0 and 1"):
        Assist.parse(text)


def test_a_real_engine_plays_and_its_analyses_are_kept(tmp_path: Path) -> None:
    try:
        find("stockfish")
    except EngineError:
        pytest.skip("no Stockfish here")
    kept: list[Valued | LeftOut] = []
    weak = [Entrant("A", 0.5, 0.5), Entrant("B", 0.5, 0.5)]
    (game,) = tournament(weak, 1, depth=1, lines=5, seed=1, keep=kept.append)
    (again,) = tournament(weak, 1, depth=1, lines=5, seed=1, workers=2)
    assert game == again
    assert len({valued.key for valued in kept}) == len(kept) > 5
