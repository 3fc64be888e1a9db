"""Noise of a turn, and the noise of two estimators side by side, on made-up sides of games."""

from __future__ import annotations

import numpy as np
import pytest

from assay.held_out import Sides, noise_per_turn, noise_ratio


def made(scatter: float, information: float, seed: int = 1) -> Sides:
    """Two hundred sides of 30 turns at each of eight marks; scores scatter, all tops stand where they should."""
    mark = np.repeat(np.arange(1600, 2400, 100), 200)
    count = len(mark)
    drawn = np.random.default_rng(seed).standard_normal((8, 200))
    score = (scatter * (drawn - drawn.mean(axis=1, keepdims=True))).ravel()
    return Sides(score, np.full(count, information), np.full(count, 30.0), mark, mark * 1.0, mark * 1.0)


def noise(sides: Sides) -> float:
    found, slope = noise_per_turn(
        sides.score, sides.information, sides.turns, sides.mark, sides.truth, sides.estimate, draws=20
    )
    assert slope.value == pytest.approx(1, abs=0.05)
    return found.value


def test_noise_is_the_scatter_of_scores_in_elo() -> None:
    assert noise(made(0.01, 1e-5)) == pytest.approx(0.01 / 1e-5 * 30**0.5, rel=0.05)


def test_the_ratio_of_two_estimators_is_that_of_their_noises_and_has_a_small_error() -> None:
    one, other = made(0.01, 2e-5), made(0.01, 1e-5)
    direct, promised = noise_ratio(one, other, draws=50)
    assert direct.value == pytest.approx(noise(one) / noise(other))
    assert direct.value == pytest.approx(0.5, rel=0.02)
    assert promised.value == pytest.approx(0.5**0.5, rel=0.02)
    # Paired: what both have in common does not count as error.
    apart, _ = noise_ratio(made(0.01, 2e-5, seed=2), other, draws=50)
    assert direct.error < 0.6 * apart.error


def test_an_estimator_beside_itself() -> None:
    direct, promised = noise_ratio(made(0.01, 1e-5), made(0.01, 1e-5), draws=20)
    assert (direct.value, promised.value) == pytest.approx((1, 1))
    assert direct.error == pytest.approx(0, abs=1e-9)
