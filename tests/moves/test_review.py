"""A game turn by turn."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.moves.simulated_turns import START, simulated_turns

from assay.engine.score import MISSING
from assay.moves.regan import move_probabilities, scaled_deltas
from assay.moves.review import ELSEWHERE, chances_of, show_turns

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
    turn = show_turns(replace(TURNS, choices=replace(TURNS.choices, codes=lost)), CHANCES)[0]
    assert (turn.played, turn.rank, turn.probability) == (ELSEWHERE, None, None)
