"""From what a model says of bands to curves over ratings: they add up over games, and hold no population.

The evidence of a game is the posterior divided by the prior that it stands on, at the middles of the bands; a spline
brings it to the ratings that all curves of Assay have. Powers and errors of the scale, fitted on players that the
model has not seen, come in once, at the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from assay.curve import GRID, LEVEL, Curve, Estimate, Honesty, blurred, spline_matrix
from assay.held_out import even_weights

Floats = npt.NDArray[np.float64]

_BEYOND = 150.0  # Elo: how soon a curve bends beyond the bands
_STEEP = 2  # bands that the steepness at an end is taken over
_STEP = 10.0  # Elo, of the steps that posteriors are summed in
_LEAST_SIDES = 150  # that a fit needs
_LEAST_UNITS = 40  # sets of several games that a line is fitted on
_END = 400.0  # Elo: nearer to an end of the bands the tops of single games cannot scatter both ways
_MOST_SINGLE = 8  # single games of a player
_MOST_WEIGHT = 5.0  # of a side of a rare band
_LEVELS = (0.5, 0.8, 0.95)


@dataclass(frozen=True)
class Tuning:
    """What brings the evidence of games to the scale of ratings: a line, and what makes intervals hold.

    A rating is `shift` + `stretch` times what the evidence alone would say.
    """

    power: float = 1.0
    scale_error: float = 0.0
    shift: float = 0.0
    stretch: float = 1.0

    @property
    def honesty(self) -> Honesty:
        return Honesty(self.power, self.scale_error)


AS_IT_IS = Tuning()


def on_grid(evidence: Floats, edges: Floats, tuning: Tuning = AS_IT_IS) -> Curve:
    """Evidence (rows, bands), each row of one game, as curves.

    Beyond its bands a model knows nobody. There a curve goes on as steep as its last bands are and soon bends down, so
    that a game that points beyond the bands points little beyond them; see :func:`opened` for its interval.

    >>> edges = np.arange(1000.0, 2001.0, 100.0)
    >>> bell = -0.5 * ((np.arange(1050.0, 2000.0, 100.0) - 1512) / 200) ** 2
    >>> on_grid(bell[None], edges).tops().tolist()
    [1512.0]
    """
    matrix, bend = _to_grid(tuple(edges.tolist()), tuning.shift, tuning.stretch)
    spoken = np.abs(evidence).max(axis=1, initial=0.0) > 0
    return Curve(evidence @ matrix - np.outer(spoken, bend), GRID)


@lru_cache(maxsize=100)
def _to_grid(edges: tuple[float, ...], shift: float, stretch: float) -> tuple[Floats, Floats]:
    """A matrix from bands to the grid, and what the bend beyond the bands takes from a game's curve there."""
    ends, grid = np.array(edges), (GRID - shift) / stretch
    middle = (ends[1:] + ends[:-1]) / 2
    under, over = np.minimum(grid - middle[0], 0), np.maximum(grid - middle[-1], 0)
    bend = 0.5 * ((under + over) / _BEYOND) ** 2
    inside = np.clip(grid, middle[0], middle[-1])
    if len(middle) < 4:  # too few for a spline
        return np.stack([np.interp(inside, middle, row) for row in np.eye(len(middle))]), bend
    matrix = spline_matrix(middle, inside)
    for first, last, far in ((0, _STEEP, under), (-1, -1 - _STEEP, over)):
        matrix[first] += far / (middle[first] - middle[last])
        matrix[last] -= far / (middle[first] - middle[last])
    return matrix, bend


def opened(found: Estimate, edges: Floats, tuning: Tuning) -> Estimate:
    """The estimate within the bands that the model knows; where its interval reaches their end, it has none there."""
    least, most = tuning.shift + tuning.stretch * edges[0], tuning.shift + tuning.stretch * edges[-1]
    return replace(
        found,
        value=min(max(found.value, least), most) if found.known else found.value,
        low=found.low if found.low > least else -math.inf,
        high=found.high if found.high < most else math.inf,
    )


def believed(curve: Curve, prior: Floats, edges: Floats, honesty: Honesty, level: float = LEVEL) -> list[Estimate]:
    """The mean of each curve's posterior and its central interval, given a prior over bands."""
    fine = np.arange(edges[0] + _STEP / 2, edges[-1], _STEP)
    shares = np.repeat(prior / np.diff(edges), np.rint(np.diff(edges) / _STEP).astype(int))[: len(fine)]
    tail = (1 - level) / 2
    found = []
    for row in curve.table @ spline_matrix(curve.grid, fine):
        log = blurred(fine, row * honesty.power, honesty.scale_error)
        weight = np.exp(log - log.max()) * shares
        weight /= weight.sum()
        low, high = np.interp((tail, 1 - tail), np.cumsum(weight), fine)
        found.append(Estimate(float(weight @ fine), float(low), float(high), level))
    return found


