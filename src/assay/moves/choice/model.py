"""The fitted choice model: chances of all moves for a player of any strength, and a curve for every turn.

It is a conditional logit whose tastes change with strength: P(move) ~ exp(g0 + z g1), g0 = a.x, g1 = b.x. As the
exponent is linear in z, the log-likelihood of every turn is concave in z, and so is every sum of turns.

With the policy where a side plays as people do, by the values alone where it does not: a rare good move shows strength
in a person, but a shallow or disturbed engine plays rare moves all the time and for other reasons, and would be taken
for stronger than it is. One turn cannot tell the two apart, the side of a game can: the model that knows the policy
foretells a person's moves better than the model of the values alone, and an engine's moves worse. The odds of the two
(even before a move is seen, all ratings alike) say how much of the side's curve is the one's and how much the other's.
They rest on the moves that were played and on no rating; given them, curves add up and stay concave.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID, Curve, Honesty
from assay.engine.choices import Choices
from assay.errors import CalibrationError
from assay.moves.choice.features import Features, features
from assay.moves.choice.measures import Scatter
from assay.records import dataclass

Floats = NDArray[np.float64]
CENTRE, UNIT = 2200.0, 400.0
_SCATTER = ("factors", "correlation", "weights")
_STEPS = 40
_TURNS = 2_000  # worked out together: few enough that their features stay in the cache


@dataclass(frozen=True)
class Taste:
    """What draws everybody (`a`) and what strength changes (`b`), by standardised feature."""

    a: Floats
    b: Floats


def log_chances(g: Floats, start: NDArray[np.int64], turn: NDArray[np.int64]) -> Floats:
    """Log-probabilities of moves from their exponents, turn by turn."""
    first = start[:-1]
    shifted = g - np.maximum.reduceat(g, first)[turn]
    return shifted - np.log(np.add.reduceat(np.exp(shifted), first))[turn]


def fit(
    table: NDArray[np.float32],
    start: NDArray[np.int64],
    chosen: NDArray[np.int64],
    z: Floats,
    weight: Floats,
    ridge_a: Floats,
    ridge_b: Floats,
    group: NDArray[np.int64],
    *,
    begin: Taste | None = None,
    centre: Taste | None = None,
    steps: int = _STEPS,
) -> Taste:
    """Maximise the penalised log-likelihood by Newton's method, halving steps that do not improve.

    The ridge draws to zero, or to the taste at the `centre`.

    The Hessian is added up by `group`, turns of like strength, whose mean z stands for theirs: a matrix for each turn's
    z, z squared and 1 would cost three times as much, and the gradient alone decides where the steps end.
    """
    count = table.shape[1]
    turn = np.repeat(np.arange(len(chosen)), np.diff(start))
    ridge = np.concatenate([ridge_a, ridge_b])
    theta = np.zeros(2 * count) if begin is None else np.concatenate([begin.a, begin.b])
    middle = np.zeros(2 * count) if centre is None else np.concatenate([centre.a, centre.b])
    row_z = z[turn]
    order = _blocks(group, weight)
    picked = table[chosen].astype(np.float64)

    def value(theta: Floats) -> tuple[float, Floats]:
        g = table @ theta[:count].astype(np.float32) + row_z * (table @ theta[count:].astype(np.float32))
        log_p = log_chances(g, start, turn)
        return float(weight @ log_p[chosen] - 0.5 * ridge @ (theta - middle) ** 2), log_p

    best, log_p = value(theta)
    for _ in range(steps):
        p = np.exp(log_p)
        gradient, hessian = _derivatives(table, order, start, p, picked, z, weight)
        gradient -= ridge * (theta - middle)
        hessian[np.diag_indices(2 * count)] += ridge
        step = np.linalg.solve(hessian, gradient)
        size = 1.0
        while size > 1e-4:
            new, new_log_p = value(theta + size * step)
            if new > best:
                break
            size /= 2
        else:
            break
        theta = theta + size * step
        gained, best, log_p = new - best, new, new_log_p
        if gained < 1e-6 * abs(best) / 100:
            break
    return Taste(theta[:count], theta[count:])


def _blocks(group: NDArray[np.int64], weight: Floats) -> list[list[NDArray[np.int64]]]:
    """Turns with any weight, group by group, in blocks that are small enough to work on."""
    blocks = []
    for one in np.unique(group):
        own = np.flatnonzero((group == one) & (weight > 0))
        if len(own):
            blocks.append(np.array_split(own, math.ceil(len(own) / _TURNS)))
    return blocks


def _derivatives(
    table: NDArray[np.float32],
    blocks: list[list[NDArray[np.int64]]],
    start: NDArray[np.int64],
    p: Floats,
    picked: Floats,
    z: Floats,
    weight: Floats,
) -> tuple[Floats, Floats]:
    """Gradient and negative Hessian, without the ridge."""
    count = table.shape[1]
    gradient = np.zeros((2, count))
    hessian = np.zeros((2 * count, 2 * count))
    width = np.diff(start)
    for group in blocks:
        total = np.zeros((count, count), np.float32)
        for turns in group:
            own = width[turns]
            first = np.cumsum(own) - own
            rows = np.repeat(start[turns] - first, own) + np.arange(own.sum())
            x = table[rows]
            share = (p[rows] * np.repeat(weight[turns], own)).astype(np.float32)
            weighed = x * np.sqrt(share)[:, None]
            mean = np.add.reduceat(x * share[:, None], first, axis=0)  # times the weight
            total += weighed.T @ weighed
            spread = mean / np.sqrt(weight[turns]).astype(np.float32)[:, None]
            total -= spread.T @ spread
            off = picked[turns] * weight[turns, None] - mean
            gradient[0] += off.sum(axis=0)
            gradient[1] += z[turns] @ off
        everyone = np.concatenate(group)
        mid = float(weight[everyone] @ z[everyone] / weight[everyone].sum())
        hessian += np.kron(np.array([[1, mid], [mid, mid * mid]]), total)
    return gradient.ravel(), hessian


def strength(elo: Floats | float) -> Floats:
    """The inner scale of the model: z = (Elo - 2200) / 400."""
    return (np.asarray(elo, np.float64) - CENTRE) / UNIT


@dataclass(frozen=True)
class Model:
    """Features with their divisors and weights: `a` draws everybody to a move, `b` more the stronger they are.

    `lift` puts ratings right where curves are of this model and of the values' alone (module `mixture`): so many Elo
    are people taken for weaker there, because some of them are taken for no people.
    """

    depth: int
    names: tuple[str, ...]
    kinds: tuple[str, ...]
    divisors: Floats
    taste: Taste
    honesty: Honesty
    scatter: Scatter
    lift: float = 0.0

    def exponents(self, choices: Choices, log_policy: NDArray[np.float32] | None = None) -> tuple[Floats, Floats]:
        """g0 and g1 of every move."""
        return exponents([self], choices, log_policy)[0]

    @property
    def weights(self) -> NDArray[np.float32]:
        """What a unit of each feature adds to g0 and to g1."""
        return (np.stack([self.taste.a, self.taste.b], axis=1) / self.divisors[:, None]).astype(np.float32)

    def own(self, found: Features) -> NDArray[np.float32]:
        if found.names == self.names:
            return found.table
        column = {name: at for at, name in enumerate(found.names)}
        return found.table[:, [column[name] for name in self.names]]

    def curve(self, choices: Choices, log_policy: NDArray[np.float32] | None = None) -> Curve:
        """The log-likelihood of every rating, a row per turn."""
        g0, g1 = self.exponents(choices, log_policy)
        return curve_of(g0, g1, choices)

    def log_chances(
        self, choices: Choices, elo: Floats | float, log_policy: NDArray[np.float32] | None = None
    ) -> Floats:
        """The logarithm of every move's chance for a player of this rating (one for all turns, or one for each)."""
        g0, g1 = self.exponents(choices, log_policy)
        z = np.broadcast_to(strength(elo), (len(choices),))
        return log_chances(g0 + z[choices.turn] * g1, choices.start, choices.turn)

    @property
    def wants_policy(self) -> bool:
        """Whether the model rests on what people would play, too."""
        return "policy" in self.kinds

    def to_json(self) -> dict[str, Any]:
        """The model as plain values: a row for each feature."""
        rows = zip(
            self.names, self.kinds, self.divisors.tolist(), self.taste.a.tolist(), self.taste.b.tolist(), strict=True
        )
        return {
            "depth": self.depth,
            "power": self.honesty.power,
            "scale_error": self.honesty.scale_error,
            "lift": self.lift,
            "scatter": {name: getattr(self.scatter, name).tolist() for name in _SCATTER},
            "features": [
                {"name": name, "kind": kind, "divisor": divisor, "everybody": a, "strong": b}
                for name, kind, divisor, a, b in rows
            ],
        }


