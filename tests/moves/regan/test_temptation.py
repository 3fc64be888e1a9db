"""The five curves against their formulas, and their slopes against differences."""

from __future__ import annotations

import numpy as np
import pytest

from assay.moves.regan import CURVES, ModelError, curve_value

X, C = np.array([0.0, 0.2, 1.0, 3.0, 20.0]), 0.6
W = X**C
FORMULAS = {
    "invexp": np.exp(-W),
    "ipa": 1 / (1 + W),
    "ipb": 1 / (1 + X) ** C,
    "secha": 2 / (np.exp(W) + np.exp(-W)),
    "sechb": 4 / (np.exp(W) + 2 + np.exp(-W)),
}


def test_every_curve_has_a_formula_here() -> None:
    assert FORMULAS.keys() == CURVES.keys()


@pytest.mark.parametrize("name", CURVES)
def test_formula(name: str) -> None:
    assert curve_value(X * 0.3, 0.3, C, curve=name) == pytest.approx(FORMULAS[name], rel=1e-12)  # type: ignore[arg-type]


@pytest.mark.parametrize("name", CURVES)
def test_slopes(name: str) -> None:
    curve, h = CURVES[name], 1e-6  # type: ignore[index]
    log_x, c = np.log(X[1:]), np.asarray(C)
    by_x, by_c = curve.slopes(log_x, c, curve.log_inverse(log_x, c))
    differences = (curve.log_inverse(log_x + h, c) - curve.log_inverse(log_x - h, c)) / (2 * h)
    assert by_x == pytest.approx(differences, rel=1e-6)
    differences = (curve.log_inverse(log_x, c * np.exp(h)) - curve.log_inverse(log_x, c * np.exp(-h))) / (2 * h)
    assert by_c == pytest.approx(differences, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("name", CURVES)
def test_far_beyond_any_spread_it_is_still_a_number(name: str) -> None:
    assert np.isfinite(curve_value([1e3], 1e-6, 3.0, curve=name)).all()  # type: ignore[arg-type]


def test_an_unknown_curve() -> None:
    with pytest.raises(ModelError, match="unknown curve 'gauss': choose one of invexp"):
        curve_value([0.1], 0.1, 0.5, curve="gauss")  # type: ignore[arg-type]
