"""What z is measured against: honest player-events, with ratings that are off."""

from __future__ import annotations

import numpy as np
import pytest

from assay.errors import CalibrationError
from assay.moves.field import HonestNull, NullBand, from_json, shipped_null

NULL = HonestNull(80.0, 0.5, 1.1, (NullBand("some years", 1400, 1600, 0.3, 100.0, 40),))


def test_ratings_are_off_by_more_where_they_are_low() -> None:
    errors = [NULL.rating_error(rating) for rating in (2600, 2200, 1800)]
    assert errors == pytest.approx([80 / np.exp(0.5), 80, 80 * np.exp(0.5)])
    assert NULL.rating_error(400) == NULL.rating_error(1400)  # nobody has looked there


def test_a_band_has_its_own_middle() -> None:
    assert NULL.centred(1.4, "some years", 1500, 100) == pytest.approx((1.4 - 0.3) / 1.1)
    assert NULL.centred(1.4, "some years", 1500, 400) == pytest.approx((1.4 - 0.6) / 1.1)
    assert NULL.centred(1.4, "some years", 1500, 400, 0.75) == pytest.approx((1.4 - 0.6 / 1.25) / 1.1)
    for line, rating in (("other years", 1500.0), ("some years", 1700.0)):
        assert NULL.centred(1.4, line, rating, 400) == pytest.approx(1.4 / 1.1)


def test_a_table_that_is_none_is_refused() -> None:
    assert from_json(NULL.to_json()) == NULL
    for bad in ({}, NULL.to_json() | {"spread": 0}, NULL.to_json() | {"bands": [{}]}, NULL.to_json() | {"error": "x"}):
        with pytest.raises(CalibrationError, match="no table of honest player-events"):
            from_json(bad)


def test_the_shipped_table_is_one_of_real_players() -> None:
    null = shipped_null()
    assert 30 < null.rating_error(2200) < null.rating_error(1800) < 300 and null.spread >= 1
    assert all(abs(band.centre) < 1 and band.events >= 10 for band in null.bands)
