"""Moves as people write them (SAN), for many moves at once.

Which piece is meant, whether it takes, whether it gives check or mate: all of it by sets of squares, so that a report
with forty thousand candidate moves does not wait for them.
"""

from __future__ import annotations

import chess
import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.games.legal import (
    BIT,
    KNIGHT_FROM,
    THEIR_PAWN_FROM,
    Attacks,
    Positions,
    attacks,
    diagonal,
    legal_moves,
    seen_by_mover,
    straight,
)
from assay.games.packed import decode_move, glued, square_names, to_fen, unpack
from assay.games.rules import BISHOP, KING, KNIGHT, PAWN, QUEEN, ROOK, Boards

_LETTERS = np.frombuffer(b"\0\0NBRQK", np.uint8)
_SHORT, _LONG = (np.frombuffer(text, np.uint8) for text in (b"O-O\0\0", b"O-O-O"))


def sans(keys: NDArray[np.uint8], row: NDArray[np.integer], codes: NDArray[np.uint16]) -> list[str]:
    """The SAN of legal moves: `row` is the position of each (a row of `keys`), `codes` the moves themselves.

    >>> from assay.games.packed import encode_move, from_fen
    >>> keys = np.frombuffer(from_fen("6k1/5ppp/8/8/8/8/8/RR4K1 w - - 0 1"), np.uint8)[None]
    >>> moves = np.array([encode_move(move) for move in ("a1a8", "b1b7", "g1f2")], np.uint16)
    >>> sans(keys, np.zeros(3, np.intp), moves)
    ['Ra8#', 'Rb7', 'Kf2']
    """
    boards, white, castling, passant = unpack(keys)
    try:
        positions = seen_by_mover(boards, white, castling, passant)
        found = attacks(positions)
    except InputError:  # a position that was set up against the rules
        return [_slowly(keys[at].tobytes(), code) for at, code in zip(row.tolist(), codes.tolist(), strict=True)]
    return _written(positions, found, np.asarray(row, np.intp), codes)


def _slowly(key: bytes, code: int) -> str:
    return chess.Board(to_fen(key)).san(chess.Move.from_uci(decode_move(code)))


def _written(positions: Positions, found: Attacks, row: NDArray[np.intp], codes: NDArray[np.uint16]) -> list[str]:
    flip = np.where(positions.turned[row], 56, 0)
    start, end, promotion = (codes & 63) ^ flip, (codes >> 6 & 63) ^ flip, (codes >> 12).astype(np.intp)
    piece = positions.boards[row, start].astype(np.intp)
    pawn = piece == PAWN
    castles = (piece == KING) & (np.abs(end - start) == 2)
    takes = (positions.boards[row, end] != 0) | (pawn & (start % 8 != end % 8))
    file, rank = _needed(positions, found, row, start, end, piece)
    names = square_names(start ^ flip)
    text = np.zeros((len(row), 10), np.uint8)
    text[:, 0] = _LETTERS[piece]
    text[:, 1] = np.where(file | (pawn & takes), names[:, 0], 0)
    text[:, 2] = np.where(rank, names[:, 1], 0)
    text[:, 3] = np.where(takes, ord("x"), 0)
    text[:, 4:6] = square_names(end ^ flip)
    text[:, 6] = np.where(promotion > 0, ord("="), 0)
    text[:, 7] = _LETTERS[promotion]
    text[castles, :8] = 0
    text[castles, :5] = np.where((end > start)[castles, None], _SHORT, _LONG)
    checks = _checks(positions, found, row, start, end, piece, promotion)
    text[:, 8] = np.where(checks, ord("+"), 0)
    at = np.flatnonzero(checks)
    after = _after(positions[row[at]], start[at], end[at], promotion[at])
    mates = np.diff(legal_moves(after).offsets) == 0
    text[at[mates], 8] = ord("#")
    return glued([text])


