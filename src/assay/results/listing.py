"""A list of players as it is to be printed: who, in which order, with which errors and in which style."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from enum import IntEnum
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from assay.printable import printable, spreadsheet
from assay.records import dataclass
from assay.results.encounters import Floats, PairTable
from assay.results.ratings import Standings, likelihood_of_superiority
from assay.table import counted


class OrdoColumn(IntEnum):
    """The columns of a list by Ordo's numbers."""

    PLAYER = 0
    RATING = 1
    ERROR = 2
    POINTS = 3
    PLAYED = 4
    PERCENT = 5
    CFS = 6
    WINS = 7
    DRAWS = 8
    LOSSES = 9
    DRAWN = 10
    OPP_AVG = 11
    OPP_ERR = 12
    OPP_N = 13
    OPP_DIV = 14


HEADERS = (
    "PLAYER", "RATING", "ERROR", "POINTS", "PLAYED", "(%)", "CFS(%)", "W", "D", "L", "D(%)", "OppAvg", "OppErr",
    "OppN", "OppDiv",
)  # fmt: skip
WIDTHS = (0, 6, 6, 7, 7, 5, 7, 4, 4, 4, 5, 7, 7, 5, 7)
DEFAULT_COLUMNS = (0, 1, 2, 3, 4, 5)
LONGEST_NAME = 50

Differences = Callable[[NDArray[np.intp], NDArray[np.intp]], Floats]


@dataclass(frozen=True)
class Errors:
    """Standard errors, from the covariance or from simulations: of ratings, of differences, of the two rates."""

    ratings: Floats
    differences: Differences
    white: float
    draws: float


def errors_of(ratings: Standings) -> Errors:
    """The errors that come from the fit itself."""
    return Errors(ratings.deviation, ratings.difference_deviation, ratings.white_deviation, ratings.draws_deviation)


@dataclass(frozen=True)
class Style:
    """How a list is printed; the defaults are Ordo's.

    Ordo counts bytes where it aligns names (`bytes_wide`); Assay's own tables count characters, and names give way
    where a line would be longer than `longest`.
    """

    columns: Sequence[int] = DEFAULT_COLUMNS
    headers: Mapping[int, str] = field(default_factory=dict)
    widths: Mapping[int, int] = field(default_factory=dict)
    decimals: int = 1
    score_decimals: int = 0
    factor: float = 1.95996
    cfs: bool = False
    bytes_wide: bool = True
    longest: int | None = None

    def header(self, column: int) -> str:
        """The header of a column."""
        return self.headers.get(column, HEADERS[column])

    def width(self, column: int) -> int:
        """The width of a column."""
        if column in self.widths:
            return max(self.widths[column], len(self.header(column)) + 1)
        return WIDTHS[column]

    def pad(self, text: str, width: int) -> str:
        """A text filled up with spaces to a width."""
        return text + " " * (width - self.length(text))

    def length(self, text: str) -> int:
        """How wide a text is: in bytes, as Ordo counts, or in letters."""
        return len(text.encode()) if self.bytes_wide else len(text)


