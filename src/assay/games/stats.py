"""Ratings and time controls of many games, counted."""

from __future__ import annotations

from dataclasses import dataclass

import polars as pl

from assay.bands import STANDARD, Bands

NO_RATING = "rating missing"
NO_CONTROL = "time control missing"
BAND = "band"


def too_far(bands: Bands) -> str:
    return f"players more than {2 * bands.width} apart"


def outside(bands: Bands) -> str:
    return f"average rating outside {bands.least}-{bands.end - 1}"


@dataclass(frozen=True)
class Stats:
    """Counts of games. Frames: `ratings` (band, games), `controls` (time_control, base_seconds, increment_seconds,
    speed, games; the most frequent first), `both` (band, time_control, games)."""

    games: int
    bands: Bands
    ratings: pl.DataFrame
    controls: pl.DataFrame
    both: pl.DataFrame
    dropped: dict[str, int]  # by reason; a game without a rating still counts among the time controls


def band_of(bands: Bands) -> pl.Expr:
    """The start of the band of a game's average rating; null if the game is dropped."""
    average = (pl.col("white_elo") + pl.col("black_elo")) / 2
    near = (pl.col("white_elo") - pl.col("black_elo")).abs() <= 2 * bands.width
    start = bands.least + (average - bands.least) // bands.width * bands.width
    return pl.when(near & average.is_between(bands.least, bands.end, closed="left")).then(start).cast(pl.Int32)


def reason_of(bands: Bands) -> pl.Expr:
    """Why a game has no band; null if it has one."""
    average = (pl.col("white_elo") + pl.col("black_elo")) / 2
    apart = (pl.col("white_elo") - pl.col("black_elo")).abs()
    return (
        pl.when(average.is_null())
        .then(pl.lit(NO_RATING))
        .when(apart > 2 * bands.width)
        .then(pl.lit(too_far(bands)))
        .when(~average.is_between(bands.least, bands.end, closed="left"))
        .then(pl.lit(outside(bands)))
    )


def count(rows: pl.LazyFrame, bands: Bands = STANDARD) -> Stats:
    """Count the games of an index by rating band, by time control and by both."""
    control = ["time_control", "base_seconds", "increment_seconds", "speed"]
    # One pass over the rows: the counts of ratings by time control hold all the others.
    cells = (
        rows.select(*control, band_of(bands).alias(BAND), reason_of(bands).alias("reason"))
        .group_by(*control, BAND, "reason")
        .agg(pl.len().alias("games"))
        .collect()
    )
    total = pl.col("games").sum()
    dropped = dict(cells.drop_nulls("reason").group_by("reason").agg(total).sort("reason").iter_rows())
    without = int(cells.filter(pl.col("time_control").is_null())["games"].sum())
    if without:
        dropped[NO_CONTROL] = without
    known = cells.drop_nulls("time_control")
    return Stats(
        games=int(cells["games"].sum()),
        bands=bands,
        ratings=cells.drop_nulls(BAND).group_by(BAND).agg(total).sort(BAND),
        controls=known.group_by(control).agg(total).sort("games", "time_control", descending=[True, False]),
        both=known.drop_nulls(BAND).group_by(BAND, "time_control").agg(total).sort(BAND, "time_control"),
        dropped=dropped,
    )
