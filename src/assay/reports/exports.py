"""A report as a file: CSV, JSON, annotated PGN, the page, the page printed as PDF by a browser; and kept as data, to be
shown later as it was made.
"""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import tempfile
from collections.abc import Mapping
from dataclasses import asdict, is_dataclass
from functools import cache
from math import isfinite
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints
from urllib.parse import quote

import chess

from assay.errors import OutputError
from assay.games import Game
from assay.games.outcomes import UNFINISHED, WRITTEN, score_of
from assay.paths import atomic, need_browser
from assay.reports.annotation import (
    Words,
    annotate,
    arrow,
    evaluation,
    head_of,
    is_evaluated,
    judged,
    signed,
    words_of,
    wrap,
)
from assay.reports.charts import said_chance, said_value
from assay.reports.content import GameSection, Move, PlayerSection, Report
from assay.reports.judged import GLYPHS, NAMES
from assay.reports.page import hash_of, render, render_beside
from assay.table import render as render_table

COLUMNS = (
    "player", "games", "points", "turns",
    "tag", "rating", "low", "high", "result", "result_low", "result_high", "ipr", "ipr_low", "ipr_high",
    "learned", "learned_low", "learned_high", "p_agree",
    "z", "z_mm", "z_t3", "z_ae", "roi", "p_value", "q_value", "note",
)  # fmt: skip
_DIGITS = 5


def player_rows(report: Report) -> list[dict[str, Any]]:
    """One row for each player with everything that the table at a glance shows."""
    return [_row(player) for player in report.players]


def _row(player: PlayerSection) -> dict[str, Any]:
    row: dict[str, Any] = {
        "player": player.name,
        "games": player.games,
        "points": player.points,
        "turns": player.turns,
        "tag": player.tag.value,
        "rating": player.joint.value,
        "low": player.joint.low,
        "high": player.joint.high,
        "p_agree": player.p_agree,
    }
    for name, rating in (("result", player.result), ("ipr", player.intrinsic), ("learned", player.learned)):
        row |= {name: rating.value, f"{name}_low": rating.low, f"{name}_high": rating.high}
    if s := player.screening:
        row |= {"z": s.z, "z_mm": s.z_match, "z_t3": s.z_top3, "z_ae": s.z_error, "roi": s.roi}
        row |= {"p_value": s.p_value, "q_value": s.q_value}
    notes = ["the witnesses disagree"] if player.disagree else []
    notes += [f"{name}: {e.note}" for name, e in player.ratings.items() if e.note]
    return row | {"note": "; ".join(notes)}


def to_csv(report: Report) -> str:
    """The table of players as CSV; no name can act as a formula in a spreadsheet."""
    return render_table(player_rows(report), COLUMNS, format="csv") + "\n"


def to_json(report: Report) -> str:
    """Everything the report holds."""
    return (
        json.dumps(asdict(report, dict_factory=_finite), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        + "\n"
    )


def _finite(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """What is not known, or has no bound, is null in JSON."""
    return {name: None if isinstance(value, float) and not isfinite(value) else value for name, value in pairs}


def to_pgn(report: Report) -> str:
    """The games with evaluations (`[%eval]`) and the probability of each move as comments."""
    return "\n".join(_game(game) for game in report.games)


def _game(game: GameSection) -> str:
    """One game as it stands in the file, with our comments; where these cannot be placed, without them."""
    score = score_of(game.result)
    result = UNFINISHED if score is None else WRITTEN[round(2 * score)]
    tags = Game("", 0, 0, game.text.encode()).tags if game.text else _tags(game) | {"Result": result}
    given = words_of(game.text or " ".join(move.san for move in game.moves), tags)
    glyphs = [GLYPHS.get(move.mark, "") for move in game.moves]
    words = annotate(given, _comments(game, given), game.first_ply, result, glyphs=glyphs)
    if words is None:
        return f"{game.text.strip()}\n"
    return f"{head_of(signed(tags))}\n{wrap(words)}\n"


def _tags(game: GameSection) -> dict[str, str]:
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


def _comments(game: GameSection, given: Words) -> list[str]:
    """What to say behind each move; in a game that came with evaluations these stay the only ones."""
    evaluated, theirs = is_evaluated(given), judged(given, len(game.moves))
    after = [move.value for move in game.moves[1:]] + [None]
    if not game.moves:  # then nobody has looked whether the position that was set up is one
        return []
    board, said = chess.Board(game.start or chess.STARTING_FEN), []
    for move, value, marked in zip(game.moves, after, theirs, strict=False):
        said.append(_comment(move, None if evaluated else value, board, NAMES.get("" if marked else move.mark, "")))
        board.push_uci(move.uci)
    return said


def _comment(move: Move, after: int | str | None, board: chess.Board, name: str) -> str:
    """What to say behind a move that was played on this board; `name` is that of its mark, where it is ours."""
    parts = []
    if after is not None:
        parts.append(evaluation(after))
    if move.better:
        parts.append(arrow(board.parse_san(move.better).uci()))
    if name:
        parts.append(f"{name.capitalize()}.")
    if move.probability is not None:
        parts.append(f"p {said_chance(move.probability)}")
        best = move.candidates[0] if move.candidates else None
        if best and best.probability is not None and best.san != move.san:
            parts.append(f"engine {best.san} {said_value(best.value)}, p {said_chance(best.probability)}")
    return " ".join(parts)


PAPERS = ("A4", "letter")
SECONDS = 180
_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-pdf-header-footer",
)


def on_paper(html: str, paper: str) -> str:
    """A page that is printed on this paper: a rule more in its style sheet, which its own policy allows by its hash."""
    head, begin, rest = html.partition("<style>")
    css, end, rest = rest.partition("</style>")
    if not end:
        return html
    sized = f"{css}\n@page {{ size: {paper}; }}\n"
    return f"{head.replace(hash_of(css), hash_of(sized))}{begin}{sized}{end}{rest}"


def print_pdf(html: str, path: Path, paper: str = PAPERS[0]) -> None:
    """Print HTML into a file, on A4 or letter; OutputError where there is no browser, or it fails."""
    browser = need_browser()
    html = on_paper(html, paper)
    # Chromium's sandbox does not run as root, the usual case in a container; the page is our own and calls nobody.
    flags = [*_FLAGS, *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else [])]
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        page = Path(folder) / "report.html"
        page.write_text(html, encoding="utf-8")
        command = [browser, *flags, f"--user-data-dir={folder}/profile", f"--print-to-pdf={path}", page.as_uri()]
        try:
            subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise OutputError(f"{browser} could not print the report: {error}.") from error
    if not path.is_file() or not path.stat().st_size:
        raise OutputError(f"{browser} printed nothing; write html and print it from a browser.")


