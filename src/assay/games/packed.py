"""Positions of many plies as keys, text and numbers: what an engine is told, FENs, moves in UCI, repetitions.

The key of a position are 35 bytes that say all an engine is told, and nothing else: 32 bytes of board (a nibble for
each square, a1 first), one for the side to move and the castling rights, one for the file of a *possible* en passant
capture, one for the halfmove clock. So two games that reach the same position share its analysis. The clock belongs to
the key because engines value a position by it (Stockfish shrinks its evaluation as the clock runs); the move number
does not, and neither does the game's history.

Piece codes are 0 for an empty square, 1-6 for White's pawn, knight, bishop, rook, queen and king, 7-12 for Black's.
"""

from __future__ import annotations

from functools import cache

import chess
import numpy as np
import numpy.typing as npt
from numpy.typing import NDArray

from assay.errors import InputError
from assay.games.parse import GameArrays
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


Plies = npt.NDArray[np.integer] | slice | None

_PIECE_BYTES = np.frombuffer(PIECES.encode(), np.uint8)
_CASTLING = np.array(
    [[ord(c) if rights >> bit & 1 else 0 for bit, c in enumerate("KQkq")] for rights in range(16)], np.uint8
)
_CASTLING[0, 0] = ord("-")


def fens(arrays: GameArrays, plies: Plies = None, *, counters: bool = True) -> list[str]:
    """The position before each of these plies (all, if None) as FEN; as EPD, without the two counters, if asked.

    The en-passant square appears only where the capture is legal, as python-chess writes it.

    >>> from assay.games import to_arrays
    >>> fens(to_arrays(["1. e4 e5 *"]), np.array([1]))
    ['rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1']
    """
    chosen = slice(None) if plies is None else plies
    boards = arrays.boards[chosen]
    rows = len(boards)
    parts = [_placement(boards), _column(" ", rows), np.where(arrays.turn[chosen], ord("w"), ord("b"))[:, None]]
    parts += [_column(" ", rows), _CASTLING[arrays.castling[chosen]], _column(" ", rows)]
    parts.append(square_names(arrays.en_passant[chosen]))
    if counters:
        parts += [_column(" ", rows), _digits(arrays.halfmove[chosen]), _column(" ", rows)]
        parts.append(_digits(arrays.fullmove[chosen]))
    return glued(parts)


def uci(arrays: GameArrays, plies: Plies = None) -> list[str]:
    """The move of each of these plies (all, if None) in UCI notation.

    >>> from assay.games import to_arrays
    >>> uci(to_arrays(["1. e4 e5 2. Ke2 *"]))
    ['e2e4', 'e7e5', 'e1e2']
    """
    chosen = slice(None) if plies is None else plies
    promotion = np.frombuffer(b"\0\0nbrq", np.uint8)[arrays.promotion[chosen]]
    squares = [square_names(arrays.from_square[chosen]), square_names(arrays.to_square[chosen])]
    return glued([*squares, promotion[:, None]])


def keys(arrays: GameArrays) -> npt.NDArray[np.uint64]:
    """A 64-bit key of each position: board, side to move, castling rights, legal en-passant square.

    Equal positions have equal keys on every machine; that two different ones share a key is as unlikely as for any
    64-bit hash (the words are mixed as in Steele, Lea and Flood's SplitMix, OOPSLA 2014).

    >>> from assay.games import to_arrays
    >>> one, other = keys(to_arrays(["1. Nf3 Nf6 2. Nc3 *", "1. Nc3 Nf6 2. Nf3 *"])).reshape(2, 3)
    >>> bool(one[0] == other[0]), bool(one[1] == other[1])
    (True, False)
    """
    words = np.ascontiguousarray(arrays.boards).view("<u8")
    state = arrays.turn.astype(np.uint64) | arrays.castling.astype(np.uint64) << np.uint64(8)
    state |= (arrays.en_passant.astype(np.int64) & 0xFF).astype(np.uint64) << np.uint64(16)
    key = _mix(state + np.uint64(0x9E3779B97F4A7C15))
    for i in range(8):
        key = _mix(key ^ words[:, i])
    return key


def repeated(arrays: GameArrays) -> npt.NDArray[np.bool_]:
    """Whether the position before each ply has occurred before in its game.

    >>> from assay.games import to_arrays
    >>> repeated(to_arrays(["1. Nf3 Nf6 2. Ng1 Ng8 3. e4 *"]))
    array([False, False, False, False,  True])
    """
    key, game = keys(arrays), arrays.game
    order = np.lexsort((key, game))  # stable: plies of equal positions stay in order
    again = (key[order[1:]] == key[order[:-1]]) & (game[order[1:]] == game[order[:-1]])
    flag = np.zeros(len(key), np.bool_)
    flag[order[1:][again]] = True
    return flag


def _mix(word: npt.NDArray[np.uint64]) -> npt.NDArray[np.uint64]:
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return word ^ (word >> np.uint64(31))


def _placement(boards: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint8]:
    """The first field of a FEN, 71 characters a row, zeros to be dropped."""
    ranks = boards.reshape(-1, 8, 8)[:, ::-1, :]
    out = np.zeros((len(boards), 8, 9), np.uint8)
    run = np.zeros((len(boards), 8), np.uint8)
    for file in range(8):
        piece = ranks[:, :, file]
        empty = piece == 0
        run = (run + 1) * empty
        run_ends = empty if file == 7 else empty & (ranks[:, :, file + 1] != 0)
        out[:, :, file] = np.where(empty, (run + 48) * run_ends, _PIECE_BYTES[piece])
    out[:, :7, 8] = ord("/")
    return out.reshape(len(boards), 72)[:, :71]


def square_names(squares: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
    """Two characters a square; "-" for -1."""
    names = np.stack([squares % 8 + 97, squares // 8 + 49], axis=1).astype(np.uint8)
    names[squares < 0] = (ord("-"), 0)
    return names


def _digits(numbers: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
    """Numbers below 100,000 in decimal, without leading zeros."""
    number = numbers.astype(np.int64)[:, None]
    powers = np.array([10_000, 1_000, 100, 10, 1])
    return np.where((number >= powers) | (powers == 1), number // powers % 10 + 48, 0).astype(np.uint8)


def _column(character: str, rows: int) -> npt.NDArray[np.uint8]:
    return np.full((rows, 1), ord(character), np.uint8)


def glued(parts: list[npt.NDArray[np.uint8]]) -> list[str]:
    """Glue columns of characters into one text a row, dropping zeros."""
    rows = len(parts[0])
    flat = np.concatenate([*parts, _column("\n", rows)], axis=1, dtype=np.uint8, casting="unsafe").ravel()
    text: str = flat[flat != 0].tobytes().decode("ascii")
    return text.split("\n")[:-1]
