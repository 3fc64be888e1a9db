"""The running test: its false alarms are bounded whenever one looks, help is found, games go on in their order."""

from __future__ import annotations

import numpy as np
from tests.moves.made_up import turns_of
from tests.moves.simulated_turns import playing

from assay.moves.calibration import Calibration
from assay.moves.evidence import weigh
from assay.moves.sequential import OFF, e_process, follow_players, said

GAMES = [("Ash", f"P{i}", 2200.0, 2200.0) for i in range(12)]


def test_honest_play_seldom_passes_the_bound_whenever_one_looks() -> None:
    rng = np.random.default_rng(1)
    passed = 0
    for _ in range(400):
        own = rng.uniform(0.1, 0.9, 200)
        engine = rng.uniform(0.3, 0.95, 200)
        # Two moves a turn: the engine's favourite has these chances, the other one the rest.
        first = rng.random(200) < own
        played, followed = np.where(first, own, 1 - own), np.where(first, engine, 1 - engine)
        logs = e_process(np.repeat(played[:, None], len(OFF), axis=1), followed[:, None])
        passed += logs.max() >= np.log(20)
    assert passed / 400 <= 0.05 + 0.02


def test_a_power_below_one_is_more_careful() -> None:
    own, engine = np.full((30, len(OFF)), 0.3), np.full((30, 1), 0.9)
    whole, careful = e_process(own, engine), e_process(own, engine, 0.7)
    np.testing.assert_allclose(careful, 0.7 * whole)


def test_several_engines_are_averaged() -> None:
    own = np.full((30, len(OFF)), 0.3)
    engines = np.stack([np.full(30, 0.9), np.full(30, 0.1)], axis=1)
    one, other = (np.exp(e_process(own, each[:, None])) for each in engines.T)
    np.testing.assert_allclose(np.exp(e_process(own, engines)), (one + other) / 2)


def test_help_is_found_and_named(calibration: Calibration) -> None:
    turns = turns_of(GAMES)
    honest = follow_players(weigh(turns, calibration, False))
    assert said(honest, 0.001).startswith("None of 13 players has passed an e-value of 13,000")
    follows = turns.player == "Ash"
    helped = follow_players(weigh(playing(turns, np.where(follows, 0, turns.played)), calibration, False))
    assert helped[0].player == "Ash" and helped[0].passed is not None
    assert said(helped, 0.001).startswith("1 of 13 players passed an e-value of 13,000: Ash (round ")
    before = {row.player: row for row in honest}["Ash"]
    assert helped[0].highest > before.highest + 5 and len(helped[0].after) == len(helped[0].rounds) == 12


def test_a_doubtful_rating_makes_it_slower(calibration: Calibration) -> None:
    turns = turns_of(GAMES)
    evidence = weigh(playing(turns, np.where(turns.player == "Ash", 0, turns.played)), calibration, False)
    low = dict.fromkeys(["Ash", *(f"P{i}" for i in range(12))], 1900.0)
    sure, doubtful = (follow_players(evidence, ratings=low, rating_error=error)[0].after[-1] for error in (0.0, 250.0))
    assert doubtful < sure