# All formats that are text; a PDF is printed from the HTML.
TEXTS = {"html": render, "csv": to_csv, "json": to_json, "pgn": to_pgn}


def write(report: Report, path: Path, format: str, *, beside: bool = False, paper: str = PAPERS[0]) -> int:
    """Write a report, whole or not at all; the size in bytes. An HTML file may have its games in files `beside` it."""
    if beside:
        return _write_beside(report, path)
    with atomic(path) as part:
        if format == "pdf":
            print_pdf(render(report), part, paper)
        else:
            part.write_text(TEXTS[format](report), encoding="utf-8")
    return path.stat().st_size


_BESIDE = re.compile(r"(?:players|games)-\d+\.html")


def _write_beside(report: Report, path: Path) -> int:
    """The summary in the file, players and games in a folder beside it; what an earlier report left there goes."""
    folder = path.with_name(f"{path.stem}-games")
    try:
        folder.mkdir(exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {folder}: {error.strerror or error}.") from error
    files = render_beside(report, quote(folder.name), path.name)
    for name, html in files.items():
        with atomic(folder / name if name else path) as part:
            part.write_text(html, encoding="utf-8")
    for old in folder.iterdir():
        if _BESIDE.fullmatch(old.name) and old.name not in files:
            old.unlink()
    return path.stat().st_size


def keep(report: Report) -> bytes:
    """A report as packed JSON, its figures to five digits behind the point."""
    text = json.dumps(_rounded(asdict(report)), ensure_ascii=False, separators=(",", ":"))
    return gzip.compress(text.encode(), mtime=0)


def _rounded(data: Any) -> Any:
    if isinstance(data, float):
        return round(data, _DIGITS)
    if isinstance(data, dict):
        return {name: _rounded(value) for name, value in data.items()}
    return [_rounded(value) for value in data] if isinstance(data, list | tuple) else data


def kept(data: bytes) -> Report:
    """The report that was kept."""
    report: Report = _revived(Report, json.loads(gzip.decompress(data)))
    return report


@cache
def _fields(kind: type) -> list[tuple[str, Any]]:
    return list(get_type_hints(kind).items())


def _revived(kind: Any, data: Any) -> Any:
    """A value of a type from what JSON has of it."""
    if data is None or isinstance(data, str | int | float):
        return data
    if is_dataclass(kind) and isinstance(kind, type):
        return kind(**{name: _revived(of, data[name]) for name, of in _fields(kind) if name in data})
    origin, inside = get_origin(kind), get_args(kind)
    if origin is tuple:
        several = inside if inside[-1] is not ... else (inside[0],) * len(data)
        return tuple(_revived(one, value) for one, value in zip(several, data, strict=True))
    if origin is Mapping:
        return {name: _revived(inside[1], value) for name, value in data.items()}
    return _revived(next(one for one in inside if one is not type(None)), data)  # of a type or None
