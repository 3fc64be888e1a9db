"""Positions as text and as numbers: FENs, EPDs, moves in UCI, keys, repetitions, for many plies at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.games.moves import GameArrays
from assay.games.rules import PIECES

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
    parts.append(_square_names(arrays.en_passant[chosen]))
    if counters:
        parts += [_column(" ", rows), _digits(arrays.halfmove[chosen]), _column(" ", rows)]
        parts.append(_digits(arrays.fullmove[chosen]))
    return _lines(parts)


def uci(arrays: GameArrays, plies: Plies = None) -> list[str]:
    """The move of each of these plies (all, if None) in UCI notation.

    >>> from assay.games import to_arrays
    >>> uci(to_arrays(["1. e4 e5 2. Ke2 *"]))
    ['e2e4', 'e7e5', 'e1e2']
    """
    chosen = slice(None) if plies is None else plies
    promotion = np.frombuffer(b"\0\0nbrq", np.uint8)[arrays.promotion[chosen]]
    squares = [_square_names(arrays.from_square[chosen]), _square_names(arrays.to_square[chosen])]
    return _lines([*squares, promotion[:, None]])


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


def _square_names(squares: npt.NDArray[np.integer]) -> npt.NDArray[np.uint8]:
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


def _lines(parts: list[npt.NDArray[np.uint8]]) -> list[str]:
    """Glue columns of characters into one text a row, dropping zeros."""
    rows = len(parts[0])
    flat = np.concatenate([*parts, _column("\n", rows)], axis=1, dtype=np.uint8, casting="unsafe").ravel()
    text: str = flat[flat != 0].tobytes().decode("ascii")
    return text.split("\n")[:-1]
