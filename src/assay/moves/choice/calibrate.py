"""Fitting the choice model to games of rated players, and judging it on players that the fit has not seen.

Players are dealt into folds; each fold's turns are judged by a model of the others. From these held-out curves come the
line that puts the scale right, the power and the error of the scale that make intervals hold, and the figures by which
one model is chosen over another: the noise of a turn first.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID, Curve, Honesty
from assay.engine.choices import Choices, pawns
from assay.held_out import Figure, noise_per_turn
from assay.moves.choice.features import BOUNDED, NATURAL, divisors, features
from assay.moves.choice.measures import Measures, Scatter, engine_rating, measure, scatter, scores
from assay.moves.choice.model import Model, Taste, curve_of, fit, human, log_chances, mixed, strength
from assay.records import dataclass

Floats = NDArray[np.float64]

JUDGED, LEARNED = 3.0, 5.0  # pawns: turns further from equality are not judged, not learned from
FOLDS = 4
# Ridge on what draws everybody and on what strength changes, by kind of feature. The second sets the scale: style must
# not become strength.
RIDGE: Mapping[str, tuple[float, float]] = {
    "value": (30, 2_000),
    "position": (30, 8_000),
    "product": (30, 8_000),
    "move": (30, 200_000),
    "policy": (30, 200),
}
NEVER = 1e12
NOT_BESIDE_POLICY = "product"  # what these tell of people the policy knows better: without them there is less noise


@dataclass(frozen=True)
class Rated:
    """Turns of rated players: the choices, and for each turn the mover's rating, mark, number, and the game."""

    choices: Choices
    elo: Floats
    mark: NDArray[np.int64]
    player: NDArray[np.int64]
    game: NDArray[np.int64]
    log_policy: NDArray[np.float32] | None = None

    def __len__(self) -> int:
        return len(self.choices)

    def only(self, turns: NDArray[np.bool_]) -> Rated:
        """These turns alone."""
        own = {name: getattr(self, name)[turns] for name in ("elo", "mark", "player", "game")}
        rows = turns[self.choices.turn]
        policy = None if self.log_policy is None else self.log_policy[rows]
        return Rated(self.choices.only(turns), log_policy=policy, **own)

    def to_depth(self, depth: int) -> Rated:
        """The same at a lesser depth, without turns that are too far from equality to learn from."""
        found = replace(self, choices=self.choices.to_depth(depth))
        return found.only((np.abs(found.best) <= LEARNED) & (found.choices.width > 1))

    @property
    def best(self) -> NDArray[np.float32]:
        """The value of the best move of each turn at the deepest depth, in pawns."""
        return self.to_best(self.choices.depth)

    def to_best(self, depth: int) -> NDArray[np.float32]:
        """The value of the best move of each turn at a depth, in pawns."""
        best: NDArray[np.float32] = np.fmax.reduceat(pawns(self.choices.codes[:, depth - 1]), self.choices.start[:-1])
        return best


@dataclass(frozen=True)
class Judgement:
    """What held-out players say of a model."""

    turns: int
    sides: int
    log_likelihood: float
    top1: float
    noise: Figure
    slope: Figure
    marks: tuple[tuple[int, int, float, float], ...]  # mark, turns, offset, its error
    power: float
    scale_error: float

    @property
    def offset(self) -> float:
        """How far the marks are off, all counting alike."""
        return float(np.mean([offset for _, _, offset, _ in self.marks]))

    def __str__(self) -> str:
        off = " ".join(f"{offset:+.0f}" for _, _, offset, _ in self.marks)
        return (
            f"{self.turns} turns: ln p {self.log_likelihood:.4f}, first {self.top1:.3f}, noise {self.noise.value:.0f} "
            f"+- {self.noise.error:.0f}, slope {self.slope.value:.3f}, power {self.power:.2f}, scale "
            f"{self.scale_error:.0f}; marks {off}"
        )


@dataclass(frozen=True)
class Calibrated:
    """A model of all turns, how it was judged with players held out, and the held-out curves and exponents.

    `judged` tells which turns were judged: those near enough to equality.
    """

    model: Model
    judgement: Judgement
    judged: NDArray[np.bool_]
    curve: Curve
    g0: Floats
    g1: Floats


