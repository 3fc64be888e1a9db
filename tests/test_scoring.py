"""How ratings are judged: against closed forms and against a forecaster that is calibrated by construction."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from assay.scoring import (
    calibration_error,
    covered,
    implied_noise,
    posterior_mean,
    quantile,
    reliability,
    score,
    shares_within,
)

EDGES = np.arange(700.0, 2701.0, 200.0)


@pytest.fixture(scope="module")
def honest() -> tuple[np.ndarray, np.ndarray]:
    """Posteriors, and ratings drawn from them: whoever judges must find them calibrated."""
    rng = np.random.default_rng(5)
    posterior = rng.dirichlet(np.full(10, 0.7), size=20_000)
    band = (posterior.cumsum(axis=1) < rng.random((20_000, 1))).sum(axis=1).clip(0, 9)
    return posterior, EDGES[band] + 200 * rng.random(20_000)


def test_an_honest_forecaster_is_found_calibrated(honest: tuple[np.ndarray, np.ndarray]) -> None:
    found = score(honest[0], EDGES, honest[1])
    assert found.ece < 0.012
    assert abs(found.bias) < 5
    for level, share in ((0.5, found.cover50), (0.8, found.cover80), (0.95, found.cover95)):
        assert share == pytest.approx(level, abs=0.012)


def test_bands_that_are_half_empty_want_narrower_intervals(honest: tuple[np.ndarray, np.ndarray]) -> None:
    """Players who all stand in the upper half of their band: intervals that know it hold as many as they say."""
    ratings = honest[1] + (EDGES[np.searchsorted(EDGES, honest[1], side="right")] - honest[1]) / 2
    within = shares_within(ratings[:10_000], EDGES)
    assert within[:, :5].max() < 0.01
    judged = slice(10_000, None)
    blind = score(honest[0][judged], EDGES, ratings[judged])
    found = score(honest[0][judged], EDGES, ratings[judged], within=within)
    assert abs(found.bias) < 10 < 40 < abs(blind.bias)
    for level, share in ((0.5, found.cover50), (0.8, found.cover80), (0.95, found.cover95)):
        assert share == pytest.approx(level, abs=0.015)
    assert (found.top1, found.nll, found.ece) == (blind.top1, blind.nll, blind.ece)


def test_players_who_crowd_in_the_middle_of_a_band_are_not_covered_too_often() -> None:
    ratings = np.random.default_rng(6).uniform(1580, 1620, 5000)
    sure = np.repeat(np.eye(10)[[4]], 5000, axis=0)  # 1500 to 1700
    assert score(sure, EDGES, ratings).cover50 == 1
    known = score(sure, EDGES, ratings, within=shares_within(ratings, EDGES, parts=20))
    assert known.cover50 == pytest.approx(0.5, abs=0.03)


def test_an_overconfident_one_is_not(honest: tuple[np.ndarray, np.ndarray]) -> None:
    sharp = honest[0] ** 3
    found = score(sharp / sharp.sum(axis=1, keepdims=True), EDGES, honest[1])
    assert found.ece > 0.1
    assert found.cover80 < 0.75
    assert found.nll > score(honest[0], EDGES, honest[1]).nll


def test_predict_the_mean_learns_nothing() -> None:
    ratings = np.random.default_rng(1).uniform(700, 2700, 5000)
    found = score(np.full((5000, 10), 0.1), EDGES, ratings, centre=1700.0)
    assert found.mae == pytest.approx(found.mean_mae) == pytest.approx(500, rel=0.03)
    assert found.noise > 10 * found.spread
    assert found.nll == pytest.approx(np.log(10))


def test_noise_of_a_measurement_is_found_again() -> None:
    """A measurement with noise 300 on a prior of spread 400, read by Bayes, gives e = 300 back."""
    rng = np.random.default_rng(2)
    rating = rng.normal(1500, 400, 100_000)
    measured = rating + rng.normal(0, 300, 100_000)
    shrunk = 1500 + (measured - 1500) * 400**2 / (400**2 + 300**2)
    rmse = float(np.sqrt(np.mean((shrunk - rating) ** 2)))
    assert implied_noise(rmse, float(rating.std())) == pytest.approx(300, rel=0.02)
    assert implied_noise(0.0, 400.0) == 0.0


def test_order_of_cases_means_nothing_where_confidence_ties() -> None:
    right = np.arange(1000) < 250
    found = reliability(np.full(1000, 0.25), right)
    assert found.share.sum() == pytest.approx(1)
    assert calibration_error(np.full(1000, 0.25), right) < 0.08


def test_a_case_of_weight_three_counts_like_three() -> None:
    rng = np.random.default_rng(3)
    rating, posterior = rng.uniform(700, 2700, 300), rng.dirichlet(np.ones(10), 300)
    weights = rng.integers(1, 4, 300)
    some = score(posterior, EDGES, rating, weights=weights.astype(float)).row()
    often = score(np.repeat(posterior, weights, axis=0), EDGES, np.repeat(rating, weights)).row()
    for name in some.keys() - {"cases", "ece"}:
        assert some[name] == pytest.approx(often[name])
    assert some["ece"] == pytest.approx(often["ece"], abs=0.01)  # a heavy case is not cut in two at the edge of a bin
    assert some != score(posterior, EDGES, rating).row()


@given(st.lists(st.floats(0.001, 1), min_size=10, max_size=10), st.floats(0.01, 0.99))
def test_quantiles_lie_in_the_bands_and_rise(weights: list[float], share: float) -> None:
    posterior = np.array([weights]) / sum(weights)
    at = quantile(posterior, EDGES, share)[0]
    assert EDGES[0] <= at <= EDGES[-1]
    assert at <= quantile(posterior, EDGES, min(share + 0.005, 0.999))[0] + 1e-9
    assert EDGES[0] < posterior_mean(posterior, EDGES)[0] < EDGES[-1]
    assert covered(posterior, EDGES, np.array([at]), abs(1 - 2 * share) + 1e-6)[0]
    even = np.full((10, 4), 0.25)
    assert quantile(posterior, EDGES, share, even)[0] == pytest.approx(at)
    assert posterior_mean(posterior, EDGES, even)[0] == pytest.approx(posterior_mean(posterior, EDGES)[0])
