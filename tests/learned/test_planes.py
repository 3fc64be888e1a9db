"""The planes of a ply: what each shows, and that the fast encoder draws the same."""

from __future__ import annotations

from collections.abc import Callable

import chess
import numpy as np
import pytest

from assay.games import to_arrays
from assay.learned import NUM_PLANES, encode_games, encode_ply_planes, unpack
from assay.learned.planes import PLANE_NAMES


def squares(name: str, fen: str, uci: str, previous: str | None = None) -> str:
    """The squares of one plane, found by its name."""
    last = chess.Move.from_uci(previous) if previous else None
    planes = encode_ply_planes(chess.Board(fen), chess.Move.from_uci(uci), last)
    ranks, files = np.nonzero(planes[PLANE_NAMES.index(name)])
    return " ".join(chess.square_name(chess.square(f, r)) for r, f in zip(ranks.tolist(), files.tolist(), strict=True))


def test_there_are_64_planes_with_names_of_their_own() -> None:
    assert NUM_PLANES == 64 == len(set(PLANE_NAMES))
    planes = encode_ply_planes(chess.Board(), chess.Move.from_uci("e2e4"))
    assert planes.shape == (64, 8, 8)
    assert planes.dtype == np.uint8
    assert set(np.unique(planes)) == {0, 1}


def test_planes_stand_where_the_layout_says() -> None:
    at = {name: number for number, name in enumerate(PLANE_NAMES)}
    assert (at["P"], at["k"], at["presence P"], at["control k"]) == (0, 11, 12, 35)
    assert (at["any control White"], at["legal control Black"], at["net control Black"]) == (36, 39, 41)
    assert (at["any control White after"], at["net control Black after"]) == (42, 47)
    assert (at["from"], at["to"], at["previous from"], at["previous to"]) == (48, 49, 50, 51)
    assert (at["castling K"], at["White to move"], at["en passant"], at["castling K after"]) == (52, 56, 57, 58)
    assert at["en passant after"] == 63


def test_presence_sees_through_pieces_and_control_does_not() -> None:
    fen = "4k3/8/8/8/8/2P5/8/R1B1K3 w - - 0 1"
    assert squares("presence R", fen, "a1a2") == "b1 c1 d1 e1 f1 g1 h1 a2 a3 a4 a5 a6 a7 a8"
    assert squares("control R", fen, "a1a2") == "b1 c1 a2 a3 a4 a5 a6 a7 a8"
    assert squares("presence P", fen, "a1a2") == "b4 d4"


def test_a_pinned_knight_controls_nothing_legally_and_a_pinned_rook_its_file() -> None:
    knight = "4r1k1/8/8/8/8/8/4N3/4K3 w - - 0 1"
    king = "d1 f1 d2 e2 f2"
    assert (
        squares("any control White", knight, "e1d1").split() != squares("legal control White", knight, "e1d1").split()
    )
    assert squares("legal control White", knight, "e1d1") == king
    rook = "4r1k1/8/8/8/8/8/4R3/4K3 w - - 0 1"
    # The line of the pin runs from the king's own square to the pinning rook.
    assert squares("legal control White", rook, "e1d1") == "d1 e1 f1 d2 e2 f2 e3 e4 e5 e6 e7 e8"


def test_a_pinned_pawn_keeps_the_capture_along_the_pin() -> None:
    fen = "6k1/8/8/8/8/2b5/3P4/4K3 w - - 0 1"
    assert squares("control P", fen, "e1e2") == "c3 e3"
    assert squares("net control White", fen, "e1e2") == "c3"


def test_net_control_leaves_out_what_the_other_pawns_control() -> None:
    fen = "4k3/8/8/3p4/8/1P3P2/8/4K3 w - - 0 1"  # White's pawns hit a4, c4, e4 and g4, Black's c4 and e4
    assert squares("net control White", fen, "e1e2") == "a4 g4"
    assert squares("net control Black", fen, "e1e2") == ""


def test_moves_state_and_what_they_become() -> None:
    start = chess.STARTING_FEN
    assert (squares("from", start, "e2e4"), squares("to", start, "e2e4")) == ("e2", "e4")
    assert squares("previous from", start, "e2e4") == ""
    assert squares("en passant", start, "e2e4") == ""
    assert squares("en passant after", start, "e2e4") == "e3"
    after = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1"
    assert squares("previous to", after, "e7e5", "e2e4") == "e4"
    assert squares("White to move", after, "e7e5", "e2e4") == ""
    assert len(squares("White to move after", after, "e7e5", "e2e4").split()) == 64
    castles = "4k3/8/8/8/8/8/8/4K2R w K - 0 1"
    assert len(squares("castling K", castles, "e1g1").split()) == 64
    assert squares("castling K after", castles, "e1g1") == ""


