"""Whole games to packed planes, one uint64 per plane and ply, and to scalars, without a Python loop over plies.

The same planes as :mod:`assay.learned.planes`, from the flat arrays of :func:`assay.games.to_arrays`. Work goes in
blocks of a few thousand positions, so that the intermediate boards stay in the processor's cache.

The scalars are a few small integers per ply that a board gives without an engine: material, loose pieces, mobility,
king safety. They are what a linear projection of planes finds hard to see from few games (a product of "my piece" and
"their control"), and what the gradient-boosting baseline is made of. Everything is from the mover's point of view.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.games import GameArrays
from assay.games.rules import (
    BISHOP_STEPS,
    BLACK_PAWN_STEPS,
    KING_STEPS,
    KNIGHT_STEPS,
    ROOK_STEPS,
    WHITE_PAWN_STEPS,
    Boards,
    leap,
    piece_sets,
    rays,
    slide,
)
from assay.learned.planes import NUM_PLANES
from assay.records import dataclass

Small = npt.NDArray[np.int8]

BLOCK = 8192
NUM_POSITION_PLANES = 42
_EVERYWHERE = np.full(1, 0xFFFF_FFFF_FFFF_FFFF, dtype=np.uint64)
_FULL, _NONE, _ONE = _EVERYWHERE[0], np.uint64(0), np.uint64(1)

_PAWNS, _KINGS = (1, 7), (6, 12)
_RIGHTS = np.full(64, 15, dtype=np.uint8)  # castling rights that a move from or to each square leaves
_RIGHTS[[4, 7, 0]] = 15 - 3, 15 - 1, 15 - 2
_RIGHTS[[60, 63, 56]] = 15 - 12, 15 - 4, 15 - 8

_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = range(6)
_VALUES = (1, 3, 3, 5, 9)  # pawn, knight, bishop, rook, queen
_CENTRE = np.uint64(0x0000_3C3C_3C3C_0000)
_LAST_RANKS = np.uint64(0xFF00_0000_0000_00FF)

SIDE_NAMES = ("material", "at stake", "loose", "control", "legal control", "in check", "king ring", "centre")
MOVE_NAMES = ("captured", "pawn", "knight", "bishop", "rook", "queen", "king", "promotion", "castling", "recapture")
SCALAR_NAMES = (
    *(f"{side} {name}{after}" for after in ("", " after") for side in ("my", "their") for name in SIDE_NAMES),
    *MOVE_NAMES,
)


@dataclass(frozen=True)
class EncodedGames:
    """Plies of games as a learner stores them. Game g has the plies `offsets[g]` to `offsets[g + 1]`."""

    planes: Boards  # (plies, 64); bit 0 of each plane is a1
    scalars: Small  # (plies, 42), see SCALAR_NAMES
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


def position_planes(pieces: Boards) -> Boards:
    """Planes 0-41 of positions given as twelve piece sets: (12, positions) to (42, positions)."""
    planes = np.empty((NUM_POSITION_PLANES, pieces.shape[1]), dtype=np.uint64)
    sides = pieces.reshape(2, 6, -1)
    own = np.bitwise_or.reduce(sides, axis=1)
    empty = ~(own[0] | own[1])
    planes[:12] = pieces
    planes[12:24] = _attacks(sides, _EVERYWHERE).reshape(12, -1)
    planes[24:36] = _attacks(sides, empty).reshape(12, -1)
    planes[36:38] = np.bitwise_or.reduce(planes[24:36].reshape(2, 6, -1), axis=1)
    planes[38:40] = planes[36:38]
    pawns = planes[24:36:6].copy()
    _cut_to_pins(sides, own, empty, planes[38:40], pawns)
    planes[40] = pawns[0] & ~pawns[1]
    planes[41] = pawns[1] & ~pawns[0]
    return planes


def _attacks(sides: Boards, empty: Boards) -> Boards:
    """What each of the piece sets (2, 6, positions) attacks."""
    attacks = np.empty_like(sides)
    attacks[0, _PAWN] = leap(sides[0, _PAWN], WHITE_PAWN_STEPS)
    attacks[1, _PAWN] = leap(sides[1, _PAWN], BLACK_PAWN_STEPS)
    attacks[:, _KNIGHT] = leap(sides[:, _KNIGHT], KNIGHT_STEPS)
    attacks[:, _KING] = leap(sides[:, _KING], KING_STEPS)
    # Bishops with queens, then rooks with queens, so that each direction's free squares are found once for four sets.
    diagonal = slide(sides[:, [_BISHOP, _QUEEN]], empty, BISHOP_STEPS)
    straight = slide(sides[:, [_ROOK, _QUEEN]], empty, ROOK_STEPS)
    attacks[:, _BISHOP] = diagonal[:, 0]
    attacks[:, _ROOK] = straight[:, 0]
    attacks[:, _QUEEN] = diagonal[:, 1] | straight[:, 1]
    return attacks


def _cut_to_pins(sides: Boards, own: Boards, empty: Boards, control: Boards, pawns: Boards) -> None:
    """Turn control (2, positions) and the pawns' share of it into legal control, in place, where there are pins."""
    for side in (0, 1):
        rows = np.flatnonzero(_may_be_pinned(sides, side))
        if not rows.size:
            continue
        mine, theirs, free = sides[side][:, rows], sides[1 - side][:, rows], empty[rows]
        pinned = np.zeros(rows.size, dtype=np.uint64)
        cut, cut_pawns = np.zeros_like(pinned), np.zeros_like(pinned)
        pawn_steps = (WHITE_PAWN_STEPS, BLACK_PAWN_STEPS)[side]
        for steps, slider in ((ROOK_STEPS, _ROOK), (BISHOP_STEPS, _BISHOP)):
            snipers = theirs[slider] | theirs[_QUEEN]
            liners = mine[slider] | mine[_QUEEN]
            for step in steps:
                near = rays(mine[_KING], free, step)
                blocker = near & own[side, rows]
                far = rays(blocker, free, step)
                held = np.where((far & snipers) != 0, blocker, np.uint64(0))
                # The line of a pin runs from the king's own square to the pinning piece.
                line = near | far | mine[_KING]
                pinned |= held
                cut |= np.where((held & liners) != 0, line & ~held, np.uint64(0))
                cut_pawns |= leap(held & mine[_PAWN], pawn_steps) & line
        there = np.flatnonzero(pinned)
        rows, free, loose = rows[there], free[there], mine[:, there] & ~pinned[there]
        pawns[side, rows] = leap(loose[_PAWN], pawn_steps) | cut_pawns[there]
        control[side, rows] = (
            pawns[side, rows]
            | cut[there]
            | leap(loose[_KNIGHT], KNIGHT_STEPS)
            | leap(loose[_KING], KING_STEPS)
            | slide(loose[_BISHOP] | loose[_QUEEN], free, BISHOP_STEPS)
            | slide(loose[_ROOK] | loose[_QUEEN], free, ROOK_STEPS)
        )