def folds_of(player: NDArray[np.int64], folds: int = FOLDS, seed: int = 1) -> NDArray[np.int64]:
    """Deal players into folds; all turns of one player are held out together."""
    code = np.unique(player, return_inverse=True)[1].reshape(-1)
    dealt: NDArray[np.int64] = (np.random.default_rng(seed).permutation(int(code.max()) + 1) % folds)[code]
    return dealt


def even(mark: NDArray[np.int64]) -> Floats:
    """Weights that make all marks count alike: else the crowd in the middle flattens the scale."""
    _, code, count = np.unique(mark, return_inverse=True, return_counts=True)
    weights: Floats = (len(mark) / len(count) / count)[code.reshape(-1)]
    return weights


def calibrate(
    rated: Rated,
    depth: int,
    *,
    folds: int = FOLDS,
    seed: int = 1,
    keep: Callable[[str, str], bool] | None = None,
    ridge: Mapping[str, tuple[float, float]] = RIDGE,
    plain: Calibrated | None = None,
    told: Callable[[str], None] = lambda _: None,
) -> Calibrated:
    """Fit the model of this depth; `keep` says by name and kind which features take part, all that pay if it is None.

    With a policy and beside it the model of the same turns by values alone (`plain`), what is natural changes with
    strength as it will, and curves are of both models, as far as each side passes for a person; products of features do
    not pay there. Without `plain` the policy's part in strength is bounded: play that is not human would gain by it.
    """
    rated = rated.to_depth(depth)
    found = features(rated.choices, rated.log_policy)
    root = np.sqrt(found.table[:, found.names.index(f"loss, depth {depth}")])
    if plain is not None:
        paying = keep or (lambda name, kind: kind != NOT_BESIDE_POLICY)
        found = found.only(lambda name, kind: name != BOUNDED and paying(name, kind))
    elif keep is not None:
        found = found.only(keep)
    scale = divisors(found.table, root, rated.choices)
    table = found.table
    table /= scale
    penalty = np.array([ridge[kind] for kind in found.kinds], np.float64)
    if plain is None:
        penalty[[name == NATURAL for name in found.names], 1] = NEVER
    choices, z, weight = rated.choices, strength(rated.elo), even(rated.mark)
    fold = folds_of(rated.player, folds, seed)
    g0, g1 = np.empty(len(table)), np.empty(len(table))
    group = np.round(rated.elo / 100).astype(np.int64)

    def fitted(weight: Floats, begin: Taste | None) -> Taste:
        return fit(table, choices.start, choices.chosen, z, weight, penalty[:, 0], penalty[:, 1], group, begin=begin)

    everybody = fitted(weight, None)
    told("fitted to all")
    for one in range(folds):
        own = fitted(np.where(fold == one, 0.0, weight), everybody)
        rows = (fold == one)[choices.turn]
        g0[rows], g1[rows] = table[rows] @ own.a, table[rows] @ own.b
        told(f"fold {one + 1} of {folds} held out")
    judged = np.abs(rated.best) <= JUDGED
    alpha, beta = _line(g0, g1, choices, z, weight * judged)
    g0, g1 = g0 + alpha * g1, beta * g1
    curve, lift = curve_of(g0, g1, choices), 0.0
    if plain is not None:
        side = np.unique(choices.unit, return_inverse=True)[1].reshape(-1)
        mine, other = (Curve(one.table * judged[:, None], one.grid) for one in (curve, plain.curve))
        share = human(mine, other, side)
        lift = -judge(rated, g0, g1, mixed(curve, plain.curve, share), judged).offset
        mine, other = (curve_of(*own, choices, GRID - lift) for own in ((g0, g1), (plain.g0, plain.g1)))
        curve = Curve(mixed(mine, other, share).table, GRID)
    judgement = judge(rated, g0, g1, curve, judged)
    model = Model(
        depth=depth,
        names=found.names,
        kinds=found.kinds,
        divisors=scale.astype(np.float64),
        taste=Taste(everybody.a + alpha * everybody.b, beta * everybody.b),
        honesty=Honesty(judgement.power, judgement.scale_error),
        scatter=scattered(rated.only(judged), g0[judged[choices.turn]], g1[judged[choices.turn]]),
        lift=lift,
    )
    return Calibrated(model, judgement, judged, curve, g0, g1)


