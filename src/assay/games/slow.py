"""One game with python-chess: slow and patient, for what the fast parser refuses."""

from __future__ import annotations

import io
import re
from itertools import islice
from typing import Any

import chess
import chess.pgn

from assay.games.rules import MOST_MOVES, PIECES

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
    score = node.eval()
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
        "clock": float("nan") if node.clock() is None else node.clock(),
        "eval": float("nan") if white is None or white.is_mate() else (white.score() or 0) / 100,
        "mate": max(-MOST_MOVES, min((white.mate() or 0) if white is not None else 0, MOST_MOVES)),
    }
