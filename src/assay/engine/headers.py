"""The tags of games as a table: one row per game, typed, null where a tag is missing."""

from __future__ import annotations

from collections.abc import Iterable

import polars as pl

from assay.bands import speed
from assay.games import Game

_TEXT = {
    "event": "Event",
    "site": "Site",
    "date": "Date",
    "round": "Round",
    "white": "White",
    "black": "Black",
    "result": "Result",
    "white_title": "WhiteTitle",
    "black_title": "BlackTitle",
    "eco": "ECO",
    "time_control": "TimeControl",
}
_ELO = {"white_elo": "WhiteElo", "black_elo": "BlackElo"}
_UNKNOWN = {"", "?", "-", "*", "????.??.??"}
SCHEMA = (
    {"source": pl.String, "start_offset": pl.Int64}
    | dict.fromkeys(_TEXT, pl.String)
    | dict.fromkeys(_ELO, pl.Float64)
    | {"year": pl.Int32, "speed": pl.String}
)


def headers(games: Iterable[Game]) -> pl.DataFrame:
    """Source, names, ratings, event, date and the like of each game."""
    rows = []
    for game in games:
        tags = game.tags
        row: dict[str, str | int | None] = {"source": game.source, "start_offset": game.start_offset}
        row |= {name: _text(tags.get(tag, "")) for name, tag in _TEXT.items()}
        row |= {name: _elo(tags.get(tag, "")) for name, tag in _ELO.items()}
        year = tags.get("Date", "")[:4]
        row |= {"year": int(year) if year.isdecimal() else None, "speed": _speed(tags.get("TimeControl", ""))}
        rows.append(row)
    return pl.DataFrame(rows, schema=SCHEMA, orient="row")


def _text(value: str) -> str | None:
    value = value.strip()
    return None if value in _UNKNOWN else value


def _elo(value: str) -> int | None:
    """A rating; 0 is how some files say that there is none."""
    return int(value) if value.strip().isdecimal() and 0 < int(value) < 5000 else None


def _speed(time_control: str) -> str | None:
    """The speed of `300+3` and the like.

    >>> _speed("300+3"), _speed("5400"), _speed("40/7200:3600"), _speed("-")
    ('blitz', 'classical', None, None)
    """
    base, _, increment = time_control.strip().partition("+")
    if not base.isdecimal() or not (increment or "0").isdecimal():
        return None
    return speed(int(base), int(increment or 0))