def scattered(rated: Rated, g0: Floats, g1: Floats) -> Scatter:
    """How sides of games scatter about what held-out exponents expect of their ratings; marks count alike."""
    choices, scored = rated.choices, scores(rated.choices)
    code = np.unique(choices.unit, return_inverse=True)[1].reshape(-1)
    first = np.unique(code, return_index=True)[1]

    def sums(elo: Floats) -> Measures:
        log_p = log_chances(g0 + strength(elo)[choices.turn] * g1, choices.start, choices.turn)
        return measure(scored, np.exp(log_p), choices).sum(code, len(first))

    return scatter(sums(rated.elo), sums(engine_rating(rated.elo)).expected, even(rated.mark[first]))


def _line(g0: Floats, g1: Floats, choices: Choices, z: Floats, weight: Floats) -> tuple[float, float]:
    """alpha and beta that make z -> alpha + beta z most likely on held-out turns."""
    start, turn, chosen = choices.start, choices.turn, choices.chosen
    first = start[:-1]
    alpha, beta = 0.0, 1.0
    for _ in range(20):
        inner = alpha + beta * z
        p = np.exp(log_chances(g0 + inner[turn] * g1, start, turn))
        mean = np.add.reduceat(p * g1, first)
        variance = np.add.reduceat(p * g1**2, first) - mean**2
        off = g1[chosen] - mean
        gradient = np.array([weight @ off, (weight * z) @ off])
        cross = (weight * z) @ variance
        hessian = np.array([[weight @ variance, cross], [cross, (weight * z**2) @ variance]])
        step = np.linalg.solve(hessian, gradient)
        alpha, beta = alpha + float(step[0]), beta + float(step[1])
        if np.abs(step).max() < 1e-6:
            break
    return alpha, beta


def judge(rated: Rated, g0: Floats, g1: Floats, curve: Curve, judged: NDArray[np.bool_]) -> Judgement:
    """Figures of held-out exponents, over the turns that are judged."""
    choices = rated.choices
    log_p = log_chances(g0 + strength(rated.elo)[choices.turn] * g1, choices.start, choices.turn)
    played = log_p[choices.chosen]
    best = np.maximum.reduceat(log_p, choices.start[:-1])
    units, code = np.unique(choices.unit[judged], return_inverse=True)
    first = np.unique(code, return_index=True)[1]
    sides = curve[judged].sum(code, len(units))
    mark, elo, game = (values[judged][first] for values in (rated.mark, rated.elo, rated.game))
    turns = np.bincount(code).astype(float)
    marks = np.unique(mark)
    tops = sides.sum(np.searchsorted(marks, mark), len(marks)).tops()
    at = tops[np.searchsorted(marks, mark)]
    score, bend = sides.slopes(at)
    noise, slope = noise_per_turn(score, -bend, turns, mark, elo.astype(float), at, game)
    rows = []
    for own, top in zip(marks, tops, strict=True):
        here = mark == own
        information = -bend[here].sum()
        error = float(np.sqrt((score[here] ** 2).sum()) / information)
        rows.append((int(own), int(turns[here].sum()), float(top - elo[here].mean()), error))
    power = float(-bend.sum() / (score**2).sum())
    excess = [offset**2 - error**2 for _, _, offset, error in rows]
    return Judgement(
        turns=int(judged.sum()),
        sides=len(units),
        log_likelihood=float(played[judged].mean()),
        top1=float((played >= best)[judged].mean()),
        noise=noise,
        slope=slope,
        marks=tuple(rows),
        power=min(power, 1.0),
        scale_error=math.sqrt(max(float(np.mean(excess)), 0.0)),
    )
