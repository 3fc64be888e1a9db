"""Matches of two players as counts: Elo with its error, normalised Elo, and the sequential test between two strengths.

A match is a multinomial: single games with the scores 0, 1/2 and 1 (trinomial), or game pairs with 0 to 2 points by
halves (pentanomial). Normalised Elo is the distance of the mean score from one half in standard deviations of a game,
times 800 / ln 10, so that it is near Elo where half of the games are drawn and no game has a partner (Van den Bergh,
"Normalized Elo for engine testing").

The test is the generalised sequential probability ratio test: the logarithm of the ratio of the greatest likelihoods
that the counts have at the one and at the other strength. Where the strengths are logistic Elo, these are multinomials
with the mean scores of the two strengths. Where they are normalised Elo, they are normal distributions of the variance
seen, whose means are so many of its standard deviations above one half.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import NormalDist
from typing import Literal

import numpy as np

from assay.errors import RatingError
from assay.records import dataclass
from assay.results.encounters import Floats
from assay.results.ratings import confidence_factor
from assay.results.solve import find_root

Scale = Literal["logistic", "normalised"]
SCALES: tuple[Scale, ...] = ("logistic", "normalised")
# Normalised Elo of one standard deviation of a game.
PER_DEVIATION = 800.0 / math.log(10.0)
_PER_LOGIT = 400.0 / math.log(10.0)
# A score that nobody has made yet is rare, not impossible: so many times it is taken to have occurred.
_RARE = 1e-3
_EDGE = 1e-9
# Elo; no test asks for more.
_FARTHEST = 1000.0
# Loss, draw, win.
_OF_GAMES = np.array((0.0, 0.5, 1.0))


@dataclass(frozen=True)
class Tally:
    """How often each score occurred, from the worst to the best: of games (three counts) or of game pairs (five).

    `singles` are the losses, draws and wins of games beside the pairs: they count in the score and its error.
    """

    counts: tuple[int, ...]
    singles: tuple[int, int, int] = (0, 0, 0)

    def __post_init__(self) -> None:
        if len(self.counts) not in (3, 5):
            raise RatingError("counts are three (losses, draws, wins) or five (pairs with 0, 1/2, 1, 1 1/2, 2 points).")
        if min(self.counts + self.singles) < 0 or not sum(self.counts):
            raise RatingError(f"counts of {_listed(self.counts)}: none may be below zero, and one must be above it.")

    @property
    def per_unit(self) -> int:
        """Games of a unit: a game, or a pair."""
        return len(self.counts) // 2

    @property
    def units(self) -> int:
        """Games, or pairs."""
        return sum(self.counts)

    @property
    def games(self) -> int:
        """Games, also where pairs are counted."""
        return self.units * self.per_unit + sum(self.singles)

    @property
    def scores(self) -> Floats:
        """The score of a game in each case, the mean of its pair where pairs are counted."""
        return np.linspace(0.0, 1.0, len(self.counts))

    def distribution(self, rare: float = 0.0) -> Floats:
        """The share of each score; what never occurred counts as `rare`."""
        counts = np.maximum(np.array(self.counts, np.float64), rare)
        shares: Floats = counts / counts.sum()
        return shares

    @property
    def score(self) -> float:
        """The mean score of a game."""
        points = self.per_unit * float(self.scores @ self.counts) + float(_OF_GAMES @ self.singles)
        return points / self.games

    @property
    def variance(self) -> float:
        """The variance of the score, for each game: what the games of a pair have in common is in it."""
        pairs = self.per_unit**2 * float((self.scores - self.score) ** 2 @ self.counts)
        return (pairs + float((_OF_GAMES - self.score) ** 2 @ self.singles)) / self.games

    @property
    def deviation(self) -> float:
        """The standard error of the mean score."""
        return math.sqrt(self.variance / self.games)

    def elo(self, confidence: float = 0.95) -> tuple[float, float, float]:
        """Elo, and the ends of its interval: infinite where all games were won or lost, unknown where all are alike."""
        if self.variance <= 0.0:
            return elo_of(self.score), math.nan, math.nan
        half = confidence_factor(confidence) * self.deviation
        low, value, high = (elo_of(score) for score in (self.score - half, self.score, self.score + half))
        return value, low, high

    def normalised(self, confidence: float = 0.95) -> tuple[float, float]:
        """Normalised Elo and its error; not a number where all scores were the same."""
        if self.variance <= 0.0:
            return math.nan, math.nan
        value = PER_DEVIATION * (self.score - 0.5) / math.sqrt(self.variance)
        return value, PER_DEVIATION * confidence_factor(confidence) / math.sqrt(self.games)

    @property
    def superiority(self) -> float:
        """The likelihood that the first player is the stronger one.

        Where all scores are alike they tell no variance; each is then a toss that one side has won (by the rule of
        succession a chance of 1 - 2^-(n+1) after n of them).

        >>> Tally((0, 0, 0, 3, 0)).superiority, Tally((0, 0, 9, 0, 0)).superiority
        (0.9375, 0.5)
        """
        if self.variance <= 0.0:
            lost = 0.5 ** (min(self.units + sum(self.singles), 1000) + 1)
            return 0.5 if self.score == 0.5 else 1.0 - lost if self.score > 0.5 else lost
        return NormalDist().cdf((self.score - 0.5) / self.deviation)


@dataclass(frozen=True)
class SequentialTest:
    """A sequential test between two strengths: the log-likelihood ratio, its bounds, and how long it may take.

    `further` are the games still to be expected: at the strength seen, and if the strength is that of either bound.
    """

    elo0: float
    elo1: float
    scale: Scale
    alpha: float
    beta: float
    llr: float
    lower: float
    upper: float
    further: tuple[float, float, float]

    @property
    def accepted(self) -> Literal["H0", "H1"] | None:
        """Which strength the test has accepted; None while it goes on."""
        return "H1" if self.llr >= self.upper else "H0" if self.llr <= self.lower else None

    @property
    def verdict(self) -> str:
        """The same in words."""
        if self.accepted is None:
            return "goes on"
        return f"{self.accepted} accepted: {self.elo1 if self.accepted == 'H1' else self.elo0:g} Elo"


def sprt(
    tally: Tally, elo0: float, elo1: float, *, scale: Scale = "logistic", alpha: float = 0.05, beta: float = 0.05
) -> SequentialTest:
    """Test whether the first player is `elo1` (H1) rather than `elo0` (H0) points ahead.

    >>> test = sprt(Tally((379, 10170, 21828, 10640, 343)), 0, 2, scale="normalised")
    >>> round(test.llr, 3), test.verdict
    (2.946, 'H1 accepted: 2 Elo')
    """
    if scale not in SCALES:
        raise RatingError(f"the bounds of a test are {' or '.join(SCALES)}, not {scale!r}.")
    if not (-_FARTHEST <= elo0 < elo1 <= _FARTHEST):
        raise RatingError(
            f"a test needs two strengths within {_FARTHEST:g} Elo, the smaller one first, not {elo0:g} and {elo1:g}."
        )
    for name, value in (("alpha", alpha), ("beta", beta)):
        if not 0.0 < value < 0.5:
            raise RatingError(f"{name} is {value:g}; it is a share of wrong verdicts between 0 and 0.5.")
    lower, upper = math.log(beta / (1.0 - alpha)), math.log((1.0 - beta) / alpha)
    walk = _logistic(tally, elo0, elo1) if scale == "logistic" else _normalised(tally, elo0, elo1)
    llr = tally.units * walk.drifts[0]
    seen, if0, if1 = (
        tally.per_unit * _time_to_end(llr, lower, upper, drift, variance)
        for drift, variance in zip(walk.drifts, walk.variances, strict=True)
    )
    return SequentialTest(elo0, elo1, scale, alpha, beta, llr, lower, upper, (seen, if0, if1))


@dataclass(frozen=True)
class _Walk:
    """What a unit adds to the log-likelihood ratio, mean and variance: as seen, at the one strength, at the other."""

    drifts: tuple[float, float, float]
    variances: tuple[float, float, float]


def _logistic(tally: Tally, elo0: float, elo1: float) -> _Walk:
    shares, scores = tally.distribution(_RARE), tally.scores
    at0, at1 = (_with_mean(scores, shares, 1.0 / (1.0 + math.exp(-elo / _PER_LOGIT))) for elo in (elo0, elo1))
    steps = np.log(at1 / at0)
    seen, if0, if1 = ((float(truth @ steps), _variance(steps, truth)) for truth in (shares, at0, at1))
    return _Walk((seen[0], if0[0], if1[0]), (seen[1], if0[1], if1[1]))


def _normalised(tally: Tally, elo0: float, elo1: float) -> _Walk:
    shares, scores = tally.distribution(_RARE), tally.scores
    mean = float(scores @ shares)
    ahead = (mean - 0.5) / math.sqrt(_variance(scores, shares))
    at0, at1 = (elo / PER_DEVIATION * math.sqrt(tally.per_unit) for elo in (elo0, elo1))
    drift = (at1 - at0) * (ahead - (at0 + at1) / 2.0)
    gap = (at1 - at0) ** 2
    return _Walk((drift, -gap / 2.0, gap / 2.0), (gap, gap, gap))


def elo_of(score: float) -> float:
    """The logistic Elo of a mean score.

    >>> round(elo_of(0.75), 2), elo_of(1.0)
    (190.85, inf)
    """
    if not 0.0 < score < 1.0:
        return math.inf if score >= 1.0 else -math.inf
    return _PER_LOGIT * math.log(score / (1.0 - score))


def _with_mean(scores: Floats, shares: Floats, mean: float) -> Floats:
    """The likeliest distribution with this mean (empirical likelihood: p / (1 + x (score - mean)))."""
    gaps = scores - mean
    if not gaps.min() < 0.0 < gaps.max():
        raise RatingError("no results have the strengths of --sprt: give strengths nearer to zero.")
    low, high = -1.0 / gaps.max(), -1.0 / gaps.min()
    inside = _EDGE * (high - low)

    def missing(x: float) -> float:
        return -float(np.sum(shares * gaps / (1.0 + x * gaps)))

    tilted: Floats = shares / (1.0 + find_root(missing, low + inside, high - inside, 1e-15) * gaps)
    tilted /= tilted.sum()
    return tilted


def _variance(values: Floats, shares: Floats) -> float:
    return float((values - float(values @ shares)) ** 2 @ shares)


def _time_to_end(at: float, low: float, high: float, drift: float, variance: float) -> float:
    """Steps until a walk with this drift and variance leaves the interval (Brownian motion between two barriers)."""
    if not low < at < high or variance <= 0.0:
        return 0.0
    if abs(drift) * (high - low) < 1e-9 * variance:
        return (at - low) * (high - at) / variance
    pull = 2.0 * drift / variance
    # Written so that no power overflows: the chance of leaving at the upper end.
    if pull > 0:
        up = math.expm1(-pull * (at - low)) / math.expm1(-pull * (high - low))
    else:
        up = math.exp(pull * (high - at)) * math.expm1(pull * (at - low)) / math.expm1(pull * (high - low))
    return (low + (high - low) * up - at) / drift


def _listed(counts: Sequence[int]) -> str:
    return " ".join(map(str, counts))
