"""The deep choice among the moves of a list: how often players of every strength find it, and what helpers choose.

A list has every move to a modest depth. The deep choice is the one move that a single line prefers at a depth that help
would use. Beside what the list says already (g0, g1) honest players are drawn to it a little, by what it is like; who
follows an engine plays it, or another move that is good by the list.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import Choices, filled, pawns
from assay.errors import CalibrationError
from assay.moves.choice.features import fold, losses, ranks
from assay.moves.choice.logit import Taste, fit, log_chances
from assay.moves.choice.model import strength

Floats = NDArray[np.float64]
HONEST = ("deep", "deep, found late", "deep, loses by the list", "deep, natural")
HELPER = ("deep", "root of loss", "loss", "rank", "best", "deep, loses by the list")
# Who is followed is this very engine as likely as another one: with others it costs little, with this one it gains much
# (docs/screening.md).
SAME = 0.5
LEAST_NATURAL = -6.0
PINNED = 1e9
RIDGE_EVERYBODY, RIDGE_STRONG, RIDGE_HELPER = 10.0, 40.0, 1.0


@dataclass(frozen=True)
class DeepTaste:
    """Weights of the deep choice: for honest players (everybody, and by strength) and for those who follow an engine.

    `depth` is that of the list, `deep` that of the single line.
    """

    depth: int
    deep: int
    honest: Taste
    helper: Floats

    def exponents(
        self, choices: Choices, row: NDArray[np.int64], natural: NDArray[np.float32], g0: Floats, g1: Floats
    ) -> tuple[Floats, Floats]:
        """g0 and g1 of every move for honest players who may find the deep choice; `row` is its row at each turn."""
        table = traits(choices.to_depth(self.depth), row, natural)[0].astype(np.float64)
        return g0 + table @ self.honest.a, g1 + table @ self.honest.b

    def helped(self, choices: Choices, row: NDArray[np.int64], natural: NDArray[np.float32]) -> Floats:
        """The chance of every move where an engine is followed, be it this one or another."""
        table = traits(choices.to_depth(self.depth), row, natural)[1].astype(np.float64)
        others = np.exp(log_chances(table @ self.helper, choices.start, choices.turn))
        same = np.zeros(len(others))
        same[row[row >= 0]] = 1.0
        known = (row >= 0)[choices.turn]
        return np.where(known, SAME * same + (1 - SAME) * others, others)

    def to_json(self) -> dict[str, Any]:
        """The weights as plain values."""
        honest = zip(HONEST, self.honest.a.tolist(), self.honest.b.tolist(), strict=True)
        return {
            "depth": self.depth,
            "deep": self.deep,
            "honest": [{"name": name, "everybody": a, "strong": b} for name, a, b in honest],
            "helper": dict(zip(HELPER, self.helper.tolist(), strict=True)),
        }


def from_json(data: Mapping[str, Any]) -> DeepTaste:
    """Weights from plain values; CalibrationError if they are none."""
    try:
        rows = {str(row["name"]): row for row in data["honest"]}
        honest = Taste(*(np.array([float(rows[name][key]) for name in HONEST]) for key in ("everybody", "strong")))
        helper = np.array([float(data["helper"][name]) for name in HELPER])
        made = DeepTaste(int(data["depth"]), int(data["deep"]), honest, helper)
    except (KeyError, TypeError, ValueError) as error:
        raise CalibrationError(f"these are no weights of the deep choice ({error}).") from error
    if not all(map(math.isfinite, (*honest.a, *honest.b, *helper))):
        raise CalibrationError("these are no weights of the deep choice: a number is out of bounds.")
    return made


def traits(
    choices: Choices, row: NDArray[np.int64], natural: NDArray[np.float32]
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """What honest players and helpers may be drawn by: a row for each move, a column for each of HONEST and HELPER.

    `row` is the row of the deep choice at each turn, -1 where it is not known; `natural` the logarithm of the chance
    that people would play each move. Found late is the share of the list's depths at which the deep choice was not yet
    the first for good.
    """
    start, turn = choices.start, choices.turn
    codes = filled(choices.codes, start)
    loss = losses(fold(pawns(codes[:, -1:])), start[:-1], turn)[:, 0]
    root = np.sqrt(loss)
    rank = ranks(codes[:, -1], turn, start)
    deep = np.zeros(len(turn), np.float32)
    deep[row[row >= 0]] = 1
    best = np.stack([ranks(codes[:, d], turn, start) == 0 for d in range(choices.depth)], axis=1)
    # From the last depth backwards, how long it stays the first.
    stays = np.cumprod(best[:, ::-1], axis=1).sum(axis=1)
    late = 1 - stays.astype(np.float32) / choices.depth
    people = np.maximum(natural, np.float32(LEAST_NATURAL)) + np.float32(2)
    honest = np.stack([deep, deep * late, deep * root, deep * people], axis=1)
    helper = np.stack([deep, root, loss, np.log1p(rank), rank == 0, deep * root], axis=1)
    return honest.astype(np.float32), helper.astype(np.float32)


def fit_honest(
    choices: Choices,
    row: NDArray[np.int64],
    natural: NDArray[np.float32],
    g0: Floats,
    g1: Floats,
    elo: Floats,
    weight: Floats,
) -> Taste:
    """What draws honest players to the deep choice beyond what the list says, as they rise in strength."""
    table = np.concatenate([np.stack([g0, g1], axis=1), traits(choices, row, natural)[0]], axis=1).astype(np.float32)
    count = len(HONEST)
    # The exponents of the list stay as they are.
    centre = Taste(np.array([1.0, 0.0] + [0.0] * count), np.array([0.0, 1.0] + [0.0] * count))
    everybody, strong = (np.array([PINNED, PINNED] + [one] * count) for one in (RIDGE_EVERYBODY, RIDGE_STRONG))
    group, z = np.round(elo / 100).astype(np.int64), strength(elo)
    played = choices.chosen
    made = fit(table, choices.start, played, z, weight, everybody, strong, group, begin=centre, centre=centre)
    return Taste(made.a[2:], made.b[2:])


def fit_helper(
    choices: Choices, row: NDArray[np.int64], natural: NDArray[np.float32], chosen: NDArray[np.int64]
) -> Floats:
    """What other engines choose, given the list and the deep choice of this one; `chosen` are their rows."""
    table = traits(choices, row, natural)[1]
    count, turns = len(HELPER), len(choices)
    none, one = np.zeros(turns), np.ones(turns)
    ridge, never = np.full(count, RIDGE_HELPER), np.full(count, PINNED)
    return fit(table, choices.start, chosen, none, one, ridge, never, np.zeros(turns, np.int64)).a
