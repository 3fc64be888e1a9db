"""Fit s and c to what was played (RH11, sections 6 and 7), with standard errors that know games; and how a fit is set.

Moves of one game are not independent, and no player is exactly the model. So errors come from the sandwich: the
slope of the estimating equations on both sides, and between them the spread of their sums game by game.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import stdtrit

from assay.errors import AssayWarning, ModelError, NotConverged
from assay.moves.regan.models import ModelName, log_with_floor
from assay.moves.regan.problem import (
    CRITERIA,
    PERCENTILES,
    START,
    MethodName,
    Minimum,
    Problem,
    minimise,
    percentile_parts,
)
from assay.moves.regan.spread import CAP, TIE, CurveName, Floats, Scaling, elsewhere_deltas, scaled_deltas
from assay.records import dataclass

S_RANGE = (0.002, 5.0)
C_RANGE = (0.1, 2.0)
MORE_STARTS = ((0.4, 0.8), (0.05, 0.35), (0.8, 0.3))
TOP = 10
DEPTHS: Literal["depths"] = "depths"
GRID: Literal["grid"] = "grid"
FittingMethod: TypeAlias = MethodName | Literal["depths", "grid"]
METHODS: tuple[FittingMethod, ...] = (*CRITERIA, DEPTHS)
TABLE_METHODS: tuple[FittingMethod, ...] = (*METHODS, GRID)  # of tables of fits; a grid is too coarse for a scale
# Engines leave single values out at shallow depths; a depth that lacks more than a tenth was never written down.
VALUED = 0.9


@dataclass(frozen=True)
class Fit:
    """The outcome of a fit.

    `s_error` and `c_error` are standard errors clustered by game, `covariance` theirs together (zero in c where c was
    given, nan where the data cannot tell). `mm` is the share of first-choice matches, `ad` the average scaled error,
    each `predicted` by the fitted model and `actual`; `top_*[k - 1]` are shares among the first k moves, `rank_*[i]`
    shares of rank i. `qfit` is 10^4 times the mean squared difference of the latter; `percentile_curve` is R_q at
    `percentiles`, and `percentile_distance` the mean of (R_q - q)^2. `elsewhere` counts played moves outside the list.
    `effective_games` is the number of games of equal length that would say as much about the errors.
    """

    s: float
    c: float
    s_error: float
    c_error: float
    covariance: Floats
    mm_predicted: float
    mm_actual: float
    ad_predicted: float
    ad_actual: float
    top_predicted: Floats
    top_actual: Floats
    rank_predicted: Floats
    rank_actual: Floats
    qfit: float
    percentiles: Floats
    percentile_curve: Floats
    percentile_distance: float
    log_likelihood: float
    turns: int
    games: int
    effective_games: float
    elsewhere: int
    converged: bool
    at_edge: bool
    c_given: bool
    method: str
    model: str
    curve: str

    @property
    def qfit_mean(self) -> float:
        """S / #q: how far the percentile curve is off, squared, a percentile (RH11, section 6)."""
        return self.percentile_distance

    @property
    def qfit_root(self) -> float:
        """sqrt(S / #q): the same in shares of the turns."""
        return float(np.sqrt(self.percentile_distance))

    def interval(self, parameter: str = "s", level: float = 0.95) -> tuple[float, float]:
        """A confidence interval for `s` or `c`, on the logarithmic scale, by Student's t.

        Both are positive and skewed in small samples, which the logarithm mends. Few games make t matter, with
        `effective_games` - 1 degrees of freedom.
        """
        if parameter not in ("s", "c"):
            raise ModelError(f"the parameters are s and c, not {parameter!r}.")
        value, error = (self.s, self.s_error) if parameter == "s" else (self.c, self.c_error)
        half = float(stdtrit(max(self.effective_games - 1, 1), 0.5 + level / 2)) * error / value
        with np.errstate(over="ignore"):  # where the data tell nothing, the interval is everything
            return value * float(np.exp(-half)), value * float(np.exp(half))


