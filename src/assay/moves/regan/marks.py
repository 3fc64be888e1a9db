"""The century marks of a calibration: s and c of each, and the lines through them (RH11, section 6)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.errors import CalibrationError, ModelError
from assay.moves.regan.depth_weights import fit_weights
from assay.moves.regan.fitting import DEPTHS, Fit, FittingMethod, criterion_of, fit
from assay.moves.regan.ipr import FIT_METHODS, Layers, Line, Scale, inverse_regression, straight_c
from assay.moves.regan.models import ModelName
from assay.moves.regan.projection import project
from assay.moves.regan.spread import CurveName, Floats
from assay.records import dataclass


@dataclass(frozen=True)
class Sample:
    """One row per turn; `game` is a code, `mark` the century mark.

    `layers` are the deltas at each of the `depths` (turns x moves x depths), for weights over them.
    """

    deltas: Floats
    played: NDArray[np.intp]
    elsewhere: Floats
    game: NDArray[np.intp]
    elo: Floats
    mark: NDArray[np.intp]
    layers: Floats | None = None
    depths: tuple[int, ...] = ()

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
            None if self.layers is None else self.layers[turns],
            self.depths,
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
    model: ModelName
    curve: CurveName
    layers: Layers | None

    @property
    def scale(self) -> Scale:
        """What players are measured by."""
        ends = float(self.marks[0].elo), float(self.marks[-1].elo)
        return Scale(self.reference, self.line, self.lines, ends, self.model, self.curve, self.layers)


def reference_rows(sample: Sample, size: int = REFERENCE_TURNS) -> NDArray[np.intp]:
    """The turns of the fixed reference set: as many of each mark, evenly over its games."""
    marks = np.unique(sample.mark)
    share = size // len(marks)
    rows = []
    for mark in marks:
        own = np.flatnonzero(sample.mark == mark)
        rows.append(own[np.linspace(0, len(own) - 1, min(share, len(own))).astype(np.intp)])
    return np.concatenate(rows)


@dataclass(frozen=True)
class Way:
    """How marks are fitted and projected: a method on the deltas of one depth, or with weights over several."""

    method: FittingMethod
    model: ModelName
    curve: CurveName
    reference: Floats
    weights: Floats | None = None

    def fit(self, part: Sample, c: float | None = None) -> Fit:
        """Fit the turns of a mark."""
        try:
            return fit(
                part.deltas if part.layers is None or self.weights is None else part.layers,
                part.played,
                method=criterion_of(self.method),
                model=self.model,
                curve=self.curve,
                c=c,
                games=part.game,
                weights=self.weights,
                elsewhere=part.elsewhere,
            )
        except ModelError as error:
            raise CalibrationError(f"the mark {int(part.mark[0])} cannot be fitted: {error}") from error

    def average_error(self, found: Fit) -> tuple[float, float]:
        """AE_R of a fit and its standard error, by the delta method."""
        projected = project(
            self.reference,
            found.s,
            found.c,
            model=self.model,
            curve=self.curve,
            weights=self.weights,
            gradient=True,
        )
        gradient = projected.average_error_gradient
        return projected.average_error, float(np.sqrt(gradient @ found.covariance @ gradient))

    def line(self, parts: list[Sample]) -> Line:
        """The line of marks fitted with both parameters free."""
        errors = [self.average_error(self.fit(part)) for part in parts]
        return inverse_regression([float(part.elo.mean()) for part in parts], *zip(*errors, strict=True))


def way_of(sample: Sample, rows: NDArray[np.intp], method: FittingMethod, model: ModelName, curve: CurveName) -> Way:
    """A way of fitting a sample, with these turns for reference positions; they also tell the weights over depths."""
    if method != DEPTHS:
        return Way(method, model, curve, sample.deltas[rows])
    if sample.layers is None:
        raise ModelError("weights over depths need a sample with layers, the deltas at each depth.")
    reference = sample.layers[rows]
    return Way(
        method, model, curve, reference, fit_weights(reference, sample.played[rows], model=model, curve=curve)[0]
    )


def _parts(sample: Sample) -> list[Sample]:
    """The turns of each mark."""
    elos = np.unique(sample.mark)
    if len(elos) < 3:
        raise CalibrationError(
            f"a calibration needs games at three or more marks, and these are at {len(elos)}; "
            "give games of more levels, or a wider --within."
        )
    return [sample.of(sample.mark == elo) for elo in elos]


def fit_scale(
    sample: Sample, *, method: FittingMethod = "percentile", model: ModelName = "power", curve: CurveName = "invexp"
) -> Scale:
    """The scale of one method alone: what a rating by it needs."""
    parts, rows = _parts(sample), reference_rows(sample)
    way = way_of(sample, rows, method, model, curve)
    line, ends = way.line(parts), (float(parts[0].mark[0]), float(parts[-1].mark[0]))
    return Scale(sample.deltas[rows], line, {method: line}, ends, model, curve, _layers(way, sample))


def _layers(way: Way, sample: Sample) -> Layers | None:
    return None if way.weights is None else Layers(sample.depths, way.weights, way.reference)


def fit_marks(
    sample: Sample, *, method: FittingMethod = "percentile", model: ModelName = "power", curve: CurveName = "invexp"
) -> Course:
    """Fit s and c at each mark, lay a line through c, refit s, project on the reference set, and draw the lines."""
    parts, rows = _parts(sample), reference_rows(sample)
    way = way_of(sample, rows, method, model, curve)
    means = np.array([part.elo.mean() for part in parts])
    free = [way.fit(part) for part in parts]
    c_at_2000, c_per_100 = _c_line(means, free)
    on_artery = [
        way.fit(part, float(straight_c(mean, c_at_2000, c_per_100))) for part, mean in zip(parts, means, strict=True)
    ]
    errors, errors_errors = zip(*(way.average_error(found) for found in on_artery), strict=True)
    line = inverse_regression(means, errors, errors_errors)
    ways = [way_of(sample, rows, name, model, curve) for name in FIT_METHODS]
    ways += [way] if method == DEPTHS else []
    lines: dict[str, Line] = {one.method: one.line(parts) for one in ways}
    elos = [int(part.mark[0]) for part in parts]
    table = zip(elos, map(float, means), free, on_artery, errors, errors_errors, strict=True)
    marks = tuple(Mark(*row) for row in table)
    reference = sample.deltas[rows]
    return Course(marks, rows, reference, c_at_2000, c_per_100, line, lines, model, curve, _layers(way, sample))


def _c_line(elo: Floats, fits: list[Fit]) -> tuple[float, float]:
    """c as a line in Elo through the marks, weighed by their errors: value at 2000, and rise per 100."""
    errors = np.array([found.c_error for found in fits])
    if not np.isfinite(errors).all():
        raise CalibrationError("some mark has a single game or a fit at the edge of its range; it needs more games.")
    slope, level = np.polyfit((elo - 2000) / 100, [found.c for found in fits], 1, w=1 / errors)
    return float(level), float(slope)
