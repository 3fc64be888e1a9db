"""Ratings: agents come back with their own, and the intervals hold."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.moves.regan.players import calibrated, played_by, world

from assay.errors import ModelError, TooFewTurns
from assay.moves.regan import elsewhere_deltas, scaled_deltas
from assay.moves.regan.ipr import METHODS, bootstrap_interval, crossing, moderated, rate, rate_by_fit
from assay.moves.regan.scale import ARTERY_METHODS, evidence
from assay.moves.regan.tally import Tally, tally


def games_of(elo: float, games: int, seed: int) -> Tally:
    values, played, game = played_by(elo, games, seed)
    return tally(calibrated().scale.artery, scaled_deltas(values), played, cells=game)


@pytest.mark.parametrize("method", ARTERY_METHODS)
@pytest.mark.parametrize("elo", [2000, 2400])
def test_an_agent_comes_back_with_its_rating(method: str, elo: float) -> None:
    found = rate(games_of(elo, 80, seed=77), calibrated().scale, method=method)  # type: ignore[arg-type]
    assert found.low < elo < found.high
    assert found.half_width < 600
    assert (found.turns, found.games, found.beyond) == (3200, 80, 0)


@pytest.mark.parametrize("method", ["percentile", "equations"])
def test_a_fit_of_both_parameters_finds_it_too(method: str) -> None:
    values, played, game = played_by(2200, 60, seed=5)
    found = rate_by_fit(
        scaled_deltas(values),
        played,
        calibrated().scale,
        games=game,
        elsewhere=elsewhere_deltas(values),
        method=method,  # type: ignore[arg-type]
    )
    assert found.low < 2200 < found.high
    assert set(METHODS) == {*ARTERY_METHODS, "percentile", "equations"}


def test_the_rating_is_where_the_evidence_balances() -> None:
    sums = games_of(2200, 30, seed=8)
    scale = calibrated().scale
    found = rate(sums, scale)
    z = np.interp(found.rating, sums.ratings, evidence(sums, scale).sum(axis=0))
    assert z == pytest.approx(0.0, abs=1e-9)


def test_intervals_cover() -> None:
    scale = calibrated().scale
    hits = {"clustered": 0, "bootstrap": 0, "regan": 0}
    repetitions = 120
    big = games_of(2200, 10 * repetitions, seed=100)
    for i in range(repetitions):
        own = big.of(np.arange(10 * i, 10 * i + 10))
        for kind in hits:
            found = rate(own, scale, interval=kind, samples=200)
            hits[kind] += found.low <= 2200 <= found.high
    # 400 turns each: 120 draws leave two points of noise.
    assert 0.89 < hits["clustered"] / repetitions <= 1.0
    assert 0.82 < hits["bootstrap"] / repetitions <= 1.0
    assert hits["regan"] / repetitions > 0.9


def test_more_games_make_narrower_intervals_and_a_higher_level_wider_ones() -> None:
    scale = calibrated().scale
    few, many = games_of(2200, 10, seed=1), games_of(2200, 90, seed=1)
    assert rate(many, scale).half_width < 0.6 * rate(few, scale).half_width
    assert rate(few, scale, level=0.8).half_width < rate(few, scale, level=0.99).half_width


def test_a_single_game_has_an_interval_too() -> None:
    found = rate(games_of(2200, 1, seed=3), calibrated().scale)
    assert found.high - found.low > 300


def test_a_prior_draws_few_turns_towards_the_rating() -> None:
    scale = calibrated().scale
    one = games_of(2200, 1, seed=3)
    free, drawn = rate(one, scale), rate(one, scale, prior=2500)
    assert abs(drawn.rating - 2500) < abs(free.rating - 2500)
    assert drawn.shrunk and drawn.half_width < free.half_width
    assert (drawn.interval, free.interval) == ("shrunk", "clustered")


def test_many_turns_outweigh_the_prior() -> None:
    scale = calibrated().scale
    many = games_of(2200, 100, seed=6)
    assert rate(many, scale, prior=2600).rating == pytest.approx(rate(many, scale).rating, abs=60)


def flawless(sums: Tally) -> Tally:
    perfect: NDArray[np.float64] = np.stack([sums.turns, sums.turns, 0 * sums.turns], axis=1)
    return replace(sums, actual=perfect)


def test_flawless_play_is_beyond_the_scale_and_says_so() -> None:
    found = rate(flawless(games_of(2200, 5, seed=3)), calibrated().scale)
    assert found.beyond == 1
    assert found.rating == calibrated().scale.artery.ratings[-1]


def test_too_few_turns_have_no_rating() -> None:
    one = games_of(2200, 1, seed=3)
    with pytest.raises(TooFewTurns, match="40 turns are too few"):
        rate(one, calibrated().scale, fewest=50)


@pytest.mark.parametrize(("interval", "level"), [("wide", 0.95), ("clustered", 1.0), ("clustered", 0.2)])
def test_an_interval_that_does_not_exist_is_refused(interval: str, level: float) -> None:
    with pytest.raises(ModelError):
        rate(games_of(2200, 2, seed=3), calibrated().scale, interval=interval, level=level)


def test_cells_add_up() -> None:
    sums = games_of(2200, 4, seed=3)
    joined = sums.summed([0, 0, 1, 1])
    assert joined.turns.tolist() == [80.0, 80.0]
    assert joined.actual.sum(axis=0) == pytest.approx(sums.actual.sum(axis=0))
    assert joined.covariance.sum(axis=0) == pytest.approx(sums.covariance.sum(axis=0))


def test_expectations_are_those_of_the_projection() -> None:
    from assay.moves.regan.projection import project

    sample = world(games=2)
    artery = calibrated().scale.artery
    sums = tally(artery, sample.deltas, sample.played)
    at = 10
    expected = project(sample.deltas, float(artery.s[at]), float(artery.c[at]), top=3)
    assert sums.expected[:, at, 0] == pytest.approx(expected.match)
    assert sums.expected[:, at, 1] == pytest.approx(expected.top[:, 2])
    assert sums.expected[:, at, 2] == pytest.approx(expected.error)
    assert sums.covariance[:, at, 2, 2] == pytest.approx(expected.error_variance)
    assert sums.covariance[:, at, 0, 2] == pytest.approx(expected.match_error_covariance)


def test_moderation_trusts_the_calibration_with_one_game_and_the_games_with_many() -> None:
    rng = np.random.default_rng(0)
    ratings = np.array([2000.0, 2100.0])
    alone = np.ones((1, 2))
    assert moderated(alone, ratings, 2050.0, 12.0) == (1.0, 12.0)
    calm = np.repeat(rng.normal(0, 0.001, (400, 1)), 2, axis=1)
    variance, degrees = moderated(calm, ratings, 2050.0, 12.0)
    assert variance < 0.05 and degrees == 411.0


def test_the_bootstrap_repeats_itself() -> None:
    scale = calibrated().scale
    own = evidence(games_of(2200, 12, seed=2), scale)
    ratings = scale.artery.ratings
    assert bootstrap_interval(own, ratings, 0.95, 100, 7) == bootstrap_interval(own, ratings, 0.95, 100, 7)


def test_a_crossing_at_the_lower_end() -> None:
    assert crossing(np.array([1000.0, 2000.0]), np.array([-1.0, -2.0])) == (1000.0, -1)


@pytest.mark.parametrize("games", [1, 2, 9])
def test_few_games_cannot_be_drawn_anew(games: int) -> None:
    scale = calibrated().scale
    own = games_of(2200, games, seed=3)
    found = rate(own, scale, interval="bootstrap", fewest=5)
    assert found.interval == "clustered"
    assert found == rate(own, scale, fewest=5)
