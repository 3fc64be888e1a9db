"""The deep choice among the moves of a list: how often players of every strength find it, and what helpers choose.

A list has every move to a modest depth. The deep choice is the one move that a single line prefers at a depth that help
would use. Beside what the list says already (g0, g1) honest players are drawn to it a little, by what it is like; who
follows an engine plays it, or another move that is good by the list. What other engines choose, where they were asked,
tells better than one engine's choice what a further one would.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import Choices, filled, pawns
from assay.engine.score import MISSING
from assay.errors import CalibrationError
from assay.moves.choice.features import fold, losses, ranks
from assay.moves.choice.model import Taste, fit, log_chances, strength
from assay.records import dataclass

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
HONEST = ("deep", "deep, found late", "deep, loses by the list", "deep, natural", "deep, steady", "deep, unlikely")
HELPER = ("deep", "root of loss", "loss", "rank", "best", "deep, loses by the list", "deep, steady", "deep, at last")
# What comes to each where other engines were asked.
HONEST_VOTES, HELPER_VOTES = ("votes", "votes, unlikely"), ("votes", "votes, root of loss")
# Who follows an engine that was asked plays its choice there, or what it chooses at another time; and where nothing is
# known of whom, one of those asked is as likely as another one (docs/screening.md).
ITS = 0.7
SAME = 0.5
LEAST_NATURAL = -6.0
UNLIKELY = 1.5
PINNED = 1e9
RIDGE_EVERYBODY, RIDGE_STRONG, RIDGE_HELPER = 10.0, 40.0, 1.0


@dataclass(frozen=True)
class DeepChoices:
    """The row of the deep choice of each turn, -1 where it is not known, and how it came to be the choice.

    `stays` has a bit for each depth of the single line at which it was the first, the last depth in the lowest;
    `others` are the rows that further engines choose.
    """

    row: NDArray[np.int64]
    stays: NDArray[np.uint32]
    others: tuple[NDArray[np.int64], ...] = ()

    def marks(self, moves: int) -> Floats:
        """Of every move whether it is the deep choice, as 1 or 0."""
        return _marked([self.row], moves)

    def votes(self, moves: int, turn: NDArray[np.integer]) -> Floats:
        """Which share of the further engines chooses each move; 0 where none was asked. `turn` is that of each move."""
        return _shares(self.others, moves, turn)

    def mass(self, moves: int, turn: NDArray[np.integer]) -> Floats:
        """Which share of all the engines that were asked chooses each move."""
        return _shares((self.row, *self.others), moves, turn)

    def steady(self) -> Floats:
        """At how many of the last eight depths it was the first, as a share."""
        return np.asarray(np.bitwise_count(self.stays & 0xFF) / 8.0, np.float64)

    def at_last(self) -> Floats:
        """For how many depths at the end it was the first without a break, as a share of eight."""
        broken = ~self.stays.astype(np.int64) & 0xFF | 0x100
        return np.asarray(np.log2(broken & -broken) / 8.0, np.float64)


def _marked(rows: Sequence[NDArray[np.int64]], moves: int) -> Floats:
    """How many of the engines choose each move."""
    known = np.concatenate([np.empty(0, np.int64), *(row[row >= 0] for row in rows)])
    return np.bincount(known, minlength=moves).astype(np.float64)


def _shares(rows: Sequence[NDArray[np.int64]], moves: int, turn: NDArray[np.integer]) -> Floats:
    if not rows:
        return np.zeros(moves)
    asked = np.maximum(np.sum([row >= 0 for row in rows], axis=0), 1)
    return np.asarray(_marked(rows, moves) / asked[turn])


def stays_of(values: NDArray[np.int16]) -> int:
    """The bits of `DeepChoices` of a move's values by depth; of 32 depths at most.

    >>> stays_of(np.array([20, 15, MISSING, 30, 25], np.int16))
    27
    """
    return sum(1 << back for back, value in enumerate(values[::-1][:32].tolist()) if value != MISSING)


@dataclass(frozen=True)
class DeepTaste:
    """Weights of the deep choice: for honest players (everybody, and by strength) and for those who follow an engine.

    `depth` is that of the list, `deep` that of the single line. Weights of `votes` are for turns at which further
    engines were asked.
    """

    depth: int
    deep: int
    honest: Taste
    helper: Floats

    @property
    def votes(self) -> bool:
        """Whether it knows of further engines."""
        return len(self.helper) > len(HELPER)

    def exponents(
        self, choices: Choices, deep: DeepChoices, natural: NDArray[np.float32], g0: Floats, g1: Floats
    ) -> tuple[Floats, Floats]:
        """g0 and g1 of every move for honest players who may find the deep choice."""
        table = honest_traits(choices.to_depth(self.depth), deep, natural, g0)
        return g0 + table @ self.honest.a, g1 + table @ self.honest.b

    def helped(self, choices: Choices, deep: DeepChoices) -> Floats:
        """The chance of every move where an engine is followed: a column for each that was asked, the last for any."""
        table, turn = helper_traits(choices.to_depth(self.depth), deep), choices.turn
        others = np.exp(log_chances(table @ self.helper, choices.start, turn))

        def mixed(row: NDArray[np.int64], chosen: Floats, share: float) -> Floats:
            return np.where((row >= 0)[turn], share * chosen + (1 - share) * others, others)

        each = [mixed(row, _marked([row], len(turn)), ITS) for row in (deep.row, *deep.others)]
        return np.column_stack([*each, mixed(deep.row, deep.mass(len(turn), turn), SAME)])

    def to_json(self) -> dict[str, Any]:
        """The weights as plain values."""
        of_honest, of_helper = names(self.votes)
        honest = zip(of_honest, self.honest.a.tolist(), self.honest.b.tolist(), strict=True)
        return {
            "depth": self.depth,
            "deep": self.deep,
            "votes": self.votes,
            "honest": [{"name": name, "everybody": a, "strong": b} for name, a, b in honest],
            "helper": dict(zip(of_helper, self.helper.tolist(), strict=True)),
        }


def names(votes: bool) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """What honest players and helpers are drawn by, with and without what further engines say."""
    return (HONEST + HONEST_VOTES, HELPER + HELPER_VOTES) if votes else (HONEST, HELPER)


def from_json(data: Mapping[str, Any]) -> DeepTaste:
    """Weights from plain values; CalibrationError if they are none."""
    try:
        rows = {str(row["name"]): row for row in data["honest"]}
        of_honest, of_helper = names(bool(data["votes"]))
        honest = Taste(*(np.array([float(rows[name][key]) for name in of_honest]) for key in ("everybody", "strong")))
        helper = np.array([float(data["helper"][name]) for name in of_helper])
        made = DeepTaste(int(data["depth"]), int(data["deep"]), honest, helper)
    except (KeyError, TypeError, ValueError) as error:
        raise CalibrationError(f"these are no weights of the deep choice ({error}).") from error
    if not all(map(math.isfinite, (*honest.a, *honest.b, *helper))):
        raise CalibrationError("these are no weights of the deep choice: a number is out of bounds.")
    return made


def honest_traits(choices: Choices, deep: DeepChoices, natural: NDArray[np.float32], g0: Floats) -> Floats:
    """What honest players may be drawn by: a row for each move, a column for each of their names.

    `natural` is the logarithm of the chance that people would play each move, `g0` the list's exponent. Found late is
    the share of the list's depths at which the deep choice was not yet the first for good. Unlikely is how far its
    chance by the list (for a player of 2200) lies below a fifth: lists take for errors what people see to be none.
    """
    start, turn = choices.start, choices.turn
    codes, _, root, _ = _listed(choices)
    best = np.stack([ranks(codes[:, d], turn, start) == 0 for d in range(choices.depth)], axis=1)
    # From the last depth backwards, how long it stays the first.
    stays = np.cumprod(best[:, ::-1], axis=1).sum(axis=1)
    people = np.maximum(natural, np.float32(LEAST_NATURAL)) + np.float32(2)
    unlikely = np.clip(-log_chances(g0, start, turn) - UNLIKELY, 0.0, 4.0)
    each = (np.ones(len(turn)), 1 - stays / choices.depth, root, people, deep.steady()[turn], unlikely)
    own = np.asarray(deep.marks(len(turn))[:, None] * np.stack(each, axis=1), np.float64)
    votes = deep.votes(len(turn), turn)
    return np.column_stack([own, votes, votes * unlikely]) if deep.others else own


def helper_traits(choices: Choices, deep: DeepChoices) -> Floats:
    """What engines are drawn by, a column for each of their names.

    What was the first at many of the last depths of the single line, other engines choose, too.
    """
    turn, is_deep = choices.turn, deep.marks(len(choices.turn))
    _, loss, root, rank = _listed(choices)
    steady, at_last = is_deep * deep.steady()[turn], is_deep * deep.at_last()[turn]
    each = (is_deep, root, loss, np.log1p(rank), rank == 0, is_deep * root, steady, at_last)
    own = np.asarray(np.stack(each, axis=1), np.float64)
    votes = deep.votes(len(turn), turn)
    return np.column_stack([own, votes, votes * root]) if deep.others else own


def _listed(choices: Choices) -> tuple[NDArray[np.int16], Singles, Singles, Singles]:
    """The values of a list without gaps; of each move what it loses, the root of that, and its rank."""
    codes = filled(choices.codes, choices.start)
    loss = losses(fold(pawns(codes[:, -1:])), choices.start[:-1], choices.turn)[:, 0]
    return codes, loss, np.sqrt(loss), ranks(codes[:, -1], choices.turn, choices.start)


def fit_honest(
    choices: Choices,
    deep: DeepChoices,
    natural: NDArray[np.float32],
    g0: Floats,
    g1: Floats,
    elo: Floats,
    weight: Floats,
) -> Taste:
    """What draws honest players to the deep choice beyond what the list says, as they rise in strength."""
    own = honest_traits(choices, deep, natural, g0)
    table = np.concatenate([np.stack([g0, g1], axis=1), own], axis=1).astype(np.float32)
    count = own.shape[1]
    # The exponents of the list stay as they are.
    centre = Taste(np.array([1.0, 0.0] + [0.0] * count), np.array([0.0, 1.0] + [0.0] * count))
    everybody, strong = (np.array([PINNED, PINNED] + [one] * count) for one in (RIDGE_EVERYBODY, RIDGE_STRONG))
    group, z = np.round(elo / 100).astype(np.int64), strength(elo)
    played = choices.chosen
    made = fit(table, choices.start, played, z, weight, everybody, strong, group, begin=centre, centre=centre)
    return Taste(made.a[2:], made.b[2:])


def fit_helper(choices: Choices, deep: DeepChoices, chosen: NDArray[np.int64]) -> Floats:
    """What other engines choose, given the list and the deep choice of this one; `chosen` are their rows."""
    table = helper_traits(choices, deep).astype(np.float32)
    count, turns = table.shape[1], len(choices)
    none, one = np.zeros(turns), np.ones(turns)
    ridge, never = np.full(count, RIDGE_HELPER), np.full(count, PINNED)
    return fit(table, choices.start, chosen, none, one, ridge, never, np.zeros(turns, np.int64)).a
