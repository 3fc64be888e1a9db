"""Whole games to packed planes, one uint64 per plane and ply, without a Python loop over plies.

The same planes as :mod:`assay.learned.planes`, from the flat arrays of :func:`assay.games.to_arrays`. Work goes in
blocks of a few thousand positions, so that the intermediate boards stay in the processor's cache.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.games import GameArrays
from assay.games.bitboards import Boards, piece_sets
from assay.learned.control import position_planes
from assay.learned.planes import NUM_PLANES
from assay.learned.scalars import SCALAR_NAMES, Small, ply_scalars, side_scalars

BLOCK = 8192
_FULL, _NONE, _ONE = np.uint64(0xFFFF_FFFF_FFFF_FFFF), np.uint64(0), np.uint64(1)

_PAWNS, _KINGS = (1, 7), (6, 12)
_RIGHTS = np.full(64, 15, dtype=np.uint8)  # castling rights that a move from or to each square leaves
_RIGHTS[[4, 7, 0]] = 15 - 3, 15 - 1, 15 - 2
_RIGHTS[[60, 63, 56]] = 15 - 12, 15 - 4, 15 - 8


@dataclass(frozen=True)
class EncodedGames:
    """Plies of games as a learner stores them. Game g has the plies `offsets[g]` to `offsets[g + 1]`."""

    planes: Boards  # (plies, 64); bit 0 of each plane is a1
    scalars: Small  # (plies, 42), see assay.learned.scalars
    offsets: npt.NDArray[np.int64]


@dataclass(frozen=True)
class _Positions:
    """Positions with what the state planes need."""

    boards: npt.NDArray[np.uint8]
    turn: npt.NDArray[np.bool_]
    castling: npt.NDArray[np.uint8]
    en_passant: npt.NDArray[np.int8]


def encode_games(games: GameArrays) -> EncodedGames:
    """Encode every ply of every game.

    >>> from assay.games import to_arrays
    >>> encoded = encode_games(to_arrays(["1. e4 e5 2. Nf3 *"]))
    >>> encoded.planes.shape, hex(int(encoded.planes[1, 57]))
    ((3, 64), '0x100000')
    """
    plies = games.plies
    planes = np.empty((plies, NUM_PLANES), dtype=np.uint64)
    scalars = np.empty((plies, len(SCALAR_NAMES)), dtype=np.int8)
    before = _Positions(games.boards, games.turn, games.castling, _targets(games))
    ends = games.offsets[1:][np.diff(games.offsets) > 0] - 1
    final = _after(games, ends)
    first = np.zeros(plies, dtype=bool)
    first[games.offsets[:-1][np.diff(games.offsets) > 0]] = True
    origin, target = _square(games.from_square), _square(games.to_square)
    for start in range(0, plies, BLOCK):
        stop = min(start + BLOCK, plies)
        ending = slice(*np.searchsorted(ends, (start, stop)).tolist())
        here = _join(before, slice(start, stop + 1), final, ending)
        # The position after a ply is the one before the next, or the game's last, which stands behind the others.
        after = np.arange(1, stop - start + 1)
        after[ends[ending] - start] = np.arange(len(here.turn) - (ending.stop - ending.start), len(here.turn))
        previous = np.zeros((2, stop - start), dtype=np.uint64)
        known = np.flatnonzero(~first[start:stop])
        previous[:, known] = origin[start + known - 1], target[start + known - 1]

        board = position_planes(piece_sets(here.boards))
        state = _state_planes(here)
        block = np.empty((NUM_PLANES, stop - start), dtype=np.uint64)
        block[:42] = board[:, : stop - start]
        block[42:48] = board[36:42, after]
        block[48], block[49] = origin[start:stop], target[start:stop]
        block[50:52] = previous
        block[52:58] = state[:, : stop - start]
        block[58:64] = state[:, after]
        planes[start:stop] = block.T
        sides = side_scalars(board)
        scalars[start:stop] = ply_scalars(sides[:, :, : stop - start], sides[:, :, after], block)
    return EncodedGames(planes, scalars, games.offsets)


def _targets(games: GameArrays) -> npt.NDArray[np.int8]:
    """The en-passant target before each ply: behind a pawn that just made two steps, whether or not it can be taken.

    The arrays name only targets of legal captures; those count where there is no move before.
    """
    targets = games.en_passant.copy()
    targets[1:] = _passed(games)[:-1]
    starts = games.offsets[:-1][np.diff(games.offsets) > 0]
    targets[starts] = games.en_passant[starts]
    return targets


def _passed(games: GameArrays, plies: npt.NDArray[np.int64] | slice = slice(None)) -> npt.NDArray[np.int8]:
    """The square that the pawn of each of these plies passed by its double step, or -1."""
    origin, target = games.from_square[plies].astype(np.int8), games.to_square[plies].astype(np.int8)
    boards = games.boards[plies]
    pawn = np.isin(boards[np.arange(len(boards)), origin], _PAWNS)
    return np.where(pawn & (np.abs(target - origin) == 16), (origin + target) // 2, -1).astype(np.int8)


def _after(games: GameArrays, plies: npt.NDArray[np.int64]) -> _Positions:
    """The positions after the moves of these plies."""
    boards = games.boards[plies].copy()
    rows = np.arange(len(plies))
    origin, target = games.from_square[plies].astype(np.intp), games.to_square[plies].astype(np.intp)
    moved = boards[rows, origin]
    black = ~games.turn[plies]
    passing = np.isin(moved, _PAWNS) & (origin % 8 != target % 8) & (boards[rows, target] == 0)
    boards[rows[passing], (origin // 8 * 8 + target % 8)[passing]] = 0
    castling = np.isin(moved, _KINGS) & (np.abs(target - origin) == 2)
    corner = np.where(target > origin, origin + 3, origin - 4)
    boards[rows[castling], ((origin + target) // 2)[castling]] = boards[rows[castling], corner[castling]]
    boards[rows[castling], corner[castling]] = 0
    promoted = games.promotion[plies]
    boards[rows, origin] = 0
    boards[rows, target] = np.where(promoted > 0, promoted + 6 * black, moved)
    rights = games.castling[plies] & _RIGHTS[origin] & _RIGHTS[target]
    return _Positions(boards, black, rights, _passed(games, plies))


def _join(one: _Positions, rows: slice, two: _Positions, more: slice) -> _Positions:
    return _Positions(
        np.concatenate((one.boards[rows], two.boards[more])),
        np.concatenate((one.turn[rows], two.turn[more])),
        np.concatenate((one.castling[rows], two.castling[more])),
        np.concatenate((one.en_passant[rows], two.en_passant[more])),
    )


def _square(squares: npt.NDArray[np.integer]) -> Boards:
    return _ONE << squares.astype(np.uint64)


def _state_planes(positions: _Positions) -> Boards:
    """Castling rights, side to move and en-passant target as planes: (6, positions)."""
    rights = (positions.castling >> np.arange(4, dtype=np.uint8)[:, None]) & 1
    flags = np.concatenate((rights.astype(bool), positions.turn[None]))
    there = positions.en_passant >= 0
    target = np.where(there, _square(np.where(there, positions.en_passant, 0)), _NONE)
    return np.concatenate((np.where(flags, _FULL, _NONE), target[None]))
