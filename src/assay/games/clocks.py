"""Time on the clock as shares of the base time, ply by ply: what was used for a move, and what was left after it."""

from __future__ import annotations

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.games.parse import GameArrays
from assay.pools import clock_of

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
