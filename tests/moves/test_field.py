"""A field of z's: corrections are the textbook's, the share of helped moves is found."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import false_discovery_control

from assay.moves.field import assistance, field_null, null_by_group, q_values


def test_the_share_of_assistance_is_found() -> None:
    rng = np.random.default_rng(1)
    honest = rng.uniform(0.05, 0.6, 800)  # the chance of the engine's move for the player
    follows = rng.random(800) < honest
    helped = follows | (rng.random(800) < 0.5)

    def found(matched: np.ndarray) -> object:
        own = np.log(np.where(matched, honest, 1 - honest))
        return assistance(own, np.log(np.where(matched, 0.95, 0.05)), 1.0)

    none, half = found(follows), found(helped)
    assert none.log_ratio < 3 < half.log_ratio  # type: ignore[attr-defined]
    assert none.share < 0.2 < half.low < half.share < half.high  # type: ignore[attr-defined]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_q_values_are_those_of_scipy(p: list[float]) -> None:
    assert q_values(p) == pytest.approx(false_discovery_control(p, method="by"))
    assert q_values(p, dependent=False) == pytest.approx(false_discovery_control(p, method="bh"))


def test_the_null_of_a_field_ignores_its_tail() -> None:
    rng = np.random.default_rng(2)
    honest = rng.normal(0.4, 1.3, 400)
    null = field_null(np.append(honest, [8.0] * 8))
    assert null.centre == pytest.approx(0.4, abs=0.2)
    assert null.spread == pytest.approx(1.3, abs=0.2)
    assert field_null(rng.normal(0, 0.5, 400)).spread == 1.0


def test_small_groups_take_the_null_of_the_whole_field() -> None:
    z = np.concatenate([np.linspace(-1, 1, 20), [5.0, 6.0]])
    centre, _ = null_by_group(z, ["2000"] * 20 + ["2700"] * 2)
    assert centre[0] == pytest.approx(0.0, abs=1e-9)
    assert centre[-1] == pytest.approx(field_null(z).centre)


def test_an_empty_field_has_no_q() -> None:
    assert len(q_values([])) == 0
