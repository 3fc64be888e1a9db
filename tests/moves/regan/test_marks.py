"""Calibration: a world of agents gives its own parameters back."""

from __future__ import annotations

import numpy as np
import pytest
from tests.moves.regan.players import MARKS, course, parameters, world

from assay.errors import CalibrationError
from assay.moves.regan.ipr import Line, inverse_regression
from assay.moves.regan.marks import fit_marks, reference_rows


def test_the_marks_give_the_agents_parameters_back() -> None:
    for mark in course().marks:
        s, c = parameters(mark.elo)
        assert abs(mark.free.s - s) < 4 * mark.free.s_error
        assert abs(mark.free.c - c) < 4 * mark.free.c_error
        assert mark.fixed.s_error < mark.free.s_error


def test_inverse_regression_is_not_flattened_by_noise() -> None:
    """Regressing Elo on a noisy error would make B too small; regressing the error on Elo does not (Berkson)."""
    rng = np.random.default_rng(3)
    elo = np.linspace(1600, 2700, 400)
    error = (3500 - elo) / 12000 + rng.normal(0, 0.02, len(elo))
    line = inverse_regression(elo, error, np.full(len(elo), 0.02))
    flattened = -np.polyfit(error, elo, 1)[0]
    assert line.slope == pytest.approx(12000, rel=0.1)
    assert flattened < 0.8 * line.slope


def test_the_error_of_the_line_covers_its_truth() -> None:
    rng = np.random.default_rng(4)
    elo = np.linspace(1600, 2700, 12)
    inside = 0
    for _ in range(400):
        noisy = (3500 - elo) / 12000 + rng.normal(0, 0.006, 12)
        line = inverse_regression(elo, noisy, np.full(12, 0.006))
        off = line.rating((3500 - 2300) / 12000) - 2300
        inside += abs(off) < 1.96 * np.sqrt(line.variance(2300))
    assert 0.93 < inside / 400 < 0.995


def test_marks_that_scatter_widen_the_line() -> None:
    calm = inverse_regression([2000, 2200, 2400, 2600], [0.10, 0.08, 0.06, 0.04], [0.002] * 4)
    wild = inverse_regression([2000, 2200, 2400, 2600], [0.11, 0.07, 0.07, 0.035], [0.002] * 4)
    assert calm.misfit < 1 < wild.misfit
    assert wild.variance(2300) > 4 * calm.variance(2300)


def test_the_published_line_reads_back() -> None:
    """RH11: 3571 - 15413 AE; RMH11, table 1: .0572 at 2700 and .0883 at 2200."""
    line = Line(3571.0, 15413.0, np.zeros((2, 2)))
    assert line.rating(0.0572) == pytest.approx(2690, abs=1)
    assert line.average_error(line.rating(0.0883)) == pytest.approx(0.0883)


def test_the_reference_set_holds_every_mark_alike() -> None:
    sample = world()
    marks = sample.mark[reference_rows(sample, 300)]
    assert [int((marks == mark).sum()) for mark in MARKS] == [100, 100, 100]


def test_two_marks_make_no_line() -> None:
    sample = world()
    with pytest.raises(CalibrationError, match="three or more marks"):
        fit_marks(sample.of(sample.mark != MARKS[0]))


def test_an_error_that_rises_with_elo_is_refused() -> None:
    with pytest.raises(CalibrationError, match="does not fall"):
        inverse_regression([2000, 2200, 2400], [0.05, 0.07, 0.09], [0.001] * 3)
