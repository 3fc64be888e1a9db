"""Movetext to flat arrays: boards, moves, clocks and evals of many games, without a Python loop over plies.

The fast parser (the Rust `pgn-reader` through its Python binding) reads nearly all games; those that it refuses, and
those with a blank line amid their moves, where it would stop, are read again with python-chess, slow and patient, and
what python-chess refuses too is marked invalid, with the reason. Variants of chess are left out; a position set up with
a FEN tag is respected.
"""

from __future__ import annotations

import io
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import fields
from itertools import islice
from pathlib import Path
from typing import Any

import chess
import chess.pgn
import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc
import rust_pgn_reader_python_binding as rust

from assay.errors import InputError
from assay.games.rules import MOST_MOVES, PIECES, legal_en_passant
from assay.games.split import Game
from assay.games.stream import is_name
from assay.printable import decode
from assay.records import dataclass

EMPTY = "no text"
VARIANT = "variant"
STANDARD = frozenset({"", "standard", "chess", "normal", "from position"})

# The fast parser takes only numbers for evaluations: "#-3" is rewritten as -10003, "#12" as 100012 (ten thousand
# with the moves to mate behind), and told from pawns by its size afterwards.
_MATE_MARK = "1000"
_LEAST_MATE = 10_000
# Programs that play matches (cutechess, fastchess) write what the mover thinks: "{+0.35/12 1.2s}", "{-M5/30 0s}".
# Depth and time tell such a comment from all others. Its sign is the mover's: it is marked by a size that neither pawns
# nor marked mates have. Without the time in seconds ("{+0.35/12}", "{0.35/12 5}") it may be White's or the mover's: by
# another mark, until the values of the whole game tell which.
_BY_MOVER, _BY_EITHER = 20_000.0, 40_000.0
_MOVER_MATE, _EITHER_MATE = 7_000_000, 8_000_000
_LEAST_APART = 1_000
_MOVERS = r"\{\s*([+-]?)(\d{1,3}\.\d{1,2})/\d{1,3}(?:( +\d+(?:\.\d+)?s[^}]*)|(?: +\d+)?\s*)\}"
_MOVERS_MATE = r"\{\s*([+-]?)M(\d{1,3})/\d{1,3}(?:( +\d+(?:\.\d+)?s[^}]*)|(?: +\d+)?\s*)\}"
# White's values change little from ply to ply, the mover's change their sign: one sum of changes must be so much less
# than the other, over so many plies, and the greater one so many pawns (of each value 5 at most count).
_TIMES_LESS, _LEAST_PLIES, _LEAST_PAWNS, _MOST_PAWNS = 3.0, 6, 3.0, 5.0
_BLANK_LINE = re.compile(rb"\n\r?\n")


@dataclass(frozen=True)
class GameArrays:
    """Many games, ply after ply. Game g holds the plies `offsets[g]` to `offsets[g + 1]`; an invalid game holds none.

    Positions are those *before* the move of the ply.
    """

    offsets: npt.NDArray[np.int64]  # n + 1
    valid: npt.NDArray[np.bool_]  # n
    reason: tuple[str, ...]  # n; why a game is not valid, "" if it is
    boards: npt.NDArray[np.uint8]  # (plies, 64); a1 = 0, h8 = 63; 0 empty, 1-6 White's PNBRQK, 7-12 Black's
    turn: npt.NDArray[np.bool_]  # True: White to move
    castling: npt.NDArray[np.uint8]  # rights as bits: 1 K, 2 Q, 4 k, 8 q
    en_passant: npt.NDArray[np.int8]  # square of a legal en-passant capture, else -1
    halfmove: npt.NDArray[np.uint8]  # plies since the last capture or pawn move
    fullmove: npt.NDArray[np.int32]  # number of the move
    from_square: npt.NDArray[np.uint8]
    to_square: npt.NDArray[np.uint8]  # castling: where the king lands
    promotion: npt.NDArray[np.uint8]  # 0 none, 2 N, 3 B, 4 R, 5 Q
    clock: npt.NDArray[np.float32]  # seconds left after the move, nan where unknown
    eval: npt.NDArray[np.float32]  # pawns after the move, White's view, nan where unknown or mate
    mate: npt.NDArray[np.int16]  # moves to mate after the move, White's view (negative: Black mates), 0 none

    @property
    def games(self) -> int:
        """How many games there are."""
        return len(self.valid)

    @property
    def plies(self) -> int:
        """How many plies there are in all games together."""
        return len(self.turn)

    @property
    def game(self) -> npt.NDArray[np.int64]:
        """The game of each ply."""
        return np.repeat(np.arange(self.games), np.diff(self.offsets))

    def problems(self) -> Counter[str]:
        """How many games were left out, by reason."""
        return Counter(reason for reason in self.reason if reason)


