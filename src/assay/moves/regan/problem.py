"""The turns of a fit, laid out once, and what its method makes of them at a given s and c."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import ModelError, TooFewTurns
from assay.moves.regan.blocks import blocks
from assay.moves.regan.criteria import CRITERIA, PERCENTILES, View, error_equation, information
from assay.moves.regan.models import Player, check_played, player
from assay.moves.regan.optimise import Evaluation
from assay.moves.regan.spread import CAP, Floats, scaled

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
        first = player(START[0], first_c, turns=1, model=model, curve=curve, weights=weights, depths=depths)
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
        someone = Player(np.asarray(s), np.asarray(c), self.model, self.curve, self.weights)
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
