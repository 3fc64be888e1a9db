"""The average difference: how much worse the moves played were than the engine's own (Guid & Bratko, ICGA 2006).

It needs no more than one line per position, since the played move is worth what the next position says; so hundreds of
thousands of games can be surveyed cheaply. Raw in pawns, and scaled as in RH11.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.engine.spreads import last_depth
from assay.engine.turns import Turns
from assay.errors import InputError
from assay.moves.groups import group
from assay.moves.regan.spread import CAP, Floats, scaled

COLUMNS = ("elo", "games", "turns", "raw", "raw_error", "scaled", "scaled_error", "unknown")
BIN = 0.5


@dataclass(frozen=True)
class Losses:
    """What each played move cost, in pawns and scaled; nan where it is not known."""

    raw: Floats
    scaled: Floats


def losses(turns: Turns, *, cap: float = CAP, k: float = 1.0) -> Losses:
    """The loss of each played move: the best value minus its own, none if it is the better one, at most `cap` pawns."""
    best = last_depth(turns.values)[:, 0]
    # A greater loss counts as the cap, so that one overlooked mate does not outweigh a tournament.
    worth = np.clip(turns.worth, best - cap, best)
    # A move that the engine did not list is worth less than all it did list; how much less is known at the cap only.
    full_width = all(identity.lines > 1 for identity in turns.identities)
    worth = np.where(np.isnan(worth) & full_width, best - cap, worth)
    return Losses(best - worth, scaled(best, k=k) - scaled(worth, k=k))


def difference_table(turns: Turns, by: str, *, cap: float = CAP, k: float = 1.0) -> list[dict[str, Any]]:
    """Average differences by group (or by evaluation, in bins of half a pawn), with errors clustered by game."""
    found = losses(turns, cap=cap, k=k)
    return mean_table(turns, by, {"raw": found.raw, "scaled": found.scaled})


def mean_table(turns: Turns, by: str, statistics: Mapping[str, Floats]) -> list[dict[str, Any]]:
    """A row per group with the mean of each statistic (a number per turn, nan where unknown) and its standard error.

    A turn counts where every statistic is known; errors are clustered by game.
    """
    if not len(turns):
        raise InputError("no turns are left to compare.")
    known = np.all(np.isfinite(np.stack(list(statistics.values()))), axis=0)
    labels, code = _evaluation_bins(turns) if by == "evaluation" else _labels(turns, by)
    rows = []
    for number, label in enumerate(labels):
        mine = code == number
        use = mine & known
        games = np.unique(turns.game[mine], return_inverse=True)[1][known[mine]]
        rating = turns.rating[mine]
        row: dict[str, Any] = {by: label, "elo": _mean(rating[np.isfinite(rating)]), "turns": int(use.sum())}
        row |= {"games": len(np.unique(turns.game[mine])), "unknown": int((mine & ~known).sum())}
        for name, values in statistics.items():
            row[name], row[f"{name}_error"] = clustered_mean(values[use], games)
        rows.append(row)
    return rows


def clustered_mean(values: Floats, clusters: NDArray[np.intp]) -> tuple[float, float]:
    """A mean and its standard error when values of one cluster hang together.

    >>> clustered_mean(np.array([1.0, 1.0, 3.0, 3.0]), np.array([0, 0, 1, 1]))
    (2.0, 1.0)
    """
    if not len(values):
        return float("nan"), float("nan")
    sums = np.bincount(clusters, weights=values - values.mean())
    count = len(np.unique(clusters))
    error = np.sqrt(np.sum(sums**2) * count / (count - 1)) / len(values) if count > 1 else np.nan
    return float(values.mean()), float(error)


def _mean(values: Floats) -> float:
    return float(values.mean()) if len(values) else float("nan")


def _labels(turns: Turns, by: str) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    groups = group(turns, by)
    return groups.labels, groups.code


def _evaluation_bins(turns: Turns) -> tuple[tuple[str, ...], NDArray[np.intp]]:
    best = last_depth(turns.values)[:, 0]
    # The greatest value of all belongs to the last full bin, not to one of its own.
    number = np.minimum(np.floor(best / BIN), np.ceil(best.max() / BIN) - 1).astype(np.intp)
    present, code = np.unique(number, return_inverse=True)
    return tuple(f"{n * BIN:+.1f} to {(n + 1) * BIN:+.1f}" for n in present.tolist()), code
