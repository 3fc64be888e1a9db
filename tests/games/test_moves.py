"""Flat arrays of positions and moves are what python-chess says, position by position."""

from __future__ import annotations

import io
import math
from pathlib import Path

import chess
import chess.pgn
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.games.made import game_text, random_moves

from assay.errors import InputError
from assay.games import fens, keys, repeated, to_arrays, uci
from assay.games.parse import BAD_SETUP, EMPTY, ILLEGAL, NULL_MOVE

FENS = [
    chess.STARTING_FEN,
    "4k3/P6P/8/8/8/8/p6p/4K3 b - - 3 40",  # promotions, Black first
    "8/2p5/8/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",  # en passant that would uncover a check
    "r3k2r/ppp2ppp/8/3PpP2/4pP2/8/PPP1P2P/R3K2R b KQkq f3 0 10",
    "8/8/8/8/k2Pp2Q/8/8/3K4 b - d3 0 1",  # the en-passant capture is not legal: pinned along the rank
    "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b Kq e3 99 120",
]


def check(texts: list[str]) -> None:
    arrays = to_arrays(texts)
    shown, epds, moves, again = fens(arrays), fens(arrays, counters=False), uci(arrays), repeated(arrays)
    key = keys(arrays)
    ply = 0
    for number, text in enumerate(texts):
        game = chess.pgn.read_game(io.StringIO(text))
        assert game is not None and arrays.valid[number] and arrays.offsets[number] == ply
        board, seen = game.board(), {}
        for node in game.mainline():
            assert (shown[ply], epds[ply], moves[ply]) == (board.fen(), board.epd(), node.move.uci())
            assert again[ply] == (board.epd() in seen)
            assert seen.setdefault(board.epd(), key[ply]) == key[ply]
            assert arrays.turn[ply] == board.turn and arrays.fullmove[ply] == board.fullmove_number
            board.push(node.move)
            ply += 1
        assert len(set(seen.values())) == len(seen)
    assert arrays.offsets[-1] == arrays.plies == ply


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(0, 500), st.integers(0, 120), st.sampled_from(FENS)), min_size=1, max_size=4))
def test_positions_and_moves(games: list[tuple[int, int, str]]) -> None:
    check([str(random_moves(seed, plies, fen)) for seed, plies, fen in games])


def test_comments_and_variations_do_no_harm() -> None:
    check([game_text(seed, 60, notes=True) for seed in range(5)])


def test_repetitions() -> None:
    check(["1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 5. e4 e5 6. Ke2 Ke7 7. Ke1 Ke8 8. d3 *"])


def test_clocks_and_evaluations_with_mates() -> None:
    arrays = to_arrays([
        "1. e4 {[%eval 0.17] [%clk 1:02:03.4]} e5 {[%eval #-12]} 2. Nf3 { [%eval #3] [%clk 0:00:01] } "
        "2... Nc6 {[%eval -1.5,22]} 3. Bc4 {[%eval #150]} Nf6 *"
    ])  # fmt: skip
    assert arrays.clock[[0, 2]] == pytest.approx([3723.4, 1.0])
    assert np.isnan(arrays.clock[[1, 3, 4, 5]]).all()
    assert arrays.eval[[0, 3]] == pytest.approx([0.17, -1.5])
    assert np.isnan(arrays.eval[[1, 2, 4, 5]]).all()
    assert arrays.mate.tolist() == [0, -12, 3, 0, 150, 0]


REREAD = {
    "en passant spelt out": "1. e4 a6 2. e5 d5 3. exd6 e.p. Nf6 {[%clk 0:00:09] [%eval #-2]} 1-0",
    "promotion without a sign": '[FEN "8/P6k/8/8/8/8/8/K7 b - - 5 60"]\n[SetUp "1"]\n\n60... Kg6 61. a8Q Kf6 *',
    "castling with zeros": "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 *",
    "long algebraic": "1. e2-e4 e7-e5 2. Ng1-f3 *",
}


@pytest.mark.parametrize("name", REREAD)
def test_what_the_fast_parser_refuses_is_read_again(name: str) -> None:
    text = REREAD[name]
    between = ["1. d4 d5 *", text, "1. c4 *", text]
    check(between)
    if name == "en passant spelt out":
        arrays = to_arrays(between)
        assert (arrays.clock[7], arrays.mate[7]) == (9.0, -2)
        assert math.isnan(arrays.eval[7])


LEFT_OUT = {
    "1. e4 Ke4 2. d4 *": ILLEGAL,
    "1. e4 e5 2. Ng1 *": ILLEGAL,
    "1. e4 -- 2. d4 *": NULL_MOVE,
    "   \n": EMPTY,
    '[Variant "Atomic"]\n\n1. e4 *': "variant: Atomic",
    '[Variant "Chess960"]\n[FEN "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9"]\n\n9. O-O *':
        "variant: Chess960",
    '[FEN "8/P6k/8/8/8/8/8/K8 b - - 0 1"]\n\n1. a8=Q *': BAD_SETUP,
    '[FEN "8/8/8/8/8/8/8/8 w - - 0 1"]\n\n1. a8=Q *': BAD_SETUP,
}  # fmt: skip


