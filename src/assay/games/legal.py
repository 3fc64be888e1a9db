"""All legal moves of many positions at once, and who attacks what.

Positions are seen by the side to move: its pieces are the codes 1-6 and walk up the board, the other side's 7-12; for
Black the board is turned upside down. So one set of rules serves both, and so does one network.

Sets of squares are 64-bit words (see :mod:`assay.games.rules`). A slider's attacks along files and diagonals are a
subtraction from the left and one from the right (Gerd Isenberg's "hyperbola quintessence"), along ranks a table.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games.rules import (
    BISHOP,
    BISHOP_STEPS,
    BLACK,
    BLACK_PAWN_STEPS,
    KING,
    KING_STEPS,
    KNIGHT,
    KNIGHT_STEPS,
    PAWN,
    QUEEN,
    ROOK,
    ROOK_STEPS,
    WHITE_PAWN_STEPS,
    Boards,
    Step,
    leap,
    piece_sets,
    shift,
)
from assay.records import dataclass

Squares = npt.NDArray[np.uint8]
Rows = npt.NDArray[np.intp]

ONE, ALL = np.uint64(1), np.uint64(0xFFFF_FFFF_FFFF_FFFF)
OWN_SHORT, OWN_LONG = 1, 2  # rights to castle as bits; the other side's are 4 and 8
PROMOTIONS = (QUEEN, ROOK, BISHOP, KNIGHT)
BIT = ONE << np.arange(64, dtype=np.uint64)

_THIRD_RANK = np.uint64(0xFF << 16)
_E1, _A1, _H1, _C1, _G1 = 4, 0, 7, 2, 6
_SHORT_EMPTY, _LONG_EMPTY = np.uint64(0x60), np.uint64(0x0E)
_SHORT_SAFE, _LONG_SAFE = np.uint64(0x60), np.uint64(0x0C)  # the king is known not to be in check


def _ray(step: Step) -> Boards:
    """From each square, all squares in one direction of an empty board."""
    by, mask = step
    reached, here = np.zeros(64, np.uint64), BIT.copy()
    for _ in range(7):
        here = shift(here, by) & np.uint64(mask)
        reached |= here
    return reached


_RAYS = {step: _ray(step) for step in KING_STEPS}
_FILE = _RAYS[ROOK_STEPS[0]] | _RAYS[ROOK_STEPS[1]]
_RISING = _RAYS[BISHOP_STEPS[0]] | _RAYS[BISHOP_STEPS[3]]
_FALLING = _RAYS[BISHOP_STEPS[1]] | _RAYS[BISHOP_STEPS[2]]
KNIGHT_FROM, KING_FROM = leap(BIT, KNIGHT_STEPS), leap(BIT, KING_STEPS)
OWN_PAWN_FROM, THEIR_PAWN_FROM = leap(BIT, WHITE_PAWN_STEPS), leap(BIT, BLACK_PAWN_STEPS)

LEAPERS = np.zeros((13, 64), np.uint64)
LEAPERS[[PAWN, KNIGHT, KING]] = OWN_PAWN_FROM, KNIGHT_FROM, KING_FROM
LEAPERS[[PAWN + BLACK, KNIGHT + BLACK, KING + BLACK]] = THEIR_PAWN_FROM, KNIGHT_FROM, KING_FROM


def _along_a_rank() -> Boards:
    """What a rook attacks on the first rank, by its file and by what stands there: (8, 256)."""
    table = np.zeros((8, 256), np.uint64)
    for file in range(8):
        for taken in range(256):
            for way in (1, -1):
                at = file + way
                while 0 <= at < 8:
                    table[file, taken] |= BIT[at]
                    if taken >> at & 1:
                        break
                    at += way
    return table


_RANK = _along_a_rank()


def _between() -> tuple[Boards, npt.NDArray[np.uint8]]:
    """The squares between two squares, and how they lie: 0 not in line, 1 straight, 2 diagonal; both (64, 64)."""
    between, kind = np.zeros((64, 64), np.uint64), np.zeros((64, 64), np.uint8)
    for steps, name in ((ROOK_STEPS, 1), (BISHOP_STEPS, 2)):
        for step in steps:
            for one in range(64):
                ray = _RAYS[step][one]
                for other in np.flatnonzero(ray & BIT):
                    between[one, other] = ray & ~_RAYS[step][other] & ~BIT[other]
                    kind[one, other] = name
    return between, kind


BETWEEN, IN_LINE = _between()


def _line(square: npt.NDArray[np.integer], occupied: Boards, lines: Boards) -> Boards:
    """What a slider attacks on a file or a diagonal, both ways."""
    mask = lines[square]
    bit = BIT[square]
    there = occupied & mask
    back = (there.byteswap() - bit.byteswap()).byteswap()
    found: Boards = ((there - bit) ^ back) & mask
    return found


def straight(square: npt.NDArray[np.integer], occupied: Boards) -> Boards:
    """What a rook on each square attacks.

    >>> hex(int(straight(np.array([0]), BIT[[16]] | BIT[[3]])[0]))
    '0x1010e'
    """
    file = np.bitwise_and(square, 7)
    base = (np.asarray(square) - file).astype(np.uint64)
    on_rank: Boards = _RANK[file, ((occupied >> base) & np.uint64(255)).astype(np.intp)] << base
    return on_rank | _line(square, occupied, _FILE)


def diagonal(square: npt.NDArray[np.integer], occupied: Boards) -> Boards:
    """What a bishop on each square attacks."""
    return _line(square, occupied, _RISING) | _line(square, occupied, _FALLING)


@dataclass(frozen=True)
class Positions:
    """Positions as the side to move sees them."""

    boards: npt.NDArray[np.uint8]  # (n, 64): 0 empty, 1-6 own P N B R Q K, 7-12 theirs; a1 = 0 is on the own side
    castling: npt.NDArray[np.uint8]  # bits: 1 own short, 2 own long, 4 and 8 theirs
    en_passant: npt.NDArray[np.int8]  # the square behind a pawn that may be taken in passing, else -1
    turned: npt.NDArray[np.bool_]  # Black is to move: the board stands upside down

    def __len__(self) -> int:
        return len(self.boards)

    def __getitem__(self, rows: slice | npt.NDArray[np.integer] | npt.NDArray[np.bool_]) -> Positions:
        return Positions(self.boards[rows], self.castling[rows], self.en_passant[rows], self.turned[rows])


_OTHER_SIDE = np.array([0, *range(7, 13), *range(1, 7)], np.uint8)


def seen_by_mover(
    boards: npt.NDArray[np.uint8],
    white: npt.NDArray[np.bool_],
    castling: npt.NDArray[np.uint8],
    en_passant: npt.NDArray[np.int8],
) -> Positions:
    """Positions as :class:`assay.games.GameArrays` has them, turned to the side to move.

    A position without exactly one king a side or with a pawn on an outer rank is refused here, one in which a king
    could be taken by :func:`attacks`.
    """
    boards, castling, en_passant = boards.copy(), castling.copy(), en_passant.copy()
    rows = np.flatnonzero(~white)
    boards[rows] = _OTHER_SIDE[boards[rows].reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64)]
    castling[rows] = castling[rows] >> 2 & 3 | (castling[rows] & 3) << 2
    en_passant[rows] = np.where(en_passant[rows] < 0, -1, en_passant[rows] ^ 56)
    for king in (KING, KING + BLACK):
        if (np.count_nonzero(boards == king, axis=1) != 1).any():
            raise InputError("this is no position of chess: each side must have one king.")
    if np.isin(boards.reshape(-1, 8, 8)[:, [0, 7]], (PAWN, PAWN + BLACK)).any():
        raise InputError("this is no position of chess: a pawn stands on the first or the last rank.")
    return Positions(boards, castling, en_passant, ~white)


@dataclass(frozen=True)
class Attacks:
    """Who attacks what. Piece sets are (12, n) by code - 1; lists of pieces run by position, then by square."""

    pieces: Boards  # (12, n)
    own: Boards
    their: Boards
    own_king: Rows
    their_king: Rows
    row: Rows  # of each piece: its position, square, code, and the squares it attacks
    square: Rows
    code: npt.NDArray[np.uint8]
    reach: Boards
    danger: Boards  # what they attack, seen through the own king
    checkers: Boards
    pinned: Boards  # own pieces that shield the own king
    pin_row: Rows  # of each pin: its position, the square of the pinned piece, where it may go
    pin_square: Rows
    pin_line: Boards
    their_pinned: Boards
    own_masks: Boards  # own pieces that mask an own slider from their king: moving one gives a discovered check


def attacks(positions: Positions) -> Attacks:
    """Who attacks what in each position."""
    boards = positions.boards
    n = len(boards)
    pieces = piece_sets(boards)
    own, their = np.bitwise_or.reduce(pieces[:6], axis=0), np.bitwise_or.reduce(pieces[6:], axis=0)
    own_king = np.argmax(boards == KING, axis=1)
    their_king = np.argmax(boards == KING + BLACK, axis=1)
    taken = own | their
    row, square = np.nonzero(boards)
    code = boards[row, square]
    through = taken & ~pieces[KING - 1]  # their sliders look through the own king, which may not step back in line
    seen = np.where(code > BLACK, through[row], taken[row])
    reach = LEAPERS[code, square]
    kind = np.where(code > BLACK, code - BLACK, code)
    for slider, ways in ((ROOK, straight), (BISHOP, diagonal)):
        at = np.flatnonzero((kind == slider) | (kind == QUEEN))
        reach[at] |= ways(square[at], seen[at])
    by_kind = np.zeros((12, n), np.uint64)
    np.bitwise_or.at(by_kind, (code - 1, row), reach)
    danger = np.bitwise_or.reduce(by_kind[6:], axis=0)
    if (np.bitwise_or.reduce(by_kind[:6], axis=0) & pieces[KING + BLACK - 1]).any():
        raise InputError("this is no position of chess: the side that has moved is in check.")
    gives = np.flatnonzero((code > BLACK) & (reach & pieces[KING - 1][row] != 0))
    checkers = np.zeros(n, np.uint64)
    np.bitwise_or.at(checkers, row[gives], BIT[square[gives]])

    def shields(sliders_of: int, king: Rows) -> tuple[Rows, Boards, Boards]:
        """Lone pieces between a king and a slider of the given side: position, piece, line from king to slider."""
        theirs = code > BLACK if sliders_of else code <= BLACK
        at = np.flatnonzero(theirs & (kind >= BISHOP) & (kind <= QUEEN))
        how = IN_LINE[king[row[at]], square[at]]
        fits = (how != 0) & ((kind[at] == QUEEN) | (kind[at] == np.where(how == 1, ROOK, BISHOP)))
        at = at[fits]
        between = BETWEEN[king[row[at]], square[at]]
        blockers = between & taken[row[at]]
        lone = np.bitwise_count(blockers) == 1
        at = at[lone]
        return row[at], blockers[lone], between[lone] | BIT[square[at]]

    at_row, blocker, line = shields(1, own_king)
    mine = blocker & own[at_row] != 0
    pin_row, pin_line = at_row[mine], line[mine]
    pin_square = _number(blocker[mine])
    pinned = np.zeros(n, np.uint64)
    np.bitwise_or.at(pinned, pin_row, blocker[mine])
    at_row, blocker, _ = shields(0, their_king)
    their_pinned, own_masks = np.zeros(n, np.uint64), np.zeros(n, np.uint64)
    np.bitwise_or.at(their_pinned, at_row, blocker & their[at_row])
    np.bitwise_or.at(own_masks, at_row, blocker & own[at_row])
    return Attacks(
        pieces=pieces,
        own=own,
        their=their,
        own_king=own_king,
        their_king=their_king,
        row=row,
        square=square,
        code=code,
        reach=reach,
        danger=danger,
        checkers=checkers,
        pinned=pinned,
        pin_row=pin_row,
        pin_square=pin_square,
        pin_line=pin_line,
        their_pinned=their_pinned,
        own_masks=own_masks,
    )


@dataclass(frozen=True)
class Moves:
    """The legal moves of many positions, position after position, by square of departure, then of arrival."""

    row: Rows  # the position of each move
    start: Rows  # square of departure, seen by the mover
    end: Rows  # square of arrival; castling: where the king lands
    promotion: npt.NDArray[np.uint8]  # 0 none, 2 N, 3 B, 4 R, 5 Q
    offsets: npt.NDArray[np.int64]  # position p has the moves offsets[p] to offsets[p + 1]

    def __len__(self) -> int:
        return len(self.row)

    def codes(self, turned: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint16]:
        """The moves in 16 bits, on the board as it stands: from, to << 6, promotion << 12."""
        flip = np.where(turned[self.row], 56, 0)
        codes = (self.start ^ flip) | (self.end ^ flip) << 6 | self.promotion.astype(np.intp) << 12
        return codes.astype(np.uint16)


def legal_moves(positions: Positions, found: Attacks | None = None) -> Moves:
    """All legal moves. A position may have none: mate or stalemate.

    >>> board = np.zeros((1, 64), np.uint8)
    >>> board[0, [4, 7, 60]] = KING, ROOK, KING + BLACK
    >>> one = Positions(board, np.ones(1, np.uint8), np.full(1, -1, np.int8), np.zeros(1, bool))
    >>> len(legal_moves(one)), (4, 6) in zip(legal_moves(one).start.tolist(), legal_moves(one).end.tolist())
    (15, True)
    """
    a = attacks(positions) if found is None else found
    n = len(positions)
    empty = ~(a.own | a.their)
    count = np.bitwise_count(a.checkers)
    checker = _number(np.where(count == 1, a.checkers, ONE))
    relief = np.where(count == 0, ALL, np.where(count == 1, BETWEEN[a.own_king, checker] | a.checkers, np.uint64(0)))

    mine = np.flatnonzero(a.code <= BLACK)
    row, square, code = a.row[mine], a.square[mine], a.code[mine]
    bits = BIT[square]
    pawn = code == PAWN
    one = (bits << np.uint64(8)) & empty[row]
    two = ((one & _THIRD_RANK) << np.uint64(8)) & empty[row]
    goals = np.where(pawn, a.reach[mine] & a.their[row] | one | two, a.reach[mine] & ~a.own[row])
    goals &= np.where(code == KING, ~a.danger[row], relief[row])
    place = np.full((n, 64), -1, np.int32)
    place[row, square] = np.arange(len(mine))
    goals[place[a.pin_row, a.pin_square]] &= a.pin_line

    piece, end = np.nonzero(np.unpackbits(goals.view(np.uint8), bitorder="little").reshape(-1, 64))
    move_row, start = row[piece], square[piece]
    promotes = (code[piece] == PAWN) & (end >= 56)
    parts = [(move_row[~promotes], start[~promotes], end[~promotes], 0)]
    parts += [(move_row[promotes], start[promotes], end[promotes], kind) for kind in PROMOTIONS]
    parts.append(_in_passing(positions, a))
    free = a.checkers == 0
    taken = ~empty
    for right, corner, goal, clear, safe in (
        (OWN_SHORT, _H1, _G1, _SHORT_EMPTY, _SHORT_SAFE),
        (OWN_LONG, _A1, _C1, _LONG_EMPTY, _LONG_SAFE),
    ):
        can = free & (positions.castling & right != 0) & (a.own_king == _E1) & (positions.boards[:, corner] == ROOK)
        rows = np.flatnonzero(can & (taken & clear == 0) & (a.danger & safe == 0))
        parts.append((rows, np.full(len(rows), _E1), np.full(len(rows), goal), 0))
    all_rows, starts, ends = (np.concatenate([part[i] for part in parts]) for i in range(3))
    promotion = np.concatenate([np.full(len(part[0]), part[3], np.uint8) for part in parts])
    order = np.argsort(((all_rows * 64 + starts) * 64 + ends) * 8 + promotion)
    return Moves(
        row=all_rows[order],
        start=starts[order],
        end=ends[order],
        promotion=promotion[order],
        offsets=np.concatenate([[0], np.cumsum(np.bincount(all_rows, minlength=n))]).astype(np.int64),
    )


def _in_passing(positions: Positions, a: Attacks) -> tuple[Rows, Rows, Rows, int]:
    """Captures in passing that leave the own king safe."""
    rows = np.flatnonzero(positions.en_passant >= 0)
    goal = positions.en_passant[rows].astype(np.intp)
    from_there = THEIR_PAWN_FROM[goal] & a.pieces[PAWN - 1, rows]
    which, start = np.nonzero(np.unpackbits(from_there.view(np.uint8), bitorder="little").reshape(-1, 64))
    rows, goal = rows[which], goal[which]
    victim = BIT[goal - 8]
    taken = (a.own | a.their)[rows] & ~victim & ~BIT[start] | BIT[goal]
    king = a.own_king[rows]
    p = a.pieces[:, rows]
    hit = straight(king, taken) & (p[ROOK + BLACK - 1] | p[QUEEN + BLACK - 1])
    hit |= diagonal(king, taken) & (p[BISHOP + BLACK - 1] | p[QUEEN + BLACK - 1])
    hit |= a.checkers[rows] & (p[PAWN + BLACK - 1] | p[KNIGHT + BLACK - 1]) & ~victim
    real = (p[PAWN + BLACK - 1] & victim != 0) & (hit == 0)
    return rows[real], start[real], goal[real], 0


def packed(flags: npt.NDArray[np.bool_]) -> Boards:
    """Flags of 64 squares, (n, 64), as words."""
    return np.packbits(flags, axis=1, bitorder="little").view("<u8")[:, 0].astype(np.uint64)


def _number(bits: Boards) -> Rows:
    """The square of words that have one bit set."""
    number: Rows = np.bitwise_count(bits - ONE).astype(np.intp)
    return number