def fit(
    deltas: ArrayLike,
    played: ArrayLike,
    *,
    method: MethodName = "percentile",
    model: ModelName = "power",
    curve: CurveName = "invexp",
    c: float | None = None,
    games: ArrayLike | None = None,
    weights: ArrayLike | None = None,
    elsewhere: ArrayLike | None = None,
    floor: float = 0.002,
    start: tuple[float, float] | None = None,
) -> Fit:
    """Fit s and c (or s alone, with `c` given) to the moves played.

    `deltas` is turns x moves from `scaled_deltas`, `played` the index of the move played, -1 for one outside the
    list: it counts as a miss, as an error of `elsewhere` (from `elsewhere_deltas`; by default the cap's delta in an
    even position), as beyond every percentile, and with the probability `floor` in the likelihood. `games` tells
    which game each turn is from; without it every turn stands for itself.

    Methods: `percentile` (RH11, section 6: the paper's), `equations` (matches and error as projected), `ranks` (rank
    frequencies), `likelihood` (RH11 rejects it: its projections are off).

    Raises `TooFewTurns`, `NotConverged`, or `ModelError` with the turn that is wrong; warns when the best fit lies at
    the edge of the range searched.

    >>> from assay.moves.regan import Agent
    >>> deltas = np.tile([0.0, 0.05, 0.2, 0.8], (400, 1))
    >>> found = fit(deltas, Agent(s=0.1, c=0.5, seed=1).choose_all(deltas), games=np.arange(400) // 20)
    >>> found.turns, found.games, bool(abs(found.s - 0.1) < 3 * found.s_error)
    (400, 20, True)
    """
    problem = Problem(deltas, played, method, model, curve, c, games, weights, elsewhere)
    return settled(problem, _solve(problem, start), floor)


def settled(problem: Problem, minimum: Minimum, floor: float = 0.002, *, method: str | None = None) -> Fit:
    """The fit of a problem at the minimum that was found, with a warning where that lies at an edge."""
    if minimum.at_edge:
        s_edge, c_edge = np.exp(minimum.point)
        warnings.warn(
            f"the best fit lies at the edge of the range searched (s = {s_edge:.3g}, c = {c_edge:.3g}); more turns "
            "or a given c may help.",
            AssayWarning,
            stacklevel=3,
        )
    return _summary(problem, minimum, floor, method or problem.method)


def _solve(problem: Problem, start: tuple[float, float] | None) -> Minimum:
    """The lowest minimum from the first start that ends well, or from all of them."""
    low, high = np.log([S_RANGE[0], C_RANGE[0]]), np.log([S_RANGE[1], C_RANGE[1]])
    found: list[Minimum] = []
    for s, c in (start or START, *MORE_STARTS):
        point = np.log([s, c if problem.c is None else problem.c])
        minimum = minimise(problem.evaluate, point, low, high, fixed=problem.fixed)
        if minimum.converged:
            found.append(minimum)
            if not minimum.at_edge and problem.is_solved(minimum.value):
                break
    if not found:
        raise NotConverged(f"the {problem.method} fit found no s and c for these {problem.turns} turns.")
    best = min(found, key=lambda m: m.value)
    if not best.at_edge and not problem.is_solved(best.value):
        raise NotConverged(
            f"no s and c give the matches and errors of these {problem.turns} turns; use another method or give c."
        )
    return best


def _covariance(problem: Problem, minimum: Minimum) -> Floats:
    """Covariance of (ln s, ln c): the sandwich, clustered by game; nan where a parameter lies at an edge.

    Each game's sum is divided by what remains of the curvature without it (Bell and McCaffrey's CR3), since a game
    that carries much of the fit also pulls it towards itself.
    """
    free = np.flatnonzero(~(minimum.on_box | problem.fixed))
    out = np.full((2, 2), np.nan)
    out[problem.fixed, :] = out[:, problem.fixed] = 0.0
    clusters = int(problem.games.max()) + 1
    if len(free) and clusters > 1:
        gradients, curvatures = problem.scores(minimum.point)
        sums = np.stack([_by_game(problem, gradients[j]) for j in free], axis=1)
        own = np.moveaxis(np.stack([[_by_game(problem, curvatures[j, k]) for k in free] for j in free]), 2, 0)
        try:
            bread = np.linalg.inv(problem.slope(minimum.point, free) * problem.turns)
            alone = np.linalg.solve(np.eye(len(free)) - own @ bread, sums[:, :, None])[:, :, 0]
        except np.linalg.LinAlgError:
            return out  # one game alone, or none, tells the parameters apart
        out[np.ix_(free, free)] = bread @ (alone.T @ alone) @ bread.T * (clusters - 1) / clusters
    return out


