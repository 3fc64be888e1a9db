"""A game turn by turn."""

from __future__ import annotations

from dataclasses import replace

import chess
import numpy as np
import pytest
from tests.moves.simulated_turns import START, simulated_turns

from assay.engine.score import MISSING
from assay.games.packed import decode_move
from assay.moves.regan import move_probabilities, scaled_deltas
from assay.moves.review import chances_of, delta_listing, show_turns

TURNS = simulated_turns({"A": (0.2, 0.5, 2000.0)}, games=1, plies=20)
CHANCES = chances_of(TURNS, 0.1, 0.5)


def test_every_turn_has_its_spread_with_the_played_move_marked() -> None:
    p = move_probabilities(scaled_deltas(TURNS.values), 0.1, 0.5)
    for t, turn in enumerate(show_turns(TURNS, CHANCES, lines=3)):
        assert turn.number == f"{9 + t}."
        assert turn.probability == pytest.approx(p[t, TURNS.played[t]])
        (marked,) = [candidate for candidate in turn.spread if candidate.played]
        assert marked.san == turn.played
        assert marked.value == turn.value
        assert len(turn.spread) == (3 if TURNS.played[t] < 3 else 4)
        assert turn.spread[0].value == TURNS.values[t, 0]
        assert all(START.parse_san(candidate.san) for candidate in turn.spread)


def test_a_move_elsewhere() -> None:
    lost = TURNS.choices.codes.copy()
    lost[TURNS.choices.chosen] = MISSING
    changed = replace(TURNS, choices=replace(TURNS.choices, codes=lost))
    turn = show_turns(changed, chances_of(changed, 0.1, 0.5))[0]
    code = int(TURNS.choices.moves[TURNS.choices.chosen[0]])
    assert turn.played == START.san(chess.Move.from_uci(decode_move(code))), "it keeps its name"
    assert (turn.rank, turn.probability) == (None, None)
    assert delta_listing(turn, 5).splitlines()[-1].endswith(") *")


def test_the_listing_of_the_papers() -> None:
    turns = show_turns(TURNS, CHANCES, lines=3)
    for turn in turns:
        played, engine, value, deltas = delta_listing(turn, 3).splitlines()
        assert played == f"Move played: {turn.number} {turn.played}"
        assert engine == f"Engine move: {turn.spread[0].san}"
        assert value == f"Eval: {turn.value:+.2f}"
        star = "*" if turn.rank == 1 else ""
        assert deltas.startswith(f"Delta = ({star}0.00, ") and deltas.count("*") == 1 and deltas.endswith(")")
    short = replace(turns[0], spread=turns[0].spread[:2])
    assert delta_listing(short, 4).count("---") == 2


def test_entropy_tells_how_open_a_turn_is() -> None:
    even = np.where(np.isfinite(TURNS.values), 1.0, np.nan)
    even /= np.nansum(even, axis=1, keepdims=True)
    open_turns = show_turns(TURNS, even)
    assert open_turns[0].entropy == pytest.approx(np.log2(np.isfinite(TURNS.values[0]).sum()))
    certain = np.where(np.isfinite(TURNS.values), 0.0, np.nan)
    certain[:, 0] = 1.0
    closed = show_turns(TURNS, certain)
    assert closed[0].entropy == 0
    assert not any(turn.critical for turn in closed), "who always finds the best move is never in danger"
    assert any(turn.critical for turn in open_turns)