PLY_FIELDS = tuple(f.name for f in fields(GameArrays) if f.name not in ("offsets", "valid", "reason"))


def to_arrays(games: Iterable[str | bytes | Path | Game] | str | Path, *, threads: int | None = None) -> GameArrays:
    """Turn games, each with the text of one game, into flat arrays; or those of a PGN file, folder or index.

    >>> arrays = to_arrays(["1. e4 e5 2. Nf3 *", "1. e4 Ke4 *"])
    >>> arrays.offsets, arrays.valid, arrays.to_square
    (array([0, 3, 3]), array([ True, False]), array([28, 36, 21], dtype=uint8))
    >>> arrays.reason[1]
    'illegal move'
    """
    texts = _as_text([game.data if isinstance(game, Game) else game for game in _given(games)])
    reason = [""] * len(texts)
    texts = _leave_out(texts, reason)
    if not len(texts):
        return _join([], [])
    parsed = rust.parse_games(pa.chunked_array([_plain_evals(texts)]), num_threads=threads)
    if parsed.num_games != len(texts):
        raise AssertionError("the fast parser lost a game")
    starts = _start_numbers(texts)
    parts, at = [], 0
    for chunk in parsed.chunks:
        parts.append(_from_chunk(chunk, starts[at : at + chunk.num_games]))
        at += chunk.num_games
    arrays = _join(parts, reason)
    refused = [g for g in np.union1d(np.flatnonzero(~arrays.valid), _broken_up(texts)).tolist() if not reason[g]]
    return _reread(arrays, texts, refused) if refused else arrays


def _given(games: Any) -> Sequence[str | bytes | Game]:
    """The games that were given, or those of the files whose names were given in their place."""
    from assay.games.source import named_games

    if isinstance(games, str | bytes) and not is_name(games, alone=True):
        raise InputError("one text is no list of games: write to_arrays([text]) for the text of one game.")
    listed = list(named_games(games))
    if not all(isinstance(each, str | bytes | Game) for each in listed):
        raise InputError("a game is its text or a Game: to_arrays takes a list of these, or names of files.")
    return listed


def _as_text(games: Sequence[str | bytes]) -> pa.Array:
    if all(isinstance(game, bytes) for game in games):
        try:
            return pa.array(games, pa.binary()).cast(pa.string())
        except pa.ArrowInvalid:
            pass
    return pa.array([game if isinstance(game, str) else decode(game) for game in games], pa.string())


def _leave_out(texts: pa.Array, reason: list[str]) -> pa.Array:
    """Note the blank texts and the variants in `reason` and put an empty game in their place."""
    blank = pc.equal(pc.utf8_length(pc.utf8_ltrim_whitespace(texts)), 0)
    odd = pc.or_(blank, pc.match_substring(texts, "[Variant ")).to_numpy(zero_copy_only=False)
    for g in np.flatnonzero(odd).tolist():
        text = texts[g].as_py()
        name = Game("", 0, 0, text.encode()).tags.get("Variant", "")
        if not text.strip():
            reason[g] = EMPTY
        elif name.strip().lower() not in STANDARD:
            reason[g] = f"{VARIANT}: {name}"
    left = pa.array([bool(why) for why in reason], pa.bool_())
    return pc.if_else(left, "*", texts) if any(reason) else texts


