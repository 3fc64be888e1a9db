"""Where to put players whom their results alone cannot place: perfect scores, and groups that met only one way.

A group (a strongly connected component; a player with a perfect score is a group of one) has only wins or only losses
against what is left when its round of purging comes. Purging goes on until one group is left, the core; then the
others are put back, last purged first. Ordo's program (not its manual) sets a perfect score where all its results
together have a chance of one half, and so is every group here. Groups that met nobody else keep the average.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.results.model import expectancy, win_draw_loss
from assay.results.table import Bools, Floats, Groups, PairTable

RATED, ABOVE, BELOW, UNPLAYED = 0, 1, 2, 3
_REACH = 6000.0
_BISECTIONS = 48
_TINY = 1e-300

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
    groups: Groups,
    ratings: Floats,
    *,
    beta: float,
    white: float,
    equal: float,
    average: float,
    level: int | None = None,
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
            shift, kind = _fit(meetings, rows, ready, ratings, beta, equal)
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

    def __init__(self, label: NDArray[np.int32], groups: Groups) -> None:
        self._order = np.argsort(label, kind="stable")
        self._start = np.searchsorted(label[self._order], np.arange(groups.count + 1))

    def of(self, group: int) -> Ints:
        return self._order[self._start[group] : self._start[group + 1]]


def _meetings(table: PairTable, label: NDArray[np.int32], count: int, white: float) -> Meetings:
    rows = label[table.white] != label[table.black]
    cut = table.keep(rows)
    own = np.concatenate((cut.white, cut.black))
    other = np.concatenate((cut.black, cut.white))
    side = np.where(np.arange(len(own)) < len(cut.white), white, -white)
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


def _fit(
    meetings: Meetings, rows: Ints, ready: Ints, ratings: Floats, beta: float, equal: float
) -> tuple[Floats, NDArray[np.int8]]:
    """Shift of each ready group: even chance of all its wins (or losses), or points as expected where it has both."""
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
        win, _, loss = win_draw_loss(p, equal)
        all_won = np.bincount(index, games * np.log(np.maximum(win, _TINY)), count) - half
        all_lost = half - np.bincount(index, games * np.log(np.maximum(loss, _TINY)), count)
        points = np.bincount(index, games * (p - won), count)
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
