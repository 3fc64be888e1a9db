"""What people of some ratings would play, as an answer: of one position, of a game, of a list of positions; told
sharper with the values of an engine, and drawn as arrows over a board for each rating.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import chess
import numpy as np
from markupsafe import Markup, escape
from numpy.typing import NDArray

from assay.engine.choices import Choices
from assay.engine.identity import DEFAULT
from assay.engine.local import Engine
from assay.engine.uci import Valued
from assay.errors import InputError
from assay.games.packed import decode_move
from assay.moves.calibration import for_engine
from assay.moves.evidence import log_policy
from assay.paths import File, atomic
from assay.policy.chances import Foretold, Likely, Spot, answers, open_network, read_spots, shipped
from assay.policy.first_moves import shipped_first_moves
from assay.pools import FIRST
from assay.presets import ALL_LINES, DEFAULT_DEPTH
from assay.records import dataclass
from assay.reports.page import piece_symbols
from assay.scales import line_called
from assay.table import Answer, Table, columns_of, counted

_SQUARE = 40.0
_BOARD = 8 * _SQUARE
_GAP = 24.0
_HEAD, _LINE = 30.0, 19.0
_ARROWS = 5  # of a board; what is rarer than a thirtieth is left out
_RARE = 1 / 30
_LIGHT, _DARK, _ARROW, _INK = "#f0e9dc", "#b9a58a", "#1c5d99", "#222222"
# The pools whose ratings are asked for, by what `assay chances` calls them.
LINES = {"board": FIRST, "lichess": "lichess-rapid"}


@dataclass(frozen=True, eq=False, kw_only=True)
class ForetoldMoves(Answer):
    """The chances of moves; `positions` has every move of every position."""

    positions: Sequence[Foretold]


def foretell(
    what: str,
    levels: Sequence[int] = (1200, 1600, 2000),
    *,
    pool: str = "board",
    top: int | None = None,
    game: int | None = None,
    ply: int | None = None,
    network: File | None = None,
    sharper: bool = False,
    engine: str = "stockfish",
    depth: int | None = None,
    out: File | None = None,
) -> ForetoldMoves:
    """What people of some ratings would play, as `assay chances` does: of a FEN, of a game, of positions in a file.

    :func:`assay.chances` is the same for one position and rating, as plain numbers.

    >>> import assay
    >>> print(assay.foretell("4k3/8/8/8/8/8/4q3/R3K2R w - - 0 1", [1500]))
    move  1500
    Kxe2  100 %
    """
    spots = _spots(what, game, ply)
    if out is not None and len(spots) != 1:
        raise InputError("-o draws one position: choose it with --ply.")
    found = answers(spots, levels, pool=pool, network=None if network is None else open_network(Path(network)))
    remarks = []
    if sharper:
        if network is not None:
            raise InputError("--sharper rests on the policy that ships: leave out --policy.")
        found, who = sharpened(found, pool=pool, engine=engine, depth=depth or DEFAULT_DEPTH)
        remarks = [f"Values of moves by {who}, depth {depth or DEFAULT_DEPTH}."]
    if len(found) == 1 and not found[0].moves:
        raise InputError("the game is over in this position: there is no legal move.")
    if out is not None:
        with atomic(Path(out)) as part:
            part.write_text(chances_svg(found[0]), encoding="utf-8")
    every = [row for at, each in enumerate(found, 1) for row in _every_move(at, each, top)]
    rows = _one_position(found[0], top or 8) if len(found) == 1 else [_one_move(each) for each in found]
    return ForetoldMoves(shown=_table(rows), data=_table(every), remarks=remarks, positions=found)


def _spots(what: str, game: int | None, ply: int | None) -> Sequence[Spot]:
    if "/" in what and " " in what and not Path(what).exists():
        if game or ply:
            raise InputError("--game and --ply choose a position of a file; a FEN is one position.")
        return [Spot(what)]
    if not Path(what).is_file():
        raise InputError(f"{what!r} is neither a file nor a position in FEN.")
    spots = read_spots(Path(what), game)
    if ply is None:
        return spots
    if ply > len(spots):
        raise InputError(f"{what} has {counted(len(spots), 'position')} here, so there is no {ply}.")
    return spots[ply - 1 : ply]


def _table(rows: Sequence[dict[str, Any]]) -> Table:
    return Table(rows, columns_of(list(rows[0]) if rows else []))


def _percent(chance: float) -> str:
    return f"{100 * chance:.0f} %" if chance >= 0.01 else f"{100 * chance:.1f} %"


def _one_position(answer: Foretold, top: int) -> list[dict[str, Any]]:
    """The likeliest moves of a position; what is left is summed up in the last row."""
    listed = [(one.san + " (played)" * (one.move == answer.spot.played), one.chances) for one in answer.moves[:top]]
    if rest := answer.moves[top:]:
        sums = [sum(one.chances[at] for one in rest) for at in range(len(answer.levels))]
        listed.append((f"{counted(len(rest), 'other')}", tuple(sums)))
    named = [f"{level:.0f}" for level in answer.levels]
    return [{"move": san, **dict(zip(named, map(_percent, own), strict=True))} for san, own in listed]


def _one_move(answer: Foretold) -> dict[str, Any]:
    """A row for a position of a game: what was played with its chances, and what was likeliest."""
    played = answer.played
    row: dict[str, Any] = {"move": answer.spot.number}
    if played is not None:
        row["played"] = played.san
    for at, level in enumerate(answer.levels):
        if played is not None:
            row[f"{level:.0f}"] = _percent(played.chances[at])
    for at, level in enumerate(answer.levels):
        first = answer.likeliest(at) if answer.moves else None
        row[f"likeliest at {level:.0f}"] = f"{first.san} {_percent(first.chances[at])}" if first else "-"
    return row


def _every_move(number: int, answer: Foretold, top: int | None) -> list[dict[str, Any]]:
    """A row for each legal move, in numbers."""
    return [
        {
            "position": number,
            "fen": answer.spot.fen,
            "move": one.move.uci(),
            "san": one.san,
            "played": None if answer.spot.played is None else one.move == answer.spot.played,
            **{f"{level:.0f}": chance for level, chance in zip(answer.levels, one.chances, strict=True)},
        }
        for one in answer.moves[:top]
    ]


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


def sharpened(
    found: Sequence[Foretold], *, pool: str = "board", engine: str = DEFAULT, depth: int = DEFAULT_DEPTH
) -> tuple[list[Foretold], str]:
    """The same positions and levels with the chances of the choice model, and what valued the moves.

    Ratings of Lichess are those of its rapid games.
    """
    open_ones = [one for one in found if len(one.moves) > 1]
    with Engine(engine) as running:
        identity = running.identity(ALL_LINES)
        valued = [running.analyse(one.spot.fen, depth, ALL_LINES) for one in open_ones]
    if not valued:
        return list(found), str(identity)
    choices = _choices(valued, depth)
    model = for_engine(identity, depth).model()
    logs = log_policy(choices, shipped()) if model.wants_policy else None
    line = line_called(LINES[pool])
    inner = [float(line.inside(np.array([level]))[0]) for level in found[0].levels]
    tables = np.exp(np.stack([model.log_chances(choices, level, logs) for level in inner], axis=1))
    for key, begin, end in zip(choices.keys, choices.start[:-1], choices.start[1:], strict=True):
        codes, own = choices.moves[begin:end], tables[begin:end].T
        mixed = [shipped_first_moves().mixed(key, codes, *one, pool) for one in zip(own, found[0].levels, strict=True)]
        tables[begin:end] = np.stack(mixed, axis=1)
    moves = [chess.Move.from_uci(decode_move(int(code))) for code in choices.moves]
    known = iter(_told(one, moves, tables, choices.start, at) for at, one in enumerate(open_ones))
    return [next(known) if len(one.moves) > 1 else one for one in found], str(identity)


def _choices(valued: Sequence[Valued], depth: int) -> Choices:
    """Positions of which nobody knows what was played."""
    codes = []
    for one in valued:
        table = one.table()[:depth]
        # Where mate is in sight an engine may stop early.
        codes.append(np.concatenate([table, np.repeat(table[-1:], depth - len(table), axis=0)]).T)
    width = [len(each) for each in codes]
    nothing, no_move = np.zeros(len(valued), np.int64), np.zeros(len(valued), np.uint16)
    return Choices(
        codes=np.concatenate(codes),
        moves=np.concatenate([one.move_codes() for one in valued]),
        start=np.concatenate([[0], np.cumsum(width)]),
        played=nothing,
        keys=np.stack([np.frombuffer(one.key, np.uint8) for one in valued]),
        before=no_move,
        own=no_move,
        ply=nothing,
        unit=nothing,
    )


def _told(
    one: Foretold, moves: list[chess.Move], tables: NDArray[np.float64], start: NDArray[np.int64], at: int
) -> Foretold:
    rows = range(int(start[at]), int(start[at + 1]))
    chances = {moves[row]: tuple(tables[row].tolist()) for row in rows}
    known = [replace(move, chances=chances[move.move]) for move in one.moves]
    return replace(one, moves=tuple(sorted(known, key=lambda move: -sum(move.chances))))
