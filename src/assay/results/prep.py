"""Which games are worth keeping: what Ordoprep drops, on arrays.

Leaving out a player leaves out all his games, so that others may fall below a limit in their turn: every rule is
applied until nothing changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.results.table import Bools, PairTable, connect, tabulate


@dataclass(frozen=True)
class Kept:
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
) -> Kept:
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
            return Kept(games, **out)
        games = games & ~(bad[white] | bad[black])


def _major(table: PairTable) -> Bools:
    """The players of the largest group that games connect."""
    groups = connect(table)
    if not groups.count:
        return np.zeros(table.players, np.bool_)
    major: Bools = groups.label == int(np.argmax(groups.sizes))
    return major
