"""Strength from evaluations alone: how likely each loss is, given the value before, the move's number and the strength.

Games that were analysed on Lichess carry the value after every move (`[%eval]`). No other move's value is known, so the
choice itself cannot be judged; what a move lost can. Win chances lost fall into bins; a chain of logits tells how
likely each bin is for a player of every rating, and turns make curves that add up as everywhere else. The scale is that
of rapid games on Lichess in 2022; lines lead to other pools.

The unit of these values changes with the engine (`eval_units`).
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cached_property, lru_cache
from importlib import resources
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.curve import Curve
from assay.engine.parsed import Plies, read_plies
from assay.games import Game, GameArrays
from assay.games.packed import after_last, pack
from assay.moves.eval_units import Openings, factors, game_units
from assay.records import dataclass

Floats = NDArray[np.float64]
CENTRE, UNIT = 1600.0, 400.0
GRID = np.arange(400.0, 3200.1, 100.0)
EDGES = np.array([-2, -1, -0.3, 0, 0.5, 1, 2, 3, 4.5, 7, 10, 14, 20, 30, 45])
FIRST_VALUE = 15.0  # centipawns: what White has before the first move
MOST, MATE = 1500.0, 2000.0
STEEP = 0.00368208  # of Lichess's win chances, for a centipawn
# Where the features of a turn bend.
WIN = np.array(
    [0, 1, 3, 6, 10, 15, 20, 26, 32, 38, 43, 46, 48, 50, 52, 54, 57, 62, 68, 74, 80, 85, 90, 94, 97, 99, 100],
    np.float64,
)
NUMBER = np.array([1, 2, 3, 4, 5, 6, 8, 10, 12, 15, 20, 25, 30, 40, 50, 70], np.float64)
MATERIAL = np.array([0, 6, 12, 18, 24, 30, 38, 46, 54, 62], np.float64)
OTHER = np.array([-5, -1, 0, 0.5, 1, 2, 3.5, 5, 8, 12, 18, 26, 40, 60], np.float64)
EARLY_WIN = np.array([30, 42, 48, 52, 58, 70], np.float64)
EARLY_NUMBER = np.array([1, 2, 4, 6, 8, 12], np.float64)
_FLAGS = 6
WIDTH = len(WIN) + len(NUMBER) + len(MATERIAL) + len(OTHER) + len(EARLY_WIN) * len(EARLY_NUMBER) + _FLAGS
_WORTH = np.array([0, 0, 3, 3, 5, 9, 0, 0, 3, 3, 5, 9, 0], np.float64)
NO_VALUE = "no evaluation"
_TURNS = 100_000


def win_chance(centipawns: Floats) -> Floats:
    """Lichess's win chances in per cent.

    >>> win_chance(np.array([0.0, 100.0])).round(1).tolist()
    [50.0, 59.1]
    """
    return np.asarray(100 / (1 + np.exp(-STEEP * centipawns)))


@dataclass(frozen=True)
class EvalTurns:
    """Turns whose value is known before and after: what was lost, and what the features need."""

    plies: Plies
    at: NDArray[np.int64]  # where each turn stands in the arrays of the games
    before: Floats  # centipawns in units of 2022, the mover's view
    after: Floats
    other: Floats  # win chances that the opponent's last move lost, nan where not known
    times: Floats  # by which the value before was multiplied
    unit: Floats  # of each game: the factors from its small and large values to those of 2022
    excluded: Counter[str]

    def __len__(self) -> int:
        return len(self.at)

    @property
    def games(self) -> pl.DataFrame:
        """The tags of all games."""
        return self.plies.games

    @cached_property
    def game(self) -> NDArray[np.int64]:
        """The game of each turn."""
        return self.plies.arrays.game[self.at]

    @property
    def white(self) -> NDArray[np.bool_]:
        """Whether White is to move."""
        return self.plies.arrays.turn[self.at]

    @property
    def move(self) -> NDArray[np.int64]:
        """The number of the move."""
        return self.plies.arrays.fullmove[self.at].astype(np.int64)

    @property
    def keys(self) -> NDArray[np.uint8]:
        """The positions."""
        return pack(self.plies.arrays, self.at)

    @property
    def player(self) -> NDArray[Any]:
        """Who moved; None where the tags do not say."""
        return np.where(self.white, self.column("white"), self.column("black"))

    @property
    def opponent(self) -> NDArray[Any]:
        """Who did not."""
        return np.where(self.white, self.column("black"), self.column("white"))

    def column(self, name: str) -> NDArray[Any]:
        """A column of the games, for each turn."""
        found: NDArray[Any] = self.games[name].to_numpy()[self.game]
        return found

    def tagged(self, games: pl.DataFrame) -> EvalTurns:
        """The same turns of games with other tags."""
        return replace(self, plies=replace(self.plies, games=games))

    @cached_property
    def loss(self) -> Floats:
        """The win chances that each move lost, in per cent."""
        return win_chance(self.before) - win_chance(self.after)

    @cached_property
    def centipawns(self) -> Floats:
        """The centipawns that each move lost, none less than 0; values beyond ten pawns count as ten."""
        return np.maximum(np.clip(self.before, -1000, 1000) - np.clip(self.after, -1000, 1000), 0.0)

    def only(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> EvalTurns:
        """These turns alone; the table of games stays whole."""
        own = {name: getattr(self, name)[chosen] for name in ("at", "before", "after", "other", "times")}
        return replace(self, **own)


def eval_turns(games: Iterable[Game], counted: NDArray[np.bool_] | None = None, unit: float | None = None) -> EvalTurns:
    """The turns of games whose values are known before and after; `unit` is measured unless it is given."""
    return turns_in_plies(read_plies(games, 1, counted), unit)


def turns_in_plies(plies: Plies, unit: Floats | float | None = None) -> EvalTurns:
    """The turns of games that are read already."""
    arrays = plies.arrays
    if unit is None:
        unit = game_units(arrays, plies.games, shipped_evals().openings)
    unit = np.broadcast_to(np.asarray(unit, np.float64), (arrays.games, 2))
    after, times = _white_values(arrays, unit)
    first = np.zeros(arrays.plies, np.bool_)
    starts = arrays.offsets[:-1][np.diff(arrays.offsets) > 0]
    first[starts] = True
    before = np.empty_like(after)
    before[1:], before[:1] = after[:-1], np.nan
    usual = (arrays.fullmove[starts] == 1) & arrays.turn[starts]
    before[starts] = np.where(usual, FIRST_VALUE, np.nan)
    sign = np.where(arrays.turn, 1.0, -1.0)
    before, after = before * sign, after * sign
    lost = win_chance(before) - win_chance(after)
    other = np.empty_like(lost)
    other[1:], other[:1] = lost[:-1], np.nan
    other[first] = np.nan
    behind = np.concatenate([[1.0], times[:-1]])
    behind[first] = 1.0
    mine = np.repeat(plies.counted, np.diff(arrays.offsets))
    known = np.isfinite(before) & np.isfinite(after) & mine
    at = np.flatnonzero(known)
    excluded = Counter({NO_VALUE: int((mine & ~known).sum())})
    return EvalTurns(plies, at, before[at], after[at], other[at], behind[at], unit, +excluded)


def _white_values(arrays: GameArrays, unit: Floats) -> tuple[Floats, Floats]:
    """Centipawns after each move from White's side, nan where not known, and what they were multiplied with.

    A move that mates has no value and is mate.
    """
    pawns, (small, large) = arrays.eval.astype(np.float64), unit[arrays.game].T
    times = np.where(np.isfinite(pawns), factors(np.nan_to_num(pawns), small, large), large)
    value = np.clip(pawns * 100 * times, -MOST, MOST)
    value = np.where(arrays.mate != 0, np.sign(arrays.mate) * MATE, value)
    lengths = np.diff(arrays.offsets)
    ends = arrays.offsets[1:] - 1
    for game in np.flatnonzero(lengths > 1).tolist():
        end = int(ends[game])
        if np.isnan(value[end]) and np.isfinite(value[end - 1]) and after_last(arrays, game).is_checkmate():
            value[end] = MATE if arrays.turn[end] else -MATE
    return value, times


# Features.


def _hats(values: Floats, knots: Floats) -> tuple[NDArray[np.int32], Floats]:
    """Of each value the knot below it and the share of the one above."""
    inside = np.clip(values, knots[0], knots[-1])
    at = np.clip(np.searchsorted(knots, inside, side="right") - 1, 0, len(knots) - 2)
    return at.astype(np.int32), (inside - knots[at]) / (knots[at + 1] - knots[at])


def features(turns: EvalTurns) -> tuple[NDArray[np.int32], NDArray[np.float32]]:
    """The features of turns as columns and their values, turns x entries: hats and flags, mostly nothing."""
    arrays, at = turns.plies.arrays, turns.at
    win = win_chance(turns.before)
    number = arrays.fullmove[at].astype(np.float64)
    boards = arrays.boards[at]
    material = _WORTH[boards].sum(axis=1)
    columns: list[NDArray[Any]] = []
    values: list[NDArray[Any]] = []
    base = 0
    other = np.nan_to_num(turns.other)
    for own, knots in ((win, WIN), (number, NUMBER), (material, MATERIAL), (other, OTHER)):
        low, share = _hats(own, knots)
        columns += [base + low, base + low + 1]
        values += [1 - share, share]
        base += len(knots)
    early = np.clip((EARLY_NUMBER[-1] + 2 - number) / 2, 0, 1)
    low, share = _hats(win, EARLY_WIN)
    when, later = _hats(number, EARLY_NUMBER)
    for i, part in ((0, 1 - share), (1, share)):
        for j, piece in ((0, 1 - later), (1, later)):
            columns.append(base + (low + i) * len(EARLY_NUMBER) + when + j)
            values.append(part * piece * early)
    base += len(EARLY_WIN) * len(EARLY_NUMBER)
    to = arrays.to_square[at].astype(np.int64)
    capture = boards[np.arange(len(at)), to] > 0
    previous = np.maximum(at - 1, 0)
    behind = at > arrays.offsets[turns.game]
    recapture = capture & behind & (arrays.to_square[previous] == to)
    flags = (
        turns.before >= MATE,
        turns.before <= -MATE,
        turns.before == 0,
        capture,
        recapture,
        np.isnan(turns.other),
    )
    for flag in flags:
        columns.append(np.full(len(at), base, np.int32))
        values.append(flag)
        base += 1
    return np.stack(columns, axis=1).astype(np.int32), np.stack(values, axis=1).astype(np.float32)


def bins(loss: Floats) -> NDArray[np.intp]:
    """The bin of each loss."""
    return np.searchsorted(EDGES, loss, side="left")


# The model.


@dataclass(frozen=True)
class EvalModel:
    """Weights of a chain of logits: stages x (1, z, z^2) x features; `power` and `spread` make intervals hold."""

    weights: NDArray[np.float32]
    power: float
    spread: float
    openings: Openings

    def curve(self, turns: EvalTurns, grid: Floats = GRID) -> Curve:
        """The log-likelihood of every rating, a row per turn."""
        table = np.empty((len(turns), len(grid)), np.float32)
        for begin in range(0, len(turns), _TURNS):
            part = turns.only(np.arange(begin, min(begin + _TURNS, len(turns))))
            table[begin : begin + len(part)] = chain(*features(part), bins(part.loss), self.weights, grid)
        return Curve(table.astype(np.float64), grid)

    def save(self, file: Any) -> None:
        """Write the model."""
        np.savez_compressed(
            file,
            weights=self.weights.astype(np.float16),
            figures=np.array([self.power, self.spread]),
            numbers=self.openings.numbers,
            pawns=self.openings.pawns,
        )


def read_model(data: bytes) -> EvalModel:
    """A model from its file."""
    with np.load(io.BytesIO(data)) as found:
        power, spread = found["figures"].tolist()
        openings = Openings(found["numbers"], found["pawns"])
        return EvalModel(found["weights"].astype(np.float32), power, spread, openings)


@lru_cache(maxsize=1)
def shipped_evals() -> EvalModel:
    """The model that comes with Assay."""
    return read_model((resources.files("assay.data") / "evals.npz").read_bytes())


def chain(
    columns: NDArray[np.int32],
    values: NDArray[np.float32],
    bin_of: NDArray[np.intp],
    weights: NDArray[np.float32],
    grid: Floats,
) -> NDArray[np.float32]:
    """The logarithm of the chance of each turn's bin for every rating of a grid."""
    stages = weights.shape[0]
    flat = weights.reshape(stages * 3, -1).T.copy()
    order = np.argsort(bin_of, kind="stable")
    columns, values, ordered = columns[order], values[order], bin_of[order]
    drawn = np.zeros((len(order), stages * 3), np.float32)
    for entry in range(columns.shape[1]):
        drawn += flat[columns[:, entry]] * values[:, entry, None]
    drawn = drawn.reshape(len(order), stages, 3)
    z = ((grid - CENTRE) / UNIT).astype(np.float32)
    powers = np.stack([np.ones_like(z), z, z * z])
    table = np.zeros((len(order), len(grid)), np.float32)
    for stage in range(stages):
        # Sorted by bin, the turns that come to a stage are the last ones.
        reach = int(np.searchsorted(ordered, stage))
        if reach == len(order):
            break
        logit = drawn[reach:, stage] @ powers
        stays = int(np.searchsorted(ordered, stage, side="right")) - reach
        logit[stays:] *= -1  # of those that go on
        table[reach:] -= np.logaddexp(np.float32(0), logit)
    out = np.empty_like(table)
    out[order] = table
    return out


def with_evals(games: Sequence[Game]) -> bool:
    """Whether every game carries evaluations."""
    return bool(games) and all(b"[%eval" in game.data for game in games)