def test_the_board_is_left_as_it_was() -> None:
    board = chess.Board()
    encode_ply_planes(board, chess.Move.from_uci("e2e4"))
    assert board == chess.Board()


def assert_same_planes(boards: list[chess.Board], texts: list[str]) -> None:
    """Every ply of every game, by both encoders."""
    arrays = to_arrays(texts)
    assert arrays.valid.all()
    encoded = encode_games(arrays)
    row = 0
    for played in boards:
        board, previous = played.root(), None
        for move in played.move_stack:
            expected = encode_ply_planes(board, move, previous)
            wrong = np.flatnonzero((unpack(encoded.planes[row]) != expected).any(axis=(1, 2)))
            assert not len(wrong), f"{board.fen()} {move}: {[PLANE_NAMES[i] for i in wrong]}"
            board.push(move)
            previous, row = move, row + 1
    assert row == len(encoded.planes)


def test_the_fast_encoder_agrees_on_random_play(
    play: Callable[..., chess.Board], write_pgn: Callable[..., str]
) -> None:
    boards = [play(seed, 90) for seed in range(12)]
    moves = [m for b in boards for m in b.move_stack]
    assert any(m.promotion for m in moves)
    assert_same_planes(boards, [write_pgn(board) for board in boards])


@pytest.mark.parametrize(
    "fen",
    [
        "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",  # castling on both sides
        "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",  # en passant with pins
        "8/PPP4k/8/8/8/8/4Kppp/8 w - - 0 1",  # promotions
        "4k3/4r3/8/b7/7b/8/3PQP2/q2BKB1q w - - 0 1",  # pins from all sides
        "3qk3/8/8/2Pp4/8/8/8/3QK3 w - d6 0 2",  # a target before the first move
    ],
)
def test_the_fast_encoder_agrees_from_positions_set_up(
    fen: str, play: Callable[..., chess.Board], write_pgn: Callable[..., str]
) -> None:
    boards = [play(seed, 30, fen) for seed in range(6)]
    assert_same_planes(boards, [write_pgn(board) for board in boards])


@pytest.mark.parametrize("last", ["e1g1", "e1c1", "b7a8q", "b7b8n", "e5d6", "a1a8", "h1h8"])
def test_the_position_after_the_last_move_is_right(last: str, write_pgn: Callable[..., str]) -> None:
    board = chess.Board("r3k2r/1P6/8/3pP3/8/8/8/R3K2R w KQkq d6 0 1")
    board.push(chess.Move.from_uci(last))
    assert_same_planes([board], [write_pgn(board)])


def test_blocks_do_not_show(
    monkeypatch: pytest.MonkeyPatch, play: Callable[..., chess.Board], write_pgn: Callable[..., str]
) -> None:
    games = to_arrays([write_pgn(play(seed, 40)) for seed in range(5)])
    whole = encode_games(games)
    monkeypatch.setattr("assay.learned.encode.BLOCK", 17)
    parts = encode_games(games)
    assert np.array_equal(whole.planes, parts.planes)
    assert np.array_equal(whole.scalars, parts.scalars)


def test_no_plies_are_no_trouble() -> None:
    encoded = encode_games(to_arrays(["*", "1. e4 Ke4 *", "1. e4 *"]))
    assert encoded.planes.shape == (1, 64)
    assert encoded.offsets.tolist() == [0, 0, 0, 1]


def test_squares_will_do_for_a_move() -> None:
    board = chess.Board()
    board.push_uci("e2e4")
    move, before = chess.Move.from_uci("e7e5"), chess.Move.from_uci("e2e4")
    whole = encode_ply_planes(board, move, before)
    np.testing.assert_array_equal(encode_ply_planes(board, (chess.E7, chess.E5), (chess.E2, chess.E4)), whole)
    promoting = chess.Board("8/P6k/8/8/8/8/8/K7 w - - 0 1")
    queen = encode_ply_planes(promoting, chess.Move.from_uci("a7a8q"))
    np.testing.assert_array_equal(encode_ply_planes(promoting, (chess.A7, chess.A8)), queen)