def from_json(data: Mapping[str, Any]) -> Model:
    """A model from plain values; CalibrationError if they make none."""
    try:
        rows = list(data["features"])
        numbers = {key: [float(row[key]) for row in rows] for key in ("divisor", "everybody", "strong")}
        honesty = Honesty(float(data["power"]), float(data["scale_error"]))
        made = Model(
            depth=int(data["depth"]),
            names=tuple(str(row["name"]) for row in rows),
            kinds=tuple(str(row["kind"]) for row in rows),
            divisors=np.array(numbers["divisor"]),
            taste=Taste(np.array(numbers["everybody"]), np.array(numbers["strong"])),
            honesty=honesty,
            scatter=Scatter(*(np.asarray(data["scatter"][name], np.float64) for name in _SCATTER)),
            lift=float(data.get("lift", 0.0)),
        )
    except (KeyError, TypeError, ValueError, OverflowError) as error:
        raise CalibrationError(f"this is no choice model ({type(error).__name__} {error}).") from error
    spread = made.scatter
    values = [*made.taste.a, *made.taste.b, honesty.power, honesty.scale_error, made.lift, *spread.correlation.ravel()]
    values += [*spread.factors, *spread.weights]
    unfit = not made.names or len(set(made.names)) < len(made.names) or not 1 <= made.depth <= 244
    unfit |= (spread.factors.shape, spread.correlation.shape, spread.weights.shape) != ((3,), (3, 3), (3,))
    unfit |= not (spread.factors > 0).all() or not spread.weights.sum() > 0
    if unfit or not all(map(math.isfinite, values)) or not (made.divisors > 0).all() or not honesty.power > 0:
        raise CalibrationError("this is no choice model: its numbers are out of bounds.")
    return made