def _plain_evals(texts: pa.Array) -> pa.Array:
    """Evaluations as plain numbers: mates marked, the depth behind a comma taken away."""
    if pc.any(pc.match_substring(texts, "[%eval #")).as_py():
        texts = pc.replace_substring(texts, "[%eval #-", f"[%eval -{_MATE_MARK}")
        texts = pc.replace_substring(texts, "[%eval #", f"[%eval {_MATE_MARK}")
    if pc.any(pc.match_substring_regex(texts, r"\[%eval [^\],}]*,")).as_py():
        texts = pc.replace_substring_regex(texts, r"(\[%eval [^\],}]*),[^\]}]*", r"\1")
    if pc.any(pc.match_substring_regex(texts, rf"{_MOVERS}|{_MOVERS_MATE}")).as_py():
        texts = _movers_as_evals(texts)
    return texts


def _movers_as_evals(texts: pa.Array) -> pa.Array:
    """A program's own values as evaluations, marked; its whole comment goes, for it holds nothing else."""

    def value(match: re.Match[str]) -> str:
        pawns = float(match.group(2)) * (-1 if match.group(1) == "-" else 1)
        return f"{{[%eval {(_BY_MOVER if match.group(3) else _BY_EITHER) + pawns:.2f}]}}"

    def mate(match: re.Match[str]) -> str:
        mark = _MOVER_MATE if match.group(3) else _EITHER_MATE
        return f"{{[%eval {'-' if match.group(1) == '-' else ''}{mark + int(match.group(2))}]}}"

    def read(text: str) -> str:
        return re.sub(_MOVERS_MATE, mate, re.sub(_MOVERS, value, text))

    return pa.array([read(text) for text in texts.to_pylist()], pa.string())


def _broken_up(texts: pa.Array) -> npt.NDArray[np.int64]:
    """The games with a blank line amid their moves."""
    from assay.games.parse import has_blank_line

    _, offsets, data = texts.buffers()
    starts = np.frombuffer(offsets, np.int32, len(texts) + 1, 4 * texts.offset)
    at = np.array([match.start() for match in _BLANK_LINE.finditer(data or b"")], np.int64)
    blank = np.diff(np.searchsorted(at, starts))
    # Nearly all have the one behind their tags and no other.
    several = blank > pc.starts_with(texts, "[").cast(pa.int8()).to_numpy(zero_copy_only=False)
    return np.array([g for g in np.flatnonzero(several).tolist() if has_blank_line(texts[g].as_py())], np.int64)


def _start_numbers(texts: pa.Array) -> npt.NDArray[np.int32]:
    """The number of each game's first move: 1, or what its FEN says."""
    numbers = np.ones(len(texts), np.int32)
    for g in np.flatnonzero(pc.match_substring(texts, "[FEN ").to_numpy(zero_copy_only=False)).tolist():
        parts = Game("", 0, 0, texts[g].as_py().encode()).tags.get("FEN", "").split()
        if len(parts) >= 6 and parts[5].isdecimal() and len(parts[5]) < 9:
            numbers[g] = max(1, int(parts[5]))
    return numbers


