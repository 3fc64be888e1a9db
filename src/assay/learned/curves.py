"""From what a model says of bands to curves over ratings: they add up over games, and hold no population.

The evidence of a game is the posterior divided by the prior that it stands on. Of each game's evidence the curve has
what it says of where the rating is and how surely, and no more: bumps that single bands make are forgotten, which is
worth a sixteenth of the noise of one game, and beyond the bands it goes on as it is. Powers and errors of the scale,
fitted on players that the model has not seen, come in once, at the estimate.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import replace
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from assay.curve import GRID, LEVEL, Curve, Estimate, Honesty, blurred, spline_matrix
from assay.held_out import even_weights
from assay.records import dataclass

Floats = npt.NDArray[np.float64]

_BROAD = 0.2  # of the width of all bands: the deviation of the normal under which evidence is looked at
_MOST_NOISE = 3000.0  # Elo, of a game that says anything at all
_DRAWN = 700.0  # Elo: a game of as much noise points half as far from the middle of the bands as its evidence
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

    A curve is the normal one that moves a broad normal about the middle of the bands as the evidence does: the same
    mean, the same spread. Looked at so, evidence whose top lies at the end of the bands or beyond still has a place.
    Where a game that says little points is drawn towards the middle; how little it says stays in its curve.

    >>> edges = np.arange(1000.0, 2001.0, 100.0)
    >>> bell = -0.5 * ((np.arange(1050.0, 2000.0, 100.0) - 1500) / 100) ** 2
    >>> print(on_grid(np.stack((bell, 0 * bell)), edges).estimates()[0])
    1500 (1302-1698)
    """
    middle, away = (edges[0] + edges[-1]) / 2, (edges[1:] + edges[:-1] - edges[0] - edges[-1]) / 2
    broad = -0.5 * (away / (_BROAD * (edges[-1] - edges[0]))) ** 2
    (_, before), (mean, spread) = _moments(broad[None], away), _moments(evidence + broad, away)
    sure = np.maximum(1 / spread - 1 / before, 1 / _MOST_NOISE**2) * (np.abs(evidence).max(axis=1, initial=0.0) > 0)
    top = mean / spread / (sure + 1 / _DRAWN**2)
    at = (GRID - tuning.shift) / tuning.stretch - middle
    return Curve(-0.5 * sure[:, None] * (at - top[:, None]) ** 2, GRID)


def _moments(log: Floats, away: Floats) -> tuple[Floats, Floats]:
    """Mean and variance of each row of a distribution over bands whose logarithms these are."""
    chances = np.exp(log - log.max(axis=1, keepdims=True))
    chances /= chances.sum(axis=1, keepdims=True)
    mean = chances @ away
    return mean, np.maximum(chances @ away**2 - mean**2, (away[1] - away[0]) ** 2 / 12 if len(away) > 1 else 1.0)


def opened(found: Estimate, edges: Floats) -> Estimate:
    """The estimate within the bands that the model knows; where its interval reaches their end, it has none there."""
    return replace(
        found,
        value=min(max(found.value, float(edges[0])), float(edges[-1])) if found.known else found.value,
        low=found.low if found.low > edges[0] else -math.inf,
        high=found.high if found.high < edges[-1] else math.inf,
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
    of players away from the ends of the bands; they alone always tell how often intervals hold, for nearer to an end a
    game cannot err both ways.
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
    inside = (truth >= edges[0] + _END) & (truth <= edges[-1] - _END)
    level = inside | (known is None)
    tuning = known or AS_IT_IS
    for _ in range(3):
        found = _summed(evidence, units, edges, tuning)
        lines = np.array([_line(found, truth, weight, level & (size == number)) for number in common])
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
    sure = inside if inside.sum() >= _LEAST_SIDES else np.ones_like(inside)
    curve = _summed(evidence, units, edges, tuning)[sure]
    power, error = _fit_honesty(curve, truth[sure], weight[sure], size[sure], shared)
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