@dataclass(frozen=True)
class Listing:
    """A list of players to print: who, in which order, with which errors.

    `older` marks players that a relation calls the older version of another; they get no rank, and no line at all
    if `hide_older` is set. `least` is the fewest games with which a player is listed.
    """

    ratings: Standings
    errors: Errors | None = None
    style: Style = Style()
    least: int = 0
    older: frozenset[int] = frozenset()
    hide_older: bool = False

    def with_errors(self) -> Listing:
        """The same list with errors: those it has, or those of the covariance."""
        if self.errors is not None:
            return self
        return replace(self, errors=errors_of(self.ratings))

    @cached_property
    def players(self) -> NDArray[np.intp]:
        """The players of the list, from the best down."""
        order = self.ratings.order
        order = order[self.ratings.played[order] >= self.least]
        if self.hide_older and self.older:
            order = order[~np.isin(order, list(self.older))]
        return order

    @cached_property
    def ranks(self) -> list[tuple[int, bool]]:
        """The rank of each line within its pool, and whether it is shown."""
        ranks, rank, pool = [], 0, -1
        for player in self.players.tolist():
            if self.ratings.pool[player] != pool:
                rank, pool = 0, self.ratings.pool[player]
            shown = player not in self.older
            rank += shown
            ranks.append((rank, shown))
        return ranks

    @property
    def sections(self) -> list[tuple[int, str]]:
        """Where the lines of each pool begin, and what to write above them; nothing if there is one pool."""
        pools = self.ratings.pool[self.players]
        if len(self.ratings.pools) < 2:
            return []
        begins = np.flatnonzero(np.concatenate(([True], pools[1:] != pools[:-1]))).tolist()
        return [
            (begin, f"Pool {pool + 1}: {self.about(pool)}")
            for begin, pool in ((begin, int(pools[begin])) for begin in begins)
        ]

    def about(self, pool: int) -> str:
        """How many are in a pool, and what sets its level: an average is that of all, listed or not."""
        everybody, listed = (
            int(np.count_nonzero(of == pool)) for of in (self.ratings.pool, self.ratings.pool[self.players])
        )
        few = f", {listed:,} listed" if listed < everybody else ""
        return printable(f"{counted(everybody, 'player')}{few}, {self.ratings.level(pool)}")

    @property
    def names(self) -> list[str]:
        """The name on each line, made harmless for terminals."""
        return [printable(self.ratings.players[player]) for player in self.players.tolist()]

    @property
    def cells(self) -> list[str]:
        """The name on each line as a cell of a CSV file that people open: no formula, no controls."""
        return [spreadsheet(self.ratings.players[player]) for player in self.players.tolist()]

    @cached_property
    def cfs(self) -> Floats:
        """Confidence of superiority over the next line, in percent; nan where unknown."""
        cfs = np.full(len(self.players), np.nan)
        if self.errors is not None and len(self.players) > 1:
            this, following = self.players[:-1], self.players[1:]
            gap = self.ratings.ratings[this] - self.ratings.ratings[following]
            cfs[:-1] = 100.0 * likelihood_of_superiority(gap, self.errors.differences(this, following))
        return cfs

    @cached_property
    def opponents(self) -> Opponents:
        """What each player's opponents were like."""
        deviation = None if self.errors is None else self.errors.ratings
        return describe_opponents(self.ratings.encounters, self.ratings.ratings, deviation)


@dataclass(frozen=True)
class Opponents:
    """For each player: mean rating and mean error of the opponents, how many, and how diverse."""

    average: Floats
    error: Floats
    number: NDArray[np.int64]
    diversity: Floats


def describe_opponents(table: PairTable, ratings: Floats, deviation: Floats | None) -> Opponents:
    """Describe the opponents of each player; their diversity is the exponential of the entropy of the games."""
    table = table.without_self()
    games = table.games.astype(np.float64)
    rating = np.nan_to_num(ratings)
    sigma = np.zeros(table.players) if deviation is None else np.nan_to_num(deviation)
    played = np.maximum(table.played, 1.0)

    def mean(values: Floats) -> Floats:
        as_white = table.by_side(games * values[table.black])[0]
        as_black = table.by_side(games * values[table.white])[1]
        return (as_white + as_black) / played

    n = table.players
    low, high = np.minimum(table.white, table.black), np.maximum(table.white, table.black)
    edge, index = np.unique(low * n + high, return_inverse=True)
    met = np.bincount(index, games)
    ends = np.concatenate((edge // n, edge % n))
    share = np.concatenate((met, met)) / played[ends]
    entropy = np.bincount(ends, -share * np.log(share), n)
    return Opponents(mean(rating), mean(sigma), np.bincount(ends, minlength=n), np.exp(entropy))
