"""What is won or lost where a piece arrives: the static exchange of captures on one square, for many moves at once.

Both sides capture with their least piece as long as it pays (the "swap" algorithm, as chess programs have it since the
1970s); pins are not looked at, a king captures only what is not defended.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.games.legal import (
    BIT,
    KING_FROM,
    KNIGHT_FROM,
    OWN_PAWN_FROM,
    THEIR_PAWN_FROM,
    Rows,
    diagonal,
    straight,
)
from assay.games.rules import BISHOP, BLACK, KING, KNIGHT, PAWN, QUEEN, ROOK, Boards

Values = npt.NDArray[np.float32]

VALUES = np.array([0, 1, 3, 3, 5, 9, 100], np.float32)  # by kind of piece; a king is never given up
_LONGEST = 12  # captures on one square that are followed


def exchange(
    pieces: Boards, row: Rows, start: Rows, end: Rows, gain: Values, mover: npt.NDArray[np.integer], side: int
) -> Values:
    """What the side gains that moves a piece of kind `mover` from `start` to `end`, taking `gain` there.

    `pieces` are the sets of all positions (12, n), `row` the position of each move; `side` is 0 if the side to move
    moves, 1 if the other side would.

    >>> board = np.zeros((12, 1), np.uint64)
    >>> board[QUEEN - 1], board[PAWN + BLACK - 1] = BIT[27], BIT[36] | BIT[45]  # queen d4; pawns e5, f6
    >>> one = np.array([0])
    >>> exchange(board, one, np.array([27]), np.array([36]), VALUES[[PAWN]], np.array([QUEEN]), 0)
    array([-8.], dtype=float32)
    """
    count = len(row)
    taken = np.bitwise_or.reduce(pieces, axis=0)[row] & ~BIT[start]
    lines = pieces[[BISHOP - 1, BISHOP + BLACK - 1]] | pieces[[QUEEN - 1, QUEEN + BLACK - 1]]
    diagonals = (lines[0] | lines[1])[row]
    lines = pieces[[ROOK - 1, ROOK + BLACK - 1]] | pieces[[QUEEN - 1, QUEEN + BLACK - 1]]
    straights = (lines[0] | lines[1])[row]
    near = pieces[PAWN - 1][row] & THEIR_PAWN_FROM[end] | pieces[PAWN + BLACK - 1][row] & OWN_PAWN_FROM[end]
    near |= (pieces[KNIGHT - 1] | pieces[KNIGHT + BLACK - 1])[row] & KNIGHT_FROM[end]
    near |= (pieces[KING - 1] | pieces[KING + BLACK - 1])[row] & KING_FROM[end]
    gains = np.zeros((_LONGEST + 1, count), np.float32)
    gains[0] = gain
    depth = np.zeros(count, np.intp)
    stake = VALUES[mover]
    live = np.arange(count)
    turn = 1 - side
    for level in range(1, _LONGEST + 1):
        here, free, at = row[live], taken[live], end[live]
        attackers = near[live] | diagonal(at, free) & diagonals[live] | straight(at, free) & straights[live]
        attackers &= free
        chosen, kind = np.zeros(len(live), np.uint64), np.zeros(len(live), np.intp)
        for piece in range(KING, 0, -1):  # the least comes last and stays
            mine = attackers & pieces[piece - 1 + turn * BLACK][here]
            there = mine != 0
            chosen, kind = np.where(there, mine, chosen), np.where(there, piece, kind)
        defended = attackers & np.bitwise_or.reduce(pieces[(1 - turn) * BLACK : (2 - turn) * BLACK], axis=0)[here] != 0
        goes_on = (chosen != 0) & ~((kind == KING) & defended)
        live, chosen, kind = live[goes_on], chosen[goes_on], kind[goes_on]
        if not len(live):
            break
        gains[level, live] = stake[live] - gains[level - 1, live]
        depth[live] = level
        stake[live] = VALUES[kind]
        taken[live] &= ~(chosen & (~chosen + np.uint64(1)))
        turn = 1 - turn
    for level in range(_LONGEST, 0, -1):
        rows = np.flatnonzero(depth >= level)
        gains[level - 1, rows] = -np.maximum(-gains[level - 1, rows], gains[level, rows])
    found: Values = gains[0]
    return found