def _from_chunk(chunk: Any, start_numbers: npt.NDArray[np.int32]) -> dict[str, npt.NDArray[Any]]:
    """The arrays of the valid games of one chunk, with `counts` and `valid` by game."""
    valid = chunk.valid
    positions = np.diff(chunk.position_offsets.astype(np.int64))
    moves = np.diff(chunk.move_offsets.astype(np.int64))
    keep_position = np.repeat(valid, positions)
    keep_position[chunk.position_offsets[1:][valid].astype(np.int64) - 1] = False  # the final position has no move
    keep_move: Any = np.repeat(valid, moves) if not valid.all() else slice(None)
    counts = np.where(valid, moves, 0)

    boards = chunk.boards.reshape(-1, 64)[keep_position]
    turn = chunk.turn[keep_position]
    begin = np.cumsum(counts) - counts
    ply = np.arange(len(turn)) - np.repeat(begin, counts)
    black_first = np.zeros(len(counts), np.int32)
    black_first[counts > 0] = ~turn[begin[counts > 0]]
    fullmove = np.repeat(start_numbers, counts) + (ply + np.repeat(black_first, counts)) // 2
    value = _to_white(chunk.evals[keep_move], turn, np.repeat(np.arange(len(counts)), counts))
    pawns, mate = _mates(value)
    return {
        "counts": counts,
        "valid": valid,
        "boards": boards,
        "turn": turn,
        "castling": chunk.castling[keep_position] @ np.array([1, 2, 4, 8], np.uint8),
        "en_passant": legal_en_passant(boards, turn, chunk.en_passant[keep_position]),
        "halfmove": chunk.halfmove_clock[keep_position],
        "fullmove": fullmove.astype(np.int32),
        "from_square": chunk.from_squares[keep_move],
        "to_square": chunk.to_squares[keep_move],
        "promotion": np.maximum(chunk.promotions[keep_move], 0).astype(np.uint8),
        "clock": _shown(chunk.clocks[keep_move]),
        "eval": pawns,
        "mate": mate,
    }


def _shown(clocks: npt.NDArray[np.float32]) -> npt.NDArray[np.float32]:
    """Clocks as clocks show them: a number without end, or below zero, is none."""
    return np.where(np.isfinite(clocks) & (clocks >= 0), clocks, np.float32(np.nan))


def _to_white(
    value: npt.NDArray[np.float32], turn: npt.NDArray[np.bool_], game: npt.NDArray[np.intp]
) -> npt.NDArray[np.float32]:
    """Values of the mover's view as White's, where it is known whose they are; all others stay."""
    size = np.abs(value)
    own, either = (np.abs(value - mark) < _LEAST_APART for mark in (_BY_MOVER, _BY_EITHER))
    mates, either_mates = ((size > mark) & (size < mark + _LEAST_APART) for mark in (_MOVER_MATE, _EITHER_MATE))
    if not (own | either | mates | either_mates).any():
        return value
    view = np.where(turn, 1.0, -1.0)
    pawns = np.round(value.astype(np.float64) - np.where(either, _BY_EITHER, _BY_MOVER), 2)
    if (untold := either | either_mates).any():
        view[untold] = _views(np.where(either, pawns, np.nan), untold, turn, game)[untold]
    to_mate = size - np.where(either_mates, _EITHER_MATE, _MOVER_MATE)
    mark = np.select([to_mate < 10, to_mate < 100], [1e4, 1e5], 1e6)
    found = np.select(
        [own | either, mates | either_mates], [view * pawns, view * np.sign(value) * (mark + to_mate)], value
    )
    return np.asarray(found, np.float32)


def _views(
    pawns: npt.NDArray[np.float64],
    untold: npt.NDArray[np.bool_],
    turn: npt.NDArray[np.bool_],
    game: npt.NDArray[np.intp],
) -> npt.NDArray[np.float64]:
    """By what values that may be White's or the mover's are multiplied to be White's; nan where nothing tells.

    Where White's moves alone have such values, it is all the same.
    """
    count = int(game[-1]) + 1
    cut = np.clip(pawns, -_MOST_PAWNS, _MOST_PAWNS)
    pair = np.flatnonzero((game[1:] == game[:-1]) & np.isfinite(cut[1:] + cut[:-1]))
    whites, movers = (np.bincount(game[pair], np.abs(cut[pair + 1] + sign * cut[pair]), count) for sign in (-1, 1))
    enough = np.bincount(game[pair], minlength=count) >= _LEAST_PLIES
    sure_white, sure_mover = (
        enough & (other >= np.maximum(_TIMES_LESS * one, _LEAST_PAWNS))
        for one, other in ((whites, movers), (movers, whites))
    )
    by_white = sure_white | (np.bincount(game[untold & ~turn], minlength=count) == 0)
    view = np.where(turn, 1.0, -1.0)
    return np.where(by_white[game], 1.0, np.where(sure_mover[game], view, np.nan))


