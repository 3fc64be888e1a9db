"""A position as a picture: what people of several ratings would play there, as arrows over a board for each rating."""

from __future__ import annotations

import math

import chess
from markupsafe import Markup, escape

from assay.policy.chances import Foretold, Likely
from assay.reports.page import piece_symbols

_SQUARE = 40.0
_BOARD = 8 * _SQUARE
_GAP = 24.0
_HEAD, _LINE = 30.0, 19.0
_ARROWS = 5  # of a board; what is rarer than a thirtieth is left out
_RARE = 1 / 30
_LIGHT, _DARK, _ARROW, _INK = "#f0e9dc", "#b9a58a", "#1c5d99", "#222222"


def chances_svg(answer: Foretold) -> str:
    """The position once for each level, the likeliest moves as arrows (the likelier, the thicker) and in words."""
    board = answer.spot.board
    count = len(answer.levels)
    shown = [_likeliest(answer, at) for at in range(count)]
    width = count * _BOARD + (count + 1) * _GAP
    height = _HEAD + _BOARD + _GAP + _LINE * max((len(moves) for moves in shown), default=0)
    parts = [_one(board, answer, at, moves, _GAP + at * (_BOARD + _GAP)) for at, moves in enumerate(shown)]
    words = "; ".join(
        f"rated {level:.0f}: " + ", ".join(f"{one.san} {_percent(one.chances[at])}" for one in moves)
        for at, (level, moves) in enumerate(zip(answer.levels, shown, strict=True))
    )
    head = Markup('<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {:g} {:g}" width="{:g}" height="{:g}"').format(
        width, height, width, height
    )
    told = Markup(' font-family="sans-serif" role="img" aria-label="{}: {}">').format(answer.spot.fen, words)
    paper = Markup('<rect width="100%" height="100%" fill="#ffffff"/>')
    defs = Markup("<defs>{}</defs>").format(piece_symbols())
    return str(head + told + defs + paper + Markup("").join(parts) + Markup("</svg>\n"))


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f} %"


def _likeliest(answer: Foretold, at: int) -> list[Likely]:
    """The moves that are drawn for a level, the likeliest first."""
    ordered = sorted(answer.moves, key=lambda one: -one.chances[at])[:_ARROWS]
    return [one for one in ordered if one.chances[at] >= _RARE]


def _one(board: chess.Board, answer: Foretold, at: int, moves: list[Likely], left: float) -> Markup:
    marks = [_text(_BOARD / 2, _HEAD - 10, f"rated {answer.levels[at]:.0f}", "middle", 16)]
    marks += [_square(board, square, _HEAD) for square in chess.SQUARES]
    # The likeliest comes last and lies on top.
    marks += [_arrow(one.move, one.chances[at], board.turn) for one in reversed(moves)]
    for line, one in enumerate(moves):
        y = _HEAD + _BOARD + _LINE * (line + 1)
        bar = one.chances[at] * (_BOARD - 130)
        played = " (played)" * (one.move == answer.spot.played)
        marks.append(_text(0, y, one.san + played, "start", 14))
        marks.append(_text(118, y, _percent(one.chances[at]), "end", 14))
        marks.append(Markup('<rect x="130" y="{:g}" width="{:.1f}" height="9" fill="{}"/>').format(y - 10, bar, _ARROW))
    return Markup('<g transform="translate({:g} 0)">{}</g>').format(left, Markup("").join(marks))


def _corner(square: int, white: bool) -> tuple[float, float]:
    """The upper left corner of a square, seen by the side to move."""
    file, rank = chess.square_file(square), chess.square_rank(square)
    return (file if white else 7 - file) * _SQUARE, _HEAD + (7 - rank if white else rank) * _SQUARE


def _square(board: chess.Board, square: int, top: float) -> Markup:
    x, y = _corner(square, board.turn)
    dark = (chess.square_file(square) + chess.square_rank(square)) % 2 == 0
    drawn = Markup('<rect x="{:g}" y="{:g}" width="{:g}" height="{:g}" fill="{}"/>').format(
        x, y, _SQUARE, _SQUARE, _DARK if dark else _LIGHT
    )
    piece = board.piece_at(square)
    if piece is not None:
        name = ("w" if piece.color else "b") + piece.symbol().upper()
        drawn += Markup('<use href="#{}" x="{:g}" y="{:g}" width="{:g}" height="{:g}"/>').format(
            name, x, y, _SQUARE, _SQUARE
        )
    if y >= top + 7 * _SQUARE - 1:
        drawn += _text(x + _SQUARE - 3, y + _SQUARE - 3, chess.FILE_NAMES[chess.square_file(square)], "end", 8)
    if x < 1:
        drawn += _text(x + 2, y + 9, chess.RANK_NAMES[chess.square_rank(square)], "start", 8)
    return drawn


def _arrow(move: chess.Move, chance: float, white: bool) -> Markup:
    """An arrow from square to square, as thick as the move is likely."""
    (x0, y0), (x1, y1) = (_corner(square, white) for square in (move.from_square, move.to_square))
    middle = _SQUARE / 2
    x0, y0, x1, y1 = x0 + middle, y0 + middle, x1 + middle, y1 + middle
    length = math.hypot(x1 - x0, y1 - y0)
    along, across = ((x1 - x0) / length, (y1 - y0) / length), (-(y1 - y0) / length, (x1 - x0) / length)
    thick = 1.5 + 7 * math.sqrt(chance)
    head = 8 + 1.4 * thick

    def at(forward: float, aside: float) -> str:
        return f"{x0 + along[0] * forward + across[0] * aside:.1f},{y0 + along[1] * forward + across[1] * aside:.1f}"

    neck = length - head
    points = (at(6, thick / 2), at(neck, thick / 2), at(neck, thick + 2), at(length, 0))
    mirrored = (at(neck, -thick - 2), at(neck, -thick / 2), at(6, -thick / 2))
    opacity = min(0.9, 0.35 + chance)
    return Markup('<polygon points="{}" fill="{}" fill-opacity="{:.2f}"/>').format(
        " ".join((*points, *mirrored)), _ARROW, opacity
    )


def _text(x: float, y: float, text: str, anchor: str, size: int) -> Markup:
    return Markup('<text x="{:g}" y="{:g}" text-anchor="{}" font-size="{}" fill="{}">{}</text>').format(
        x, y, anchor, size, _INK, escape(text)
    )
