"""Difficulty: what positions ask beyond their values is measured, and ratings no longer depend on it."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.moves.regan.players import MARKS, TURNS_PER_GAME, at_marks, calibrated, parameters, world
from tests.moves.regan.spreads import choose, random_values

from assay.errors import ModelError
from assay.moves.regan import elsewhere_deltas, move_probabilities, scaled_deltas
from assay.moves.regan.calibrate import calibrate
from assay.moves.regan.difficulty import TRAITS, Difficulty, fit_difficulty, no_difficulty, traits
from assay.moves.regan.ipr import rate
from assay.moves.regan.marks import Sample
from assay.moves.regan.scale import Scale
from assay.moves.regan.tally import tally

GAMES = 60


def careless_when_ahead(elo: float, games: int, seed: int) -> tuple[NDArray[np.float64], NDArray[np.intp]]:
    """Values and moves of agents whose sensitivity is twice as blunt where they are ahead."""
    values = random_values(games * TURNS_PER_GAME, seed=seed)
    s, c = parameters(elo)
    blunt = np.where(values[:, 0] > 0, 2 * s, s)
    return values, choose(move_probabilities(scaled_deltas(values), blunt, c), seed + 1)


@cache
def careless_world() -> Sample:
    parts = [careless_when_ahead(mark, GAMES, seed=50 + 2 * i) for i, mark in enumerate(MARKS)]
    return at_marks([part[0] for part in parts], [part[1] for part in parts], GAMES)


@cache
def careless_scale() -> Scale:
    return calibrate(careless_world(), method="equations").scale


def rated(values: NDArray[np.float64], played: NDArray[np.intp], scale: Scale, difficulty: Difficulty) -> float:
    allowance = difficulty.allowance(traits(values, np.full(len(values), 40)))
    game = np.arange(len(values)) // TURNS_PER_GAME
    return rate(tally(scale.artery, scaled_deltas(values), played, allowance=allowance, cells=game), scale).rating


def test_the_rating_does_not_depend_on_which_positions_came_up() -> None:
    scale = careless_scale()
    values, played = careless_when_ahead(2200, 200, seed=7)
    ahead = values[:, 0] > 0
    off = {
        name: [rated(values[own], played[own], scale, difficulty) - 2200 for own in (ahead, ~ahead)]
        for name, difficulty in (("with", scale.difficulty), ("without", no_difficulty()))
    }
    assert off["without"][0] < -100 and off["without"][1] > 100
    assert max(map(abs, off["with"])) < min(map(abs, off["without"])) / 2


def test_the_allowance_is_zero_on_average_over_the_calibration() -> None:
    sample = careless_world()
    allowance = careless_scale().difficulty.allowance(sample.traits)
    assert np.allclose(allowance.mean(axis=0), 0, atol=1e-12)
    assert allowance[sample.traits[:, TRAITS.index("value")] > 0, 2].mean() > 0.002


def test_players_whose_errors_are_the_models_get_next_to_no_allowance() -> None:
    found = calibrated().scale.difficulty.allowance(world().traits)
    careless = careless_scale().difficulty.allowance(careless_world().traits)
    assert found[:, 2].std() < careless[:, 2].std() / 2


def test_strength_is_not_taken_for_difficulty() -> None:
    mark = np.repeat([1800, 2600], 4000)
    of = np.zeros((len(mark), len(TRAITS)))
    of[:, 0] = np.random.default_rng(1).normal(mark / 400.0, 0.3)
    surplus = np.stack([np.where(mark == 1800, -0.1, 0.1)] * 3, axis=1)
    assert np.abs(fit_difficulty(of, surplus, mark).coefficients).max() < 1e-9


def test_unknown_traits_add_nothing() -> None:
    sample = careless_world()
    blind = replace(sample, traits=np.full_like(sample.traits, np.nan))
    difficulty = calibrate(blind, method="equations").scale.difficulty
    assert not difficulty.allowance(sample.traits[:5]).any()
    assert not careless_scale().difficulty.allowance(blind.traits[:5]).any()


def test_a_shallow_look_that_misleads_is_a_trait() -> None:
    values = np.array([[0.5, 0.3, -1.0, -9.0], [0.2, 0.1, 0.0, np.nan]])
    lesser = np.stack([values, [[0.5, 0.3, -1.0, 2.0], [0.0, 0.1, 0.3, np.nan]]], axis=2)
    found = traits(values, [20, 20], lesser)
    plain = traits(values, [20, 20])
    assert np.isnan(plain[:, 6:]).all()
    # Seen to the same depth the error is that of any average player; the favourites are beyond the cap, and third.
    assert found[:, 6] == pytest.approx(plain[:, 0], abs=0.02)
    assert found[:, 7] == pytest.approx([elsewhere_deltas(values)[0], scaled_deltas(values)[1, 2]])


def test_lesser_depths_may_be_unknown_at_some_turns() -> None:
    values = np.array([[0.5, 0.3, -1.0], [0.2, 0.1, 0.0]])
    lesser = np.stack([values, values], axis=2)
    lesser[0] = np.nan
    found = traits(values, [20, 20], lesser)
    assert np.isnan(found[0, 6:]).all() and np.isfinite(found[1]).all()


def test_arrays_that_do_not_go_together_are_refused() -> None:
    with pytest.raises(ModelError, match="do not go together"):
        traits([[0.1, 0.0]], [20, 21])
    with pytest.raises(ModelError, match="do not go together"):
        traits([[0.1, 0.0]], [20], np.zeros((1, 2, 1)))