def _needed(
    positions: Positions,
    found: Attacks,
    row: NDArray[np.intp],
    start: NDArray[np.intp],
    end: NDArray[np.intp],
    piece: NDArray[np.intp],
) -> tuple[NDArray[np.bool_], NDArray[np.bool_]]:
    """Whether file and rank have to be told, since another piece of the kind could go there, too."""
    moves = legal_moves(positions, found)
    kind = positions.boards[moves.row, moves.start].astype(np.int64)
    goal = (moves.row * 8 + kind) * 64 + moves.end
    order = np.argsort(goal, kind="stable")
    mine = (row * 8 + piece) * 64 + end
    first, last = np.searchsorted(goal[order], mine), np.searchsorted(goal[order], mine, side="right")
    told = (last - first > 1) & (piece != PAWN) & (piece != KING)
    file, rank = np.zeros(len(row), np.bool_), np.zeros(len(row), np.bool_)
    for at in np.flatnonzero(told).tolist():
        others = moves.start[order[first[at] : last[at]]]
        others = others[others != start[at]]
        rank[at] = (others % 8 == start[at] % 8).any()
        file[at] = not rank[at] or (others // 8 == start[at] // 8).any()
    return file, rank


def _checks(
    positions: Positions,
    found: Attacks,
    row: NDArray[np.intp],
    start: NDArray[np.intp],
    end: NDArray[np.intp],
    piece: NDArray[np.intp],
    promotion: NDArray[np.intp],
) -> NDArray[np.bool_]:
    """Whether the other king is attacked after each move."""
    left, arrived = BIT[start], BIT[end]
    taken = ((found.own | found.their)[row] & ~left) | arrived
    becomes = np.where(promotion > 0, promotion, piece)
    passing = (piece == PAWN) & (end == positions.en_passant[row])
    taken = np.where(passing, taken & ~BIT[np.maximum(end - 8, 0)], taken)
    castles = (piece == KING) & (np.abs(end - start) == 2)
    from_corner, to_side = np.where(end > start, 7, 0), np.where(end > start, 5, 3)
    taken = np.where(castles, (taken & ~BIT[from_corner]) | BIT[to_side], taken)

    def standing(*kinds: int) -> Boards:
        """Where own pieces of these kinds stand after the move."""
        sets = np.bitwise_or.reduce([found.pieces[kind - 1] for kind in kinds])[row] & ~left
        if ROOK in kinds:
            sets = np.where(castles, (sets & ~BIT[from_corner]) | BIT[to_side], sets)
        return np.asarray(np.where(np.isin(becomes, kinds), sets | arrived, sets))

    king = found.their_king[row]
    hit = straight(king, taken) & standing(ROOK, QUEEN)
    hit |= diagonal(king, taken) & standing(BISHOP, QUEEN)
    hit |= KNIGHT_FROM[king] & standing(KNIGHT)
    hit |= THEIR_PAWN_FROM[king] & standing(PAWN)
    gives: NDArray[np.bool_] = hit != 0
    return gives


def _after(before: Positions, start: NDArray[np.intp], end: NDArray[np.intp], promotion: NDArray[np.intp]) -> Positions:
    """The positions after these moves, as the other side sees them, which is in check and may not castle."""
    boards, at = before.boards.copy(), np.arange(len(before))
    piece = boards[at, start]
    passing = (piece == PAWN) & (end == before.en_passant)
    boards[at[passing], end[passing] - 8] = 0
    boards[at, end] = np.where(promotion > 0, promotion, piece)
    boards[at, start] = 0
    castles = (piece == KING) & (np.abs(end - start) == 2)
    boards[at[castles], np.where(end > start, 7, 0)[castles]] = 0
    boards[at[castles], np.where(end > start, 5, 3)[castles]] = ROOK
    twice = (piece == PAWN) & (end - start == 16)
    passant = np.where(twice, end - 8, -1).astype(np.int8)
    return seen_by_mover(boards, np.zeros(len(boards), np.bool_), np.zeros(len(boards), np.uint8), passant)
