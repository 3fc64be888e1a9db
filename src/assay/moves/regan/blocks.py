"""Spreads laid out for speed: turns of like width side by side, one move per line, a cache-full at a time.

Most of a padded array is padding (some 20 of 50 moves are inside the cap). Turns are therefore sorted by their
number of moves and cut into blocks, each as narrow as its widest turn. Within a block the moves run down and the
turns across, so that a sum over moves is a sum of long rows.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import ModelError
from assay.moves.regan.curves import log_deltas
from assay.moves.regan.spread import Floats

# 1,024 turns x 50 moves x 8 bytes: a few such arrays fit in the second-level cache of a usual core.
BLOCK_TURNS = 512


@dataclass(frozen=True)
class Block:
    """Some turns, as columns.

    `turns` are their numbers, `log_delta` is (depths,) moves x turns, `outside` the flat places of cells that hold no
    move.
    """

    turns: NDArray[np.intp]
    log_delta: Floats
    outside: NDArray[np.intp]

    @property
    def moves(self) -> int:
        """Moves of the longest turn."""
        return int(self.log_delta.shape[-2])

    def deltas(self) -> Floats:
        """The deltas again (of the last depth), moves x turns; arbitrary but finite where there is no move."""
        return np.exp(self.log_delta if self.log_delta.ndim == 2 else self.log_delta[-1])


def blocks(deltas: ArrayLike) -> Iterator[Block]:
    """Cut an array of deltas (turns x moves, or turns x moves x depths) into blocks, after checking every turn."""
    array = np.asarray(deltas)
    if array.ndim not in (2, 3):
        raise ModelError(f"deltas are an array of turns x moves (x depths), not of shape {array.shape}.")
    if array.dtype != np.float32:
        array = np.asarray(array, dtype=np.float64)
    listed = np.isfinite(array if array.ndim == 2 else array[:, :, -1])
    width = _width(array, listed)
    order = np.argsort(width, kind="stable")
    for start in range(0, len(order), BLOCK_TURNS):
        turns = order[start : start + BLOCK_TURNS]
        moves = int(width[turns[-1]])
        part = np.ascontiguousarray(array[turns, :moves].T, dtype=np.float64)  # (depths,) moves, turns
        outside = np.flatnonzero(np.isinf(part if part.ndim == 2 else part[-1]))
        if len(outside):
            part.reshape(-1, moves * len(turns))[:, outside] = 1.0
        yield Block(turns, log_deltas(part), outside)


def _width(array: NDArray[np.floating], listed: NDArray[np.bool_]) -> NDArray[np.intp]:
    """One past the last move of each turn; complain about the first turn that is no spread."""
    good = array >= 0  # false for nan too
    if not good.all():
        turn = int(np.argwhere(~good)[0, 0])
        raise ModelError(f"turn {turn}: a delta is negative or no number; deltas come from scaled_deltas.")
    if array.ndim == 3 and (np.isfinite(array) != listed[:, :, None]).any():
        turn = int(np.argwhere(np.isfinite(array) != listed[:, :, None])[0, 0])
        raise ModelError(f"turn {turn}: a move is listed at one depth and not at another.")
    if not listed.shape[1] or not (some := listed.any(axis=1)).all():
        turn = int(np.argmin(some)) if listed.shape[1] else 0
        raise ModelError(f"turn {turn} has no moves; leave it out.")
    return np.asarray(listed.shape[1] - np.argmax(listed[:, ::-1], axis=1))
