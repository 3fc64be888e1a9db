"""The tags of games as a table: one row per game, typed as in an index, null where a tag is missing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import polars as pl

from assay.games import Game
from assay.games.columns import TEXT_TAGS, rating
from assay.pools import clock_of, pool_of

_UNKNOWN = {"", "?", "????.??.??"}
SCHEMA = (
    {"source": pl.String, "start_offset": pl.Int64}
    | dict.fromkeys(TEXT_TAGS, pl.String)
    | {"white_elo": pl.Float64, "black_elo": pl.Float64, "year": pl.Int32, "speed": pl.String, "pool": pl.String}
)


def headers(games: Iterable[Game]) -> pl.DataFrame:
    """Source, names, ratings, event, date and the like of each game."""
    return pl.DataFrame([_row(game) for game in games], schema=SCHEMA, orient="row")


def _row(game: Game) -> dict[str, Any]:
    tags = game.tags
    texts = {name: tags.get(tag, "").strip() for name, tag in TEXT_TAGS.items()}
    year = texts["date"][:4]
    return {
        "source": game.source,
        "start_offset": game.start_offset,
        **{name: None if text in _UNKNOWN else text for name, text in texts.items()},
        "white_elo": rating(tags.get("WhiteElo", "")),
        "black_elo": rating(tags.get("BlackElo", "")),
        "year": int(year) if year.isdecimal() else None,
        "speed": clock_of(texts["site"], texts["event"], texts["time_control"])[2],
        "pool": pool_of(texts["site"], texts["event"], texts["time_control"]),
    }
