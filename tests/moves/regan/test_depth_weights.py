"""Weights over depths: found when players use them, and no gain claimed when they do not."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.moves.regan.spreads import choose

from assay.moves.regan import Agent, ModelError, fit_depth_weights, move_probabilities, scaled_deltas

GAMES = np.arange(3000) // 30


def three_depths(turns: int = 3000) -> NDArray[np.float64]:
    """Values at three depths: each deeper search corrects the one before; rows in the order of the last."""
    rng = np.random.default_rng(5)
    deep = rng.gamma(0.8, 0.8, (turns, 12)) * -1
    middle = deep + rng.normal(0, 0.4, deep.shape)
    shallow = middle + rng.normal(0, 0.6, deep.shape)
    order = np.argsort(-deep, axis=1)
    return scaled_deltas(np.stack([np.take_along_axis(v, order, axis=1) for v in (shallow, middle, deep)], axis=-1))


DELTAS = three_depths()


HALF_SHALLOW = choose(move_probabilities(DELTAS, 0.15, 0.6, weights=[0.5, 0.0, 0.5]), seed=6)


def test_a_player_who_looks_at_shallow_values_is_found_out() -> None:
    found = fit_depth_weights(DELTAS, HALF_SHALLOW, games=GAMES)
    assert found.helps
    assert found.weights == pytest.approx([0.5, 0.0, 0.5], abs=0.12)
    assert (found.s, found.c) == pytest.approx((0.15, 0.6), rel=0.2)


def test_percentiling_sees_that_something_is_gained_but_hardly_where() -> None:
    found = fit_depth_weights(DELTAS, HALF_SHALLOW, games=GAMES, method="percentile")
    assert found.helps
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.weights[-1] < 0.99


def test_a_player_of_the_last_depth_gains_nothing() -> None:
    played = Agent(0.15, 0.6, seed=7).choose_all(DELTAS[:, :, -1])
    found = fit_depth_weights(DELTAS, played, games=GAMES)
    assert not found.helps
    assert found.weights[-1] > 0.9


def test_bad_arguments() -> None:
    played = np.zeros(3000, dtype=int)
    with pytest.raises(ModelError, match="turns x moves x depths"):
        fit_depth_weights(DELTAS[:, :, -1], played, games=GAMES)
    with pytest.raises(ModelError, match="by likelihood or percentile"):
        fit_depth_weights(DELTAS, played, games=GAMES, method="ranks")  # type: ignore[arg-type]
    with pytest.raises(ModelError, match="at least 2 games"):
        fit_depth_weights(DELTAS, played, games=np.zeros(3000))
