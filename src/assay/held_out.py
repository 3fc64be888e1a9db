"""How a rating is judged on players that it has not seen: slope, noise, coverage, offsets, each with its error.

Every function takes plain arrays, an entry per unit that was rated (a player, a set of games, one side of a game), and
gives figures with standard errors from a bootstrap over clusters: what was drawn as a whole, usually a game or a
player.

The scale counts as much as the scatter. An estimator that halves all differences between players has half the scatter
and knows no more, so noise is always divided by the slope of the estimate on the truth. The regression is of the
estimate on the truth, never the other way: the truth was chosen, the estimate has the error.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.records import dataclass

Floats = NDArray[np.float64]
DRAWS = 400
BAND = 100.0


@dataclass(frozen=True)
class Figure:
    """A number with its standard error (nan where it cannot be known)."""

    value: float
    error: float

    def __str__(self) -> str:
        return f"{self.value:.4g} +- {self.error:.2g}"


def even_weights(truth: Floats, band: float = BAND) -> Floats:
    """Weights that make every band of the truth count alike; their mean is one.

    >>> even_weights(np.array([1600.0, 1610.0, 2000.0])).round(2).tolist()
    [0.75, 0.75, 1.5]
    """
    _, code, count = np.unique(np.round(truth / band), return_inverse=True, return_counts=True)
    weights = 1.0 / count[code]
    even: Floats = weights * len(weights) / weights.sum()
    return even


def figures(
    figure: Callable[[Floats], Floats], clusters: NDArray[np.generic], *, draws: int = DRAWS, seed: int = 0
) -> list[Figure]:
    """Numbers with their errors: `figure` takes how often each unit was drawn and gives one number or several."""
    rng = np.random.default_rng(seed)
    code = np.unique(clusters, return_inverse=True)[1].reshape(-1)
    count = int(code.max()) + 1
    value = np.atleast_1d(figure(np.ones(len(code))))
    drawn = np.array(
        [
            np.atleast_1d(figure(np.bincount(rng.integers(count, size=count), minlength=count)[code].astype(float)))
            for _ in range(draws)
        ]
    )
    error = [
        np.std(column[np.isfinite(column)], ddof=1) if np.isfinite(column).sum() > 2 else np.nan for column in drawn.T
    ]
    return [Figure(float(v), float(e)) for v, e in zip(value, error, strict=True)]


def slope_and_noise(
    estimate: Floats, truth: Floats, clusters: NDArray[np.generic] | None = None, *, draws: int = DRAWS, seed: int = 0
) -> tuple[Figure, Figure, Figure]:
    """Slope of the estimate on the truth, noise (scatter about the line, divided by the slope), and mean error.

    Bands of the truth count alike. An estimator at the edge of its scale must give a number here, not nothing: leaving
    such units out makes every estimator look better than it is.
    """
    if estimate.shape != truth.shape or len(truth) < 4 or not (np.isfinite(estimate) & np.isfinite(truth)).all():
        raise ValueError("estimates and truths must be finite and as many, four at least.")
    base = even_weights(truth)

    def figure(drawn: Floats) -> Floats:
        weight = base * drawn
        total = weight.sum()
        x, y = weight @ truth / total, weight @ estimate / total
        spread = weight @ (truth - x) ** 2
        if spread <= 0:
            return np.array([np.nan, np.nan, y - x])
        slope = weight @ ((truth - x) * (estimate - y)) / spread
        rest = estimate - y - slope * (truth - x)
        units = total**2 / (weight @ weight)
        variance = (weight @ rest**2) / total * units / max(units - 2, 1)
        return np.array([slope, np.sqrt(variance) / slope if slope > 0 else np.nan, y - x])

    own = _own(clusters, len(truth))
    slope, noise, off = figures(figure, own, draws=draws, seed=seed)
    return slope, noise, off


def coverage(
    low: Floats,
    high: Floats,
    truth: Floats,
    clusters: NDArray[np.generic] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[Figure, Figure, Figure]:
    """Share of intervals that hold the truth, share that lie wholly below it, and mean width of the closed ones."""
    inside, below, width = (low <= truth) & (truth <= high), high < truth, high - low
    closed = np.isfinite(width)

    def figure(drawn: Floats) -> Floats:
        total = drawn.sum()
        wide = (drawn * closed) @ np.where(closed, width, 0) / max((drawn * closed).sum(), 1)
        return np.array([drawn @ inside / total, drawn @ below / total, wide])

    own = _own(clusters, len(truth))
    share, under, wide = figures(figure, own, draws=draws, seed=seed)
    return share, under, wide


def noise_per_turn(
    score: Floats,
    information: Floats,
    turns: Floats,
    mark: NDArray[np.generic],
    truth: Floats,
    estimate: Floats,
    clusters: NDArray[np.generic] | None = None,
    *,
    draws: int = DRAWS,
    seed: int = 0,
) -> tuple[Figure, Figure]:
    """Noise in Elo of one turn, and the slope it was divided by, from the curves of held-out sides of games.

    One entry per side: `score` is the slope of its log-likelihood per Elo at `estimate`, `information` how fast that
    slope falls there, `turns` how many turns it has. `mark` groups sides of like rating `truth`; `estimate` is the top
    of the curve of all sides of the mark. Per mark the error of the top has the variance sum(score^2) /
    sum(information)^2, which times the turns is the square of the noise; over marks the root mean square counts,
    divided by the slope of the tops on the truth. That uses every game, where the scatter of a few dozen groups would
    be uncertain by a sixth and more.
    """
    sides = Sides(score, information, turns, mark, truth, estimate)
    noise, slope, _ = figures(_noise_of(sides), _own(clusters, len(score)), draws=draws, seed=seed)
    return noise, slope


@dataclass(frozen=True)
class Sides:
    """Held-out sides of games as :func:`noise_per_turn` takes them."""

    score: Floats
    information: Floats
    turns: Floats
    mark: NDArray[np.generic]
    truth: Floats
    estimate: Floats


def _noise_of(sides: Sides) -> Callable[[Floats], Floats]:
    """Noise of a turn, slope, and the noise that the curvature alone would promise, by how often sides were drawn."""
    score, information, turns = sides.score, sides.information, sides.turns
    code = np.unique(sides.mark, return_inverse=True)[1].reshape(-1)
    marks = int(code.max()) + 1

    def figure(drawn: Floats) -> Floats:
        total = np.bincount(code, drawn * information, marks)
        number, count = np.bincount(code, drawn, marks), np.bincount(code, drawn * turns, marks)
        good = (total > 0) & (number > 1)
        move = np.where(good, np.bincount(code, drawn * score, marks) / np.where(good, total, 1), 0)
        rest = score - move[code] * information
        variance = np.bincount(code, drawn * rest**2, marks) * number / np.maximum(number - 1, 1)
        noise = np.sqrt(count * variance)[good] / total[good]
        weight = np.maximum(count, 1e-9)
        at = (np.bincount(code, drawn * turns * sides.truth, marks) / weight)[good]
        top = (np.bincount(code, drawn * turns * sides.estimate, marks) / weight + move)[good]
        slope = np.polyfit(at, top, 1)[0]
        promised = np.sqrt(np.mean(count[good] / total[good]))
        return np.array([np.sqrt(np.mean(noise**2)) / slope, slope, promised / slope])

    return figure


def noise_ratio(
    one: Sides, other: Sides, clusters: NDArray[np.generic] | None = None, *, draws: int = DRAWS, seed: int = 0
) -> tuple[Figure, Figure]:
    """The noise of one estimator to that of another on the same sides, paired: direct, and by curvature."""
    mine, its = _noise_of(one), _noise_of(other)

    def figure(drawn: Floats) -> Floats:
        ratio: Floats = mine(drawn)[[0, 2]] / its(drawn)[[0, 2]]
        return ratio

    direct, promised = figures(figure, _own(clusters, len(one.score)), draws=draws, seed=seed)
    return direct, promised


def offsets(
    estimate: Floats,
    truth: Floats,
    clusters: NDArray[np.generic] | None = None,
    *,
    band: float = BAND,
    draws: int = DRAWS,
    seed: int = 0,
) -> list[tuple[float, int, Figure]]:
    """Mean of estimate minus truth in each band of the truth: centre, units, mean with its error."""
    key = np.round(truth / band)
    own = _own(clusters, len(truth))
    rows = []
    for one in np.unique(key):
        chosen = key == one
        (mean,) = figures(_mean_of((estimate - truth)[chosen]), own[chosen], draws=draws, seed=seed)
        rows.append((float(one * band), int(chosen.sum()), mean))
    return rows


def _mean_of(values: Floats) -> Callable[[Floats], Floats]:
    return lambda drawn: np.asarray(drawn @ values / drawn.sum())


def _own(clusters: NDArray[np.generic] | None, size: int) -> NDArray[Any]:
    """The cluster of each unit; without any, each is its own."""
    return np.arange(size) if clusters is None else clusters
