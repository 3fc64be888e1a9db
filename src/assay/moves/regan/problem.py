"""The turns of a fit, what its method makes of them at a given s and c, and the one loop of all fits.

What each way of fitting wants to be zero or least is in RH11, sections 6 and 7. Every method looks at a block of turns
and returns, turn by turn, a few quantities with their derivatives by ln s and ln c. Least-squares methods
(`percentile`, `equations`, `ranks`) want the averages of these to vanish; `likelihood` wants the average of its one
quantity, -ln p, to be least. The loop is damped Gauss-Newton in (ln s, ln c) inside a box.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import ModelError, TooFewTurns
from assay.moves.regan.models import Skill, check_played, skill
from assay.moves.regan.spread import CAP, Block, Floats, blocks, scaled
from assay.records import dataclass

# Objective, gradient, and a positive curvature (Gauss-Newton or Fisher).
Evaluation = tuple[float, Floats, Floats]


@dataclass(frozen=True)
class Minimum:
    """Where the loop ended: the point, its objective, whether it converged, which coordinates lie on the box."""

    point: Floats
    value: float
    converged: bool
    on_box: NDArray[np.bool_]

    @property
    def at_edge(self) -> bool:
        """Whether the minimum lies at the edge of its range."""
        return bool(self.on_box.any())


def minimise(
    evaluate: Callable[[Floats], Evaluation],
    start: Floats,
    low: Floats,
    high: Floats,
    *,
    fixed: NDArray[np.bool_] | None = None,
    tolerance: float = 1e-7,
    most: int = 80,
) -> Minimum:
    """Minimise by damped Gauss-Newton (Levenberg-Marquardt); a coordinate that pushes against the box stays there.

    `fixed` coordinates keep their start.

    >>> square = lambda x: (float(((x - 1) ** 2).sum()), 2 * (x - 1), 2 * np.eye(len(x)))
    >>> minimise(square, np.zeros(2), np.full(2, -5.0), np.array([5.0, 0.5])).point.round(6).tolist()
    [1.0, 0.5]
    """
    held = np.zeros(len(start), dtype=bool) if fixed is None else fixed
    x = np.where(held, start, np.clip(start, low, high))
    value, gradient, curvature = evaluate(x)
    damping, evaluations, converged = 1e-4, 1, False
    while evaluations < most:
        free = ~(held | ((x <= low) & (gradient > 0)) | ((x >= high) & (gradient < 0)))
        if not free.any():
            converged = True
            break
        step = np.zeros_like(x)
        inner = curvature[np.ix_(free, free)]
        diagonal = np.diag(inner)
        # A direction without any curvature (nothing at stake) must not make the system singular.
        lift = np.diag(damping * diagonal + 1e-12 * (diagonal.max() + 1e-300))
        step[free] = -np.linalg.solve(inner + lift, gradient[free])
        step /= max(1.0, float(np.abs(step).max()))
        trial = np.where(held, x, np.clip(x + step, low, high))
        if np.abs(trial - x).max() < tolerance:
            converged = True
            break
        new = evaluate(trial)
        evaluations += 1
        if np.isfinite(new[0]) and new[0] < value:
            x, (value, gradient, curvature) = trial, new
            damping = max(damping / 10, 1e-12)
        elif damping > 1e10 or abs(new[0] - value) <= 1e-14 * abs(value):
            # No step is small enough to improve: the objective is flat to the last digit.
            converged = True
            break
        else:
            damping = max(damping * 10, 1e-3)
    return Minimum(x, value, converged, ~held & ((x <= low) | (x >= high)))


MethodName: TypeAlias = Literal["percentile", "equations", "ranks", "likelihood"]

PERCENTILES: Floats = np.arange(1, 20) / 20


@dataclass(frozen=True)
class View:
    """A block as a method sees it: probabilities (moves x turns), their slopes, and what was played.

    `elsewhere` is the error that counts where the played move is outside the list (`played` is -1).
    """

    block: Block
    p: Floats
    by_s: Floats
    by_c: Floats
    played: NDArray[np.intp]
    elsewhere: Floats

    @cached_property
    def deltas(self) -> Floats:
        """Moves x turns; only some methods need them."""
        return self.block.deltas()

    @cached_property
    def before(self) -> Floats:
        """1 for the moves listed before the one played, else 0; moves x turns."""
        return (np.arange(len(self.p))[:, None] < self.played).astype(np.float64)

    def chosen(self, array: Floats) -> Floats:
        """The entry of the played move at each turn; arbitrary where that is elsewhere."""
        return np.asarray(np.take_along_axis(array, np.maximum(self.played, 0)[None, :], axis=0)[0])

    def errors(self) -> Floats:
        """The scaled error of each played move."""
        return np.where(self.played < 0, self.elsewhere, self.chosen(self.deltas))


# Quantities per turn and their two derivatives, each quantities x turns.
Parts = tuple[Floats, Floats, Floats]


def percentile(view: View) -> Parts:
    """R_q - q: the share of turns whose played move lies within the first q of the probability (RH11, section 6).

    The played move covers the interval from p- to p+ of the cumulated probabilities; a percentile q inside it counts
    in part, (q - p-) / (p+ - p-). A move elsewhere lies beyond every q.
    """
    part, x, width = _cover(view)
    slope = np.where((x > 0) & (x < 1) & (view.played >= 0), -1.0 / width, 0.0)
    by_s, by_c = (slope * (np.einsum("it,it->t", view.before, d) + x * view.chosen(d)) for d in (view.by_s, view.by_c))
    return part - PERCENTILES[:, None], by_s, by_c


def percentile_parts(view: View) -> Floats:
    """The part of each turn in R_q, percentiles x turns."""
    return _cover(view)[0]


def _cover(view: View) -> tuple[Floats, Floats, Floats]:
    """How far q reaches into the played move's interval: clipped to 0 ... 1, unclipped, and the interval's width."""
    width = np.maximum(view.chosen(view.p), 1e-30)
    x = (PERCENTILES[:, None] - np.einsum("it,it->t", view.before, view.p)) / width
    part = np.clip(x, 0.0, 1.0)
    part[:, view.played < 0] = 0.0
    return part, x, width


def equations(view: View) -> Parts:
    """Projected minus actual: first-choice matches, and scaled error (RH11, section 7)."""
    value = np.stack([view.p[0] - (view.played == 0), np.einsum("it,it->t", view.p, view.deltas) - view.errors()])
    by_s, by_c = (np.stack([d[0], np.einsum("it,it->t", d, view.deltas)]) for d in (view.by_s, view.by_c))
    return value, by_s, by_c


def error_equation(view: View) -> Parts:
    """The error alone: with c given, one equation for s."""
    value, by_s, by_c = equations(view)
    return value[1:], by_s[1:], by_c[1:]


def ranks(view: View) -> Parts:
    """Projected minus actual frequency of each rank (RH11, section 7)."""
    value = view.p.copy()
    inside = np.flatnonzero(view.played >= 0)
    value[view.played[inside], inside] -= 1.0
    return value, view.by_s, view.by_c


def likelihood(view: View) -> Parts:
    """-ln p of the played move; a move elsewhere has a fixed probability and no slope."""
    inside = view.played >= 0
    p = np.maximum(view.chosen(view.p), 1e-300)
    value = np.where(inside, -np.log(p), 0.0)
    by_s, by_c = (np.where(inside, -view.chosen(d) / p, 0.0) for d in (view.by_s, view.by_c))
    return value[None, :], by_s[None, :], by_c[None, :]


CRITERIA: dict[MethodName, Callable[[View], Parts]] = {
    "percentile": percentile,
    "equations": equations,
    "ranks": ranks,
    "likelihood": likelihood,
}


def information(view: View) -> Floats:
    """Fisher's information of each turn about (ln s, ln c), 2 x 2 x turns: sum_i dp_i dp_i' / p_i."""
    p = np.maximum(view.p, 1e-300)
    by_s, by_c = view.by_s / p, view.by_c / p
    ss, sc, cc = (np.einsum("it,it->t", a, b) for a, b in ((by_s, view.by_s), (by_s, view.by_c), (by_c, view.by_c)))
    return np.array([[ss, sc], [sc, cc]])


START = (0.15, 0.5)
FEWEST_TURNS = 10
FEWEST_TURNS_C_GIVEN = 5
# Beyond so much change of kappa a start from scratch is quicker.
FARTHEST = 1.0
# Averages of two equations under this are zero.
SOLVED = 1e-16


class Problem:
    """Checked turns with a method; each evaluation starts from the solution of the one before."""

    def __init__(
        self,
        deltas: ArrayLike,
        played: ArrayLike,
        method: str,
        model: str,
        curve: str,
        c: float | None,
        games: ArrayLike | None,
        weights: ArrayLike | None,
        elsewhere: ArrayLike | None,
    ) -> None:
        array = np.asarray(deltas)
        if array.ndim not in (2, 3):
            raise ModelError(f"deltas are an array of turns x moves (x depths), not of shape {array.shape}.")
        if method not in CRITERIA:
            raise ModelError(f"unknown method {method!r}: choose one of {', '.join(CRITERIA)}.")
        self.method, self.model, self.curve, self.c = method, model, curve, c
        self.turns = len(array)
        fewest = FEWEST_TURNS if c is None else FEWEST_TURNS_C_GIVEN
        if self.turns < fewest:
            raise TooFewTurns(f"{self.turns} turns are too few for a fit; it takes at least {fewest}.")
        depths = array.shape[2] if array.ndim == 3 else None
        first_c = START[1] if c is None else c
        first = skill(START[0], first_c, turns=1, model=model, curve=curve, weights=weights, depths=depths)
        self.weights = first.weights
        self.fixed = np.array([False, c is not None])
        # With c given there is one unknown, and the error is the equation that says most about s.
        alone = method == "equations" and c is not None
        self.criterion = error_equation if alone else CRITERIA[method]
        self.played = check_played(played, array)
        self.games = _codes(games, self.turns)
        self.elsewhere = _elsewhere(elsewhere, self.turns)
        self.blocks = list(blocks(array))
        self.width = max(block.moves for block in self.blocks)
        self._warm: list[tuple[Floats, Floats, Floats] | None] = [None] * len(self.blocks)
        self._last: tuple[Floats, tuple[Floats, Floats, Floats]] = (np.empty(0), (np.empty(0),) * 3)
        self._refuse_blank(array)

    def _refuse_blank(self, array: NDArray[np.floating]) -> None:
        """Where no move differs from another (a tie value aside), nothing can be learnt of the player."""
        worse = (array > 0) & np.isfinite(array)
        most = array.max(where=worse, initial=0.0)
        if most == 0 or (self.c is None and most == array.min(where=worse, initial=np.inf)):
            raise ModelError("turn 0, like every other, has one move or moves that are all equal: nothing to fit.")
        if (self.played < 0).all():
            raise ModelError("turn 0, like every other, was played outside the moves listed: nothing to fit.")

    def views(self, point: Floats, *, slopes: bool = True) -> Iterator[View]:
        """The turns block by block at (ln s, ln c) = `point`; without slopes these are left empty."""
        s, c = np.exp(point)
        someone = Skill(np.asarray(s), np.asarray(c), self.model, self.curve, self.weights)
        for i, block in enumerate(self.blocks):
            start = self._start(i, point)
            if slopes:
                solved, by = someone.solve_with_slopes(block, start)
                self._warm[i] = (point.copy(), solved.kappa, by.kappa)
                by_s, by_c = by.by_s, by.by_c
            else:
                solved = someone.solve(block, start)
                by_s = by_c = np.empty((0, 0))
            yield View(block, solved.p, by_s, by_c, self.played[block.turns], self.elsewhere[block.turns])

    def _start(self, i: int, point: Floats) -> Floats | None:
        """Kappa of a block to first order, from the last point where it was solved; None if that is far away."""
        warm = self._warm[i]
        if warm is None:
            return None
        before, kappa, slopes = warm
        change = (point - before) @ slopes
        return np.asarray(kappa + change) if np.abs(change).max() < FARTHEST else None

    def evaluate(self, point: Floats) -> Evaluation:
        """Objective, gradient and curvature: half the sum of squared averages, or the average of -ln p."""
        mean, slopes, fisher = self._averages(point)
        if self.method == "likelihood":
            return float(mean[0]), slopes[:, 0], fisher
        return 0.5 * float(mean @ mean), slopes @ mean, slopes @ slopes.T

    def is_solved(self, value: float) -> bool:
        """Whether an objective is as low as the method promises: equations must hold, the others are least."""
        return self.method != "equations" or value < SOLVED

    def scores(self, point: Floats) -> tuple[Floats, Floats]:
        """What each turn adds to the gradient of the objective (2 x turns) and to its curvature (2 x 2 x turns)."""
        mean, slopes, _ = self._averages(point)
        gradients, curvatures = np.empty((2, self.turns)), np.empty((2, 2, self.turns))
        for block, view in zip(self.blocks, self.views(point), strict=True):
            value, *by = self.criterion(view)
            rows = len(value)
            if self.method == "likelihood":
                gradients[:, block.turns] = [d[0] for d in by]
                curvatures[:, :, block.turns] = information(view)
                continue
            for j in range(2):
                # The average and its slope both vary from sample to sample: the product rule.
                gradients[j, block.turns] = _sum(slopes[j, :rows], value) + _sum(mean[:rows], by[j])
                curvatures[j, :, block.turns] = np.stack([_sum(slopes[j, :rows], d) for d in by], axis=1)
        return gradients - gradients.mean(axis=1, keepdims=True), curvatures

    def slope(self, point: Floats, free: NDArray[np.intp], step: float = 0.01) -> Floats:
        """The derivative of the gradient by the free coordinates.

        Gauss-Newton's curvature for least squares: the percentile curve has kinks, and differences of its slope are
        all noise in small samples. The likelihood is smooth, and far enough from the truth to need its own.
        """
        if self.method != "likelihood":
            return self.evaluate(point)[2][np.ix_(free, free)]
        columns = []
        for j in free:
            h = np.zeros(2)
            h[j] = step
            up, down = self.evaluate(point + h)[1], self.evaluate(point - h)[1]
            columns.append((up - down)[free] / (2 * step))
        matrix = np.stack(columns, axis=1)
        return np.asarray((matrix + matrix.T) / 2)

    def _averages(self, point: Floats) -> tuple[Floats, Floats, Floats]:
        """Average quantities of the method, their slopes (2 x quantities), and Fisher's information per turn."""
        if np.array_equal(point, self._last[0]):
            return self._last[1]
        most = max(self.width, len(PERCENTILES))
        total, slopes, fisher = np.zeros(most), np.zeros((2, most)), np.zeros((2, 2))
        used = 0
        for view in self.views(point):
            value, by_s, by_c = self.criterion(view)
            rows = len(value)
            used = max(used, rows)
            total[:rows] += value.sum(axis=1)
            slopes[0, :rows] += by_s.sum(axis=1)
            slopes[1, :rows] += by_c.sum(axis=1)
            if self.method == "likelihood":
                fisher += information(view).sum(axis=2)
        averages = total[:used] / self.turns, slopes[:, :used] / self.turns, fisher / self.turns
        self._last = point.copy(), averages
        return averages


def _sum(weights: Floats, quantities: Floats) -> Floats:
    """Weighted sum of the quantities of each turn. (Not `@`: its threads cost more than they save at this size.)"""
    return np.asarray(np.einsum("q,qt->t", weights, quantities))


def _codes(games: ArrayLike | None, turns: int) -> NDArray[np.intp]:
    """Games as numbers 0, 1, ...; without any, each turn is a game of its own."""
    if games is None:
        return np.arange(turns)
    array = np.asarray(games)
    if array.shape != (turns,):
        raise ModelError(f"there are {turns} turns, but games has shape {array.shape}.")
    return np.unique(array, return_inverse=True)[1]


def _elsewhere(elsewhere: ArrayLike | None, turns: int) -> Floats:
    if elsewhere is None:
        return np.full(turns, -float(scaled(-CAP)))
    array = np.broadcast_to(np.asarray(elsewhere, dtype=np.float64), (turns,))
    bad = ~(np.isfinite(array) & (array >= 0))
    if bad.any():
        raise ModelError(f"turn {int(np.argmax(bad))}: the error of a move elsewhere must be a number of at least 0.")
    return array
