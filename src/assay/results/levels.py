"""One fit from beginning to end: who is comparable, ratings within each group, then the level of each group.

Results alone cannot place perfect scores and groups that met only one way. A group (a strongly connected component; a
player with a perfect score is a group of one) has only wins or only losses against what is left when its round of
purging comes. Purging goes on until one group is left, the core; then the others are put back, last purged first.
Ordo's program (not its manual) sets a perfect score where all its results together have a chance of one half, and so is
every group here. Groups that met nobody else keep the average.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import RatingError
from assay.records import dataclass
from assay.results.advantages import solve_by_kind, with_kinds
from assay.results.encounters import Bools, Components, Floats, PairTable, connect
from assay.results.expectancy import DrawModel, expectancy, win_draw_loss
from assay.results.information import NO_LINKS, Links
from assay.results.solve import Equations, Solution, solve

RATED, ABOVE, BELOW, UNPLAYED = 0, 1, 2, 3
_REACH = 6000.0
_BISECTIONS = 48
_TINY = 1e-300
# Elo (or a share of draws); beyond these nothing is known, or all.
_LEAST_ERROR, _MOST_ERROR = 1e-5, 1e7

Ints = NDArray[np.intp]


@dataclass(frozen=True)
class Placement:
    """Final ratings; for each player its status and its pool: ratings compare within a pool only."""

    ratings: Floats
    status: NDArray[np.int8]
    pool: NDArray[np.int32]


@dataclass(frozen=True)
class Meetings:
    """Encounters between different groups, looked up by group; each appears once for either side."""

    start: Ints
    own: Ints
    other: Ints
    group: NDArray[np.int32]
    other_group: NDArray[np.int32]
    ahead: Floats
    games: Floats
    won: Bools

    def of(self, groups: Ints) -> Ints:
        """The rows of these groups."""
        begin, end = self.start[groups], self.start[groups + 1]
        length = end - begin
        offset = np.repeat(begin - np.concatenate(([0], np.cumsum(length)[:-1])), length)
        rows: Ints = np.arange(int(length.sum())) + offset
        return rows


def place(
    table: PairTable,
    groups: Components,
    ratings: Floats,
    *,
    beta: float,
    white: float,
    equal: float,
    average: float,
    level: int | None = None,
    model: DrawModel = "ordo",
    one_draw: bool = False,
) -> Placement:
    """Set the level of every group; `level` is the group that anchors or priors already hold, if any."""
    ratings = ratings.copy()
    label = groups.label
    status = np.where(label < 0, UNPLAYED, RATED).astype(np.int8)
    pool = np.full(len(label), -1, np.int32)
    ratings[label < 0] = np.nan
    if not groups.count:
        return Placement(ratings, status, pool)
    members = _Members(label, groups)
    core = int(np.argmax(groups.sizes)) if level is None else level

    def found(group: int, number: int) -> None:
        """Let this group be the core of a pool."""
        who = members.of(group)
        if group != level:
            ratings[who] += average - ratings[who].mean()
        pool[who] = number

    found(core, 0)
    if groups.count == 1:
        return Placement(ratings, status, pool)
    meetings = _meetings(table, label, groups.count, white)
    placed = np.zeros(groups.count, np.bool_)
    placed[core] = True
    waiting: Ints = np.empty(0, np.intp)
    rounds = _purge(meetings, groups.count, core)
    pools = 1
    while rounds or len(waiting):
        fresh = rounds.pop() if rounds else np.empty(0, np.intp)
        waiting = np.concatenate((waiting, fresh))
        rows = meetings.of(waiting)
        rows = rows[placed[meetings.other_group[rows]]]
        ready = np.unique(meetings.group[rows]).astype(np.intp)
        if len(ready):
            shift, kind = _settle(meetings, rows, ready, ratings, beta, equal, model, one_draw)
            for group, by, how in zip(ready.tolist(), shift.tolist(), kind.tolist(), strict=True):
                who = members.of(group)
                ratings[who] += by
                status[who] = how
            # All groups that are ready hang on the same pool or on pools of their own opponents.
            pool_of = np.zeros(groups.count, np.int32)
            pool_of[meetings.group[rows]] = pool[meetings.other[rows]]
            ours = np.isin(label, ready)
            pool[ours] = pool_of[label[ours]]
            placed[ready] = True
            waiting = waiting[~placed[waiting]]
        elif not rounds:
            core = int(waiting[np.argmax(groups.sizes[waiting])])
            found(core, pools)
            pools += 1
            placed[core] = True
            waiting = waiting[waiting != core]
    return Placement(ratings, status, pool)


class _Members:
    """The players of each group."""

    def __init__(self, label: NDArray[np.int32], groups: Components) -> None:
        self._order = np.argsort(label, kind="stable")
        self._start = np.searchsorted(label[self._order], np.arange(groups.count + 1))

    def of(self, group: int) -> Ints:
        return self._order[self._start[group] : self._start[group + 1]]


def _meetings(table: PairTable, label: NDArray[np.int32], count: int, white: float) -> Meetings:
    rows = label[table.white] != label[table.black]
    cut = table.keep(rows)
    own = np.concatenate((cut.white, cut.black))
    other = np.concatenate((cut.black, cut.white))
    with_white = white if cut.ahead is None else white + cut.ahead
    side = np.concatenate((np.zeros(len(cut.white)) + with_white, np.zeros(len(cut.white)) - with_white))
    won = np.concatenate((cut.wins > 0, cut.losses > 0))
    games = np.concatenate((cut.games, cut.games)).astype(np.float64)
    order = np.argsort(label[own], kind="stable")
    own, other = own[order], other[order]
    return Meetings(
        np.searchsorted(label[own], np.arange(count + 1)),
        own,
        other,
        label[own],
        label[other],
        side[order],
        games[order],
        won[order],
    )


def _purge(meetings: Meetings, count: int, core: int) -> list[Ints]:
    """Rounds of purging: each takes the groups that have only wins or only losses against those left."""
    wins = np.bincount(meetings.group[meetings.won], minlength=count)
    losses = np.bincount(meetings.group[~meetings.won], minlength=count)
    left = np.ones(count, np.bool_)
    left[core] = False
    rounds: list[Ints] = []
    candidates: Ints = np.flatnonzero(left & ((wins == 0) | (losses == 0)))
    while len(candidates):
        rounds.append(candidates)
        left[candidates] = False
        rows = meetings.of(candidates)
        # A win of the purged was a loss of the other.
        np.subtract.at(losses, meetings.other_group[rows[meetings.won[rows]]], 1)
        np.subtract.at(wins, meetings.other_group[rows[~meetings.won[rows]]], 1)
        near = np.unique(meetings.other_group[rows])
        candidates = near[left[near] & ((wins[near] == 0) | (losses[near] == 0))]
    return rounds


def _settle(
    meetings: Meetings,
    rows: Ints,
    ready: Ints,
    ratings: Floats,
    beta: float,
    equal: float,
    model: DrawModel,
    one_draw: bool,
) -> tuple[Floats, NDArray[np.int8]]:
    """Shift of each ready group: even chance of all its wins (or losses), or points as expected where it has both.

    With `one_draw`, as Ordo's manual has it: points as expected, one game of a perfect score being taken for a draw.
    """
    index = np.searchsorted(ready, meetings.group[rows])
    gap = ratings[meetings.own[rows]] - ratings[meetings.other[rows]] + meetings.ahead[rows]
    games, won = meetings.games[rows], meetings.won[rows]
    count = len(ready)
    has_won = np.bincount(index, won, count) > 0
    has_lost = np.bincount(index, ~won, count) > 0
    both = has_won & has_lost
    half = math.log(0.5)

    def excess(shift: Floats) -> Floats:
        """Rises with the shift, and is zero where the group belongs."""
        p = expectancy(gap + shift[index], beta)
        win, _, loss = win_draw_loss(p, equal, model)
        all_won = np.bincount(index, games * np.log(np.maximum(win, _TINY)), count) - half
        all_lost = half - np.bincount(index, games * np.log(np.maximum(loss, _TINY)), count)
        points = np.bincount(index, games * (p - won), count)
        if one_draw:
            return np.where(both, points, points + np.where(has_won, 0.5, -0.5))
        return np.where(both, points, np.where(has_won, all_won, all_lost))

    most = np.full(count, -np.inf)
    np.maximum.at(most, index, np.abs(gap))
    low, high = -most - _REACH, most + _REACH
    for _ in range(_BISECTIONS):
        middle = (low + high) / 2.0
        up = excess(middle) < 0
        low, high = np.where(up, middle, low), np.where(up, high, middle)
    kind = np.where(both, RATED, np.where(has_won, ABOVE, BELOW)).astype(np.int8)
    return (low + high) / 2.0, kind


@dataclass(frozen=True)
class Settings:
    """What a fit is told: what to estimate and what is known beforehand.

    One `anchor` sets the level of its pool; several are `held`, as are loose anchors without an error.
    """

    beta: float
    average: float
    white: float
    fit_white: bool
    white_precision: float
    equal: float
    fit_draws: bool
    draws_precision: float
    likelihood: bool
    anchor: int | None = None
    anchor_rating: float = 0.0
    held: Bools | None = None
    held_rating: Floats | None = None
    mean: Floats | None = None
    precision: Floats | None = None
    links: Links = NO_LINKS
    several_starts: bool = True
    model: DrawModel = "ordo"
    one_draw: bool = False

    @property
    def level_known(self) -> Bools | None:
        """The players whose own level something tells."""
        if self.held is None:
            return None if self.precision is None else self.precision > 0
        known: Bools = self.held if self.precision is None else self.held | (self.precision > 0)
        return known


@dataclass(frozen=True)
class Fitted:
    """What a fit found."""

    table: PairTable
    settings: Settings
    groups: Components
    problem: Equations
    solution: Solution
    placement: Placement

    @property
    def ratings(self) -> Floats:
        """The rating of each player, nan where there is none."""
        return self.placement.ratings

    @property
    def bounded(self) -> Bools:
        """Whose rating the results of his own group bound on both sides."""
        bounded: Bools = (self.placement.status == RATED) & (self.problem.free[:-1] | self.problem.held)
        return bounded


def fit(table: PairTable, settings: Settings, start: Mapping[int, float] | Floats) -> Fitted:
    """Rate all players of a table, starting from these ratings (of some players, or of all).

    Encounters of a player with himself count in his score and tell nothing else.
    """
    if not (table.white != table.black).any():
        raise RatingError("there are no games to rate.")
    known = settings.level_known
    groups = connect(table, known, settings.links.ends)
    label = groups.label
    held = np.zeros(table.players, np.bool_) if settings.held is None else settings.held
    level = None
    if known is not None and known.any():
        level = int(label[np.argmax(known)])
    inside = table.keep((label[table.white] == label[table.black]) & (table.white != table.black))
    first = start.copy() if isinstance(start, np.ndarray) else _first_guess(inside, settings, start)
    if settings.held_rating is not None:
        first[held] = settings.held_rating[held]
    problem = Equations(
        table=inside,
        beta=settings.beta,
        shift=_shiftable(groups, level),
        held=held,
        start=first,
        white=settings.white,
        fit_white=settings.fit_white,
        white_precision=settings.white_precision,
        equal=settings.equal,
        fit_draws=settings.fit_draws,
        draws_precision=settings.draws_precision,
        likelihood=settings.likelihood,
        mean=settings.mean,
        precision=settings.precision,
        links=settings.links,
        several=settings.several_starts,
        model=settings.model,
    )
    if table.kind is None or not settings.fit_white:
        solution = solve(problem)
    else:
        solution, more = solve_by_kind(problem, solve)
        table, problem = with_kinds(table, more), replace(problem, table=with_kinds(inside, more))
    placement = place(
        table,
        groups,
        solution.ratings,
        beta=settings.beta,
        white=solution.white,
        equal=solution.equal,
        average=settings.average,
        level=level,
        model=settings.model,
        one_draw=settings.one_draw,
    )
    if settings.anchor is not None:
        ratings = placement.ratings
        pool = placement.pool == placement.pool[settings.anchor]
        ratings[pool] += settings.anchor_rating - ratings[settings.anchor]
    return Fitted(table, settings, groups, problem, solution, placement)


def _first_guess(table: PairTable, settings: Settings, start: Mapping[int, float]) -> Floats:
    """Ratings as if everybody had met the average, with half a game added to wins and losses; or those given."""
    made, lost = table.points, table.played - table.points
    guess: Floats = settings.average + np.log((made + 0.5) / (lost + 0.5)) / settings.beta
    guess[list(start)] = list(start.values())
    return guess


def _shiftable(groups: Components, level: int | None) -> NDArray[np.int32]:
    """Number the groups that nothing holds; -1 for players of the held one, for single players and for the absent."""
    loose = groups.sizes > 1
    if level is not None:
        loose[level] = False
    number = np.where(loose, np.cumsum(loose) - 1, -1).astype(np.int32)
    return np.append(number, np.int32(-1))[groups.label]


def known_beforehand(
    names: Sequence[str],
    table: PairTable,
    settings: Settings,
    *,
    anchors: Mapping[Any, float],
    priors: Mapping[Any, tuple[float, float]],
    relations: Sequence[tuple[Any, Any, float, float]],
    prior: float | None,
) -> Settings:
    """The settings with anchors, loose anchors, relations and the prior of all players looked up."""
    if not (anchors or priors or relations or prior is not None):
        return settings
    index = {name: i for i, name in enumerate(names)}

    def find(name: Any, what: str) -> int:
        player = index.get(str(name))
        if player is None or table.played[player] == 0:
            raise RatingError(f'{what} "{name}": no games of this player; check spelling, capitals and spaces.')
        return player

    n = len(names)
    exact = {find(name, "anchor"): float(value) for name, value in anchors.items()}
    mean = np.full(n, settings.average)
    precision = np.zeros(n)
    if prior is not None:
        if not prior > 0:
            raise RatingError(f"a prior of {prior:g} Elo is not above zero.")
        precision[table.played > 0] = precision_of(prior, "a prior")
    for name, (value, error) in priors.items():
        player = find(name, "loose anchor")
        if error < 0:
            raise RatingError(f'loose anchor "{name}": an uncertainty of {error:g} is below zero.')
        if error == 0:
            if exact.setdefault(player, value) != value:
                raise RatingError(f'"{name}" is anchored at {exact[player]:g} and at {value:g}: leave out one of them.')
        else:
            mean[player], precision[player] = value, precision_of(error, f'loose anchor "{name}": an uncertainty')
    links = _links([(find(a, "relation"), find(b, "relation"), delta, error) for a, b, delta, error in relations])
    soft = bool((precision > 0).any())
    settings = replace(
        settings,
        links=links,
        mean=mean if soft else None,
        precision=precision if soft else None,
        likelihood=settings.likelihood or soft or len(links.a) > 0,
    )
    if len(exact) == 1 and not soft:
        ((anchor, value),) = exact.items()
        return replace(settings, anchor=anchor, anchor_rating=value)
    if exact:
        held = np.zeros(n, np.bool_)
        held_rating = np.full(n, settings.average)
        for player, value in exact.items():
            held[player], held_rating[player] = True, value
        return replace(settings, held=held, held_rating=held_rating)
    return settings


def precision_of(error: float, what: str) -> float:
    """The weight of something known with this error, which must be one that can be weighed.

    >>> precision_of(0.5, "an error")
    4.0
    """
    if not _LEAST_ERROR <= error <= _MOST_ERROR:
        raise RatingError(f"{what} of {error:g} is not between {_LEAST_ERROR:g} and {_MOST_ERROR:g}.")
    return 1.0 / error**2


def _links(rows: Sequence[tuple[int, int, float, float]]) -> Links:
    for _, _, _, error in rows:
        if not error > 0:
            raise RatingError(f"a relation with an uncertainty of {error:g} cannot be weighed; give one above zero.")
        precision_of(error, "a relation with an uncertainty")
    ends = np.array([row[:2] for row in rows], np.intp).reshape(-1, 2)
    ties = np.array([row[2:] for row in rows], np.float64).reshape(-1, 2)
    return Links(ends[:, 0], ends[:, 1], ties[:, 0], 1.0 / ties[:, 1] ** 2)
