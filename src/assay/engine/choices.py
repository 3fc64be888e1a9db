"""Stored analyses as arrays: of positions and of turns every listed move with its values at all depths, a row per move.

Ragged arrays, since positions have 2 to 218 moves: the moves of turn t are rows `start[t]` to `start[t + 1]`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.engine import score
from assay.engine.identity import Identity
from assay.engine.score import LIMIT, MATE, MISSING
from assay.engine.store import Store
from assay.records import dataclass

Floats = NDArray[np.float32]
Codes = NDArray[np.int16]

MATE_PAWNS = 30.0
MOST_PAWNS = 20.0
_BY_TURN = ("played", "keys", "before", "own", "ply", "unit")


@dataclass(frozen=True)
class Choices:
    """Turns with their moves.

    By move: `codes` (rows x depths, score codes of :mod:`assay.engine.score` at depths 1 to D) and `moves`.
    By turn: `start` (one more than there are turns), `played` (its row, counted from the turn's first), `keys` (the
    positions), `before` (the opponent's last move, 0 if none), `own` (the mover's last move, 0 if none), `ply`, and
    `unit`, whatever the turns will be summed by first: a number for each side of each game.
    """

    codes: Codes
    moves: NDArray[np.uint16]
    start: NDArray[np.int64]
    played: NDArray[np.int64]
    keys: NDArray[np.uint8]
    before: NDArray[np.uint16]
    own: NDArray[np.uint16]
    ply: NDArray[np.int64]
    unit: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.played)

    @property
    def depth(self) -> int:
        """The deepest depth."""
        return int(self.codes.shape[1])

    @property
    def width(self) -> NDArray[np.int64]:
        """How many moves each turn has."""
        return np.diff(self.start)

    @property
    def turn(self) -> NDArray[np.int64]:
        """The turn of each row."""
        return np.repeat(np.arange(len(self)), self.width)

    @property
    def chosen(self) -> NDArray[np.int64]:
        """The row of the move played at each turn."""
        return self.start[:-1] + self.played

    def to_depth(self, depth: int) -> Choices:
        """The same turns with the depths up to this one."""
        return replace(self, codes=self.codes[:, :depth])

    def only(self, turns: NDArray[np.int64] | NDArray[np.bool_]) -> Choices:
        """These turns alone, by number or by mask."""
        rows, start = rows_of(self.start, turns)
        by_turn = {name: getattr(self, name)[turns] for name in _BY_TURN}
        return Choices(codes=self.codes[rows], moves=self.moves[rows], start=start, **by_turn)

    def parts(self, turns: int) -> Iterator[Choices]:
        """The same in parts of so many turns, so that what is worked out of them stays small."""
        for first in range(0, len(self), turns):
            last = min(first + turns, len(self))
            rows = slice(self.start[first], self.start[last])
            by_turn = {name: getattr(self, name)[first:last] for name in _BY_TURN}
            start = self.start[first : last + 1] - self.start[first]
            yield Choices(codes=self.codes[rows], moves=self.moves[rows], start=start, **by_turn)


def rows_of(start: NDArray[np.int64], chosen: NDArray[Any]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The flat rows of some turns or positions, by mask or by number, and where those of each begin among them."""
    width = np.diff(start)[chosen]
    begin = np.concatenate([[0], np.cumsum(width)]).astype(np.int64)
    return np.arange(begin[-1]) + np.repeat(start[:-1][chosen] - begin[:-1], width), begin


def joined(parts: Sequence[Choices]) -> Choices:
    """Several sets of turns as one."""
    names = ("codes", "moves", *_BY_TURN)
    width = np.concatenate([part.width for part in parts])
    start = np.concatenate([[0], np.cumsum(width)])
    return Choices(start=start, **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names})


