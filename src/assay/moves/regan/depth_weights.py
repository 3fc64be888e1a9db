"""Weights over depths (RH11, section 8): how much a player's judgement rests on what shallower searches see.

The paper announces y_i = sum_d w_d g(delta_i,d) and leaves w_D = 1. Here the weights are fitted together with s and
c, and judged on games that the fit has not seen.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import softmax

from assay.errors import ModelError, NotConverged
from assay.moves.regan.fitting import C_RANGE, S_RANGE, fit
from assay.moves.regan.models import ModelName, Skill, played_log_probabilities
from assay.moves.regan.problem import CRITERIA, Problem, View
from assay.moves.regan.spread import Block, CurveName, Floats, curve_named
from assay.records import dataclass


@dataclass(frozen=True)
class DepthWeights:
    """Fitted weights, and whether they help.

    `gain` is by how much ln p of the played move rises per turn on held-out games, against the last depth alone
    fitted in the same way; `gain_error` its standard error, clustered by game.
    """

    weights: Floats
    s: float
    c: float
    gain: float
    gain_error: float
    turns: int
    games: int
    method: str

    @property
    def helps(self) -> bool:
        """Whether the gain is beyond two standard errors."""
        return self.gain > 2 * self.gain_error


def fit_depth_weights(
    deltas: ArrayLike,
    played: ArrayLike,
    *,
    games: ArrayLike,
    method: Literal["likelihood", "percentile"] = "likelihood",
    model: ModelName = "power",
    curve: CurveName = "invexp",
    folds: int = 2,
    seed: int = 0,
) -> DepthWeights:
    """Fit weights over depths on a simplex, with s and c, and measure on held-out games what they gain.

    `deltas` is turns x moves x depths. Games are dealt into `folds`; each fold is judged by the weights fitted on the
    others. The weights in the answer are fitted on everything.
    """
    array, moves = np.asarray(deltas), np.asarray(played)
    if array.ndim != 3 or array.shape[2] < 2:
        raise ModelError(f"weights over depths need deltas of turns x moves x depths, not of shape {array.shape}.")
    if method not in ("likelihood", "percentile"):
        raise ModelError(f"depth weights are fitted by likelihood or percentile, not by {method!r}.")
    codes = np.unique(np.asarray(games), return_inverse=True)[1]
    if codes.shape != (len(array),):
        raise ModelError(f"there are {len(array)} turns, but games has shape {codes.shape}.")
    if codes.max() + 1 < folds:
        raise ModelError(f"weights over depths are judged on games held out: it takes at least {folds} games.")
    fold = dealt(codes, folds, seed)
    gains = np.empty(len(array))
    for held in range(folds):
        train, test = fold != held, fold == held
        weights, s, c = fit_weights(array[train], moves[train], method, model, curve)
        alone = fit(array[train][:, :, -1], moves[train], method=method, model=model, curve=curve)
        unseen = array[test], moves[test]
        last = unseen[0][:, :, -1], unseen[1]
        gains[test] = played_log_probabilities(*unseen, s, c, model=model, curve=curve, weights=weights)
        gains[test] -= played_log_probabilities(*last, alone.s, alone.c, model=model, curve=curve)
    weights, s, c = fit_weights(array, moves, method, model, curve)
    clustered = np.bincount(codes, weights=gains - gains.mean())
    count = len(clustered)
    error = np.sqrt(np.sum(clustered**2) * count / (count - 1)) / len(array)
    return DepthWeights(weights, s, c, float(gains.mean()), float(error), len(array), count, method)


def fit_weights(
    deltas: NDArray[np.floating],
    played: NDArray[np.integer],
    method: str = "likelihood",
    model: str = "power",
    curve: str = "invexp",
) -> tuple[Floats, float, float]:
    """Weights, s and c by a quasi-Newton search with exact slopes; a softmax keeps the weights on the simplex."""
    depths = deltas.shape[2]
    problem = Problem(deltas, played, method, model, curve, None, None, np.ones(depths), None)
    alone = fit(deltas[:, :, -1], played, method=method, model=model, curve=curve)  # type: ignore[arg-type]
    start = np.r_[np.log([alone.s, alone.c]), np.zeros(depths - 1), 1.0]

    def objective(point: Floats) -> tuple[float, Floats]:
        weights = softmax(point[2:])
        s, c = np.exp(point[:2])
        value, slopes = _averages(problem, Skill(np.asarray(s), np.asarray(c), model, curve, weights))
        by_weight = slopes[2:]
        by_softmax = weights[:, None] * (by_weight - weights @ by_weight)
        by = np.concatenate([slopes[:2], by_softmax])
        if method == "likelihood":
            return float(value[0]), by[:, 0]
        return 0.5e4 * float(value @ value), 1e4 * (by @ value)

    from scipy.optimize import minimize  # a quarter of a second that nobody else need wait for

    box: Sequence[tuple[float, float]] = [
        (np.log(S_RANGE[0]), np.log(S_RANGE[1])),
        (np.log(C_RANGE[0]), np.log(C_RANGE[1])),
        *[(-8.0, 8.0)] * depths,
    ]
    found = minimize(objective, start, jac=True, method="L-BFGS-B", bounds=box, options={"maxiter": 200})
    if not np.isfinite(found.fun):
        raise NotConverged(f"no weights over {depths} depths could be fitted to these {problem.turns} turns.")
    s, c = np.exp(found.x[:2])
    return softmax(found.x[2:]), float(s), float(c)


def _averages(problem: Problem, player: Skill) -> tuple[Floats, Floats]:
    """Average quantities of the method and their slopes by ln s, ln c and each weight (parameters x quantities)."""
    criterion = CRITERIA[problem.method]
    total: Floats | float = 0.0
    slopes: Floats | float = 0.0
    for block in problem.blocks:
        solved, by = player.solve_with_slopes(block)
        others = _weight_slopes(player, block, solved.p_slope)
        changes = [by.by_s, by.by_c, *others]
        parts = []
        for first in range(0, len(changes), 2):
            pair = changes[first], changes[min(first + 1, len(changes) - 1)]
            view = View(block, solved.p, *pair, problem.played[block.turns], problem.elsewhere[block.turns])
            value, one, two = criterion(view)
            parts += [one.sum(axis=1), two.sum(axis=1)]
        total = total + value.sum(axis=1)
        slopes = slopes + np.stack(parts[: len(changes)])
    return np.asarray(total / problem.turns), np.asarray(slopes / problem.turns)


def _weight_slopes(player: Skill, block: Block, p_slope: Floats) -> list[Floats]:
    """dp/dw_d: with b = -ln y, db/dw_d = -g_d / y; only differences of db matter, as everywhere."""
    curve = curve_named(player.curve)
    log_x = block.log_delta - np.log(player.s)
    g = [np.exp(-curve.log_inverse(x, player.c)) for x in log_x]
    assert player.weights is not None
    y = np.maximum(sum(w * one for w, one in zip(player.weights, g, strict=True)), 1e-300)
    total = p_slope.sum(axis=0)
    out = []
    for one in g:
        db = -one / y
        out.append(-p_slope * (db - np.einsum("it,it->t", p_slope, db) / total))
    return out


def dealt(game: NDArray[np.intp], folds: int, seed: int) -> NDArray[np.intp]:
    """The fold 0, 1, ... of each turn, by the code of its game: whole games go together."""
    return np.asarray(np.random.default_rng(seed).permutation(int(game.max()) + 1)[game] % folds)
