"""What a move does on the board, for all moves of many positions at once: the words in which people see moves.

Every position is turned so that the mover plays up the board, as White does.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

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
from assay.records import dataclass

Squares = NDArray[np.int64]
Columns = dict[str, NDArray[np.float32]]

PAWN, KNIGHT, BISHOP, ROOK, QUEEN, KING = range(6)
# By kind of piece; the last stands for an empty square.
WORTH = np.array([1, 3, 3.2, 5, 9, 0, 0], np.float32)
_EVEN_MATERIAL = 26  # below this, of both sides together without pawns, kings and pawns come into their own
_CENTRE = np.isin(np.arange(64), (27, 28, 35, 36))
_ONE = np.uint64(1)


@dataclass(frozen=True)
class Scene:
    """Positions from the mover's side: what stands where, who attacks what.

    `kind` (positions x 64) is 0-5 for the mover's pieces, 6-11 for the opponent's, 12 for an empty square.
    `lesser` has for each kind of piece the squares that opposing pieces of less worth attack.
    """

    kind: NDArray[np.uint8]
    white: NDArray[np.bool_]
    king: Squares  # the opponent's
    in_check: NDArray[np.bool_]
    hit: Boards  # squares the opponent attacks
    hit_by_pawn: Boards
    lesser: Boards  # (6, positions)
    covered: Boards  # squares that one own piece at least attacks
    covered_twice: Boards
    giving: Boards  # (6, positions): squares from which a piece of this kind gives check
    unmasking: Boards  # own pieces that give a discovered check by leaving their line
    no_pawn_ahead: Boards  # squares from which no opposing pawn stands ahead, on three files
    material: NDArray[np.float32]  # of both sides, without pawns


def scene(keys: NDArray[np.uint8]) -> Scene:
    """The scene of each position, by its key (see :mod:`assay.games.packed`)."""
    codes = np.empty((len(keys), 64), np.uint8)
    codes[:, 0::2] = keys[:, :32] & 15
    codes[:, 1::2] = keys[:, :32] >> 4
    white = (keys[:, 32] & 1).astype(np.bool_)
    turned = codes.reshape(-1, 8, 8)[:, ::-1].reshape(-1, 64)
    turned = np.where(turned == 0, 0, np.where(turned > 6, turned - 6, turned + 6)).astype(np.uint8)
    codes = np.where(white[:, None], codes, turned)
    sets = piece_sets(codes)
    own, other = sets[:6], sets[6:]
    empty = ~np.bitwise_or.reduce(sets, axis=0)
    attacks = np.stack(
        [
            leap(other[PAWN], BLACK_PAWN_STEPS),
            leap(other[KNIGHT], KNIGHT_STEPS),
            slide(other[BISHOP], empty, BISHOP_STEPS),
            slide(other[ROOK], empty, ROOK_STEPS),
            slide(other[QUEEN], empty, KING_STEPS),
            leap(other[KING], KING_STEPS),
        ]
    )
    below = np.zeros_like(attacks)
    for kind in range(6):
        for less in range(6):
            if less != KING and (kind == KING or WORTH[less] < WORTH[kind] - 0.5):
                below[kind] |= attacks[less]
    hit = np.bitwise_or.reduce(attacks, axis=0)
    covered, twice = _covered(own, empty)
    king = np.argmax(codes == 12, axis=1)
    giving, unmasking = _checks(own, other[KING], empty)
    behind = leap(other[PAWN], ((1, 0xFEFE_FEFE_FEFE_FEFE), (-1, 0x7F7F_7F7F_7F7F_7F7F))) | other[PAWN]
    for step in (8, 16, 32):  # every square below an opposing pawn
        behind |= behind >> np.uint64(step)
    count = [np.bitwise_count(own[k] | other[k]).astype(np.float32) for k in range(6)]
    material = sum(count[k] * WORTH[k] for k in (KNIGHT, BISHOP, ROOK, QUEEN))
    return Scene(
        kind=np.where(codes == 0, 12, codes - 1).astype(np.uint8),
        white=white,
        king=king,
        in_check=hit & own[KING] != 0,
        hit=hit,
        hit_by_pawn=attacks[PAWN],
        lesser=below,
        covered=covered,
        covered_twice=twice,
        giving=giving,
        unmasking=unmasking,
        no_pawn_ahead=~(behind >> np.uint64(8)),
        material=np.asarray(material, np.float32),
    )


def _covered(own: Boards, empty: Boards) -> tuple[Boards, Boards]:
    """Squares that own pieces attack: one at least, two at least."""
    once = np.zeros_like(empty)
    twice = np.zeros_like(empty)

    def add(more: Boards) -> None:
        nonlocal once, twice
        twice = twice | (once & more)
        once = once | more

    for step in WHITE_PAWN_STEPS:
        add(leap(own[PAWN], (step,)))
    add(leap(own[KING], KING_STEPS))
    ways: tuple[tuple[int, Callable[[Boards], Boards]], ...] = (
        (KNIGHT, lambda one: leap(one, KNIGHT_STEPS)),
        (BISHOP, lambda one: slide(one, empty, BISHOP_STEPS)),
        (ROOK, lambda one: slide(one, empty, ROOK_STEPS)),
        (QUEEN, lambda one: slide(one, empty, KING_STEPS)),
    )
    for kind, way in ways:
        left = own[kind].copy()
        while left.any():
            one = left & (~left + _ONE)
            add(way(one))
            left ^= one
    return once, twice


def _checks(own: Boards, king: Boards, empty: Boards) -> tuple[Boards, Boards]:
    """Squares from which each kind of piece gives check, and own pieces that unmask one by leaving."""
    diagonal, straight = slide(king, empty, BISHOP_STEPS), slide(king, empty, ROOK_STEPS)
    none = np.zeros_like(king)
    giving = np.stack(
        [leap(king, BLACK_PAWN_STEPS), leap(king, KNIGHT_STEPS), diagonal, straight, diagonal | straight, none]
    )
    men = np.bitwise_or.reduce(own, axis=0)
    unmasking = none.copy()
    for steps, sliders in ((BISHOP_STEPS, own[BISHOP] | own[QUEEN]), (ROOK_STEPS, own[ROOK] | own[QUEEN])):
        for step in steps:
            mask = rays(king, empty, step) & men
            beyond = rays(mask, empty, step)
            unmasking |= np.where(beyond & sliders != 0, mask, 0)
    return giving, unmasking


def columns(
    here: Scene,
    turn: NDArray[np.int64],
    moves: NDArray[np.uint16],
    before: NDArray[np.uint16],
    own: NDArray[np.uint16],
) -> Columns:
    """What each move does: a column per trait, a row per move.

    `turn` is the position of each move, `before` the opponent's last move and `own` the mover's (by position, 0 if
    there is none).
    """
    flip = np.where(here.white, 0, 56)[turn]
    code = moves.astype(np.int64)
    start, end, promotion = (code & 63) ^ flip, (code >> 6 & 63) ^ flip, code >> 12
    kind = here.kind[turn, start].astype(np.int64)
    target = here.kind[turn, end].astype(np.int64)
    pawn, king = kind == PAWN, kind == KING
    passant = pawn & (start % 8 != end % 8) & (target == 12)
    taken = np.where(passant, PAWN, np.where(target >= 6, target - 6, 6))
    taken = np.where(target < 6, 6, taken)  # castling as king takes rook
    capture = taken < 6
    castling = king & ((np.abs(start % 8 - end % 8) > 1) | (target < 6))
    rank_step = end // 8 - start // 8
    file_step = np.abs(end % 8 - start % 8)

    def at(sets: Boards, squares: Squares) -> NDArray[np.bool_]:
        return (sets[turn] >> squares.astype(np.uint64) & _ONE).astype(np.bool_)

    def of_kind(sets: Boards, kinds: NDArray[np.int64], squares: Squares) -> NDArray[np.bool_]:
        return (sets[kinds, turn] >> squares.astype(np.uint64) & _ONE).astype(np.bool_)

    lands = np.where(promotion > 0, promotion - 1, kind)
    hit_end, hit_start = at(here.hit, end), at(here.hit, start)
    lesser_end, lesser_start = of_kind(here.lesser, kind, end), of_kind(here.lesser, kind, start)
    check = of_kind(here.giving, lands, end) | (at(here.unmasking, start) & ~_in_line(start, end, here.king[turn]))
    worth, own_worth = WORTH[taken], WORTH[kind]
    gain = worth - np.where(hit_end, own_worth, 0)
    pushed = pawn & ~capture
    defended = np.where(pushed | castling, at(here.covered, end), at(here.covered_twice, end))
    last_to = (before.astype(np.int64)[turn] >> 6 & 63) ^ flip
    had_last = before[turn] > 0
    my_from = (own.astype(np.int64)[turn] & 63) ^ flip
    my_to = (own.astype(np.int64)[turn] >> 6 & 63) ^ flip
    same = (own[turn] > 0) & (my_to == start)
    few = here.material[turn] < _EVEN_MATERIAL
    their_king = here.king[turn]
    traits = {
        "capture": capture,
        "check": check,
        "promotion": promotion > 0,
        "castling": castling,
        "pawn": pawn,
        "bishop": kind == BISHOP,
        "rook": kind == ROOK,
        "queen": kind == QUEEN,
        "king": king,
        "forward": np.maximum(rank_step, 0),
        "back": np.maximum(-rank_step, 0),
        "sideways": np.where(rank_step == 0, file_step, 0),
        "distance": np.maximum(np.abs(rank_step), file_step),
        "recapture": capture & had_last & (end == last_to),
        "taken": worth,
        "gain": gain,
        "same piece": same,
        "undoes": same & (my_from == end),
        "onto pawn's guard": at(here.hit_by_pawn, end) & ~pawn,
        "onto lesser's guard": lesser_end,
        "onto guard": hit_end,
        "from attack": hit_start,
        "from lesser's attack": lesser_start,
        "defended": defended,
        "centre": _CENTRE[end],
        "rim": (end % 8 == 0) | (end % 8 == 7),
        "passed pawn": pawn & at(here.no_pawn_ahead, end),
        "to king": np.maximum(np.abs(end % 8 - their_king % 8), np.abs(end // 8 - their_king // 8)),
        "king, few pieces": king & few,
        "pawn, few pieces": pawn & few,
        "wins material": capture & (gain > 0),
        "check into lesser's guard": check & lesser_end,
    }
    return {name: values.astype(np.float32) for name, values in traits.items()}


def _in_line(one: Squares, two: Squares, three: Squares) -> NDArray[np.bool_]:
    """Whether three squares lie on one file, rank or diagonal."""
    together = np.zeros(len(one), np.bool_)
    for files, ranks in ((1, 0), (0, 1), (1, 1), (1, -1)):
        line = [files * (square % 8) + ranks * (square // 8) for square in (one, two, three)]
        together |= (line[0] == line[1]) & (line[1] == line[2])
    return together