def _mates(value: npt.NDArray[np.float32]) -> tuple[npt.NDArray[np.float32], npt.NDArray[np.int16]]:
    """Tell marked mates from pawns."""
    mate = np.zeros(len(value), np.int16)
    marked = np.flatnonzero(np.abs(value) >= _LEAST_MATE)
    if not len(marked):
        return value, mate
    size = np.abs(value[marked])
    mark = np.select([size < 1e5, size < 1e6], [1e4, 1e5], 1e6)
    mate[marked] = np.sign(value[marked]) * np.minimum(size - mark, MOST_MOVES)
    value = value.copy()
    value[marked] = np.nan
    return value, mate


def _join(parts: list[dict[str, npt.NDArray[Any]]], reason: list[str]) -> GameArrays:
    if not parts:
        parts = [_no_plies()]
    joined = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    offsets = np.concatenate([[0], np.cumsum(joined.pop("counts"))]).astype(np.int64)
    valid = joined.pop("valid") & np.array([not why for why in reason], np.bool_)
    return GameArrays(offsets=offsets, valid=valid, reason=tuple(reason), **joined)


def _no_plies() -> dict[str, npt.NDArray[Any]]:
    none = {name: np.empty(0, kind) for name, kind in _KINDS.items()}
    return none | {
        "boards": np.empty((0, 64), np.uint8),
        "counts": np.empty(0, np.int64),
        "valid": np.empty(0, np.bool_),
    }


_KINDS: dict[str, Any] = {
    "boards": np.uint8,
    "turn": np.bool_,
    "castling": np.uint8,
    "en_passant": np.int8,
    "halfmove": np.uint8,
    "fullmove": np.int32,
    "from_square": np.uint8,
    "to_square": np.uint8,
    "promotion": np.uint8,
    "clock": np.float32,
    "eval": np.float32,
    "mate": np.int16,
}


def _reread(arrays: GameArrays, texts: pa.Array, refused: list[int]) -> GameArrays:
    """Read the games that the fast parser refused with python-chess and put them in their places."""
    from assay.games.parse import read_slowly

    reason, valid = list(arrays.reason), arrays.valid.copy()
    counts = np.diff(arrays.offsets)
    rows: list[dict[str, Any]] = []
    where = arrays.offsets[:-1].copy()
    for g in refused:
        plies, reason[g] = read_slowly(texts[g].as_py())
        valid[g] = not reason[g]
        counts[g] = len(plies)
        where[g] = arrays.plies + len(rows)
        rows += plies
    offsets = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    order = np.arange(offsets[-1]) + np.repeat(where - offsets[:-1], counts)
    joined = {}
    for name in PLY_FIELDS:
        fast = getattr(arrays, name)
        slow = np.array([row[name] for row in rows], _KINDS[name]).reshape(len(rows), *fast.shape[1:])
        joined[name] = np.concatenate([fast, slow])[order]
    return GameArrays(offsets=offsets, valid=valid, reason=tuple(reason), **joined)


ILLEGAL = "illegal move"
NULL_MOVE = "null move"
BAD_SETUP = "set-up position that is none"
_TAGS = re.compile(r"\s*(?:\[[A-Za-z0-9][^\n]*(?:\n\s*|$))*")
_ASIDE = re.compile(r"\{[^}]*(?:\}|\Z)|;[^\n]*|^%[^\n]*", re.MULTILINE)
_ASIDES = re.compile(rf"(?:(?:{_ASIDE.pattern})\s*)++", re.MULTILINE)
_BLANK = re.compile(r"\n\s*\n")
_COMMAND = re.compile(r"\[%(?:clk|eval)[^\]]{1,40}\]")
_MOST = 4  # commands behind one move: the first count
UNREADABLE = "movetext that makes no sense"


