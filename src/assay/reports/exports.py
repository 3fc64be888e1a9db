"""A report as CSV, JSON and annotated PGN."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from typing import Any

from assay.games import Game as PgnGame
from assay.reports.annotate import EVALUATED, annotate, movetext, wrap
from assay.reports.charts import said_chance, said_value
from assay.reports.content import Game, Move, Player, Report
from assay.reports.tables import render

COLUMNS = (
    "player", "games", "points", "turns",
    "tag", "result", "result_low", "result_high", "ipr", "ipr_low", "ipr_high",
    "learned", "learned_low", "learned_high", "z", "z_mm", "z_t3", "z_ae", "roi", "p_value", "q_value", "note",
)  # fmt: skip
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_RESULTS = ("1-0", "0-1", "1/2-1/2")


def player_rows(report: Report) -> list[dict[str, Any]]:
    """One row for each player with everything that the table at a glance shows."""
    return [_row(player) for player in report.players]


def _row(player: Player) -> dict[str, Any]:
    row: dict[str, Any] = {
        "player": player.name,
        "games": player.games,
        "points": player.points,
        "turns": player.turns,
        "tag": player.tag.value,
    }
    for name, rating in (("result", player.result), ("ipr", player.intrinsic), ("learned", player.learned)):
        row |= {name: rating.value, f"{name}_low": rating.low, f"{name}_high": rating.high}
    if s := player.screening:
        row |= {"z": s.z, "z_mm": s.z_match, "z_t3": s.z_top3, "z_ae": s.z_error, "roi": s.roi}
        row |= {"p_value": s.p_value, "q_value": s.q_value}
    notes = [f"{name}: {e.note}" for name, e in player.ratings.items() if e.note]
    return row | {"note": "; ".join(notes)}


def to_csv(report: Report) -> str:
    """The table of players as CSV; no name can act as a formula in a spreadsheet."""
    return render(player_rows(report), COLUMNS, format="csv") + "\n"


def to_json(report: Report) -> str:
    """Everything the report holds."""
    return json.dumps(asdict(report), ensure_ascii=False, separators=(",", ":"), allow_nan=False) + "\n"


def to_pgn(report: Report) -> str:
    """The games with evaluations (`[%eval]`) and the probability of each move as comments."""
    return "\n".join(_game(game) for game in report.games)


def _game(game: Game) -> str:
    """One game as it stands in the file, with our comments; where these cannot be placed, without them."""
    result = game.result if game.result in _RESULTS else "*"
    tags = PgnGame("", 0, 0, game.text.encode()).tags if game.text else _tags(game) | {"Result": result}
    text = movetext(game.text) if game.text else " ".join(move.san for move in game.moves)
    words = annotate(text, _comments(game, EVALUATED in text), game.first_ply, result)
    if words is None:
        return f"{game.text.strip()}\n"
    tags.setdefault("Annotator", "Assay")
    head = "".join(f'[{name} "{_tag_value(value)}"]\n' for name, value in tags.items())
    return f"{head}\n{wrap(words)}\n"


def _tags(game: Game) -> dict[str, str]:
    tags = {
        "Event": game.event or "?",
        "Site": game.site or "?",
        "Date": game.date or "????.??.??",
        "Round": game.round or "?",
        "White": game.white,
        "Black": game.black,
        "Result": "*",
    }
    for name, elo in (("WhiteElo", game.white_elo), ("BlackElo", game.black_elo)):
        if elo is not None:
            tags[name] = str(elo)
    return tags | ({"SetUp": "1", "FEN": game.start} if game.start else {})


def _comments(game: Game, evaluated: bool) -> list[str]:
    """What to say behind each move; in a game that came with evaluations these stay the only ones."""
    after = [move.value for move in game.moves[1:]] + [None]
    return [_comment(move, None if evaluated else value) for move, value in zip(game.moves, after, strict=False)]


def _comment(move: Move, after: int | str | None) -> str:
    parts = []
    if after is not None:
        parts.append(f"[%eval {after if isinstance(after, str) else f'{after / 100:.2f}'}]")
    if move.probability is not None:
        parts.append(f"p {said_chance(move.probability)}")
        best = move.candidates[0] if move.candidates else None
        if best and best.probability is not None and best.san != move.san:
            parts.append(f"engine {best.san} {said_value(best.value)}, p {said_chance(best.probability)}")
    return " ".join(parts)


def _tag_value(text: str) -> str:
    r"""A tag's value on one line, quotes and backslashes protected.

    >>> print(_tag_value('Bobby "\n[Result'))
    Bobby \" [Result
    """
    return _CONTROL.sub(" ", text).replace("\\", "\\\\").replace('"', '\\"')
