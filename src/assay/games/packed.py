"""The key of a position: 35 bytes that say all an engine is told, and nothing else.

32 bytes of board (a nibble for each square, a1 first), one byte for the side to move and the castling rights, one for
the file of a *possible* en passant capture, one for the halfmove clock. So two games that reach the same position
share its analysis. The clock belongs to the key because engines value a position by it (Stockfish shrinks its
evaluation as the clock runs); the move number does not, and neither does the game's history.

Piece codes are 0 for an empty square, 1-6 for White's pawn, knight, bishop, rook, queen and king, 7-12 for Black's.
"""

from __future__ import annotations

from functools import cache

import chess
import numpy as np
from numpy.typing import NDArray

from assay.errors import InputError
from assay.games.moves import GameArrays
from assay.games.rules import PIECES as PIECES

KEY_BYTES = 35
NO_FILE = 8


def pack(arrays: GameArrays, plies: NDArray[np.int64]) -> NDArray[np.uint8]:
    """The keys of the positions before these plies, one row of 35 bytes each."""
    boards = arrays.boards[plies]
    passant = arrays.en_passant[plies]
    keys = np.empty((len(plies), KEY_BYTES), np.uint8)
    keys[:, :32] = boards[:, 0::2] | (boards[:, 1::2] << 4)
    keys[:, 32] = arrays.turn[plies] | (arrays.castling[plies] << 1)
    keys[:, 33] = np.where(passant < 0, NO_FILE, passant % 8)
    keys[:, 34] = arrays.halfmove[plies]
    return keys


def unpack(keys: NDArray[np.uint8]) -> tuple[NDArray[np.uint8], NDArray[np.bool_], NDArray[np.uint8], NDArray[np.int8]]:
    """Boards, whether White is to move, castling rights and squares of en passant, as :class:`GameArrays` has them.

    >>> boards, white, castling, passant = unpack(np.frombuffer(from_fen(chess.STARTING_FEN), np.uint8)[None])
    >>> boards[0, :3], white, castling, passant
    (array([4, 2, 3], dtype=uint8), array([ True]), array([15], dtype=uint8), array([-1], dtype=int8))
    """
    if keys.ndim != 2 or keys.shape[1] != KEY_BYTES or keys.dtype != np.uint8:
        raise InputError(
            f"keys of positions are rows of {KEY_BYTES} bytes; these are {keys.dtype} of shape {keys.shape}."
        )
    boards = np.empty((len(keys), 64), np.uint8)
    boards[:, 0::2], boards[:, 1::2] = keys[:, :32] & 15, keys[:, :32] >> 4
    if boards.max(initial=0) >= len(PIECES):
        raise InputError("the key of a position holds a piece that does not exist; the data is damaged.")
    white: NDArray[np.bool_] = keys[:, 32] & 1 == 1
    file = np.minimum(keys[:, 33], NO_FILE).astype(np.int8)
    passant = np.where(file < NO_FILE, file + np.where(white, 40, 16), -1).astype(np.int8)
    return boards, white, (keys[:, 32] >> 1 & 15).astype(np.uint8), passant


def played_moves(arrays: GameArrays, plies: NDArray[np.int64]) -> NDArray[np.uint16]:
    """The codes of the moves played at these plies."""
    square_to = arrays.to_square[plies].astype(np.uint16)
    promotion = arrays.promotion[plies].astype(np.uint16)
    codes: NDArray[np.uint16] = arrays.from_square[plies] | square_to * np.uint16(64) | promotion * np.uint16(4096)
    return codes


def as_bytes(keys: NDArray[np.uint8]) -> list[bytes]:
    """Rows of keys as bytes."""
    data = keys.tobytes()
    return [data[start : start + KEY_BYTES] for start in range(0, len(data), KEY_BYTES)]


def after_last(arrays: GameArrays, game: int) -> chess.Board:
    """The position after the last move of a game."""
    last = int(arrays.offsets[game + 1]) - 1
    board = chess.Board(to_fen(pack(arrays, np.array([last]))[0].tobytes()))
    promotion = int(arrays.promotion[last]) or None
    board.push(chess.Move(int(arrays.from_square[last]), int(arrays.to_square[last]), promotion))
    return board


def from_board(board: chess.Board) -> bytes:
    """The key of a python-chess board.

    >>> to_fen(from_board(chess.Board("4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 7")))
    '4k3/8/8/8/3pP3/8/8/4K3 b - e3 0 1'
    """
    squares = [0] * 64
    for square, piece in board.piece_map().items():
        squares[square] = piece.piece_type + (0 if piece.color else 6)
    nibbles = bytes(squares[i] | squares[i + 1] << 4 for i in range(0, 64, 2))
    state = int(board.turn)
    for bit, (color, kingside) in enumerate(((True, True), (True, False), (False, True), (False, False))):
        right = board.has_kingside_castling_rights if kingside else board.has_queenside_castling_rights
        state |= right(color) << (bit + 1)
    file = chess.square_file(board.ep_square) if board.ep_square is not None and board.has_legal_en_passant() else 8
    return nibbles + bytes((state, file, min(board.halfmove_clock, 255)))


def from_fen(fen: str) -> bytes:
    """The key of a FEN; ValueError if it is none."""
    return from_board(chess.Board(fen))


def to_fen(key: bytes) -> str:
    """The FEN of a key, with move number 1: the number is no part of a position.

    >>> to_fen(from_fen(chess.STARTING_FEN)) == chess.STARTING_FEN
    True
    """
    squares = "".join(PIECES[nibble] for byte in key[:32] for nibble in (byte & 15, byte >> 4))
    ranks = "/".join(squares[rank * 8 : rank * 8 + 8] for rank in range(7, -1, -1))
    for run in range(8, 0, -1):
        ranks = ranks.replace("." * run, str(run))
    white = key[32] & 1
    castling = "".join(letter for bit, letter in enumerate("KQkq") if key[32] >> (bit + 1) & 1) or "-"
    passant = "-" if key[33] == NO_FILE else f"{'abcdefgh'[key[33]]}{6 if white else 3}"
    return f"{ranks} {'w' if white else 'b'} {castling} {passant} {key[34]} 1"


@cache
def encode_move(uci: str) -> int:
    """A move in 16 bits: from, to << 6, promotion piece << 12 (0 none, 2 knight, 3 bishop, 4 rook, 5 queen).

    >>> encode_move("e2e4"), decode_move(encode_move("a7b8n"))
    (1804, 'a7b8n')
    """
    move = chess.Move.from_uci(uci)
    return move.from_square | move.to_square << 6 | (move.promotion or 0) << 12


@cache
def decode_move(code: int) -> str:
    """The UCI text of a move code.

    >>> decode_move(12 | 28 << 6), decode_move(52 | 60 << 6 | chess.QUEEN << 12)
    ('e2e4', 'e7e8q')
    """
    return chess.Move(code & 63, code >> 6 & 63, code >> 12 or None).uci()