class _Quiet(chess.pgn.GameBuilder[chess.pgn.Game]):
    """Collects errors in the game, without python-chess's log messages."""

    def handle_error(self, error: Exception) -> None:
        self.game.errors.append(error)


def read_slowly(text: str) -> tuple[list[dict[str, Any]], str]:
    """The plies of one game, as rows named like the fields of GameArrays, and why it is not valid ("" if so)."""
    try:
        game = chess.pgn.read_game(io.StringIO(_short_lines(text)), Visitor=_Quiet)
    except Exception:  # such as an IndexError where a variation ends that never began
        return [], UNREADABLE
    if game is None:
        return [], "no game"
    try:
        board = game.board()
    except ValueError:
        return [], BAD_SETUP
    if not board.is_valid():
        return [], BAD_SETUP
    if game.errors:
        return [], ILLEGAL
    rows = []
    for node in game.mainline():
        if not node.move:
            return [], NULL_MOVE
        rows.append(_row(board, node))
        board.push(node.move)
    return rows, ""


def _short_lines(text: str) -> str:
    """The game without words in comments, at most one comment for a move, and that at the end of a line.

    python-chess copies the rest of a line behind each comment, and a move's comments with each that follows.
    """
    tags, moves = _parted(text)
    # A blank line would end the game there.
    return tags + _BLANK.sub("\n", _ASIDES.sub(_commands, moves))


def has_blank_line(text: str) -> bool:
    r"""Whether there is a blank line between the moves of a game, outside comments.

    >>> has_blank_line("1. e4\n\ne5 *"), has_blank_line('[White "Elm"]\n\n1. e4 {one\n\ntwo} e5 *\n\n')
    (True, False)
    """
    return bool(_BLANK.search(_ASIDE.sub(" ", _parted(text)[1]).strip()))


def _parted(text: str) -> tuple[str, str]:
    """The tags of a game with one blank line behind them, and its moves."""
    tags = _TAGS.match(text)
    end = tags.end() if tags else 0
    before = text[:end].rstrip()
    return (f"{before}\n\n" if before else ""), text[end:]


def _commands(asides: re.Match[str]) -> str:
    """What clocks and evaluations the comments behind a move hold; the first count."""
    braced = (aside for aside in _ASIDE.findall(asides.group()) if aside.startswith("{"))
    found = list(islice((command for aside in braced for command in _COMMAND.findall(aside)), _MOST))
    return f"{{{' '.join(dict.fromkeys(found))}}}\n" if found else " "


def _row(board: chess.Board, node: chess.pgn.ChildNode) -> dict[str, Any]:
    squares = [0] * 64
    for square, piece in board.piece_map().items():
        squares[square] = PIECES.index(piece.symbol())
    rights = (board.has_kingside_castling_rights, board.has_queenside_castling_rights)
    castling = sum(
        bit << (2 * shift)
        for shift, color in enumerate((chess.WHITE, chess.BLACK))
        for bit, has in zip((1, 2), rights, strict=True)
        if has(color)
    )
    score, clock = node.eval(), node.clock()
    white = score.white() if score else None
    return {
        "boards": squares,
        "turn": board.turn,
        "castling": castling,
        "en_passant": board.ep_square if board.has_legal_en_passant() else -1,
        "halfmove": min(board.halfmove_clock, 255),
        "fullmove": min(board.fullmove_number, 1 << 30),
        "from_square": node.move.from_square,
        "to_square": node.move.to_square,
        "promotion": node.move.promotion or 0,
        "clock": float(_shown(np.array(np.nan if clock is None else clock, np.float32))),
        "eval": float("nan") if white is None or white.is_mate() else (white.score() or 0) / 100,
        "mate": max(-MOST_MOVES, min((white.mate() or 0) if white is not None else 0, MOST_MOVES)),
    }
