"""Planes 0-41 of many positions at once: pieces, presence, control, and what pins leave of it."""

from __future__ import annotations

import numpy as np

from assay.games.bitboards import (
    BISHOP_STEPS,
    BLACK_PAWN_STEPS,
    KNIGHT_STEPS,
    ROOK_STEPS,
    WHITE_PAWN_STEPS,
    Boards,
    leap,
    rays,
    slide,
)

NUM_POSITION_PLANES = 42

_PAWN, _KNIGHT, _BISHOP, _ROOK, _QUEEN, _KING = range(6)
_KING_STEPS = ROOK_STEPS + BISHOP_STEPS
_EVERYWHERE = np.full(1, 0xFFFF_FFFF_FFFF_FFFF, dtype=np.uint64)


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
    attacks[:, _KING] = leap(sides[:, _KING], _KING_STEPS)
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
            | leap(loose[_KING], _KING_STEPS)
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
