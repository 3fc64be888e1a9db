"""The scale of a calibration: all the numbers that turn play into Elo, and the one function that applies them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from assay.errors import CalibrationError, TooFewTurns
from assay.moves.regan.artery import Artery, Line
from assay.moves.regan.difficulty import Difficulty
from assay.moves.regan.spread import Floats
from assay.moves.regan.tally import SIGNS, Tally

ArteryMethod: TypeAlias = Literal["combined", "error", "match", "likelihood"]
Mix: TypeAlias = Literal["combined", "error", "match", "screening"]
FitMethod: TypeAlias = Literal["percentile", "equations"]

ARTERY_METHODS: tuple[ArteryMethod, ...] = ("combined", "error", "match", "likelihood")
FIT_METHODS: tuple[FitMethod, ...] = ("percentile", "equations")

# How an engine's moves look to a shallower search of the same engine: the first choice at depth 10, seen at depth 8, is
# the first choice there at 62 % of 4,797 turns, among the first three at 87 %, with an average error of .060. On the
# artery that is play of 2800 to 2900. A player who is rated near that is compared with play so much above.
ENGINE_RATING = 2900.0
ENGINE_ABOVE = 150.0

# RMH11: upper bounds from resampling, for those who have too few games to measure their own.
PUBLISHED_FACTORS: Floats = np.array([1.15, 1.15, 1.4])
PUBLISHED_CORRELATION = 0.64


@dataclass(frozen=True)
class Trend:
    """A straight line in Elo, held constant beyond the marks it was measured on.

    >>> Trend(1.0, 0.01, 1600.0, 2700.0)(np.array([2100.0, 3500.0])).round(3).tolist()
    [1.01, 1.07]
    """

    at_2000: float
    per_100: float
    low: float
    high: float

    def __call__(self, rating: Floats | float) -> Floats:
        inside = np.clip(np.asarray(rating, dtype=np.float64), self.low, self.high)
        return np.asarray(self.at_2000 + self.per_100 * (inside - 2000) / 100)


@dataclass(frozen=True)
class Scale:
    """What a calibration measured.

    `line` and `artery` belong to the marks fitted with c on the artery, `lines` to marks fitted with both parameters
    free, by method. `difficulty` says what positions add to what is expected; `ratios` are actual (less that) over
    projected matches, top-3 and errors. `factors` widen the model's standard deviations to those of real games,
    `correlation` is that of the three z's; `weights` combine them to the rating with the least noise,
    `screening_weights` to the z that sees engine-like play best. `prior_games` says how many games of evidence these
    common figures are worth beside a player's own scatter. `power` tempers the likelihood of the posterior;
    `score_offset` and `score_variance` (per turn) do the same for the likelihood as an estimate.
    """

    reference: Floats
    c_at_2000: float
    c_per_100: float
    line: Line
    lines: Mapping[str, Line]
    artery: Artery
    difficulty: Difficulty
    ratios: tuple[Trend, Trend, Trend]
    factors: Floats
    correlation: Floats
    weights: Floats
    screening_weights: Floats
    prior_games: float
    power: float
    score_offset: Trend
    score_variance: Trend

    @property
    def range(self) -> tuple[float, float]:
        """The marks that the calibration stands on; ratings beyond are extrapolated."""
        return self.ratios[0].low, self.ratios[0].high

    def ratio(self, ratings: Floats) -> Floats:
        """Actual over projected at these ratings, ratings x 3."""
        return np.stack([trend(ratings) for trend in self.ratios], axis=-1)

    def mix(self, name: Mix) -> Floats:
        """Weights of the three z's by name, scaled so that the mixed z has variance 1."""
        named: dict[str, Floats] = {
            "match": np.array([1.0, 0.0, 0.0]),
            "error": np.array([0.0, 0.0, 1.0]),
            "combined": self.weights,
            "screening": self.screening_weights,
        }
        if name not in named:
            raise CalibrationError(f"unknown method {name!r}: choose one of {', '.join(ARTERY_METHODS)}.")
        w = named[name]
        return np.asarray(w / np.sqrt(w @ self.correlation @ w))


def engine_rating(elo: Floats) -> Floats:
    """The rating at which engine-like play is placed for players of these ratings.

    >>> engine_rating(np.array([2000.0, 2850.0])).tolist()
    [2900.0, 3000.0]
    """
    return np.maximum(ENGINE_RATING, np.asarray(elo, dtype=np.float64) + ENGINE_ABOVE)


def expectation(tally: Tally, ratings: Floats, scale: Scale) -> Floats:
    """Matches, top-3 moves and error to be expected of each cell at its own rating, cells x 3."""
    return np.asarray(tally.at(ratings)[0] * scale.ratio(ratings) + tally.allowance)


def evidence(tally: Tally, scale: Scale, method: ArteryMethod = "combined") -> Floats:
    """How much each cell speaks for a higher rating than R, at every R of the artery: cells x ratings.

    The sum over cells is a z: at the true rating it has mean 0 and (by the calibration's measure) variance 1, and where
    it crosses zero is the rating. Actual minus expected matches, top-3 and errors are each divided by their standard
    deviation and mixed; for `likelihood` it is the slope of the log-likelihood along the artery.
    """
    variance = np.einsum("nkii->ki", tally.covariance)
    if not (variance > 0).all():
        turns = int(tally.turns.sum())
        raise TooFewTurns(f"there was too little to get wrong in these {turns} turns; it takes others for a rating.")
    if method == "likelihood":
        score = np.gradient(tally.log_likelihood, tally.ratings, axis=1)
        score = score - tally.turns[:, None] * scale.score_offset(tally.ratings)
        return np.asarray(score / np.sqrt(tally.turns.sum() * scale.score_variance(tally.ratings)))
    played = (tally.actual - tally.allowance)[:, None, :]
    residual = SIGNS * (played - tally.expected * scale.ratio(tally.ratings))
    return np.asarray((residual / (scale.factors * np.sqrt(variance))) @ scale.mix(method))
