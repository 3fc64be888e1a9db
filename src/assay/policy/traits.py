"""What the network is told of a position and of each of its legal moves, for many positions at once.

Everything is seen by the side to move. Of a move: what it takes, what an exchange would bring, what is left hanging,
what it threatens, what it does to both kings; and some fifty planes read at its two squares. Of the position: the
pieces on their squares, and a few numbers.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.games.legal import (
    BIT,
    KING_FROM,
    KNIGHT_FROM,
    LEAPERS,
    OWN_PAWN_FROM,
    THEIR_PAWN_FROM,
    Attacks,
    Moves,
    Positions,
    Rows,
    attacks,
    diagonal,
    legal_moves,
    packed,
    straight,
)
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
    leap,
    shift,
    slide,
)
from assay.policy.captures import VALUES, exchange
from assay.records import dataclass

Floats = npt.NDArray[np.float32]
Squares = npt.NDArray[np.integer]
Counts = npt.NDArray[np.uint8]

_NONE = np.uint64(0)
_FILE_A = np.uint64(0x0101010101010101)
_SQUARE = np.arange(64)
_APART = np.maximum(abs(_SQUARE[:, None] % 8 - _SQUARE % 8), abs(_SQUARE[:, None] // 8 - _SQUARE // 8)).astype(
    np.float32
)
_CENTRAL = (3.5 - np.maximum(abs(_SQUARE % 8 - 3.5), abs(_SQUARE // 8 - 3.5))).astype(np.float32)

MOVE_FEATURES = (
    *(f"moves {kind}" for kind in "PNBRQK"),
    *(f"takes {kind}" for kind in "PNBRQ"),
    "promotes to queen",
    "promotes to less",
    "castles short",
    "castles long",
    "in passing",
    "exchange",
    "exchange wins",
    "exchange loses",
    "takes and is even",
    "taken minus mover",
    "mover was lost",
    "mover was hanging",
    "their attackers of arrival",
    "own defenders of arrival",
    "pawn attacks arrival",
    "mover hangs there",
    "own hanging, most",
    "own hanging, number",
    "own hanging, less than before",
    "own lost left behind",
    "defends what was lost",
    "their hanging, most",
    "their hanging, second",
    "their hanging, number",
    "their hanging, more than before",
    "mover attacks queen",
    "mover attacks rook",
    "mover attacks minor",
    "mover attacks undefended",
    "check",
    "discovered check",
    "check cannot be taken",
    "their king's flights",
    "check without flight",
    "own king's zone, their hits",
    "their king's zone, own hits",
    "change of own king's zone",
    "change of their king's zone",
    "own mobility, change",
    "their mobility, change",
    "distance to their king, before",
    "distance to their king, after",
    "distance to own king, after",
    "centre, before",
    "centre, after",
    "rank of arrival",
    "ranks forward",
    "length",
    "passed pawn",
    "pawn near promotion",
    "unmasks a slider",
    "pinned piece moves",
    "answers check by king",
    "answers check by capture",
    "only move",
    "mobility, before",
    "mobility, after",
    "safe mobility, after",
    "worth of what mover attacks",
    "own pieces that mover defends",
    "pins or skewers to king",
    "pins or skewers to queen",
    "their safe checks",
    "own safe checks",
    "doubles a pawn",
    "isolates a pawn",
    "pawns that defend arrival",
    "own pieces forked",
    "blocks own pawn",
    "recaptures",
    "attacks what moved last",
    "leaves attack of what moved last",
    "last move known",
)
PLANES = (
    *(f"own {kind}" for kind in "PNBRQK"),
    *(f"their {kind}" for kind in "PNBRQK"),
    *(f"attacked by own {kind}" for kind in "PNBRQK"),
    *(f"attacked by their {kind}" for kind in "PNBRQK"),
    "attacked twice, own",
    "attacked twice, theirs",
    "own pinned",
    "their pinned",
    "own mask of a slider",
    "own hanging",
    "their hanging",
    "own passed pawn",
    "their passed pawn",
    "own king's zone",
    "their king's zone",
    "no own pawn on file",
    "no their pawn on file",
    "knight would check",
    "bishop would check",
    "rook would check",
    "own pawns may cover",
    "their pawns may cover",
    "last move arrived",
    "last move left",
)
STATE = (
    "own short castling",
    "own long castling",
    "their short castling",
    "their long castling",
    "in check",
    "material, own less theirs",
    "material, all",
    "own hanging, most",
    "their hanging, most",
    "legal moves",
    "own king's zone, their hits",
    "their king's zone, own hits",
)
INPUT_NAMES = (*MOVE_FEATURES, *(f"{plane} at {end}" for end in ("departure", "arrival") for plane in PLANES))
INPUTS = len(INPUT_NAMES)


@dataclass(frozen=True)
class Traits:
    """Positions and their legal moves in numbers."""

    moves: Moves
    inputs: Floats  # (INPUTS, moves): MOVE_FEATURES, then PLANES at the square of departure and at that of arrival
    placed: npt.NDArray[np.int64]  # (moves, 3): kind and square of the mover, then where it arrives, then what it takes
    pieces: npt.NDArray[np.int64]  # piece and square of every piece, (code - 1) * 64 + square, position by position
    piece_offsets: npt.NDArray[np.int64]
    state: Floats  # (positions, STATE)


def features(positions: Positions, last_start: Squares | None = None, last_end: Squares | None = None) -> Traits:
    """Describe positions and all their legal moves.

    `last_start` and `last_end` are the squares of the move that led to each position, seen by the side to move now, -1
    where it is unknown. Without them recaptures are not told from other captures, and the network answers for a
    position whose last move is unknown, which it has learned as a case of its own.
    """
    n = len(positions)
    a = attacks(positions)
    moves = legal_moves(positions, a)
    left = np.full(n, -1) if last_start is None else np.asarray(last_start)
    came = np.full(n, -1) if last_end is None else np.asarray(last_end)
    before = _Attacked.of(a.pieces)
    told = _Told(INPUTS, len(moves))
    counts = _counted(a, n)
    state = _state(positions, a, moves, before)
    _tell(told, positions, a, moves, before, counts, came)
    planes = _planes(a, before, counts, left, came)
    for squares in (moves.start.astype(np.uint64), moves.end.astype(np.uint64)):
        told.add(*(plane[moves.row] >> squares & np.uint64(1) for plane in planes))
    mover = positions.boards[moves.row, moves.start].astype(np.int64)
    final = np.where(moves.promotion > 0, moves.promotion, mover).astype(np.int64)
    taken = positions.boards[moves.row, moves.end].astype(np.int64)
    placed = np.stack(
        [
            (mover - 1) * 64 + moves.start,
            (final - 1) * 64 + moves.end,
            np.where(taken > 0, taken - BLACK, 0) * 64 + moves.end,
        ],
        axis=1,
    )
    return Traits(
        moves=moves,
        inputs=told.rows,
        placed=placed,
        pieces=(a.code.astype(np.int64) - 1) * 64 + a.square,
        piece_offsets=np.concatenate([[0], np.cumsum(np.bincount(a.row, minlength=n))]).astype(np.int64),
        state=state,
    )


class _Told:
    """The rows of the features, filled in their order."""

    def __init__(self, count: int, moves: int) -> None:
        self.rows = np.empty((count, moves), np.float32)
        self.next = 0

    def add(self, *values: npt.ArrayLike) -> None:
        for value in values:
            self.rows[self.next] = value
            self.next += 1


@dataclass(frozen=True)
class _Attacked:
    """What both sides attack, by kind of attacker, and what hangs."""

    by: Boards  # (12, m)
    own: Boards
    their: Boards
    own_hanging: Boards
    their_hanging: Boards

    @staticmethod
    def of(sets: Boards) -> _Attacked:
        sides = sets.reshape(2, 6, -1)
        empty = ~np.bitwise_or.reduce(sets, axis=0)
        by = np.empty_like(sides)
        by[0, PAWN - 1] = leap(sides[0, PAWN - 1], WHITE_PAWN_STEPS)
        by[1, PAWN - 1] = leap(sides[1, PAWN - 1], BLACK_PAWN_STEPS)
        by[:, KNIGHT - 1] = leap(sides[:, KNIGHT - 1], KNIGHT_STEPS)
        by[:, KING - 1] = leap(sides[:, KING - 1], KING_STEPS)
        crossing = slide(sides[:, [BISHOP - 1, QUEEN - 1]], empty, BISHOP_STEPS)
        along = slide(sides[:, [ROOK - 1, QUEEN - 1]], empty, ROOK_STEPS)
        by[:, BISHOP - 1], by[:, ROOK - 1] = crossing[:, 0], along[:, 0]
        by[:, QUEEN - 1] = crossing[:, 1] | along[:, 1]
        own, their = np.bitwise_or.reduce(by[0], axis=0), np.bitwise_or.reduce(by[1], axis=0)
        return _Attacked(
            by=by.reshape(12, -1),
            own=own,
            their=their,
            own_hanging=_hanging(sides[0], by[1], their & ~own),
            their_hanging=_hanging(sides[1], by[0], own & ~their),
        )


def _hanging(pieces: Boards, by: Boards, loose: Boards) -> Boards:
    """Pieces that are attacked and not defended, or attacked by something of less worth."""
    pawn = by[PAWN - 1]
    minor = pawn | by[KNIGHT - 1] | by[BISHOP - 1]
    rook = minor | by[ROOK - 1]
    found: Boards = pieces[PAWN - 1] & loose | (pieces[KNIGHT - 1] | pieces[BISHOP - 1]) & (loose | pawn)
    found |= pieces[ROOK - 1] & (loose | minor) | pieces[QUEEN - 1] & (loose | rook)
    return found


def _most(pieces: Boards, chosen: Boards) -> Floats:
    """The worth of the most valuable of the chosen pieces, in pawns."""
    worth = np.zeros(chosen.shape, np.float32)
    for kind in (PAWN, KNIGHT, BISHOP, ROOK, QUEEN):
        worth[pieces[kind - 1] & chosen != 0] = VALUES[kind]
    return worth


def _second(pieces: Boards, chosen: Boards) -> Floats:
    """The worth of the second most valuable of the chosen pieces."""
    first, second = np.zeros(chosen.shape, np.float32), np.zeros(chosen.shape, np.float32)
    for kinds in ((PAWN,), (KNIGHT, BISHOP), (ROOK,), (QUEEN,)):
        count = np.bitwise_count(np.bitwise_or.reduce(pieces[[k - 1 for k in kinds]], axis=0) & chosen)
        worth = VALUES[kinds[0]]
        second = np.where(count > 1, worth, np.where(count == 1, first, second))
        first = np.where(count > 0, worth, first)
    return second


def _passed(own: Boards, their: Boards, up: bool) -> Boards:
    """Pawns without a pawn of the other side before them on their own or a neighbouring file."""
    ahead = _filled(shift(their, -8 if up else 8), not up)
    return own & ~(ahead | leap(ahead, ROOK_STEPS[2:]))


def _filled(squares: Boards, up: bool) -> Boards:
    for by in (8, 16, 32):
        squares = squares | shift(squares, by if up else -by)
    return squares


def _planes(
    a: Attacks,
    before: _Attacked,
    counts: Counts,
    left: Squares,
    came: Squares,
) -> list[Boards]:
    p, own_pawns, their_pawns = a.pieces, a.pieces[PAWN - 1], a.pieces[PAWN + BLACK - 1]
    taken = a.own | a.their
    planes = [*p, *before.by, *(packed(count > 1) for count in counts), a.pinned, a.their_pinned, a.own_masks]
    planes += [before.own_hanging, before.their_hanging]
    planes += [_passed(own_pawns, their_pawns, True), _passed(their_pawns, own_pawns, False)]
    planes += [KING_FROM[a.own_king], KING_FROM[a.their_king]]
    planes += [~(_filled(pawns, True) | _filled(pawns, False)) for pawns in (own_pawns, their_pawns)]
    planes += [KNIGHT_FROM[a.their_king], diagonal(a.their_king, taken), straight(a.their_king, taken)]
    planes += [_filled(before.by[PAWN - 1], True), _filled(before.by[PAWN + BLACK - 1], False)]
    planes += [np.where(square >= 0, BIT[np.maximum(square, 0)], _NONE) for square in (came, left)]
    return planes


def _counted(a: Attacks, n: int) -> Counts:
    """How many pieces of each side attack each square: (2, n, 64)."""
    counts = np.zeros((2, n, 64), np.uint8)
    for side in (0, 1):
        mine = np.flatnonzero((a.code > BLACK) == bool(side))
        begin = np.concatenate([[0], np.cumsum(np.bincount(a.row[mine], minlength=n))[:-1]])
        bits = np.unpackbits(a.reach[mine].view(np.uint8), bitorder="little").reshape(-1, 64)
        counts[side] = np.add.reduceat(bits, begin, axis=0, dtype=np.uint8)
    return counts


def _state(positions: Positions, a: Attacks, moves: Moves, before: _Attacked) -> Floats:
    n = len(positions)
    told = _Told(len(STATE), n)
    told.add(*(positions.castling >> bit & 1 for bit in range(4)), a.checkers != 0)
    worth = [np.bitwise_count(a.pieces[code]) * VALUES[code % 6 + 1] for code in range(12) if code % 6 != KING - 1]
    own, their = sum(worth[:5]), sum(worth[5:])
    told.add((own - their) / 5, (own + their) / 40)
    told.add(_most(a.pieces[:6], before.own_hanging) / 5, _most(a.pieces[6:], before.their_hanging) / 5)
    told.add(np.diff(moves.offsets) / 30)
    told.add(np.bitwise_count(before.their & KING_FROM[a.own_king]) / 4)
    told.add(np.bitwise_count(before.own & KING_FROM[a.their_king]) / 4)
    return told.rows.T


def _tell(
    told: _Told,
    positions: Positions,
    a: Attacks,
    moves: Moves,
    before: _Attacked,
    counts: Counts,
    came: Squares,
) -> None:
    row, start, end = moves.row, moves.start, moves.end
    boards = positions.boards
    mover = boards[row, start].astype(np.intp)
    final = np.where(moves.promotion > 0, moves.promotion, mover)
    hit = boards[row, end].astype(np.intp)
    passing = (mover == PAWN) & (hit == 0) & ((start ^ end) & 7 != 0)
    taken = np.where(passing, PAWN, np.maximum(hit - BLACK, 0))
    castles = (mover == KING) & (abs(start - end) == 2)
    told.add(*(mover == kind for kind in range(1, 7)), *(taken == kind for kind in range(1, 6)))
    told.add(moves.promotion == QUEEN, (moves.promotion > 0) & (moves.promotion != QUEEN))
    told.add(castles & (end > start), castles & (end < start), passing)

    from_bit, to_bit = BIT[start], BIT[end]
    gain = VALUES[taken] + np.where(moves.promotion > 0, VALUES[moves.promotion] - 1, 0).astype(np.float32)
    swap = exchange(a.pieces, row, start, end, gain, final, 0)
    swap[castles] = 0
    swap[mover == KING] = gain[mover == KING]
    lost = _lost(positions, a, before)  # what they would win on each square, were it their turn
    lost_here = lost[row, start]
    told.add(np.clip(swap, -9, 9) / 5, swap > 0, swap < 0, (taken > 0) & (swap == 0))
    told.add(np.where(taken > 0, VALUES[taken] - np.minimum(VALUES[mover], 10), 0) / 5)
    told.add(lost_here / 5, before.own_hanging[row] & from_bit != 0)

    sets = _after(a, row, mover, final, hit, passing, castles, from_bit, to_bit, end)
    after = _Attacked.of(sets)
    told.add(np.minimum(counts[1, row, end], 4) / 2)
    told.add((np.minimum(counts[0, row, end], 5) - (before.own[row] & to_bit != 0) * (mover != PAWN)) / 2)
    told.add(after.by[PAWN + BLACK - 1] & to_bit != 0, after.own_hanging & to_bit != 0)
    own_most = _most(sets[:6], after.own_hanging)
    own_most_before = _most(a.pieces[:6], before.own_hanging)[row]
    told.add(own_most / 5, np.bitwise_count(after.own_hanging) / 2, np.clip(own_most_before - own_most, -9, 9) / 5)
    worst = lost.max(axis=1)
    at_worst = lost.argmax(axis=1)
    second = np.partition(lost, -2, axis=1)[:, -2]
    told.add(np.where(start == at_worst[row], second[row], worst[row]) / 5)
    told.add(
        (worst[row] > 0)
        & (start != at_worst[row])
        & (after.own & BIT[at_worst[row]] != 0)
        & (before.own[row] & BIT[at_worst[row]] == 0)
    )
    their_most = _most(sets[6:], after.their_hanging)
    told.add(their_most / 5, _second(sets[6:], after.their_hanging) / 5, np.bitwise_count(after.their_hanging) / 2)
    told.add(np.clip(their_most - _most(a.pieces[6:], before.their_hanging)[row], -9, 9) / 5)

    reach = _reach(final, end, ~np.bitwise_or.reduce(sets, axis=0))
    told.add(reach & sets[QUEEN + BLACK - 1] != 0, reach & sets[ROOK + BLACK - 1] != 0)
    told.add(reach & (sets[KNIGHT + BLACK - 1] | sets[BISHOP + BLACK - 1]) != 0)
    their = np.bitwise_or.reduce(sets[6:], axis=0)
    told.add(np.bitwise_count(reach & their & ~after.their) / 2)
    king = sets[KING + BLACK - 1]
    check = after.own & king != 0
    flights = np.bitwise_count(KING_FROM[a.their_king[row]] & ~their & ~after.own)
    told.add(
        check, check & (reach & king == 0), check & (after.their & to_bit == 0), flights / 4, check & (flights == 0)
    )
    own_zone = KING_FROM[np.where(mover == KING, end, a.own_king[row])]
    own_hits, their_hits = (
        np.bitwise_count(after.their & own_zone),
        np.bitwise_count(after.own & KING_FROM[a.their_king[row]]),
    )
    own_hits_before = np.bitwise_count(before.their & KING_FROM[a.own_king])[row]
    their_hits_before = np.bitwise_count(before.own & KING_FROM[a.their_king])[row]
    told.add(own_hits / 4, their_hits / 4)
    told.add(
        (own_hits.astype(np.float32) - own_hits_before) / 4, (their_hits.astype(np.float32) - their_hits_before) / 4
    )
    for now, then in ((after.own, before.own), (after.their, before.their)):
        told.add((np.bitwise_count(now).astype(np.float32) - np.bitwise_count(then)[row]) / 8)
    told.add(_APART[start, a.their_king[row]] / 4, _APART[end, a.their_king[row]] / 4, _APART[end, a.own_king[row]] / 4)
    told.add(
        _CENTRAL[start] / 3,
        _CENTRAL[end] / 3,
        (end >> 3) / 4 - 1,
        ((end >> 3) - (start >> 3)) / 4,
        _APART[start, end] / 4,
    )
    passed = _passed(a.pieces[PAWN - 1], a.pieces[PAWN + BLACK - 1], True)[row] & from_bit != 0
    told.add((mover == PAWN) & passed, (mover == PAWN) & (end >> 3 >= 5))
    told.add(a.own_masks[row] & from_bit != 0, a.pinned[row] & from_bit != 0)
    in_check = (a.checkers != 0)[row]
    told.add(in_check & (mover == KING), in_check & (a.checkers[row] & to_bit != 0), (np.diff(moves.offsets) == 1)[row])
    _tell_more(told, a, moves, final, sets, after, reach)
    known = (came >= 0)[row]
    arrived = np.where(came >= 0, BIT[np.maximum(came, 0)], _NONE)
    by_last = _reach_of_last(positions, a, came)
    told.add(known & (end == came[row]) & (taken > 0), known & (reach & arrived[row] != 0))
    told.add(known & (by_last[row] & from_bit != 0), known)


def _tell_more(
    told: _Told, a: Attacks, moves: Moves, final: Squares, sets: Boards, after: _Attacked, reach: Boards
) -> None:
    """What the mover can do where it arrives, checks that both sides threaten, and the pawns."""
    row, start, end = moves.row, moves.start, moves.end
    own, their = np.bitwise_or.reduce(sets[:6], axis=0), np.bitwise_or.reduce(sets[6:], axis=0)
    place = np.zeros((len(a.own), 64), np.uint64)
    place[a.row, a.square] = a.reach
    told.add(np.bitwise_count(place[row, start] & ~a.own[row]) / 8, np.bitwise_count(reach & ~own) / 8)
    by = after.by[6:]
    less = by[PAWN - 1] | np.where(final >= ROOK, by[KNIGHT - 1] | by[BISHOP - 1], _NONE)
    less |= np.where(final >= QUEEN, by[ROOK - 1], _NONE) | np.where(final == KING, after.their, _NONE)
    told.add(np.bitwise_count(reach & ~own & ~less) / 8)
    kinds = (PAWN, KNIGHT, BISHOP, ROOK, QUEEN)
    worth = sum(np.bitwise_count(reach & sets[kind + BLACK - 1]) * VALUES[kind] for kind in kinds)
    told.add(worth / 8, np.bitwise_count(reach & own) / 4)
    through = _reach(final, end, ~(own | their) | reach & their) & ~reach
    slides = (final >= BISHOP) & (final <= QUEEN)
    told.add(slides & (through & sets[KING + BLACK - 1] != 0), slides & (through & sets[QUEEN + BLACK - 1] != 0))
    told.add(np.bitwise_count(_checks(after.by[6:], own | their, sets[KING - 1]) & ~their & ~after.own) / 2)
    told.add(np.bitwise_count(_checks(after.by[:6], own | their, sets[KING + BLACK - 1]) & ~own & ~after.their) / 2)
    pawn, file = sets[PAWN - 1], _FILE_A << (end & 7).astype(np.uint64)
    is_pawn = final == PAWN
    beside = leap(file, ROOK_STEPS[2:])
    told.add(is_pawn & (np.bitwise_count(pawn & file) > 1), is_pawn & (pawn & beside == 0))
    told.add(np.bitwise_count(pawn & THEIR_PAWN_FROM[end]) / 2)
    valuable = own & ~pawn
    told.add((np.bitwise_count(by[PAWN - 1] & valuable) > 1) | (np.bitwise_count(by[KNIGHT - 1] & valuable) > 1))
    told.add((final != PAWN) & ((pawn << np.uint64(8)) & BIT[end] != 0))


def _checks(by: Boards, taken: Boards, king: Boards) -> Boards:
    """Squares from which a side that attacks these squares could check that king."""
    square = np.bitwise_count(king - np.uint64(1)).astype(np.intp)
    across, along = diagonal(square, taken), straight(square, taken)
    found: Boards = by[KNIGHT - 1] & KNIGHT_FROM[square] | (by[BISHOP - 1] | by[QUEEN - 1]) & across
    found |= (by[ROOK - 1] | by[QUEEN - 1]) & along
    return found


def _lost(positions: Positions, a: Attacks, before: _Attacked) -> Floats:
    """What the other side would win by an exchange on the square of each own piece, in pawns: (n, 64)."""
    worth = np.zeros(positions.boards.shape, np.float32)
    target = (a.own & ~a.pieces[KING - 1] & before.their)[a.row] & BIT[a.square] != 0
    at = np.flatnonzero(target & (a.code <= BLACK))
    row, square = a.row[at], a.square[at]
    # The least attacker begins.
    first, kind = np.zeros(len(at), np.uint64), np.zeros(len(at), np.intp)
    taken = (a.own | a.their)[row]
    across, along = diagonal(square, taken), straight(square, taken)
    ways = (OWN_PAWN_FROM[square], KNIGHT_FROM[square], across, along, across | along, KING_FROM[square])
    for piece in range(KING, 0, -1):
        mine = a.pieces[piece - 1 + BLACK][row] & ways[piece - 1]
        first, kind = np.where(mine != 0, mine, first), np.where(mine != 0, piece, kind)
    at, first, kind = at[kind > 0], first[kind > 0], kind[kind > 0]
    row, square = a.row[at], a.square[at]
    begin = np.bitwise_count((first & (~first + np.uint64(1))) - np.uint64(1)).astype(np.intp)
    worth[row, square] = np.maximum(exchange(a.pieces, row, begin, square, VALUES[a.code[at]], kind, 1), 0)
    return worth


def _after(
    a: Attacks,
    row: Rows,
    mover: Rows,
    final: npt.NDArray[np.integer],
    hit: Rows,
    passing: npt.NDArray[np.bool_],
    castles: npt.NDArray[np.bool_],
    from_bit: Boards,
    to_bit: Boards,
    end: Rows,
) -> Boards:
    """The piece sets after each move: (12, moves)."""
    sets = a.pieces[:, row]
    each = np.arange(len(row))
    sets[mover - 1, each] ^= from_bit
    sets[final - 1, each] |= to_bit
    takes = np.flatnonzero(hit)
    sets[hit[takes] - 1, takes] ^= to_bit[takes]
    at = np.flatnonzero(passing)
    sets[PAWN + BLACK - 1, at] ^= BIT[end[at] - 8]
    at = np.flatnonzero(castles)
    sets[ROOK - 1, at] ^= np.where(end[at] == 6, np.uint64(0xA0), np.uint64(0x09))
    return sets


def _reach(kind: npt.NDArray[np.integer], square: Rows, empty: Boards) -> Boards:
    """What an own piece of this kind attacks from this square."""
    reach: Boards = LEAPERS[kind, square]
    for slider, ways in ((ROOK, straight), (BISHOP, diagonal)):
        at = np.flatnonzero((kind == slider) | (kind == QUEEN))
        reach[at] |= ways(square[at], ~empty[at])
    return reach


def _reach_of_last(positions: Positions, a: Attacks, came: Squares) -> Boards:
    """What their piece attacks that moved last."""
    reach = np.zeros(len(positions), np.uint64)
    at = np.flatnonzero((a.square == came[a.row]) & (a.code > BLACK))
    reach[a.row[at]] = a.reach[at]
    return reach
