"""The 64 planes of a ply, drawn with python-chess: the definition, and the reference for the fast encoder.

Plane order (8 x 8, binary, before the move unless said; white P N B R Q K, then black):

===== ==========================================================================================
0-11  pieces
12-23 presence: squares a piece could capture on if the board were empty
24-35 any control: squares a piece attacks now, own pieces included
36-37 any control by White, by Black
38-39 legal control: any control, cut to the pin line for pinned pieces
40-41 net control: legally controlled by that side's pawns and not by the other side's
42-47 36-41 after the move
48-49 from and to square of the move
50-51 from and to square of the previous move (empty if there is none)
52-55 castling rights: White short, White long, Black short, Black long (whole plane)
56    White to move (whole plane)
57    en-passant target
58-63 52-57 after the move
===== ==========================================================================================

The layout follows the plan of "Rating Your Moves", with the missing definitions made exact.
"""

from __future__ import annotations

import chess
import numpy as np
import numpy.typing as npt

NUM_PLANES = 64

_PIECES = tuple(chess.Piece(kind, color) for color in chess.COLORS for kind in chess.PIECE_TYPES)

PLANE_NAMES = (
    *(f"{what}{piece.symbol()}" for what in ("", "presence ", "control ") for piece in _PIECES),
    *(
        f"{what} control {side}{after}"
        for after in ("", " after")
        for what in ("any", "legal", "net")
        for side in ("White", "Black")
    ),
    "from",
    "to",
    "previous from",
    "previous to",
    *(
        f"{what}{after}"
        for after in ("", " after")
        for what in ("castling K", "castling Q", "castling k", "castling q", "White to move", "en passant")
    ),
)


# A move, or its squares; None where there is none.
Squares = chess.Move | tuple[int, int] | None


def encode_ply_planes(
    board: chess.Board, move: chess.Move | tuple[int, int], prev_move: Squares = None
) -> npt.NDArray[np.uint8]:
    """The planes of one ply, uint8 of shape (64, 8, 8), indexed [plane, rank, file] with a1 at [0, 0].

    `board` stands before `move` and is left as it was; `prev_move` is the move that led to it, or its squares, (from,
    to). `move` may be a pair of squares too; a pawn that reaches the last rank then becomes a queen.

    >>> planes = encode_ply_planes(chess.Board(), chess.Move.from_uci("g1f3"))
    >>> planes.shape, int(planes[0].sum()), planes[48, 0].tolist()
    ((64, 8, 8), 8, [0, 0, 0, 0, 0, 0, 1, 0])
    """
    after, played = board.copy(stack=False), _move_of(board, move)
    after.push(played)
    masks = [
        *(int(board.pieces(piece.piece_type, piece.color)) for piece in _PIECES),
        *(_presence(board, piece) for piece in _PIECES),
        *(_control(board, board.pieces(piece.piece_type, piece.color)) for piece in _PIECES),
        *_aggregates(board),
        *_aggregates(after),
        *_squares(played),
        *_squares(prev_move),
        *_state(board),
        *_state(after),
    ]
    packed = np.array(masks, dtype=np.uint64)
    return unpack(packed)


def unpack(packed: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint8]:
    """Packed planes (..., 64) of one bit per square to uint8 (..., 64, 8, 8).

    >>> unpack(np.array([1 << 63], dtype=np.uint64))[0, 7].tolist()
    [0, 0, 0, 0, 0, 0, 0, 1]
    """
    octets = np.ascontiguousarray(packed, dtype="<u8").view(np.uint8).reshape(*packed.shape, 8)
    bits = np.unpackbits(octets, axis=-1, bitorder="little")
    return bits.reshape(*packed.shape, 8, 8)


def squares_of(plane: int) -> str:
    """The squares of a packed plane by name; "all" for a whole plane.

    >>> squares_of(1 | 1 << 63), squares_of(0)
    ('a1 h8', '')
    """
    return "all" if plane == chess.BB_ALL else " ".join(chess.square_name(square) for square in chess.SquareSet(plane))


def _presence(board: chess.Board, piece: chess.Piece) -> int:
    mask = 0
    for square in board.pieces(piece.piece_type, piece.color):
        alone = chess.BaseBoard(None)
        alone.set_piece_at(square, piece)
        mask |= alone.attacks_mask(square)
    return mask


def _control(board: chess.Board, squares: chess.SquareSet) -> int:
    mask = 0
    for square in squares:
        mask |= board.attacks_mask(square)
    return mask


def _legal_control(board: chess.Board, color: chess.Color, squares: chess.SquareSet) -> int:
    mask = 0
    for square in squares:
        mask |= board.attacks_mask(square) & board.pin_mask(color, square)
    return mask


def _aggregates(board: chess.Board) -> list[int]:
    sides = [chess.SquareSet(board.occupied_co[color]) for color in chess.COLORS]
    pawns = [_legal_control(board, color, board.pieces(chess.PAWN, color)) for color in chess.COLORS]
    return [
        *(_control(board, side) for side in sides),
        *(_legal_control(board, color, side) for color, side in zip(chess.COLORS, sides, strict=True)),
        pawns[0] & ~pawns[1],
        pawns[1] & ~pawns[0],
    ]


def _move_of(board: chess.Board, move: chess.Move | tuple[int, int]) -> chess.Move:
    """A move, or the one between two squares; a queen if it promotes."""
    if isinstance(move, chess.Move):
        return move
    start, goal = move
    last = board.piece_type_at(start) == chess.PAWN and chess.square_rank(goal) in (0, 7)
    return chess.Move(start, goal, promotion=chess.QUEEN if last else None)


def _squares(move: Squares) -> tuple[int, int]:
    if move is None:
        return 0, 0
    start, goal = (move.from_square, move.to_square) if isinstance(move, chess.Move) else move
    return chess.BB_SQUARES[start], chess.BB_SQUARES[goal]


def _state(board: chess.Board) -> list[int]:
    rights = [
        may(color)
        for color in chess.COLORS
        for may in (board.has_kingside_castling_rights, board.has_queenside_castling_rights)
    ]
    flags = [*rights, board.turn == chess.WHITE]
    target = 0 if board.ep_square is None else chess.BB_SQUARES[board.ep_square]
    return [*(chess.BB_ALL if flag else 0 for flag in flags), target]
