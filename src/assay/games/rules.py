"""Just enough chess on many boards at once: attacks, and whether an en-passant capture is legal.

Boards are rows of 64 piece codes: 0 empty, 1-6 White's P N B R Q K, 7-12 Black's; square a1 is 0, h1 is 7, h8 is 63.
Sets of squares are 64-bit words, bit 0 is a1, bit 63 is h8. Sliding attacks are Kogge-Stone fills (Steven Edwards'
"fill-based" method): three doublings reach every square of a ray, so a board costs a fixed number of shifts whatever
stands on it, and numpy does thousands of boards per call.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import numpy.typing as npt

Boards = npt.NDArray[np.uint64]

_ALL = 0xFFFF_FFFF_FFFF_FFFF
_NOT_A, _NOT_H = 0xFEFE_FEFE_FEFE_FEFE, 0x7F7F_7F7F_7F7F_7F7F
_NOT_AB, _NOT_GH = 0xFCFC_FCFC_FCFC_FCFC, 0x3F3F_3F3F_3F3F_3F3F

# (shift towards the high bits, squares a step may arrive on): the mask keeps a step from wrapping round the edge.
ROOK_STEPS = ((8, _ALL), (-8, _ALL), (1, _NOT_A), (-1, _NOT_H))
BISHOP_STEPS = ((9, _NOT_A), (7, _NOT_H), (-7, _NOT_A), (-9, _NOT_H))
KING_STEPS = ROOK_STEPS + BISHOP_STEPS
KNIGHT_STEPS = (
    (17, _NOT_A),
    (15, _NOT_H),
    (10, _NOT_AB),
    (6, _NOT_GH),
    (-6, _NOT_AB),
    (-10, _NOT_GH),
    (-15, _NOT_A),
    (-17, _NOT_H),
)
WHITE_PAWN_STEPS = ((9, _NOT_A), (7, _NOT_H))
BLACK_PAWN_STEPS = ((-7, _NOT_A), (-9, _NOT_H))

Step = tuple[int, int]


def shift(boards: Boards, by: int) -> Boards:
    """All squares moved by `by` places; what leaves the board is gone."""
    return boards << np.uint64(by) if by >= 0 else boards >> np.uint64(-by)


def leap(boards: Boards, steps: Sequence[Step]) -> Boards:
    """Squares that knights, kings or pawns on `boards` attack.

    >>> hex(int(leap(np.array([1], dtype=np.uint64), KNIGHT_STEPS)[0]))
    '0x20400'
    """
    reached = np.zeros_like(boards)
    for by, mask in steps:
        reached |= shift(boards, by) & np.uint64(mask)
    return reached


def rays(sliders: Boards, empty: Boards, step: Step) -> Boards:
    """Squares that sliders attack in one direction, up to and including the first occupied one.

    `empty` may lack the leading axes of `sliders`: what the fills share is then computed once.
    """
    by, mask = step
    edge = np.uint64(mask)
    # The two branches differ in the direction alone; choosing the ufunc once keeps the inner lines free of tests.
    move: Callable[..., Boards] = np.left_shift if by >= 0 else np.right_shift
    one, two, four = (np.uint64(abs(by) * n) for n in (1, 2, 4))
    free = empty & edge
    free2 = free & move(free, one)
    free4 = free2 & move(free2, two)
    filled = sliders.copy()
    moved = np.empty_like(filled)
    for distance, way in ((one, free), (two, free2), (four, free4)):
        move(filled, distance, out=moved)
        moved &= way
        filled |= moved
    move(filled, one, out=moved)
    moved &= edge
    return moved


def slide(sliders: Boards, empty: Boards, steps: Sequence[Step]) -> Boards:
    """Squares that sliders attack in all of these directions.

    >>> full = np.array([0xFFFF_FFFF_FFFF_FFFF], dtype=np.uint64)
    >>> hex(int(slide(np.array([1], dtype=np.uint64), full, ROOK_STEPS)[0]))
    '0x1010101010101fe'
    """
    reached = rays(sliders, empty, steps[0])
    for step in steps[1:]:
        reached |= rays(sliders, empty, step)
    return reached


def piece_sets(boards: npt.NDArray[np.uint8]) -> Boards:
    """Piece codes (positions, 64), 1-6 for White's P N B R Q K and 7-12 for Black's, to piece sets (12, positions)."""
    pieces = np.empty((12, len(boards)), dtype=np.uint64)
    for code in range(12):
        pieces[code] = np.packbits(boards == code + 1, axis=1, bitorder="little").view("<u8")[:, 0]
    return pieces


PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(1, 7)
BLACK = 6  # added to the codes above
PIECES = ".PNBRQKpnbrqk"
MOST_MOVES = 30_000  # to mate, as far as the arrays of games can say


def attacked(
    boards: npt.NDArray[np.uint8], squares: npt.NDArray[np.integer], by_white: npt.NDArray[np.bool_]
) -> npt.NDArray[np.bool_]:
    """Whether a square of each board is attacked by White (or Black).

    >>> board = np.zeros((1, 64), np.uint8)
    >>> board[0, 0] = ROOK
    >>> attacked(board, np.array([7]), np.array([True])), attacked(board, np.array([9]), np.array([True]))
    (array([ True]), array([False]))
    """
    pieces = piece_sets(boards)
    empty = ~np.bitwise_or.reduce(pieces, axis=0)
    pawns, knights, bishops, rooks, queens, kings = np.where(by_white, pieces[:6], pieces[6:])
    here = np.uint64(1) << squares.astype(np.uint64)
    hit = leap(here, KNIGHT_STEPS) & knights | leap(here, KING_STEPS) & kings
    hit |= np.where(by_white, leap(here, BLACK_PAWN_STEPS), leap(here, WHITE_PAWN_STEPS)) & pawns
    hit |= slide(here, empty, ROOK_STEPS) & (rooks | queens) | slide(here, empty, BISHOP_STEPS) & (bishops | queens)
    found: npt.NDArray[np.bool_] = hit != 0
    return found


def legal_en_passant(
    boards: npt.NDArray[np.uint8], white: npt.NDArray[np.bool_], files: npt.NDArray[np.integer]
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