def fit_tuning(
    evidence: Floats,
    ratings: Floats,
    players: npt.NDArray[np.uint64],
    edges: Floats,
    like: Tuning | None = None,
) -> Tuning:
    """The line and the honesty for which ratings of one game, of three and of nine of a player are right on average and
    their intervals hold, every band of ratings counting alike.

    `evidence` (sides, bands) is of sides of games of players that a model has not seen, `players` tells whose they are
    (0 where unknown). Where there is too little to fit, curves count as they are. Where few have several games, but
    the tuning of other years is known, the slope of its line and the error that games of a player share stay `like`
    they are there: a slope of single games alone would be too uncertain where they say little. The level is then that
    of players away from the ends of the bands.
    """
    if len(ratings) < _LEAST_SIDES:
        return AS_IT_IS
    units = list(_units(players))
    truth = np.array([ratings[some].mean() for some in units])
    size = np.array([len(some) for some in units])
    weight = np.empty(len(units))
    for number in np.unique(size):
        weight[size == number] = np.minimum(even_weights(truth[size == number]), _MOST_WEIGHT)
    common = [number for number in np.unique(size) if number == 1 or (size == number).sum() >= _LEAST_UNITS]
    known = like if like is not None and common == [1] else None
    inside = (truth >= edges[0] + _END) & (truth <= edges[-1] - _END) | (known is None)
    tuning = known or AS_IT_IS
    for _ in range(3):
        found = _summed(evidence, units, edges, tuning)
        lines = np.array([_line(found, truth, weight, inside & (size == number)) for number in common])
        slope, off = float(np.exp(np.log(np.clip(lines[:, 0], 0.5, 2)).mean())), float(lines[:, 1].mean())
        slope = slope if known is None else 1.0
        centre = float(np.average(truth, weights=weight))
        # New ratings: centre + (old - off - centre) / slope.
        tuning = replace(
            tuning,
            stretch=tuning.stretch / slope,
            shift=(tuning.shift - off - centre) / slope + centre,
        )
    shared = None if known is None else known.scale_error
    power, error = _fit_honesty(_summed(evidence, units, edges, tuning), truth, weight, size, shared)
    return Tuning(round(power, 3), round(error, 1), round(tuning.shift, 1), round(tuning.stretch, 4))


def _summed(evidence: Floats, units: Sequence[npt.NDArray[np.int64]], edges: Floats, tuning: Tuning) -> Curve:
    rows, code = np.concatenate(units), np.repeat(np.arange(len(units)), [len(some) for some in units])
    return on_grid(evidence[rows], edges, tuning).sum(code, len(units))


def _line(curve: Curve, truth: Floats, weight: Floats, chosen: npt.NDArray[np.bool_]) -> tuple[float, float]:
    """The slope of the tops on the truth, and their mean error."""
    top, true, share = curve[chosen].tops(), truth[chosen], weight[chosen] / weight[chosen].sum()
    off = top - true
    away = true - share @ true
    return float(1 + (share * away) @ off / max((share * away) @ away, 1e-9)), float(share @ off)


def _fit_honesty(
    curve: Curve, truth: Floats, weight: Floats, size: npt.NDArray[np.int64], shared: float | None = None
) -> tuple[float, float]:
    """The power and the error of the scale (unless it is known) for which intervals hold as often as they say."""
    from scipy.optimize import minimize

    fine = np.arange(GRID[0], GRID[-1] + 1, 20.0)
    rows = curve.table @ spline_matrix(GRID, fine)
    wanted = np.array([NormalDist().inv_cdf(0.5 + level / 2) ** 2 / 2 for level in _LEVELS])
    groups = [size == number for number in np.unique(size)]

    def missed(point: Floats) -> float:
        power, error = _honesty(point, shared)
        drop = _drops(fine, rows * power, error, truth)
        share = np.array(
            [[np.average(drop[some] <= bound, weights=weight[some]) for bound in wanted] for some in groups]
        )
        count = np.sqrt([some.sum() for some in groups])[:, None]
        return float((count * (share - np.array(_LEVELS)) ** 2).sum() / count.sum())

    errors = (5.0, 80.0, 160.0) if shared is None else (1.0,)
    starts = [np.log((power, error)) for power in (0.4, 0.7, 1.0, 1.3) for error in errors]
    best = min(starts, key=missed)
    found = minimize(missed, best, method="Nelder-Mead", options={"maxiter": 60, "xatol": 0.01, "fatol": 1e-6}).x
    power, error = _honesty(found, shared)
    return float(np.clip(power, 0.05, 2.0)), float(np.clip(error, 0.0, 400.0))


def _honesty(point: Floats, shared: float | None) -> tuple[float, float]:
    power, error = np.exp(point)
    return float(power), float(error) if shared is None else shared


def _units(players: npt.NDArray[np.uint64]) -> Iterator[npt.NDArray[np.int64]]:
    """Sides of games alone, at most eight of a player; and three and nine of one player together."""
    order = np.argsort(players, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(players[order])) + 1):
        known = players[rows[0]] != 0
        for row in rows[:_MOST_SINGLE] if known else rows:
            yield np.array([row])
        for size in (3, 9):
            for start in range(0, min(len(rows), 4 * size) - size + 1, size) if known else ():
                yield rows[start : start + size]


def _drops(fine: Floats, rows: Floats, error: float, truth: Floats) -> Floats:
    """How far each blurred curve lies below its own top at the true rating; beyond its ends a curve stays level."""
    reach = int(np.ceil(3 * error / (fine[1] - fine[0])))
    offsets = np.arange(-reach, reach + 1)
    kernel = np.exp(-0.5 * (offsets * (fine[1] - fine[0]) / max(error, 1e-9)) ** 2)
    blur = np.zeros((len(fine), len(fine)))
    for offset, share in zip(offsets.tolist(), (kernel / kernel.sum()).tolist(), strict=True):
        here = np.arange(len(fine))
        blur[np.clip(here + offset, 0, len(fine) - 1), here] += share
    wide = np.log(np.maximum(np.exp(rows - rows.max(axis=1, keepdims=True)) @ blur, 1e-300))
    at = np.clip(np.rint((truth - fine[0]) / (fine[1] - fine[0])).astype(int), 0, len(fine) - 1)
    drops: Floats = wide.max(axis=1) - wide[np.arange(len(wide)), at]
    return drops