def _by_game(problem: Problem, values: Floats) -> Floats:
    return np.asarray(np.bincount(problem.games, weights=values), dtype=np.float64)


def _summary(problem: Problem, minimum: Minimum, floor: float, method: str) -> Fit:
    s, c = np.exp(minimum.point)
    scale = np.array([s, c])
    covariance = _covariance(problem, minimum) * np.outer(scale, scale)
    s_error, c_error = np.sqrt(np.diag(covariance))
    rank_predicted = np.zeros(problem.width)
    curve, log_likelihood, ad_predicted, ad_actual = np.zeros(len(PERCENTILES)), 0.0, 0.0, 0.0
    for view in problem.views(minimum.point, slopes=False):
        rank_predicted[: len(view.p)] += view.p.sum(axis=1)
        curve += percentile_parts(view).sum(axis=1)
        log_likelihood += float(log_with_floor(view.chosen(view.p), view.played, floor).sum())
        ad_predicted += float(np.einsum("it,it->", view.p, view.deltas))
        ad_actual += float(view.errors().sum())
    turns = problem.turns
    per_game = np.bincount(problem.games)
    rank_predicted /= turns
    rank_actual = np.bincount(problem.played[problem.played >= 0], minlength=problem.width) / turns
    curve /= turns
    return Fit(
        s=float(s),
        c=float(c),
        s_error=float(s_error),
        c_error=float(c_error),
        covariance=covariance,
        mm_predicted=float(rank_predicted[0]),
        mm_actual=float(rank_actual[0]),
        ad_predicted=ad_predicted / turns,
        ad_actual=ad_actual / turns,
        top_predicted=np.cumsum(rank_predicted[:TOP]),
        top_actual=np.cumsum(rank_actual[:TOP]),
        rank_predicted=rank_predicted,
        rank_actual=rank_actual,
        qfit=1e4 * float(np.mean((rank_predicted - rank_actual) ** 2)),
        percentiles=PERCENTILES,
        percentile_curve=curve,
        percentile_distance=float(np.mean((curve - PERCENTILES) ** 2)),
        log_likelihood=log_likelihood,
        turns=turns,
        games=len(per_game),
        effective_games=turns**2 / float(np.sum(per_game.astype(float) ** 2)),
        elsewhere=int((problem.played < 0).sum()),
        converged=minimum.converged,
        at_edge=minimum.at_edge,
        c_given=problem.c is not None,
        method=method,
        model=problem.model,
        curve=problem.curve,
    )


# The grid of the papers, every pair of s and c that RH11 (section 6) says it looked at. As printed, c runs from 1 to 5,
# and the table of the same paper has c from .43 to .55: that cannot be the grid that was used. Fitted so, c ends at 1,
# the edge, for players of every strength.
# RH11: s from 0 to .70 by .02, c from 1 to 5 by .20, q by .05. s = 0 is the engine itself, which needs no fit.
S_GRID: Floats = np.linspace(0.02, 0.70, 35)
C_GRID: Floats = np.linspace(1.0, 5.0, 21)


def fit_grid(
    deltas: ArrayLike,
    played: ArrayLike,
    *,
    model: ModelName = "power",
    curve: CurveName = "invexp",
    c: float | None = None,
    games: ArrayLike | None = None,
    elsewhere: ArrayLike | None = None,
) -> Fit:
    """Fit s and c (or s alone, with `c` given) by looking at every point of the printed grid.

    Arguments and answer are those of :func:`assay.moves.regan.fit`.
    """
    problem = Problem(deltas, played, "percentile", model, curve, c, games, None, elsewhere)
    every_c = C_GRID if c is None else np.array([c])
    found = np.array([[_distance(problem, s, one) for s in S_GRID] for one in every_c])
    at_c, at_s = np.unravel_index(int(found.argmin()), found.shape)
    edge = np.array([at_s in (0, len(S_GRID) - 1), c is None and at_c in (0, len(C_GRID) - 1)])
    point = np.log([S_GRID[at_s], every_c[at_c]])
    return settled(problem, Minimum(point, float(found.min()), True, edge), method="grid")


