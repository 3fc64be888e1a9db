"""The century marks of a calibration: s and c of each, and the lines through them (RH11, section 6)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.errors import CalibrationError, ModelError
from assay.moves.regan.fitting import Fit, fit
from assay.moves.regan.ipr import FIT_METHODS
from assay.moves.regan.line import Line, inverse_regression, straight_c
from assay.moves.regan.problem import MethodName
from assay.moves.regan.projection import project
from assay.moves.regan.spread import Floats


@dataclass(frozen=True)
class Sample:
    """One row per turn; `game` is a code, `mark` the century mark."""

    deltas: Floats
    played: NDArray[np.intp]
    elsewhere: Floats
    game: NDArray[np.intp]
    elo: Floats
    mark: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.played)

    def of(self, turns: NDArray[np.intp] | NDArray[np.bool_]) -> Sample:
        """These turns alone."""
        return Sample(
            self.deltas[turns],
            self.played[turns],
            self.elsewhere[turns],
            self.game[turns],
            self.elo[turns],
            self.mark[turns],
        )


# Turns of the fixed reference set, spread evenly over the marks: B x sigma of its average error cancels in the line,
# so that it need only be wide enough to hold every kind of position.
REFERENCE_TURNS = 2400


@dataclass(frozen=True)
class Mark:
    """A row of the table of the paper, with errors: `free` has s and c fitted, `fixed` has c on its line."""

    elo: int
    mean_elo: float
    free: Fit
    fixed: Fit
    average_error: float
    average_error_error: float


@dataclass(frozen=True)
class Course:
    """The marks with the lines through them: `line` with c on a straight line, `lines` by method with c free."""

    marks: tuple[Mark, ...]
    reference_rows: NDArray[np.intp]
    reference: Floats
    c_at_2000: float
    c_per_100: float
    line: Line
    lines: dict[str, Line]

    @property
    def residuals(self) -> Floats:
        """How far each mark's rating by the line lies from its Elo."""
        return np.array([self.line.rating(mark.average_error) - mark.mean_elo for mark in self.marks])


def reference_rows(sample: Sample, size: int = REFERENCE_TURNS) -> NDArray[np.intp]:
    """The turns of the fixed reference set: as many of each mark, evenly over its games."""
    marks = np.unique(sample.mark)
    share = size // len(marks)
    rows = []
    for mark in marks:
        own = np.flatnonzero(sample.mark == mark)
        rows.append(own[np.linspace(0, len(own) - 1, min(share, len(own))).astype(np.intp)])
    return np.concatenate(rows)


def fit_marks(sample: Sample, *, method: MethodName = "percentile") -> Course:
    """Fit s and c at each mark, lay a line through c, refit s, project on the reference set, and draw the lines."""
    elos = [int(mark) for mark in np.unique(sample.mark)]
    if len(elos) < 3:
        raise CalibrationError(
            f"a calibration needs games at three or more marks, and these are at {len(elos)}; "
            "give games of more levels, or a wider --within."
        )
    rows = reference_rows(sample)
    reference = sample.deltas[rows]
    parts = [sample.of(sample.mark == elo) for elo in elos]
    means = np.array([part.elo.mean() for part in parts])
    free = [_fit(part, elo, method) for part, elo in zip(parts, elos, strict=True)]
    c_at_2000, c_per_100 = _c_line(means, free)
    on_artery = [
        _fit(part, elo, method, c=float(straight_c(mean, c_at_2000, c_per_100)))
        for part, elo, mean in zip(parts, elos, means, strict=True)
    ]
    errors, errors_errors = [], []
    for found in on_artery:
        value, error = average_error_on(reference, found)
        errors.append(value)
        errors_errors.append(error)
    line = inverse_regression(means, errors, errors_errors)
    lines: dict[str, Line] = {name: free_line(sample, reference, name) for name in FIT_METHODS}
    table = zip(elos, map(float, means), free, on_artery, errors, errors_errors, strict=True)
    return Course(tuple(Mark(*row) for row in table), rows, reference, c_at_2000, c_per_100, line, lines)


def free_line(sample: Sample, reference: Floats, method: MethodName) -> Line:
    """The line of marks fitted by a method with both parameters free."""
    means, errors, errors_errors = [], [], []
    for elo in np.unique(sample.mark):
        part = sample.of(sample.mark == elo)
        value, error = average_error_on(reference, _fit(part, int(elo), method))
        means.append(float(part.elo.mean()))
        errors.append(value)
        errors_errors.append(error)
    return inverse_regression(means, errors, errors_errors)


def average_error_on(reference: Floats, found: Fit) -> tuple[float, float]:
    """AE_R of a fit and its standard error, by the delta method."""
    projected = project(reference, found.s, found.c, gradient=True)
    gradient = projected.average_error_gradient
    return projected.average_error, float(np.sqrt(gradient @ found.covariance @ gradient))


def _fit(part: Sample, elo: int, method: MethodName, c: float | None = None) -> Fit:
    try:
        return fit(part.deltas, part.played, method=method, c=c, games=part.game, elsewhere=part.elsewhere)
    except ModelError as error:
        raise CalibrationError(f"the mark {elo} cannot be fitted: {error}") from error


def _c_line(elo: Floats, fits: list[Fit]) -> tuple[float, float]:
    """c as a line in Elo through the marks, weighed by their errors: value at 2000, and rise per 100."""
    errors = np.array([found.c_error for found in fits])
    if not np.isfinite(errors).all():
        raise CalibrationError("some mark has a single game or a fit at the edge of its range; it needs more games.")
    slope, level = np.polyfit((elo - 2000) / 100, [found.c for found in fits], 1, w=1 / errors)
    return float(level), float(slope)