def pawns(codes: Codes) -> Floats:
    """Pawns from score codes: centipawns cut at 20 pawns, mate in n as 30 - n/10, a missing value nan.

    >>> pawns(np.array([35, -250, 31997, -31998, MISSING], np.int16)).tolist()
    [0.3499999940395355, -2.5, 29.700000762939453, -29.799999237060547, nan]
    """
    wide = codes.astype(np.float32)
    size = np.abs(wide)
    plain = np.clip(wide / 100, -MOST_PAWNS, MOST_PAWNS)
    mate = np.sign(wide) * np.maximum(MATE_PAWNS - (MATE - size) / 10, MOST_PAWNS)
    return np.where(codes == MISSING, np.float32(np.nan), np.where(size > LIMIT, mate, plain)).astype(np.float32)


def filled(codes: Codes, start: NDArray[np.int64]) -> Codes:
    """Codes in which a move that is missing at a depth has that depth's lowest value in its turn."""
    lacking = codes == MISSING
    if not lacking.any():
        return codes
    lowest = np.minimum.reduceat(np.where(lacking, np.int16(32_767), codes), start[:-1], axis=0)
    # A depth at which nothing is listed says nothing: all moves alike.
    lowest[lowest == 32_767] = 0
    return np.where(lacking, np.repeat(lowest, np.diff(start), axis=0), codes)


@dataclass(frozen=True)
class Ranked:
    """Turns as tables: the moves best first by the last depth (of equal ones by those before it), padded with 0.

    `row` is the row of the choices that each cell shows, -1 where there is none; a move without a value is not shown.
    """

    codes: Codes
    row: NDArray[np.int64]
    moves: NDArray[np.uint16]

    def values(self, depth: int) -> NDArray[np.float64]:
        """Pawns at a depth, padded with nan; mates are capped with their order kept."""
        if not len(self.codes):
            return np.full(self.row.shape, np.nan)
        return np.where(self.row < 0, np.nan, score.pawns(self.codes[:, depth - 1])[self.row])

    def column(self, rows: NDArray[np.int64]) -> NDArray[np.int64]:
        """In which column the row of each turn stands, -1 if it is not shown."""
        own = self.row == rows[:, None]
        return np.where(own.any(axis=1), own.argmax(axis=1), -1)


def ranked(codes: Codes, moves: NDArray[np.uint16], start: NDArray[np.int64]) -> Ranked:
    """The tables of some turns, whose moves are rows `start[t]` to `start[t + 1]`."""
    turns = len(start) - 1
    last, turn = codes[:, -1], np.repeat(np.arange(turns), np.diff(start))
    valued = np.flatnonzero(last != MISSING)
    # Of equal moves the one that was better a depth earlier comes first, as in the engine's own list; a store may hold
    # the list of a deeper search, whose order must not tell.
    keys = [*(-codes[valued, depth].astype(np.int64) for depth in range(codes.shape[1])), turn[valued]]
    order = valued[np.lexsort(keys)]
    width = np.bincount(turn[order], minlength=turns)
    column = np.arange(len(order)) - np.repeat(np.cumsum(width) - width, width)
    row = np.full((turns, int(width.max(initial=1))), -1, np.int64)
    row[turn[order], column] = order
    shown = np.where(row < 0, 0, moves[row]) if len(moves) else np.zeros_like(row)
    return Ranked(codes, row, shown.astype(np.uint16))


# Where a position is found: its row, or why it has none.
IS_LACKING, IS_FORCED, IS_DECIDED = -1, -2, -3


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
        """The position of each key; IS_LACKING, IS_FORCED or IS_DECIDED where there is none."""
        row_of = self.row_of
        return np.fromiter((row_of.get(key, IS_LACKING) for key in keys), np.int64, len(keys))

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


def load_spreads(store: Store, identities: Sequence[Identity], depth: int, keys: set[bytes]) -> Spreads:
    """Read the analyses of these positions to this depth; of a jury, the average of each move's values."""
    parts = [_load_one(store, identity, depth, keys) for identity in identities]
    return parts[0] if len(parts) == 1 else _average(parts)


def _load_one(store: Store, identity: Identity, depth: int, keys: set[bytes]) -> Spreads:
    found = store.read_bytes(store.holds(identity, depth, keys).values())
    row_of = {key: number for number, (key, _, _) in enumerate(found)}
    looks = {}
    for key, (reason, value) in store.out(identity, keys - row_of.keys()).items():
        row_of[key] = IS_FORCED if reason == "forced" else IS_DECIDED
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
