"""How any rating is judged: error of the mean, likelihood, calibration, coverage, and the noise of one measurement.

A *posterior* is an array (cases, bands) of probabilities over adjacent rating bands given by their `edges`
(bands + 1 numbers). Inside a band the probability is spread evenly, or as `within` says: (bands, parts), the share of
each of so many equal parts of the band. Players crowd where the band is near the bulk of all players, and an interval
that does not know it is too wide at the ends of the scale.
"""

from __future__ import annotations

import math
from dataclasses import asdict
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.records import dataclass

Floats = npt.NDArray[np.float64]

LEVELS = (0.5, 0.8, 0.95)


@dataclass(frozen=True)
class Score:
    """Judgement of posteriors over bands against true ratings."""

    cases: int
    top1: float  # share whose most likely band is the true one
    within1: float  # share whose most likely band is the true one or a neighbour
    mae: float  # of the posterior mean, Elo
    rmse: float
    bias: float  # posterior mean minus rating
    mean_mae: float  # of predicting the mean for everybody: the baseline to beat
    spread: float  # standard deviation of the true ratings
    noise: float  # implied noise e of the measurement, Elo
    nll: float  # nats
    ece: float  # of the most likely band, 15 bins of equal mass
    cover50: float
    cover80: float
    cover95: float

    def row(self) -> dict[str, float]:
        """The scores as columns of a table."""
        return asdict(self)


def score(
    posterior: Floats,
    edges: Floats,
    rating: Floats,
    *,
    centre: float | None = None,
    weights: Floats | None = None,
    within: Floats | None = None,
) -> Score:
    """Judge posteriors against true ratings, which must lie inside the bands.

    `centre` is the rating that predict-the-mean would give everybody (by default the mean of `rating` itself). With
    `weights` some cases count more than others.

    >>> s = score(np.array([[0.9, 0.1], [0.2, 0.8]]), np.array([1000.0, 1200.0, 1400.0]), np.array([1100.0, 1290.0]))
    >>> s.top1, round(s.mae, 1), round(s.nll, 3)
    (1.0, 25.0, 0.164)
    """

    def share(values: npt.NDArray[Any]) -> float:
        return float(np.average(values, weights=weights))

    band = band_of(rating, edges)
    cases = np.arange(len(band))
    best = posterior.argmax(axis=1)
    mean = posterior_mean(posterior, edges, within)
    error = mean - rating
    rmse = math.sqrt(share(error**2))
    spread = math.sqrt(share((rating - share(rating)) ** 2))
    cover = [share(covered(posterior, edges, rating, level, within)) for level in LEVELS]
    return Score(
        cases=len(band),
        top1=share(best == band),
        within1=share(np.abs(best - band) <= 1),
        mae=share(np.abs(error)),
        rmse=rmse,
        bias=share(error),
        mean_mae=share(np.abs(rating - (share(rating) if centre is None else centre))),
        spread=spread,
        noise=implied_noise(rmse, spread),
        nll=-share(np.log(np.maximum(posterior[cases, band], 1e-300))),
        ece=calibration_error(posterior.max(axis=1), best == band, weights=weights),
        cover50=cover[0],
        cover80=cover[1],
        cover95=cover[2],
    )


def band_of(rating: Floats, edges: Floats) -> npt.NDArray[np.int64]:
    """The index of the band that holds each rating; -1 below all and `bands` above all.

    >>> band_of(np.array([999.0, 1000.0, 1399.0]), np.array([1000.0, 1200.0, 1400.0])).tolist()
    [-1, 0, 1]
    """
    return np.asarray(np.searchsorted(edges, rating, side="right") - 1, dtype=np.int64)


def posterior_mean(posterior: Floats, edges: Floats, within: Floats | None = None) -> Floats:
    """The mean rating of each posterior.

    >>> posterior_mean(np.array([[0.25, 0.75]]), np.array([1000.0, 1200.0, 1400.0])).tolist()
    [1250.0]
    >>> posterior_mean(np.array([[0.25, 0.75]]), np.array([1000.0, 1200.0, 1400.0]), np.array([[0.5, 0.5], [1, 0]]))
    array([1212.5])
    """
    posterior, edges = _finer(posterior, edges, within)
    return np.asarray(posterior @ ((edges[1:] + edges[:-1]) / 2), dtype=np.float64)


def quantile(posterior: Floats, edges: Floats, share: float, within: Floats | None = None) -> Floats:
    """The rating below which this share of each posterior lies.

    >>> quantile(np.array([[0.5, 0.5]]), np.array([1000.0, 1200.0, 1400.0]), 0.25).tolist()
    [1100.0]
    """
    posterior, edges = _finer(posterior, edges, within)
    cumulated = np.cumsum(posterior, axis=1)
    cumulated /= cumulated[:, -1:]
    band = np.minimum((cumulated < share).sum(axis=1), posterior.shape[1] - 1)
    cases = np.arange(len(posterior))
    upper = cumulated[cases, band]
    lower = np.where(band > 0, cumulated[cases, band - 1], 0.0)
    mass = np.maximum(upper - lower, 1e-300)
    inside = np.clip((share - lower) / mass, 0.0, 1.0)
    return np.asarray(edges[band] + inside * (edges[band + 1] - edges[band]), dtype=np.float64)