def _distance(problem: Problem, s: float, c: float) -> float:
    """The sum over the percentiles of (R_q - q)^2."""
    curve = np.zeros(len(PERCENTILES))
    for view in problem.views(np.log([s, c]), slopes=False):
        curve += percentile_parts(view).sum(axis=1)
    return float(np.sum((curve / problem.turns - PERCENTILES) ** 2))


@dataclass(frozen=True)
class Fitting:
    """How values become deltas and how they are fitted."""

    method: FittingMethod = "percentile"
    model: ModelName = "power"
    curve: CurveName = "invexp"
    k: float = 1.0
    cap: float = CAP
    tie: float = TIE
    scale: Scaling = "log"

    @property
    def criterion(self) -> MethodName:
        """How s and c are fitted: with weights over depths, as the papers fit them."""
        return criterion_of(self.method)

    def spread(self, values: Floats, played: NDArray[np.integer]) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Deltas, the column of the move played (-1 beyond the cap), and the error of a move elsewhere, per turn."""
        deltas = scaled_deltas(values, k=self.k, cap=self.cap, tie=self.tie, scale=self.scale)
        last = deltas if deltas.ndim == 2 else deltas[:, :, -1]
        inside = np.isfinite(last[np.arange(len(last)), np.maximum(played, 0)]) & (played >= 0)
        elsewhere = elsewhere_deltas(values, k=self.k, cap=self.cap, scale=self.scale)
        return deltas, np.where(inside, played, -1), elsewhere


def criterion_of(method: str) -> MethodName:
    """What a method wants of s and c: weights over depths and the grid leave that as in the papers."""
    return "percentile" if method in (DEPTHS, GRID) else method  # type: ignore[return-value]


def depths_to(depth: int) -> tuple[int, ...]:
    """The depths that are weighed: every second one up to the last.

    >>> depths_to(8), depths_to(13), depths_to(2)
    ((2, 4, 6, 8), (1, 3, 5, 7, 9, 11, 13), (1, 2))
    """
    if depth < 2:
        raise ModelError(f"weights over depths need analyses to depth 2 or more, and these are of depth {depth}.")
    return tuple(range(depth, 0, -2 if depth > 2 else -1))[::-1]


def layered(values: Floats, depths: Sequence[int]) -> Floats:
    """Values of the same moves at several depths (turns x moves x depths) without holes.

    A move without a value at some depth has that of the next one; where a depth lacks them altogether, as in analyses
    that were made elsewhere, there is nothing to weigh.

    >>> layered(np.array([[[0.1, 0.2], [np.nan, 0.0]]] + [[[0.1, 0.2], [0.3, 0.0]]] * 9), (2, 4))[0].tolist()
    [[0.1, 0.2], [0.0, 0.0]]
    """
    listed = np.isfinite(values[:, :, -1])
    share = np.isfinite(values[listed]).mean(axis=0) if listed.any() else np.ones(len(depths))
    if lacking := [str(depth) for depth, valued in zip(depths, share, strict=True) if valued < VALUED]:
        raise ModelError(
            f"weights over depths need the values of every move at depths {', '.join(map(str, depths))}, and these "
            f"analyses lack those of {', '.join(lacking)}: analyse the games with 'assay analyse --depth "
            f"{depths[-1]}', which keeps all depths."
        )
    out = np.where(listed[:, :, None], values, np.nan)
    for layer in range(len(depths) - 2, -1, -1):
        out[:, :, layer] = np.where(np.isnan(out[:, :, layer]), out[:, :, layer + 1], out[:, :, layer])
    return out
