"""The average difference: how much worse the moves played were than the engine's own (Guid & Bratko, ICGA 2006).

It needs no more than one line per position, since the played move is worth what the next position says; so hundreds of
thousands of games can be surveyed cheaply. Raw in pawns, and scaled as in RH11.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack

import numpy as np
from numpy.typing import NDArray

from assay.engine.turns import Turns
from assay.errors import InputError
from assay.games.source import Games
from assay.games.stream import Paths
from assay.moves.asked import Reading, stored_turns
from assay.moves.groups import group
from assay.moves.regan.spread import CAP, Floats, scaled
from assay.records import dataclass
from assay.table import Answer, Table, columns_of, counted

DIFFERENCE_COLUMNS = (
    "elo", "games", "turns", "raw", "raw_error", "scaled", "scaled_error", "unknown", "mm", "mm_error",
)  # fmt: skip
DIFFERENCE_GROUPS = ("player", "event", "player-event", "evaluation", "all", "game", "year", "color", "phase")
_KEYS = {"player-event": ("event", "player")}  # several keys; all others are their own
BIN = 0.5


@dataclass(frozen=True)
class Losses:
    """What each played move cost, in pawns and scaled; nan where it is not known."""

    raw: Floats
    scaled: Floats


def losses(turns: Turns, *, cap: float = CAP, k: float = 1.0) -> Losses:
    """The loss of each played move: the best value minus its own, none if it is the better one, at most `cap` pawns."""
    best = turns.values[:, 0]
    # A greater loss counts as the cap, so that one overlooked mate does not outweigh a tournament.
    worth = np.clip(turns.worth, best - cap, best)
    # A move that the engine did not list is worth less than all it did list; how much less is known at the cap only.
    full_width = all(identity.lines > 1 for identity in turns.identities)
    worth = np.where(np.isnan(worth) & full_width, best - cap, worth)
    return Losses(best - worth, scaled(best, k=k) - scaled(worth, k=k))


def difference_table(
    turns: Turns, by: str, *, cap: float = CAP, k: float = 1.0, bin: float = BIN
) -> list[dict[str, Any]]:
    """Average differences and matches by group (or by evaluation, in bins of so many pawns, a value of exactly 0
    apart: that is mostly a draw by force), with errors clustered by game.
    """
    found = losses(turns, cap=cap, k=k)
    matched = (turns.played == 0).astype(np.float64)
    return mean_table(turns, by, {"raw": found.raw, "scaled": found.scaled, "mm": matched}, bin=bin)


def mean_table(turns: Turns, by: str, statistics: Mapping[str, Floats], *, bin: float = BIN) -> list[dict[str, Any]]:
    """A row per group with the mean of each statistic (a number per turn, nan where unknown) and its standard error.

    A turn counts where every statistic is known; errors are clustered by game.
    """
    if not len(turns):
        raise InputError("no turns are left to compare.")
    known = np.all(np.isfinite(np.stack(list(statistics.values()))), axis=0)
    names = _KEYS.get(by, (by,))
    keys, code = _evaluation_bins(turns, bin) if by == "evaluation" else _groups(turns, names)
    rows = []
    for number, key in enumerate(keys):
        mine = code == number
        use = mine & known
        games = np.unique(turns.game[mine], return_inverse=True)[1][known[mine]]
        rating = turns.rating[mine]
        row: dict[str, Any] = dict(zip(names, key, strict=True))
        row |= {"elo": _mean(rating[np.isfinite(rating)]), "turns": int(use.sum())}
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


def _groups(turns: Turns, by: Sequence[str]) -> tuple[Sequence[tuple[str, ...]], NDArray[np.intp]]:
    groups = group(turns, *by)
    return groups.keys, groups.code


def _evaluation_bins(turns: Turns, bin: float) -> tuple[Sequence[tuple[str, ...]], NDArray[np.intp]]:
    """Bins of the value of the best move, the origin apart; the outermost are whole."""
    best = turns.values[:, 0]
    # A hair of slack: 0.15 / 0.05 is not quite 3 in binary. The greatest value belongs to the last full bin.
    number = np.minimum(np.floor(best / bin + 1e-9), np.ceil(best.max() / bin - 1e-9) - 1).astype(np.intp)
    place = np.where(best == 0, 0, np.where(number >= 0, 2 * number + 1, 2 * number))
    present, code = np.unique(place, return_inverse=True)
    digits = max(1, len(f"{bin:.4f}".rstrip("0").partition(".")[2]))
    labels = []
    for at in present.tolist():
        low = bin * ((at - 1) // 2 if at > 0 else at // 2)
        labels.append(("0.00",) if at == 0 else (f"{low:+.{digits}f} to {low + bin:+.{digits}f}",))
    return labels, code.reshape(-1)


_ONE_LINE = (
    "One line per position: a played move is worth what the next position says, and that comes from a deeper look. "
    "Compare these differences with each other, never with those of a full width, which are smaller."
)


def difference(
    what: Paths | Games, *, by: str = "player", cap: float = 4.0, bin: float = 0.5, **reading: Unpack[Reading]
) -> Answer:
    """How much worse moves were than the engine's own, as `assay difference` says: in pawns and scaled.

    By evaluation, `bin` is the width of a bin in pawns. Analyses of one line and of the full width do not compare.

    >>> import assay
    >>> assay.difference(assay.SAMPLE, store="nowhere.db")
    Traceback (most recent call last):
        ...
    assay.errors.StoreError: ...
    """
    if by not in DIFFERENCE_GROUPS:
        raise InputError(f"cannot group by {by!r}: choose one of {', '.join(DIFFERENCE_GROUPS)}.")
    found = stored_turns(what, **reading)
    rows = difference_table(found.turns, by, cap=cap, bin=bin)
    decimals = dict.fromkeys(("raw", "raw_error", "scaled", "scaled_error"), 4) | {"elo": 0}
    decimals |= {"mm": 3, "mm_error": 3}
    names = (*_KEYS.get(by, (by,)), *DIFFERENCE_COLUMNS)
    narrow = any(identity.lines == 1 for identity in found.turns.identities)
    unlisted = 0 if narrow else int(np.isnan(found.turns.worth).sum())
    told = f"{counted(unlisted, 'played move')} that the engine did not list: each counts as a loss of {cap:g} pawns."
    return Answer(
        shown=Table(rows, columns_of(names, decimals=decimals, wide=("unknown", "mm_error"))),
        problems=found.problems,
        remarks=[*found.remarks, *([_ONE_LINE] if narrow else []), *([told] if unlisted else [])],
    )
