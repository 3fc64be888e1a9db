"""The posterior: it starts as the prior, sharpens, and finds the player."""

from __future__ import annotations

import numpy as np
import pytest
from tests.moves.regan.players import calibrated, played_by

from assay.moves.regan import scaled_deltas
from assay.moves.regan.calibrate import fit_power
from assay.moves.regan.posterior import posterior
from assay.moves.regan.tally import tally


def followed(elo: float, games: int, prior: tuple[float, float] | None = None):  # type: ignore[no-untyped-def]
    values, played, _ = played_by(elo, games, seed=31)
    scale = calibrated().scale
    return posterior(tally(scale.artery, scaled_deltas(values), played), scale, prior=prior)


def test_it_begins_with_the_prior_and_has_a_row_for_every_turn() -> None:
    flat, normal = followed(2200, 1), followed(2200, 1, (2300.0, 100.0))
    assert flat.probability.shape[0] == 41
    assert np.ptp(flat.probability[0]) == pytest.approx(0.0, abs=1e-12)
    assert normal.mean[0] == pytest.approx(2300.0, abs=1)
    assert flat.probability.sum(axis=1) == pytest.approx(1.0)


def test_it_sharpens_and_finds_the_player() -> None:
    found = followed(2200, 20)
    low, high = found.interval(0.95)
    assert high[-1] - low[-1] < 0.5 * (high[40] - low[40])
    assert low[-1] < 2200 < high[-1]


def test_an_even_likelihood_gets_no_power() -> None:
    """Likelihoods that scatter four times as much as they claim are tempered to about a quarter squared."""
    rng = np.random.default_rng(9)
    ratings = np.arange(1000.0, 3401.0, 50.0)
    truth = rng.uniform(1600, 2800, 900)
    claimed, actual = 100.0, 200.0
    seen = truth + rng.normal(0, actual, len(truth))
    table = -(((ratings - seen[:, None]) / claimed) ** 2) / 2
    found = fit_power(table, truth, np.arange(len(truth)) % 1, ratings)
    assert 0.1 < found.power < 0.45
    assert found.coverage.shape == (3,)
