"""A sheet on one player of a screened field: a page for the tournament director, and the critical moves behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chess
import chess.svg
import numpy as np
from markupsafe import Markup
from numpy.typing import NDArray

from assay.errors import InputError, OutputError
from assay.games import Game, to_arrays
from assay.games.packed import decode_move, to_fen
from assay.moves.choice.features import ranks
from assay.moves.evidence import Evidence
from assay.moves.groups import group
from assay.moves.screened import PASSES, ScreenedField, conclusion, sentence, word_of
from assay.moves.screening import ScreenRow, screen_groups
from assay.paths import atomic, check_place
from assay.records import dataclass
from assay.reports.content import of_z
from assay.reports.exports import print_pdf
from assay.reports.page import environment

FORMATS = ("pdf", "html")
CRITICAL = 12  # turns in the appendix
ALTERNATIVES = 5
FEWEST_IN_A_ROUND = 10
_WIDE, _HIGH = 640.0, 130.0
_LEAST, _MOST = -4.0, 6.0


@dataclass(frozen=True)
class Alternative:
    """A move that might have been played: its value in pawns and its chance for a player of the rating, in percent."""

    san: str
    value: float
    chance: float
    played: bool
    deep: bool


@dataclass(frozen=True)
class Critical:
    """A turn at which much could go wrong for a player of this rating."""

    game: str
    move: str
    played: str
    board: Markup
    alternatives: tuple[Alternative, ...]
    found: str
    clock: str


@dataclass(frozen=True)
class Sheet:
    """All that the sheet shows."""

    player: str
    events: str
    row: ScreenRow
    first: str
    meaning: str
    word: str
    rounds: tuple[tuple[str, ScreenRow], ...]  # the round, or the number of the game
    field: Markup
    cautions: tuple[str, ...]
    made: tuple[str, ...]
    critical: tuple[Critical, ...]
    depth: int
    deep: bool


def write_sheet(answer: ScreenedField, player: str, path: Path, games: Sequence[Game] = ()) -> Path:
    """Write the sheet on a player as .pdf or .html; `games` are those that were screened, for their clocks."""
    format = path.suffix.lower().removeprefix(".")
    if format not in FORMATS:
        raise OutputError(f"{path} is neither .pdf nor .html: give the sheet one of these endings.")
    check_place(path, format)
    html = render_sheet(sheet(answer, player, games))
    with atomic(path) as part:
        if format == "pdf":
            print_pdf(html, part)
        else:
            part.write_text(html, encoding="utf-8")
    return path


def render_sheet(made: Sheet) -> str:
    """The sheet as one page of HTML that needs nothing else."""
    return environment().get_template("dossier.html").render(sheet=made)


def sheet(answer: ScreenedField, player: str, games: Sequence[Game] = ()) -> Sheet:
    """What is to be said of one player of a field."""
    own = [row for row in answer.field if row.player == player]
    if not own:
        raise InputError(f"there is no {player!r} in this field.")
    row = max(own, key=lambda one: one.turns)
    evidence = answer.evidence
    mine = np.flatnonzero(evidence.turns.player == player)
    part = evidence.only(mine)
    rounds = screen_groups(
        evidence,
        group(evidence.turns, "player", "game"),
        ratings=answer.ratings,
        min_turns=FEWEST_IN_A_ROUND,
        deep=answer.deep,
    )
    ordered = sorted((one for one in rounds if one.player == player), key=_number)
    tags = evidence.turns.games["round"]
    told = len([one for one in answer.field if one.z is not None])
    events = dict.fromkeys(str(name) for name in part.turns.column("event") if name is not None)
    return Sheet(
        player=player,
        events=", ".join(list(events)[:3]),
        row=row,
        first=sentence(answer.field, player),
        meaning=row.note if row.z is None else of_z(row.z, row.expected_beyond or 0.0, told),
        word=word_of(row.z),
        rounds=tuple((tags[_number(one) - 1] or str(_number(one)), one) for one in ordered),
        field=_field(answer.field, player),
        cautions=tuple(conclusion(answer.field).split("\n")),
        made=tuple(answer.remarks),
        critical=tuple(_critical(answer, part, mine, row, games)),
        depth=evidence.turns.depth,
        deep=answer.deep is not None,
    )


def _number(row: ScreenRow) -> int:
    """The number of the game that a row by game is about."""
    return int(row.part.partition(".")[0])


def _field(rows: Sequence[ScreenRow], player: str) -> Markup:
    """The z's of the field as dots over a normal curve, the player's filled."""
    z = [(row.z, row.player == player) for row in rows if row.z is not None]
    step = _WIDE / (_MOST - _LEAST)
    base = _HIGH - 26

    def at(value: float) -> float:
        return (min(max(value, _LEAST), _MOST) - _LEAST) * step

    curve = " ".join(
        f"{at(x):.1f},{base - 90 * np.exp(-(x**2) / 2):.1f}" for x in np.linspace(_LEAST, _MOST, 81).tolist()
    )
    marks = [
        Markup('<polyline points="{}" fill="none" stroke="#999"/>').format(curve),
        Markup('<line x1="0" x2="{0:g}" y1="{1:g}" y2="{1:g}" stroke="#333"/>').format(_WIDE, base),
    ]
    for x in range(int(_LEAST), int(_MOST) + 1, 2):
        marks.append(Markup('<text x="{:g}" y="{:g}" text-anchor="middle">{}</text>').format(at(x), base + 14, x))
    for bound in (PASSES, 4.0):
        marks.append(
            Markup('<line x1="{0:g}" x2="{0:g}" y1="4" y2="{1:g}" stroke="#a40000" stroke-dasharray="3 3"/>').format(
                at(bound), base
            )
        )
        marks.append(Markup('<text x="{:g}" y="12" fill="#a40000">{:g}</text>').format(at(bound) + 3, bound))
    placed: dict[int, int] = {}
    for value, own in sorted(z, key=lambda one: one[1]):
        slot = round(at(value) / 7)
        placed[slot] = placed.get(slot, 0) + 1
        marks.append(
            Markup('<circle cx="{:.1f}" cy="{:.1f}" r="{}" fill="{}" stroke="#1c5d99"/>').format(
                at(value), base - 7 * placed[slot] + 2, 5 if own else 3, "#1c5d99" if own else "#fff"
            )
        )
    head = Markup('<svg viewBox="-12 0 {:g} {:g}" role="img" aria-label="z of {} players">').format(
        _WIDE + 24, _HIGH, len(z)
    )
    return head + Markup("").join(marks) + Markup("</svg>")


def _critical(
    answer: ScreenedField, part: Evidence, mine: NDArray[np.intp], row: ScreenRow, games: Sequence[Game]
) -> list[Critical]:
    """The turns at which most could go wrong for a player of this rating, whatever was played, in their order."""
    rating = row.rating if row.rating is not None else float("nan")
    if not np.isfinite(rating) or not len(part.turns):
        return []
    judged = answer.deep.own(mine)[0] if answer.deep else part
    is_deep = answer.deep.own(mine)[2] if answer.deep else np.zeros(len(part.g0), np.bool_)
    choices = part.turns.choices
    chances = judged.chances(np.full(len(part.turns), rating))
    stake = np.add.reduceat(chances * part.scored[:, 2], choices.start[:-1])
    chosen = np.sort(np.argsort(-stake, kind="stable")[:CRITICAL])
    first = [ranks(choices.codes[:, depth], choices.turn, choices.start) == 0 for depth in range(choices.depth)]
    clocks = _clocks(games)
    return [_one(part, int(turn), chances, is_deep, np.stack(first, axis=1), clocks) for turn in chosen]


def _clocks(games: Sequence[Game]) -> dict[tuple[int, int], float]:
    """The seconds on the clock after each ply of each game, where they are known."""
    if not games:
        return {}
    arrays = to_arrays(games)
    known = np.flatnonzero(np.isfinite(arrays.clock))
    game = arrays.game[known]
    ply = known - arrays.offsets[game]
    return dict(zip(zip(game.tolist(), ply.tolist(), strict=True), arrays.clock[known].tolist(), strict=True))


def _one(
    part: Evidence,
    turn: int,
    chances: NDArray[np.float64],
    is_deep: NDArray[np.bool_],
    first: NDArray[np.bool_],
    clocks: dict[tuple[int, int], float],
) -> Critical:
    turns, choices = part.turns, part.turns.choices
    board = chess.Board(to_fen(bytes(turns.keys[turn])))
    row = int(choices.chosen[turn])
    order = [int(one) for one in turns.rows[turn] if one >= 0]
    shown = [*order[:ALTERNATIVES], *([row] if row not in order[:ALTERNATIVES] else [])]
    values = dict(zip(order, turns.values[turn].tolist(), strict=False))
    move = chess.Move.from_uci(decode_move(int(choices.moves[row])))
    game = int(turns.game[turn])
    games, white = turns.games, bool(turns.white[turn])
    other = games["black" if white else "white"][game]
    number = f"{turns.move[turn]}{'.' if white else '...'}"
    clock = clocks.get((game, int(turns.ply[turn])))
    return Critical(
        game=f"Round {games['round'][game] or '?'}, {'White' if white else 'Black'} against {other or '?'}",
        move=number,
        played=board.san(move),
        board=Markup(
            chess.svg.board(board, size=190, orientation=board.turn, arrows=[(move.from_square, move.to_square)])
        ),
        alternatives=tuple(
            Alternative(
                board.san(chess.Move.from_uci(decode_move(int(choices.moves[one])))),
                float(values.get(one, np.nan)),
                100 * float(chances[one]),
                one == row,
                bool(is_deep[one]),
            )
            for one in shown
        ),
        found=found_at(first[row]),
        clock="" if clock is None else f"{int(clock) // 3600}:{int(clock) // 60 % 60:02}:{int(clock) % 60:02}",
    )


def found_at(first: NDArray[np.bool_]) -> str:
    """At which depth the move becomes the best for good, in words.

    >>> [found_at(np.array(one)) for one in ([False, True, False, True, True], [True, False], [True], [False])]
    ['best from depth 4 on', 'best at depth 1, not at 2', 'best at every depth', 'not best at any depth to 1']
    """
    depth = len(first)
    if first.all():
        return "best at every depth"
    if first[-1]:
        return f"best from depth {depth - int(np.argmin(first[::-1])) + 1} on"
    if first.any():
        return f"best at depth {int(np.flatnonzero(first)[-1]) + 1}, not at {depth}"
    return f"not best at any depth to {depth}"
