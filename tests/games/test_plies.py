"""Plies counted from the bytes are those that python-chess reads."""

from __future__ import annotations

import io

import chess.pgn
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.games.made import game_text

from assay.games.movetext import Movetext, count_slowly, have_command
from assay.games.split import split

ODD = {
    "1. e4 e5 0-1": 2,
    "1.e4 e5 2.Nf3 1/2-1/2": 3,
    "1. e4 {a comment with Nf3 and exd5} e5 *": 2,
    "1. e4 { never closed e5 Nf3": 1,
    "1. e4 } e5 *": 2,
    "1. e4 { never closed 0-1": 1,
    "1. e4 {a {b} e5 *": 2,
    "1. e4 (1. d4 d5 (1... Nf6 {x)}) 2. c4) e5 *": 2,
    "1. e4 (1. d4 d5": 1,
    "1. e4) e5 *": 2,
    "1. e4 ; d5 Nf3\n1... e5 *": 2,
    "1. e4\n% d5 Nf3\n1... e5 *": 2,
    "1. e4 {a; b} e5 *": 2,
    "4. 0-0 0-0-0 5. O-O O-O-O 0-1": 4,
    "25. Kd5 $14 $140 !? e8=Q# 1-0": 2,
    "exd6 e.p. R1e2 Nbxd7+ b8=N": 4,
    "White resigns 0-1": 0,
    "*": 0,
}


def movetext_of(text: str) -> Movetext:
    return Movetext(split(text.encode()))


@pytest.mark.parametrize("movetext", ODD)
def test_odd_movetext(movetext: str) -> None:
    assert count_slowly(movetext.encode()) == ODD[movetext]
    # Amid other games, which it must not disturb.
    texts = ["1. e4 {x} e5 (1... c5) 1-0", movetext, "1. d4 {Nf3} d5 2. c4 0-1"]
    whole = "\n\n".join(f'[Event "{{"]\n[White "("]\n\n{text}' for text in texts)
    assert movetext_of(whole).count_plies().tolist() == [2, ODD[movetext], 3]


@pytest.mark.parametrize("space", [" ", "\r", "\t \r", "\x18"])
def test_games_of_tags_alone_that_end_with_white_space(space: str) -> None:
    """Lines of a file from Windows end so; the movetext must not begin behind the end of its game."""
    lines = ['[White "a"]', '[Result "1-0"]', "", '[White "b"]', '[Result "0-1"]', "", '[White "c"]', "", "1. e4 *"]
    assert movetext_of(f"{space}\n".join(lines)).count_plies().tolist() == [0, 0, 1]


def test_games_without_tags() -> None:
    assert movetext_of("1.e4 e5 1-0\n\n1. d4 *\n\n1.c4 c5 2.g3 0-1").count_plies().tolist() == [2, 1, 3]


@settings(max_examples=40)
@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 60), st.booleans()), min_size=1, max_size=6))
def test_random_games(games: list[tuple[int, int, bool]]) -> None:
    texts = [game_text(seed, plies, notes=notes) for seed, plies, notes in games]
    read = [chess.pgn.read_game(io.StringIO(text)) for text in texts]
    assert movetext_of("\n\n".join(texts)).count_plies().tolist() == [
        sum(1 for _ in game.mainline()) for game in read if game
    ]


def test_clocks_and_evaluations() -> None:
    clock, evaluation, both = "{[%clk 0:05:00]}", "{ [%eval 0.17] }", "{ [%eval #-3] [%clk 0:00:01] }"
    other = "{[%csl Ge4][%cal Ge2e4] [%emt 0:00:01] eval clk}"
    texts = [f'[White "[%clk "]\n\n1. e4 {note} *' for note in ("", clock, evaluation, both, other)]
    part = split("\n\n".join(texts).encode())
    assert have_command(part, b"clk").tolist() == [False, True, False, True, False]
    assert have_command(part, b"eval").tolist() == [False, False, True, True, False]


def test_marks_in_tags_count_for_nothing() -> None:
    tags = '[Event "Open (A); 50% {"]\n[Site "0-0 }"]\n\n'
    assert movetext_of(f"{tags}1. e4 e5 1-0\n\n{tags}1. d4 0-1\n\n{tags}*").count_plies().tolist() == [2, 1, 0]


@pytest.mark.parametrize("mark", ["(", ")", "}", ";"])
def test_a_lone_mark_is_noticed(mark: str) -> None:
    movetext = f"\n\n1. e4 Nge{mark}7 2. d4\nd5 *"
    assert movetext_of(f'[Event "x"]{movetext}').count_plies().tolist() == [count_slowly(movetext.encode())]


@pytest.mark.parametrize("size", [8, 16, 64, 1024])
def test_nothing_is_lost_between_scans(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    text = game_text(1, 60, notes=True)
    plies = movetext_of(text).count_plies().tolist()
    monkeypatch.setattr("assay.games.lines.SCAN", size)
    assert movetext_of(text).count_plies().tolist() == plies
