"""Time on the clock: what each move took, and what is to be said of it.

Broadcasts often do not tell the time control, or tell an increment that begins with move 41: there the clocks
themselves show it, for they rise by what a quick move brings back.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from assay.games import GameArrays
from assay.pools import clock_of, is_online
from assay.records import dataclass

Floats = NDArray[np.float64]

_TROUBLE_SHARE, _TROUBLE_LEAST = 20, 10.0  # a twentieth of the base time, and ten seconds at least
_INCREMENTS = np.array([0.0, 1, 2, 3, 5, 10, 12, 15, 20, 30, 45, 60])
_FIRST_PERIOD = 40  # moves
_MOST_RISE = 60.0  # a clock that rises by more is given the time of another period


@dataclass(frozen=True)
class Clock:
    """What the clock says of one side: seconds for a move on average, the longest think, moves in time trouble."""

    mean: float
    longest: float
    longest_move: str
    trouble: int
    trouble_below: float
    trouble_accuracy: float | None


@dataclass(frozen=True)
class Thought:
    """A move with a clock: its name, seconds spent and left, its accuracy."""

    name: str
    spent: float
    left: float
    accuracy: float | None


@dataclass(frozen=True)
class Control:
    """The time control of a game: seconds at the start, as told or as the clocks show it, and those for each ply."""

    base: float
    spent: Floats


def control_of(arrays: GameArrays, site: str, event: str, control: str, pool: str) -> Control:
    """The time control of one game and the seconds for each of its plies, nan where clocks do not tell."""
    clock = arrays.clock.astype(np.float64)
    base, told, _ = clock_of(site, event, control)
    before = np.full(arrays.plies, np.nan)
    before[2:] = clock[:-2]
    rise = clock - before
    if base is not None:
        before[:2] = base
    if told or is_online(pool):
        plus = np.full(arrays.plies, told or 0.0)
    else:
        late = arrays.fullmove > _FIRST_PERIOD
        plus = np.where(late, _increment(rise[late]), _increment(rise[~late]))
    spent = before - clock + np.where(np.arange(arrays.plies) < 2, 0.0, plus)
    spent = np.where((rise > _MOST_RISE) | np.isnan(spent), np.nan, np.maximum(spent, 0.0))
    known = clock[np.isfinite(clock)]
    return Control(base or (_rounded(float(known.max())) if len(known) else 0.0), spent)


def _increment(rises: Floats) -> float:
    """The increment behind these rises of clocks: the least usual one that explains them."""
    most = rises[np.isfinite(rises) & (rises <= _MOST_RISE)].max(initial=0.0)
    return float(_INCREMENTS[np.searchsorted(_INCREMENTS, max(most, 0.0))])


def _rounded(seconds: float) -> float:
    """The base time behind the highest clock of a game.

    >>> _rounded(5456.0), _rounded(7197.0), _rounded(178.0), _rounded(20.0)
    (5400.0, 7200.0, 180.0, 20.0)
    """
    step = 300 if seconds >= 540 else 60
    return float(round(seconds / step) * step) or seconds


def clock_said(moves: Iterable[Thought], base: float) -> Clock | None:
    """What the clock says of one side's moves; None where it says next to nothing."""
    timed = list(moves)
    if len(timed) < 2:
        return None
    below = max(base / _TROUBLE_SHARE, _TROUBLE_LEAST)
    hasty = [move for move in timed if move.left < below]
    own = [move.accuracy for move in hasty if move.accuracy is not None]
    longest = max(timed, key=lambda move: move.spent)
    return Clock(
        mean=float(np.mean([move.spent for move in timed])),
        longest=longest.spent,
        longest_move=longest.name,
        trouble=len(hasty),
        trouble_below=below,
        trouble_accuracy=float(np.mean(own)) if own else None,
    )
