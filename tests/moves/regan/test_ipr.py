"""Ratings by Regan's way: agents come back with their own, and the intervals hold."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.moves.regan.players import played_by, scale

from assay.errors import ModelError, TooFewTurns
from assay.moves.regan import elsewhere_deltas, scaled_deltas
from assay.moves.regan.ipr import FIT_METHODS, Rating, rate_by_fit


def rated(elo: float, games: int, seed: int, **how: object) -> Rating:
    values, played, game = played_by(elo, games, seed)
    return of(values, played, game, **how)


def of(values: NDArray[np.float64], played: NDArray[np.intp], game: NDArray[np.intp], **how: object) -> Rating:
    deltas = scaled_deltas(values)
    return rate_by_fit(deltas, played, scale(), games=game, elsewhere=elsewhere_deltas(values), **how)  # type: ignore[arg-type]


@pytest.mark.parametrize("method", FIT_METHODS)
@pytest.mark.parametrize("elo", [2000, 2400])
def test_an_agent_comes_back_with_its_rating(method: str, elo: float) -> None:
    found = rated(elo, 80, seed=77, method=method)
    assert found.low < elo < found.high
    assert found.half_width < 600
    assert (found.turns, found.games, found.beyond) == (3200, 80, 0)


def test_intervals_cover() -> None:
    repetitions, hits = 60, {"clustered": 0, "regan": 0}
    values, played, game = played_by(2200, 15 * repetitions, seed=100)
    for i in range(repetitions):
        own = game // 15 == i
        for kind in hits:
            found = of(values[own], played[own], game[own], interval=kind)
            hits[kind] += found.low <= 2200 <= found.high
    # 600 turns each: 60 draws leave three points of noise.
    assert hits["clustered"] / repetitions > 0.86
    assert hits["regan"] / repetitions > 0.86


def test_more_games_make_narrower_intervals_and_a_higher_level_wider_ones() -> None:
    assert rated(2200, 90, seed=1).half_width < 0.6 * rated(2200, 10, seed=1).half_width
    assert rated(2200, 10, seed=1, level=0.8).half_width < rated(2200, 10, seed=1, level=0.99).half_width


@pytest.mark.parametrize(("interval", "level"), [("wide", 0.95), ("clustered", 1.0), ("clustered", 0.2)])
def test_an_interval_that_does_not_exist_is_refused(interval: str, level: float) -> None:
    with pytest.raises(ModelError):
        rated(2200, 10, seed=3, interval=interval, level=level)


def test_the_bootstrap_repeats_itself() -> None:
    once, again = (rated(2200, 12, seed=2, interval="bootstrap", samples=20) for _ in range(2))
    assert once == again and once.interval == "bootstrap"


@pytest.mark.parametrize("games", [5, 9])
def test_few_games_cannot_be_drawn_anew(games: int) -> None:
    found = rated(2200, games, seed=3, interval="bootstrap")
    assert found.interval == "clustered"
    assert found == rated(2200, games, seed=3)


def test_one_game_does_not_show_how_games_scatter() -> None:
    values, played, game = played_by(2200, 10, seed=3)
    with pytest.raises(TooFewTurns, match="one game"):
        of(values, played, np.zeros_like(game))
