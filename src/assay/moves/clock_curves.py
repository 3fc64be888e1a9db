"""What clocks tell of strength: curves that add to those of the moves, for time controls whose habits are known.

How a player spends time, from move 6 to 40, goes with strength: how much of the base time a move takes, how unevenly,
how many moves come at once, and how much is left. Of a rating these four are spread as a normal about a line, fitted on
rated games (studies/clocks.py); what that makes of a side of a game is a curve like any other. Habits are those of a
time control: a game of another one says nothing here.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.curve import GRID
from assay.games import GameArrays
from assay.pools import SLOW, clock_of
from assay.records import dataclass

Floats = NDArray[np.float64]
_TAGS = ("site", "event", "time_control")
LEAST, MOST = 0.0005, 2.0


def time_shares(arrays: GameArrays, games: pl.DataFrame) -> tuple[Floats, Floats]:
    """Of each ply the share of the base time that was used for the move, and that was left after it.

    nan where a clock is not known. `games` has the tags; where these do not tell the base, it is the most that any
    clock of the game shows. Time that an increment gives back counts as used.
    """
    clocks = [clock_of(*(text or "" for text in row)) for row in games.select(_TAGS).iter_rows()]
    told = np.array([np.nan if base is None else float(base) for base, _, _ in clocks])
    plus = np.array([0.0 if more is None else float(more) for _, more, _ in clocks])
    game, clock = arrays.game, arrays.clock.astype(np.float64)
    most = np.full(arrays.games, -np.inf)
    np.maximum.at(most, game, np.nan_to_num(clock, nan=-np.inf))
    base = np.where(np.isfinite(told), told, np.where(most > 0, most, np.nan))
    base = np.where(base > 0, base, np.nan)[game]
    before = np.full(arrays.plies, np.nan)
    before[2:] = clock[:-2]
    before[np.arange(arrays.plies) - 2 < arrays.offsets[game]] = np.nan
    used = (before - clock + plus[game]) / base
    return np.clip(used, LEAST, 1.0), np.clip(clock / base, 0.0, MOST)


FIRST, LAST = 6, 40  # moves
FEWEST = 12  # moves of a side whose time is known
AT_ONCE = 0.01  # of the base time
CENTRE, UNIT = 2000.0, 400.0
FACTS = ("mean logarithm of the share of time used", "its spread", "share of moves at once", "share of time left")
# Time controls with habits of their own on servers, where one pool has many.
_CONTROLS = {("lichess-classical", "2700+45"): "lichess-45+45"}


@dataclass(frozen=True)
class ClockHabits:
    """The facts of `FACTS` for players of a rating: `mean` + `slope` x (rating - 2000) / 400, with this precision."""

    name: str
    mean: tuple[float, ...]
    slope: tuple[float, ...]
    precision: tuple[tuple[float, ...], ...]
    sides: int = 0
    low: float = 0.0
    high: float = 4000.0

    def curves(self, facts: Floats) -> Floats:
        """The log-likelihood of every rating of the grid, a row for each side; level far beyond the fit."""
        inside = (np.clip(GRID, self.low - UNIT, self.high + UNIT) - CENTRE) / UNIT
        slope, precision = np.array(self.slope), np.array(self.precision)
        off = facts - np.array(self.mean)
        return np.asarray((off @ precision @ slope)[:, None] * inside - 0.5 * (slope @ precision @ slope) * inside**2)


@dataclass(frozen=True)
class ClockCurves:
    """What the clocks of games tell: of each side (2 x game, + 1 for Black) whether they tell, and the curve."""

    told: NDArray[np.bool_]
    table: Floats

    def of_turns(self, game: NDArray[np.int64], white: NDArray[np.bool_]) -> TurnClocks:
        """The same for turns of these games: each has its share of what its side's clock tells."""
        side = 2 * game + ~white
        return TurnClocks(self, side, np.maximum(np.bincount(side, minlength=len(self.told)), 1).astype(np.float64))


@dataclass(frozen=True)
class TurnClocks:
    """Curves of clocks dealt to the turns of their sides."""

    curves: ClockCurves
    side: NDArray[np.int64]
    turns: Floats

    def together(self, own: NDArray[np.intp]) -> Floats:
        """What the clocks tell of some turns: a row over the grid."""
        share = np.bincount(self.side[own], minlength=len(self.turns)) / self.turns
        there = np.flatnonzero((share > 0) & self.curves.told)
        return np.asarray(share[there] @ self.curves.table[there])

    def games(self, own: NDArray[np.intp]) -> int:
        """How many games' clocks count for some turns."""
        sides = np.unique(self.side[own])
        return len(np.unique(sides[self.curves.told[sides]] // 2))


def habits_of(pool: str | None, control: str | None) -> str | None:
    """Whose habits a game goes by: over the board all slow games are alike, elsewhere a time control is its own.

    >>> habits_of("otb-slow", "90+30"), habits_of("lichess-classical", "2700+45"), habits_of("lichess-rapid", "600+0")
    ('otb-slow', 'lichess-45+45', None)
    """
    return SLOW if pool == SLOW else _CONTROLS.get((pool or "", control or ""))


def clock_facts(arrays: GameArrays, games: pl.DataFrame) -> Floats:
    """The `FACTS` of each side (2 x game, + 1 for Black); nan where the time of too few moves is known."""
    used, left = time_shares(arrays, games)
    move = arrays.fullmove.astype(np.int64)
    known = np.flatnonzero(np.isfinite(used) & np.isfinite(left) & (move >= FIRST) & (move <= LAST))
    side, count = 2 * arrays.game[known] + ~arrays.turn[known], 2 * arrays.games
    moves = np.bincount(side, minlength=count).astype(np.float64)

    def mean(values: Floats) -> Floats:
        return np.asarray(np.bincount(side, values, minlength=count) / np.maximum(moves, 1))

    log = np.log(used[known])
    average = mean(log)
    spread = np.sqrt(np.maximum(mean(log**2) - average**2, 0))
    facts = np.stack([average, spread, mean((used[known] < AT_ONCE).astype(float)), mean(left[known])], axis=1)
    facts[moves < FEWEST] = np.nan
    return facts


def clock_curves(
    arrays: GameArrays, games: pl.DataFrame, habits: Mapping[str, ClockHabits] | None = None
) -> ClockCurves:
    """What the clocks of games tell of both sides' strength, where the habits of their time control are known."""
    known = shipped_habits() if habits is None else habits
    names = np.array([habits_of(*row) or "" for row in games.select("pool", "time_control").iter_rows()], object)
    table, told = np.zeros((2 * arrays.games, len(GRID))), np.zeros(2 * arrays.games, np.bool_)
    if not np.isin(names, list(known)).any() or not np.isfinite(arrays.clock).any():
        return ClockCurves(told, table)
    facts = clock_facts(arrays, games)
    for name, own in known.items():
        here = np.flatnonzero(np.repeat(names == name, 2) & np.isfinite(facts).all(axis=1))
        table[here], told[here] = own.curves(facts[here]), True
    return ClockCurves(told, table)


def from_json(data: Mapping[str, Any]) -> dict[str, ClockHabits]:
    """Habits by name from plain values."""
    rows = [row | {"precision": tuple(map(tuple, row["precision"]))} for row in data["habits"]]
    return {row["name"]: ClockHabits(**row) for row in rows}


@lru_cache(maxsize=1)
def shipped_habits() -> dict[str, ClockHabits]:
    """The habits that come with Assay, by name."""
    return from_json(json.loads((resources.files("assay.data") / "clocks.json").read_text(encoding="utf-8")))
