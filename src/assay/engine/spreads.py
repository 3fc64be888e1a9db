"""Stored analyses as arrays: of many positions every listed move with its values at all depths, in flat rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.engine import score
from assay.engine.choices import Choices, rows_of
from assay.engine.identity import Identity
from assay.engine.store import Store

# Where a position is found: its row, or why it has none.
LACKING, FORCED, DECIDED = -1, -2, -3


@dataclass(frozen=True)
class Spreads:
    """The values of many positions.

    The moves of position p are rows `start[p]` to `start[p + 1]` of `moves` and `codes` (rows x depths 1 to D), in the
    engine's order. `looks` has what the shallow look said of the decided positions, in pawns.
    """

    row_of: dict[bytes, int]
    codes: NDArray[np.int16]
    moves: NDArray[np.uint16]
    start: NDArray[np.int64]
    looks: dict[bytes, float]

    def find(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """The position of each key; LACKING, FORCED or DECIDED where there is none."""
        row_of = self.row_of
        return np.fromiter((row_of.get(key, LACKING) for key in keys), np.int64, len(keys))

    def best(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """The value of the best move of these positions, in pawns; nan where there is none."""
        if len(self.start) < 2:
            return np.full(len(at), np.nan)
        final = score.pawns(np.maximum.reduceat(self.codes[:, -1], self.start[:-1]))
        return np.where(at < 0, np.nan, final[at])

    def choices(self, at: NDArray[np.int64], mine: NDArray[np.uint16], **by_turn: NDArray[Any]) -> Choices:
        """Turns in these positions in which these moves were played, with a row more where one is not listed."""
        rows, start = self.rows(at)
        codes, moves = self.codes[rows], self.moves[rows]
        width = np.diff(start)
        turn = np.repeat(np.arange(len(width)), width)
        hits = np.flatnonzero(moves == mine[turn])
        played = width.copy()
        played[turn[hits]] = hits - start[:-1][turn[hits]]
        if (other := np.flatnonzero(played == width)).size:
            end = start[1:][other]
            codes = np.insert(codes, end, np.int16(score.MISSING), axis=0)
            moves = np.insert(moves, end, mine[other])
            start = start + np.concatenate([[0], np.cumsum(played == width)])
        return Choices(codes=codes, moves=moves, start=start, played=played, **by_turn)

    def rows(self, at: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """The rows of these positions' moves, and where those of each begin."""
        return rows_of(self.start, at)


def load(store: Store, identities: Sequence[Identity], depth: int, keys: set[bytes]) -> Spreads:
    """Read the analyses of these positions to this depth; of a jury, the average of each move's values."""
    parts = [_load_one(store, identity, depth, keys) for identity in identities]
    return parts[0] if len(parts) == 1 else _average(parts)


def _load_one(store: Store, identity: Identity, depth: int, keys: set[bytes]) -> Spreads:
    found = store.read_bytes(store.holds(identity, depth, keys).values())
    row_of = {key: number for number, (key, _, _) in enumerate(found)}
    looks = {}
    for key, (reason, value) in store.out(identity, keys - row_of.keys()).items():
        row_of[key] = FORCED if reason == "forced" else DECIDED
        looks[key] = float(score.pawns(value))
    moves = np.frombuffer(b"".join(moves for _, moves, _ in found), "<u2").astype(np.uint16)
    flat = np.frombuffer(b"".join(scores for _, _, scores in found), "<i2").astype(np.int16)
    width = np.array([len(moves) // 2 for _, moves, _ in found], np.int64)
    reached = np.array([len(scores) // 2 for _, _, scores in found], np.int64) // np.maximum(width, 1)
    start = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    within = np.arange(start[-1]) - np.repeat(start[:-1], width)
    base = np.repeat(np.cumsum(width * reached) - width * reached, width) + within
    codes = np.empty((len(moves), depth), np.int16)
    for level in range(depth):
        # A search that ended early (by nodes, by a mate) stands for the depths beyond it.
        codes[:, level] = flat[base + np.repeat(np.minimum(level, reached - 1) * width, width)]
    return Spreads(row_of, codes, moves, start, looks)


def _average(parts: Sequence[Spreads]) -> Spreads:
    """The jury's verdict: of moves that every engine valued, the mean of their values, to a centipawn.

    A position counts where every engine valued it. Where one found it decided, it is decided.
    """
    common = set.intersection(*(set(part.row_of) for part in parts))
    keys = [key for key in parts[0].row_of if key in common]
    at = np.stack([part.find(keys) for part in parts])
    valued = at.min(axis=0) >= 0
    row_of = {key: int(least) for key, least, good in zip(keys, at.min(axis=0), valued, strict=True) if not good}
    row_of |= {key: number for number, key in enumerate(key for key, good in zip(keys, valued, strict=True) if good)}
    looks: dict[bytes, float] = {}
    for part in parts:
        looks |= part.looks
    first, *others = (_of(part, mine) for part, mine in zip(parts, at[:, valued], strict=True))
    name = _names(first)
    total = np.where(first.codes == score.MISSING, np.nan, first.codes.astype(np.float64))
    shared = np.ones(len(name), np.bool_)
    for other in others:
        theirs = _names(other)
        order = np.argsort(theirs)
        place = order[np.minimum(np.searchsorted(theirs, name, sorter=order), len(order) - 1)]
        shared &= theirs[place] == name
        total += np.where(other.codes[place] == score.MISSING, np.nan, other.codes[place])
    mean = np.rint(total / len(parts))[shared]
    width = np.bincount(name[shared] >> 16, minlength=len(first.start) - 1)
    return Spreads(
        row_of,
        np.where(np.isnan(mean), score.MISSING, mean).astype(np.int16),
        first.moves[shared],
        np.concatenate([[0], np.cumsum(width)]).astype(np.int64),
        looks,
    )


def _of(part: Spreads, at: NDArray[np.int64]) -> Spreads:
    """The positions at these rows, in this order."""
    rows, start = part.rows(at)
    return replace(part, codes=part.codes[rows], moves=part.moves[rows], start=start)


def _names(part: Spreads) -> NDArray[np.int64]:
    """A number for each row that tells its position and its move."""
    return np.repeat(np.arange(len(part.start) - 1), np.diff(part.start)) << 16 | part.moves.astype(np.int64)
