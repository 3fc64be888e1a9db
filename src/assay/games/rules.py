"""Just enough chess on many boards at once: attacks, and whether an en-passant capture is legal.

Boards are rows of 64 piece codes: 0 empty, 1-6 White's P N B R Q K, 7-12 Black's; square a1 is 0, h1 is 7, h8 is 63.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Boards = npt.NDArray[np.uint8]
PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(1, 7)
BLACK = 6  # added to the codes above
PIECES = ".PNBRQKpnbrqk"
MOST_MOVES = 30_000  # to mate, as far as the arrays of games can say

_OFF = 64  # a 65th square, always empty, stands for everything off the board
_STRAIGHT = ((1, 0), (-1, 0), (0, 1), (0, -1))
_DIAGONAL = ((1, 1), (1, -1), (-1, 1), (-1, -1))
_KNIGHT = ((1, 2), (2, 1), (2, -1), (1, -2), (-1, -2), (-2, -1), (-2, 1), (-1, 2))


def _step(square: int, file: int, rank: int) -> int:
    to_file, to_rank = square % 8 + file, square // 8 + rank
    return 8 * to_rank + to_file if 0 <= to_file < 8 and 0 <= to_rank < 8 else _OFF


def _rays(directions: tuple[tuple[int, int], ...]) -> npt.NDArray[np.intp]:
    """From each square, the squares along each direction: (64, directions, 7)."""
    return np.array(
        [[[_step(s, f * n, r * n) for n in range(1, 8)] for f, r in directions] for s in range(64)], np.intp
    )


_STRAIGHT_RAYS = _rays(_STRAIGHT)
_DIAGONAL_RAYS = _rays(_DIAGONAL)
_KNIGHT_STEPS = _rays(_KNIGHT)[:, :, 0]
_KING_STEPS = _rays(_STRAIGHT + _DIAGONAL)[:, :, 0]
_PAWNS_BELOW = _rays(((-1, -1), (1, -1)))[:, :, 0]  # where White's pawns stand that attack this square
_PAWNS_ABOVE = _rays(((-1, 1), (1, 1)))[:, :, 0]


def attacked(
    boards: Boards, squares: npt.NDArray[np.integer], by_white: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Whether a square of each board is attacked by White (or Black).

    >>> board = np.zeros((1, 64), np.uint8)
    >>> board[0, 0] = ROOK
    >>> attacked(board, np.array([7]), np.array([True])), attacked(board, np.array([9]), np.array([True]))
    (array([ True]), array([False]))
    """
    wide = np.concatenate([boards, np.zeros((len(boards), 1), np.uint8)], axis=1)
    row = np.arange(len(boards))[:, None]
    shift = np.where(by_white, 0, BLACK)[:, None]
    hit: npt.NDArray[np.bool_] = (wide[row, _KNIGHT_STEPS[squares]] == KNIGHT + shift).any(axis=1)
    hit |= (wide[row, _KING_STEPS[squares]] == KING + shift).any(axis=1)
    pawns = np.where(by_white[:, None], _PAWNS_BELOW[squares], _PAWNS_ABOVE[squares])
    hit |= (wide[row, pawns] == PAWN + shift).any(axis=1)
    for rays, slider in ((_STRAIGHT_RAYS, ROOK), (_DIAGONAL_RAYS, BISHOP)):
        seen = wide[row[:, :, None], rays[squares]]
        nearest = np.argmax(seen != 0, axis=2)
        piece = np.take_along_axis(seen, nearest[:, :, None], axis=2)[:, :, 0]
        hit |= ((piece == slider + shift) | (piece == QUEEN + shift)).any(axis=1)
    return hit


def legal_en_passant(
    boards: Boards, white: npt.NDArray[np.bool_], files: npt.NDArray[np.integer]
) -> npt.NDArray[np.int8]:
    """The en-passant square where a legal capture exists, else -1.

    `files` is the file of the pawn that has just moved two squares (-1 for none), `white` the side to move. FIDE's
    rule on repetition (Laws of Chess 9.2.3) counts only captures that can be played, and so does python-chess.
    """
    found = np.full(len(boards), -1, np.int8)
    rows = np.flatnonzero(files >= 0)
    file = files[rows].astype(np.intp)
    side = white[rows]
    rank = np.where(side, 4, 3)  # the rank on which both pawns stand
    target = np.where(side, 5, 2) * 8 + file
    pawn = np.where(side, PAWN, PAWN + BLACK)
    for step in (-1, 1):
        from_file = file + step
        inside = (from_file >= 0) & (from_file < 8)
        at = rank * 8 + np.clip(from_file, 0, 7)
        can = np.flatnonzero(inside & (boards[rows, at] == pawn))
        after = boards[rows[can]]
        each = np.arange(len(can))
        after[each, at[can]] = 0
        after[each, rank[can] * 8 + file[can]] = 0
        after[each, target[can]] = pawn[can]
        king = np.argmax(after == np.where(side[can], KING, KING + BLACK)[:, None], axis=1)
        good = can[~attacked(after, king, ~side[can])]
        found[rows[good]] = target[good]
    return found
