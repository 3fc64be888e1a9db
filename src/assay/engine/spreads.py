"""Stored analyses as arrays: one row per position, moves best first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.engine import score
from assay.engine.identity import Identity
from assay.engine.store import Store

# Where a position is found: its row, or why it has none.
LACKING, FORCED, DECIDED = -1, -2, -3


@dataclass(frozen=True)
class Spreads:
    """The values of many positions.

    `values` are pawns, positions x moves, or positions x moves x depths; best first at the last depth, padded with nan.
    `looks` has what the shallow look said of the decided positions.
    """

    row_of: dict[bytes, int]
    values: NDArray[np.float64]
    moves: NDArray[np.uint16]
    looks: dict[bytes, float]

    def find(self, keys: Sequence[bytes]) -> NDArray[np.int64]:
        """The row of each key; LACKING, FORCED or DECIDED where there is none."""
        row_of = self.row_of
        return np.fromiter((row_of.get(key, LACKING) for key in keys), np.int64, len(keys))

    def best(self, at: NDArray[np.int64]) -> NDArray[np.float64]:
        """The value of the best move at these rows; nan where there is none."""
        final = last_depth(self.values)[:, 0]
        return np.where(at < 0, np.nan, final[at]) if len(final) else np.full(len(at), np.nan)


def last_depth(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Turns x moves, whether or not there is an axis of depths."""
    return values if values.ndim == 2 else values[:, :, -1]


def load(
    store: Store, identities: Sequence[Identity], depth: int, keys: set[bytes], *, lesser: Sequence[int] = ()
) -> Spreads:
    """Read the analyses of these positions to this depth; of a jury, the average of each move's values.

    With `lesser` depths a third axis holds these, in their order, and then `depth`.
    """
    parts = [_load_one(store, identity, depth, keys, lesser) for identity in identities]
    return _sorted(parts[0] if len(parts) == 1 else _average(parts))


def _load_one(store: Store, identity: Identity, depth: int, keys: set[bytes], lesser: Sequence[int]) -> Spreads:
    wanted = [row for key, row in store.known(identity, depth).items() if key in keys]
    found = store.read_bytes(wanted, None if lesser else depth)
    row_of = {key: number for number, (key, _, _) in enumerate(found)}
    codes, moves = _table([row[1] for row in found], [row[2] for row in found], [*lesser, depth] if lesser else [1])
    looks = {}
    for key, (reason, value) in store.out(identity).items():
        if key in keys and key not in row_of:
            row_of[key] = FORCED if reason == "forced" else DECIDED
            looks[key] = float(score.pawns(value))
    return Spreads(row_of, score.pawns(codes if lesser else codes[:, :, 0]), moves, looks)


def _table(
    moves: list[bytes], scores: list[bytes], depths: Sequence[int]
) -> tuple[NDArray[np.int16], NDArray[np.uint16]]:
    """Ragged bytes to arrays: codes as positions x moves x these depths, and moves, padded with MISSING and 0."""
    widths = np.array([len(some) // 2 for some in moves], np.int64)
    reached = np.array([len(some) // 2 for some in scores], np.int64) // np.maximum(widths, 1)
    width = int(widths.max(initial=1))
    listed = np.arange(width) < widths[:, None]
    table = np.zeros((len(moves), width), np.uint16)
    table[listed] = np.frombuffer(b"".join(moves), "<u2")
    codes = np.full((len(moves), width, len(depths)), score.MISSING, np.int16)
    flat = np.frombuffer(b"".join(scores), "<i2")
    starts = np.cumsum(widths * reached) - widths * reached
    for at, depth in enumerate(depths):
        # A search that ended early (by nodes, by a mate) stands for the depths beyond it.
        level = np.minimum(depth, reached) - 1
        source = (starts + level * widths)[:, None] + np.arange(width)
        codes[:, :, at][listed] = flat[source[listed]]
    return codes, table


def _sorted(spreads: Spreads) -> Spreads:
    """Moves best first by the last depth; of equal ones the engine's own order holds."""
    order = np.argsort(-last_depth(spreads.values), axis=1, kind="stable")
    moves = np.take_along_axis(spreads.moves, order, axis=1)
    deep = order if spreads.values.ndim == 2 else order[:, :, None]
    values = np.take_along_axis(spreads.values, deep, axis=1)
    return Spreads(spreads.row_of, values, moves, spreads.looks)


def _average(parts: Sequence[Spreads]) -> Spreads:
    """The jury's verdict: of moves that every engine valued, the mean of their values.

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
    first, rows = parts[0], at[:, valued]
    moves = first.moves[rows[0]]
    values = first.values[rows[0]]
    in_all = moves > 0
    for part, mine in zip(parts[1:], rows[1:], strict=True):
        theirs, where = _same_moves(moves, part.moves[mine])
        in_all &= theirs
        columns = where if values.ndim == 2 else where[:, :, None]
        values = values + np.take_along_axis(part.values[mine], columns, axis=1)
    mask = in_all if values.ndim == 2 else in_all[:, :, None]
    return Spreads(row_of, np.where(mask, values / len(parts), np.nan), np.where(in_all, moves, 0), looks)


def _same_moves(mine: NDArray[np.uint16], theirs: NDArray[np.uint16]) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Which of my moves they list, and in which column."""
    order = np.argsort(theirs, axis=1, kind="stable")
    # One search over all rows at once: the row's number leads, so that rows do not mix.
    base = np.arange(len(mine), dtype=np.int64)[:, None] << 16
    ranked = (np.take_along_axis(theirs, order, axis=1) + base).ravel()
    at = np.searchsorted(ranked, (mine + base).ravel()).reshape(mine.shape)
    found = ranked[np.minimum(at, len(ranked) - 1)] == mine + base if len(ranked) else np.zeros(mine.shape, np.bool_)
    columns = np.where(found, at - np.arange(len(mine))[:, None] * theirs.shape[1], 0)
    return found, np.take_along_axis(order, columns, axis=1)