@pytest.mark.parametrize(
    "movetext",
    [
        "1. e4 ; aside }\n\ne5 2. Nf3 Nc6 *",
        "1. e4\n\ne5 2. Nf3 Nc6 *",
        "1. e4 {one\n\ntwo} e5\r\n\r\n2. Nf3 Nc6 *",
        "1. e4 e5 (1... c5\n\n2. Nf3) 2. Nf3 Nc6 *\n\n",
        "1. e4 e5 2. Nf3\n\n\n{late} Nc6 *",
    ],
)
@pytest.mark.parametrize("tags", ["", '[White "Elm"]\n[Black "Oak"]\n\n', '[White "Elm"]\n\n\n\n'])
def test_a_blank_line_amid_the_moves_ends_no_game(tags: str, movetext: str) -> None:
    arrays = to_arrays(["1. d4 *", tags + movetext, "1. c4 *"])
    assert arrays.valid.all()
    assert list(uci(arrays)) == ["d2d4", "e2e4", "e7e5", "g1f3", "b8c6", "c2c4"]


def test_of_several_clocks_behind_a_move_the_first_counts() -> None:
    asides = "{[%clk 0:01:00]} {x} ; {[%clk 0:09:00] }\n% {[%clk 0:08:00]}\n{[%clk 0:02:00] [%eval 0.5]}"
    arrays = to_arrays([f"1. e4 {asides}\n\ne5 ; {{[%clk 0:07:00]}}\n{{[%clk 0:03:00]}} 2. Nf3 *"])
    assert arrays.valid.all()
    assert arrays.clock[:2].tolist() == [60, 180] and np.isnan(arrays.clock[2]) and arrays.eval[0] == 0.5


def test_what_cannot_be_read_is_left_out_with_its_reason() -> None:
    sound = "1. d4 d5 *"
    texts = [text for bad in LEFT_OUT for text in (bad, sound)]
    arrays = to_arrays(texts)
    assert arrays.valid.tolist() == [False, True] * len(LEFT_OUT)
    assert list(arrays.reason) == [why for bad in LEFT_OUT.values() for why in (bad, "")]
    assert np.diff(arrays.offsets).tolist() == [0, 2] * len(LEFT_OUT)
    assert uci(arrays) == ["d2d4", "d7d5"] * len(LEFT_OUT)
    assert sum(arrays.problems().values()) == len(LEFT_OUT)


def test_a_standard_variant_and_a_set_up_position_are_respected() -> None:
    check(['[Variant "From Position"]\n[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 30"]\n[SetUp "1"]\n\n30. e4 Kd7 *'])


def test_any_bytes_are_text() -> None:
    arrays = to_arrays([b'[White "G\xfcnter"]\n\n1. e4 *', "1. d4 *", b"1. c4 \0 *"])
    assert arrays.valid[:2].tolist() == [True, True]
    assert uci(arrays)[:2] == ["e2e4", "d2d4"]


def test_no_games() -> None:
    arrays = to_arrays([])
    assert (arrays.games, arrays.plies, arrays.offsets.tolist(), fens(arrays)) == (0, 0, [0], [])


def test_chosen_plies() -> None:
    arrays = to_arrays(["1. e4 e5 2. Nf3 Nc6 *"])
    assert uci(arrays, np.array([3, 0])) == ["b8c6", "e2e4"]
    assert fens(arrays, np.array([2])) == [fens(arrays)[2]]
    assert arrays.game.tolist() == [0, 0, 0, 0]


@pytest.mark.parametrize(
    "movetext",
    [
        "1. e4 e5 2. Ke9 ) $1 (",
        "1. Ke4) $3",
        "1. e4 {[%eval #-99999] [%clk 999999:00:00]} *",
        "1. e4 {[%eval 1e30]} *",
        '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 99999999999"]\n\n1. e4 *',
        '[FEN "4k3/8/8/8/8/8/4P3/4K3 w - - 0 4294967297"]\n\n1. e4 Ke9 *',
    ],
)
def test_a_game_beyond_measure_disturbs_no_other(movetext: str) -> None:
    arrays = to_arrays(["1. e4 *", movetext, "1. d4 d5 *"])
    assert arrays.valid[0] and arrays.valid[2] and bool(arrays.reason[1]) != arrays.valid[1]


def test_the_name_of_a_file_is_no_list_of_letters(tmp_path: Path) -> None:
    path = tmp_path / "match.pgn"
    path.write_text(game_text(1, 30) + "\n\n" + game_text(2, 20))
    assert to_arrays(path).games == to_arrays(str(path)).games == 2
    for text in ("1. e4 e5 *", b"1. e4 *", "gone.pgn"):
        with pytest.raises(InputError):
            to_arrays(text)  # type: ignore[arg-type]


def test_comments_without_end_before_a_move_that_cannot_be() -> None:
    """python-chess copies the rest of a line with each comment; and clocks are still read."""
    text = '[White "{"]\n\n1. e4 {[%clk 0:01:00]} {aside}\ne5 {[%eval 0.5] [%clk 0:00:59]} 2. O-O-O *'
    assert to_arrays([text]).reason == (ILLEGAL,)
    odd = text.replace("2. O-O-O", "2. Ng1f3 {one} {[%clk 0:00:58]} " + "{two} " * 2000 + "Nb8c6")
    arrays = to_arrays([odd])
    assert arrays.valid.all() and arrays.clock[:3].tolist() == [60, 59, 58] and arrays.eval[1] == 0.5