def _may_be_pinned(sides: Boards, side: int) -> Boards:
    """Not zero where an enemy slider stands on a line of the king: without one there is no pin, and most have none."""
    king, theirs = sides[side, _KING], sides[1 - side]
    straight = slide(king, _EVERYWHERE, ROOK_STEPS) & (theirs[_ROOK] | theirs[_QUEEN])
    diagonal = slide(king, _EVERYWHERE, BISHOP_STEPS) & (theirs[_BISHOP] | theirs[_QUEEN])
    found: Boards = straight | diagonal
    return found


def side_scalars(planes: Boards) -> Small:
    """Numbers of each side of each position from planes 0-41 (42, positions): (2, 8, positions).

    *At stake* is what the opponent's best capture would win by a two-step exchange: the whole piece if nothing
    guards it, else its value less that of the least attacker. *Loose* counts attacked pieces without a guard.
    """
    positions = planes.shape[1]
    pieces, control = planes[:12].reshape(2, 6, -1), planes[24:36].reshape(2, 6, -1)
    total = planes[36:38]
    found = np.empty((2, len(SIDE_NAMES), positions), dtype=np.int8)
    for side in (0, 1):
        mine, attackers, reached, guarded = pieces[side], control[1 - side], total[1 - side], total[side]
        material = np.zeros(positions, dtype=np.int8)
        at_stake = np.zeros(positions, dtype=np.int8)
        loose = np.zeros(positions, dtype=np.int8)
        for kind, value in enumerate(_VALUES):
            material += (np.bitwise_count(mine[kind]) * value).astype(np.int8)
            hanging = mine[kind] & reached & ~guarded
            loose += np.bitwise_count(hanging).astype(np.int8)
            np.maximum(at_stake, np.where(hanging != 0, value, 0), out=at_stake, casting="unsafe")
            for attacker, cost in enumerate(_VALUES[:kind]):
                if cost < value:
                    gain = np.where((mine[kind] & attackers[attacker]) != 0, value - cost, 0)
                    np.maximum(at_stake, gain, out=at_stake, casting="unsafe")
        king = mine[5]
        ring = leap(king, KING_STEPS)
        counts = (
            np.bitwise_count(total[side]),
            np.bitwise_count(planes[38 + side]),
            (king & reached) != 0,
            np.bitwise_count(ring & reached),
            np.bitwise_count(_CENTRE & guarded),
        )
        found[side] = np.stack((material, at_stake, loose, *counts)).astype(np.int8)
    return found


def ply_scalars(before: Small, after: Small, planes: Boards) -> Small:
    """The scalars of plies, (plies, 42), in the order of SCALAR_NAMES.

    `before` and `after` are the side scalars (2, 8, plies) of the two positions, `planes` (64, plies) the plies'.
    """
    white = planes[56] != 0
    sides = [np.where(white, state[side], state[1 - side]).T for state in (before, after) for side in (0, 1)]
    own = np.where(white, planes[:6], planes[6:12])
    theirs = np.where(white, planes[6:12], planes[:6])
    origin, target, previous = planes[48], planes[49], planes[51]
    moved = (own & origin) != 0
    taken = (theirs[:5] & target) != 0
    # The squares below one single square are its bits less one, so this counts the squares from origin to target.
    distance = np.bitwise_count((origin - np.uint64(1)) ^ (target - np.uint64(1)))
    en_passant = moved[0] & ((distance == 7) | (distance == 9)) & ~taken.any(axis=0)
    captured = np.asarray(_VALUES) @ taken + en_passant
    promotion = moved[0] & ((target & _LAST_RANKS) != 0)
    castling = moved[5] & (distance == 2)
    recapture = (captured > 0) & (target == previous)
    moves = np.stack((captured, *moved, promotion, castling, recapture), axis=1).astype(np.int8)
    return np.concatenate((*sides, moves), axis=1)