def covered(
    posterior: Floats, edges: Floats, rating: Floats, level: float, within: Floats | None = None
) -> npt.NDArray[np.bool_]:
    """Whether the central interval of this level holds the true rating.

    >>> edges = np.array([1000.0, 1200.0, 1400.0])
    >>> covered(np.array([[0.5, 0.5]] * 2), edges, np.array([1200.0, 1390.0]), 0.5).tolist()
    [True, False]
    """
    low = quantile(posterior, edges, (1 - level) / 2, within)
    high = quantile(posterior, edges, (1 + level) / 2, within)
    return np.asarray((low <= rating) & (rating <= high))


def shares_within(ratings: Floats, edges: Floats, parts: int = 10) -> Floats:
    """How ratings are spread inside each band, (bands, parts); no part is thought impossible.

    >>> shares_within(np.array([1010.0, 1020.0, 1190.0]), np.array([1000.0, 1200.0, 1400.0]), parts=2).tolist()
    [[0.625, 0.375], [0.5, 0.5]]
    """
    counts, _ = np.histogram(ratings, _parted(edges, parts))
    shares = counts.reshape(-1, parts) + 0.5
    return np.asarray(shares / shares.sum(axis=1, keepdims=True), dtype=np.float64)


def _finer(posterior: Floats, edges: Floats, within: Floats | None) -> tuple[Floats, Floats]:
    """Posteriors over the parts of bands, and the edges of the parts."""
    if within is None:
        return posterior, edges
    return (posterior[:, :, None] * within).reshape(len(posterior), -1), _parted(edges, within.shape[1])


def _parted(edges: Floats, parts: int) -> Floats:
    """The edges of so many equal parts of each band."""
    bands = len(edges) - 1
    return np.asarray(np.interp(np.arange(bands * parts + 1) / parts, np.arange(bands + 1), edges))


@dataclass(frozen=True)
class Reliability:
    """Stated confidence against observed frequency, in bins of equal mass."""

    confidence: Floats
    frequency: Floats
    share: Floats


def reliability(
    confidence: Floats, correct: npt.NDArray[np.bool_], bins: int = 15, *, weights: Floats | None = None
) -> Reliability:
    """Mean confidence and frequency of being right in bins of equal mass: as many cases each, or as much weight.

    >>> found = reliability(np.array([0.2, 0.4, 0.9, 0.7]), np.array([False, False, True, True]), bins=2)
    >>> found.confidence.round(2).tolist(), found.frequency.tolist()
    ([0.3, 0.8], [0.0, 1.0])
    """
    # Ties are broken at random (by a fixed seed), so that the order of the cases means nothing.
    shuffled = np.random.default_rng(0).permutation(len(confidence))
    order = shuffled[np.argsort(confidence[shuffled], kind="stable")]
    mass = np.ones(len(order)) if weights is None else weights[order]
    middle = np.cumsum(mass) - mass / 2  # a case belongs where its middle lies
    place = np.minimum((bins * middle / mass.sum()).astype(np.int64), bins - 1)
    parts = [(order[place == number], mass[place == number]) for number in np.unique(place)]
    return Reliability(
        confidence=np.array([np.average(confidence[part], weights=weight) for part, weight in parts]),
        frequency=np.array([np.average(correct[part], weights=weight) for part, weight in parts]),
        share=np.array([weight.sum() / mass.sum() for _, weight in parts]),
    )


def calibration_error(
    confidence: Floats, correct: npt.NDArray[np.bool_], bins: int = 15, *, weights: Floats | None = None
) -> float:
    """Expected calibration error with bins of equal mass (Nguyen and O'Connor 2015).

    >>> round(calibration_error(np.full(100, 0.7), np.arange(100) < 60, bins=1), 3)
    0.1
    """
    found = reliability(confidence, correct, bins, weights=weights)
    return float(np.sum(found.share * np.abs(found.confidence - found.frequency)))


def implied_noise(rmse: float, spread: float) -> float:
    """The noise e of one measurement on a prior of this spread: 1/RMSE^2 = 1/spread^2 + 1/e^2.

    It compares systems judged on populations of different spread; infinite where nothing was learned.

    >>> round(implied_noise(300.0, 500.0), 1), implied_noise(500.0, 500.0)
    (375.0, inf)
    """
    if rmse == 0:
        return 0.0
    gain = 1 / rmse**2 - 1 / spread**2 if spread > 0 else 0.0
    return 1 / math.sqrt(gain) if gain > 0 else math.inf