def exponents(
    models: Sequence[Model], choices: Choices, log_policy: NDArray[np.float32] | None = None
) -> list[tuple[Floats, Floats]]:
    """g0 and g1 of every move by each of some models of one depth, whose features are worked out once."""
    out = [np.empty((len(choices.moves), 2), np.float32) for _ in models]
    at = 0
    for part in choices.to_depth(models[0].depth).parts(_TURNS):
        rows = slice(at, at + len(part.moves))
        found = features(part, None if log_policy is None else log_policy[rows])
        for model, both in zip(models, out, strict=True):
            both[rows] = model.own(found) @ model.weights
        at = rows.stop
    return [(both[:, 0].astype(np.float64), both[:, 1].astype(np.float64)) for both in out]


def curve_of(g0: Floats, g1: Floats, choices: Choices, grid: Floats = GRID) -> Curve:
    """The curve of every turn from the exponents of its moves."""
    first, turn, chosen = choices.start[:-1], choices.turn, choices.chosen
    low, high = g0.astype(np.float32), g1.astype(np.float32)
    table = np.empty((len(choices), len(grid)))
    for at, z in enumerate(strength(grid)):
        g = low + np.float32(z) * high
        top = np.maximum.reduceat(g, first)
        total = np.add.reduceat(np.exp(g - top[turn]), first)
        table[:, at] = g[chosen] - top - np.log(total)
    return Curve(table, grid)


def human(policy: Curve, plain: Curve, side: NDArray[np.intp]) -> Floats:
    """How far the side that each turn belongs to passes for a person, from 0 to 1; curves are log-likelihoods."""
    if not len(side):
        return np.zeros(0)
    count = int(side.max()) + 1
    odds = _evidence(policy.sum(side, count)) - _evidence(plain.sum(side, count))
    share: Floats = 0.5 + 0.5 * np.tanh(odds / 2)
    return share[side]


def mixed(policy: Curve, plain: Curve, share: Floats) -> Curve:
    """The curves of turns, so much by the policy's model and the rest by the values alone."""
    return Curve(share[:, None] * policy.table + (1 - share)[:, None] * plain.table, policy.grid)


def _evidence(curve: Curve) -> Floats:
    """The logarithm of the mean likelihood over the grid, all ratings alike."""
    top = curve.table.max(axis=1)
    found: Floats = top + np.log(np.exp(curve.table - top[:, None]).mean(axis=1))
    return found
