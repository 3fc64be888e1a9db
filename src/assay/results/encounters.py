"""Games as a table of encounters: one row for each (white, black) that met, with its wins, draws and losses.

Everything the rating needs is in this table; the games themselves are not looked at again. Before that, games of
players that cannot be rated well can be left out, as Ordoprep does.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.records import dataclass

Codes = NDArray[np.intp]
Counts = NDArray[np.int32]
Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]

# Outcomes of a game, from White's side: twice the score.
LOSS, DRAW, WIN = 0, 1, 2
# One encounter in so many makes a rough pass.
_STRIDE = 8
# Long thin chains need a pass for each link; then the exact algorithm is quicker.
_PASSES = 64


@dataclass(frozen=True)
class PairTable:
    """Encounters between numbered players, sorted by (white, black); counts are from White's side.

    Where kinds of games are told apart, each has encounters of its own; `ahead` is then what White's advantage has
    more there than elsewhere, in Elo.
    """

    players: int
    white: Codes
    black: Codes
    wins: Counts
    draws: Counts
    losses: Counts
    kind: Codes | None = None
    ahead: Floats | None = None

    @cached_property
    def games(self) -> Counts:
        """Games of each encounter."""
        games: Counts = self.wins + self.draws + self.losses
        return games

    @property
    def white_points(self) -> Floats:
        """Points White made in each encounter; not kept, for it is large and quickly made."""
        points = self.draws.astype(np.float64)
        points *= 0.5
        points += self.wins
        return points

    @cached_property
    def played(self) -> Floats:
        """Games of each player."""
        white, black = self.by_side(self.games)
        return white + black

    @cached_property
    def points(self) -> Floats:
        """Points of each player."""
        made = self.by_side(self.white_points)
        return made[0] + self.by_side(self.games)[1] - made[1]

    @cached_property
    def _starts(self) -> tuple[Codes, Codes]:
        """Where the encounters of each White begin, and who that is."""
        first = np.flatnonzero(np.concatenate(([True], self.white[1:] != self.white[:-1])))
        return first, self.white[first]

    @cached_property
    def white_counts(self) -> Codes:
        """Encounters of each player with White."""
        return np.bincount(self.white, minlength=self.players)

    def by_side(self, values: NDArray[Any]) -> tuple[Floats, Floats]:
        """Sum a number over the encounters of each player with White, and with Black."""
        with_white = np.zeros(self.players)
        if len(self.white):
            first, who = self._starts
            with_white[who] = np.add.reduceat(values, first, dtype=np.float64)
        with_black = np.bincount(self.black, values, self.players).astype(np.float64, copy=False)
        return with_white, with_black

    def gaps(self, ratings: Floats, white: float) -> Floats:
        """How far White is ahead in each encounter, with the white advantage."""
        gaps = np.repeat(ratings + white, self.white_counts)
        gaps -= ratings[self.black]
        if self.ahead is not None:
            gaps += self.ahead
        return gaps

    def without_self(self) -> PairTable:
        """The table without encounters of a player with himself (of two names that are one player)."""
        return self.keep(self.white != self.black)

    def keep(self, rows: Bools) -> PairTable:
        """The table with these encounters only; the numbers of the players stay."""
        if rows.all():
            return self
        columns = (self.white[rows], self.black[rows], self.wins[rows], self.draws[rows], self.losses[rows])
        kind = None if self.kind is None else self.kind[rows]
        return PairTable(self.players, *columns, kind, None if self.ahead is None else self.ahead[rows])


def tabulate(
    white: NDArray[Any], black: NDArray[Any], outcome: NDArray[Any], players: int, kind: NDArray[Any] | None = None
) -> PairTable:
    """Count the games of each encounter; `outcome` is 2, 1 or 0: twice the score of White.

    With kinds of games, numbered from 0, those of each kind are encounters of their own.

    >>> t = tabulate(np.array([0, 1, 0]), np.array([1, 0, 1]), np.array([2, 1, 0]), 2)
    >>> t.white.tolist(), t.wins.tolist(), t.draws.tolist(), t.losses.tolist(), t.points.tolist()
    ([0, 1], [1, 0], [0, 1], [1, 0], [1.5, 1.5])
    """
    key = white.astype(np.int64)
    key *= players
    key += black
    kinds = 1 if kind is None else int(kind.max(initial=0)) + 1
    if kind is not None:
        key *= kinds
        key += kind
    key *= 3
    key += outcome
    key.sort()
    pair = key // 3
    key -= 3 * pair
    first = np.flatnonzero(np.concatenate(([True], pair[1:] != pair[:-1]))) if len(pair) else np.empty(0, np.intp)
    pair = pair[first]

    def count(value: int) -> Counts:
        if not len(first):
            return np.empty(0, np.int32)
        total: Counts = np.add.reduceat((key == value).astype(np.int32), first, dtype=np.int32)
        return total

    met = pair if kind is None else pair // kinds
    first_player = met // players
    return PairTable(
        players,
        first_player,
        met - first_player * players,
        count(WIN),
        count(DRAW),
        count(LOSS),
        None if kind is None else (pair - met * kinds).astype(np.intp),
    )


@dataclass(frozen=True)
class PlayerResults:
    """Wins, draws and losses of each player."""

    wins: Floats
    draws: Floats
    losses: Floats


def results_by_player(table: PairTable) -> PlayerResults:
    """Wins, draws and losses of each player."""
    wins, draws, losses = (table.by_side(counts) for counts in (table.wins, table.draws, table.losses))
    return PlayerResults(wins[0] + losses[1], draws[0] + draws[1], losses[0] + wins[1])


@dataclass(frozen=True)
class Components:
    """Sets of players that can be compared: each has scored, in a chain, against every other of its set.

    `label` gives the group of each player, -1 without games; groups are numbered by the first of their players.
    """

    label: NDArray[np.int32]
    sizes: NDArray[np.int64]

    @property
    def count(self) -> int:
        """How many groups there are."""
        return len(self.sizes)


def connect(table: PairTable, held: Bools | None = None, links: Codes | None = None) -> Components:
    """Strongly connected components of "scored at least a draw against" (Tarjan).

    Players that are `held` (by an anchor or a prior) have a level of their own and are connected through it; `links`
    are pairs of players that a relation connects both ways.

    >>> chain = tabulate(np.array([0, 1]), np.array([1, 2]), np.array([WIN, WIN], np.int8), 3)
    >>> ring = tabulate(np.array([0, 1, 2]), np.array([1, 2, 0]), np.array([WIN, WIN, WIN], np.int8), 3)
    >>> connect(chain).count, connect(ring).count
    (3, 1)
    """
    played = table.played > 0
    if held is not None:
        played = played | held
    if links is not None and len(links):
        played = played.copy()
        played[links.ravel()] = True
    n = table.players
    if _is_one(table, played):
        return Components(np.where(played, 0, -1).astype(np.int32), np.array([int(played.sum())]))
    source, target = _edges(table)
    if held is not None and held.any():
        # One more node, number n: the level that all held players know of.
        known = np.flatnonzero(held)
        level = np.full(len(known), n)
        source, target = np.concatenate((source, known, level)), np.concatenate((target, level, known))
    if links is not None and len(links):
        source = np.concatenate((source, links[:, 0], links[:, 1]))
        target = np.concatenate((target, links[:, 1], links[:, 0]))
    return _number(_components(n + 1, source, target)[:n], played)


def _edges(table: PairTable) -> tuple[Codes, Codes]:
    from_white = table.wins + table.draws > 0
    from_black = table.losses + table.draws > 0
    source = np.concatenate((table.white[from_white], table.black[from_black]))
    target = np.concatenate((table.black[from_white], table.white[from_black]))
    return source, target


def _is_one(table: PairTable, played: Bools) -> bool:
    """Whether games make one group of all who played: the first reaches all, and all reach the first."""
    if not played.any():
        return False
    some = table.keep(np.arange(len(table.white)) % _STRIDE == 0)
    goal = int(played.sum())
    for backwards in (False, True):
        reached = np.zeros(table.players, np.bool_)
        reached[np.argmax(played)] = True
        # A rough pass over a part of the encounters first: it finds nearly everybody who can be reached.
        for part in (some, table):
            _spread(part, reached, goal, backwards)
        if int(reached.sum()) < goal:
            return False
    return True


def _spread(table: PairTable, reached: Bools, goal: int, backwards: bool) -> None:
    """Go on from those reached to all they scored against (or to all who scored against them), until nobody is new."""
    after = int(reached.sum())
    for _ in range(_PASSES):
        before = after
        if before == goal:
            return
        from_white = table.losses if backwards else table.wins
        from_black = table.wins if backwards else table.losses
        reached[table.black[reached[table.white] & (from_white + table.draws > 0)]] = True
        reached[table.white[reached[table.black] & (from_black + table.draws > 0)]] = True
        after = int(reached.sum())
        if after == before:
            return


def _components(n: int, source: Codes, target: Codes) -> NDArray[np.int32]:
    # Only badly connected pools get here: the import costs more than most of them.
    from scipy.sparse import csr_array
    from scipy.sparse.csgraph import connected_components

    graph = csr_array((np.ones(len(source), np.int8), (source, target)), shape=(n, n))
    label: NDArray[np.int32] = connected_components(graph, directed=True, connection="strong")[1]
    return label


def _number(raw: NDArray[np.int32], played: Bools) -> Components:
    """Number components by their first player; drop those without games."""
    label = np.full(len(raw), -1, np.int32)
    _, first, inverse, sizes = np.unique(raw[played], return_index=True, return_inverse=True, return_counts=True)
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    label[played] = rank[inverse]
    return Components(label, sizes[order])


@dataclass(frozen=True)
class Prepared:
    """Which games stay, and which players are left out by which rule."""

    games: Bools
    perfect: Bools
    few_games: Bools
    low_percent: Bools
    other_groups: Bools


def select(
    white: NDArray[Any],
    black: NDArray[Any],
    outcome: NDArray[Any],
    players: int,
    *,
    no_perfects: bool = False,
    min_games: int = 0,
    min_percent: float = 0.0,
    major_only: bool = False,
) -> Prepared:
    """Choose games: `outcome` is twice White's score, negative for games without a result, which never stay.

    >>> kept = select(np.array([0, 1, 2]), np.array([1, 0, 0]), np.array([2, 1, 0]), 3, no_perfects=True)
    >>> kept.games.tolist(), kept.perfect.tolist()
    ([True, True, False], [False, False, True])
    """
    games = (outcome >= 0) & (white != black)
    out = {rule: np.zeros(players, np.bool_) for rule in ("perfect", "few_games", "low_percent", "other_groups")}
    while True:
        table = tabulate(white[games], black[games], outcome[games], players)
        played, points = table.played, table.points
        present = played > 0
        share = 100.0 * points / np.maximum(played, 1.0)
        found = {
            "perfect": present & ((points == 0) | (points == played)) if no_perfects else ~present & False,
            "few_games": present & (played < min_games),
            "low_percent": present & (share < min_percent),
        }
        if major_only and not any(bad.any() for bad in found.values()):
            found["other_groups"] = present & ~_major(table)
        bad = np.zeros(players, np.bool_)
        for rule, who in found.items():
            out[rule] |= who & ~bad
            bad |= who
        if not bad.any():
            return Prepared(games, **out)
        games = games & ~(bad[white] | bad[black])


def _major(table: PairTable) -> Bools:
    """The players of the largest group that games connect."""
    groups = connect(table)
    if not groups.count:
        return np.zeros(table.players, np.bool_)
    major: Bools = groups.label == int(np.argmax(groups.sizes))
    return major
