"""Ratings, time controls and endings of games, counted; and as many games drawn from every rating band."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from functools import lru_cache

import numpy as np
import polars as pl

from assay.games.catalog import SPAN, collect
from assay.games.duplicates import Duplicates
from assay.games.source import Games
from assay.pools import STANDARD, Bands
from assay.records import dataclass

NO_RATING = "rating missing"
NO_CONTROL = "time control missing"
UNREADABLE = "time control not readable"
BAND = "band"


def too_far(bands: Bands) -> str:
    """The reason of games whose players are too far apart."""
    return f"players more than {2 * bands.width} apart"


def outside(bands: Bands) -> str:
    """The reason of games beyond all bands."""
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
    dropped: dict[str, int]  # by reason; a game without a time control still counts among the ratings


def band_of(bands: Bands) -> pl.Expr:
    """The start of the band of a game's average rating; null if the game is dropped."""
    cell = _band_or_reason(bands)
    return pl.when(cell > 0).then(cell)


def reason_of(bands: Bands) -> pl.Expr:
    """Why a game has no band; null if it has one."""
    return _band_or_reason(bands).replace_strict(_reasons(bands), default=None, return_dtype=pl.String)


def _reasons(bands: Bands) -> dict[int, str]:
    return {-1: NO_RATING, -2: too_far(bands), -3: outside(bands)}


def _band_or_reason(bands: Bands) -> pl.Expr:
    """The start of a game's band, or the negative number of the reason why it has none."""
    white, black = pl.col("white_elo"), pl.col("black_elo")
    twice = white + black  # twice the average: whole numbers are exact
    start = bands.least + (twice - 2 * bands.least) // (2 * bands.width) * bands.width
    return (
        pl.when(twice.is_null())
        .then(-1)
        .when((white - black).abs() > 2 * bands.width)
        .then(-2)
        .when(~twice.is_between(2 * bands.least, 2 * bands.end, closed="left"))
        .then(-3)
        .otherwise(start)
        .cast(pl.Int32)
    )


def count(rows: pl.LazyFrame, bands: Bands = STANDARD) -> Stats:
    """Count the games of an index by rating band, by time control and by both.

    All three count the same games: those with a band whose time control is readable, or not told at all.
    """
    # One pass over the rows: the counts of bands by time control hold all the others. What a time control means is
    # the same in every row, so the first is as good as any.
    meaning = [pl.col(name).first() for name in ("base_seconds", "increment_seconds", "speed")]
    unreadable = pl.col("time_control").is_not_null() & pl.col("base_seconds").is_null() & pl.col("speed").is_null()
    cells = (
        rows.select("time_control", "base_seconds", "increment_seconds", "speed", _band_or_reason(bands).alias("cell"))
        .group_by("time_control", "cell")
        .agg(pl.len().alias("games"), *meaning)
        .collect()
        .with_columns(
            pl.when(unreadable & (pl.col("cell") > 0))
            .then(pl.lit(UNREADABLE))
            .otherwise(pl.col("cell").replace_strict(_reasons(bands), default=None, return_dtype=pl.String))
            .alias("reason")
        )
        .with_columns(pl.when(pl.col("reason").is_null()).then("cell").alias(BAND))
    )
    total = pl.col("games").sum()
    dropped = dict(cells.drop_nulls("reason").group_by("reason").agg(total).sort("reason").iter_rows())
    counted = cells.drop_nulls(BAND)
    without = int(counted.filter(pl.col("time_control").is_null())["games"].sum())
    if without:
        dropped[NO_CONTROL] = without
    known = counted.drop_nulls("time_control")
    return Stats(
        games=int(cells["games"].sum()),
        bands=bands,
        ratings=counted.group_by(BAND).agg(total).sort(BAND),
        controls=known.group_by("time_control")
        .agg(*meaning, total)
        .sort("games", "time_control", descending=[True, False]),
        both=known.group_by(BAND, "time_control").agg(total).sort(BAND, "time_control"),
        dropped=dropped,
    )


@dataclass(frozen=True)
class Draw:
    """The rows that were drawn, in file order, and how many there were and are of each band."""

    spans: pl.DataFrame  # see assay.games.catalog.SPAN, and the band
    bands: Bands
    available: dict[int, int]
    drawn: dict[int, int]
    dropped: dict[str, int]
    duplicates: Duplicates


def draw(
    games: Games,
    per_band: int,
    *,
    bands: Bands,
    seed: int = 0,
    keep_duplicates: bool = False,
) -> Draw:
    """Draw `per_band` games from each band (all, where there are fewer), the same ones for the same seed."""
    all_rows, duplicates = games.rows(keep_duplicates=keep_duplicates)
    rows = all_rows.select(*SPAN, band_of(bands).alias(BAND), reason_of(bands).alias("reason"))
    labels = collect(rows.select(BAND, "reason"), games.indexes)
    band = labels[BAND].fill_null(-1).to_numpy()
    chosen = []
    for start in bands.starts:
        mine = np.flatnonzero(band == start)
        # A generator of its own for each band: more games of one band change nothing in the others.
        random = np.random.default_rng([seed, start])
        chosen.append(np.sort(random.choice(mine, min(per_band, len(mine)), replace=False)))
    take = np.sort(np.concatenate(chosen))
    wanted = pl.LazyFrame({"row": take}, schema={"row": pl.UInt32})
    spans = rows.select(*SPAN, BAND).with_row_index("row").join(wanted, on="row", how="semi", maintain_order="left")
    reasons = labels.drop_nulls("reason").group_by("reason").len().sort("reason")
    return Draw(
        spans=collect(spans.drop("row"), games.indexes),
        bands=bands,
        available={start: int(np.count_nonzero(band == start)) for start in bands.starts},
        drawn={start: len(rows_) for start, rows_ in zip(bands.starts, chosen, strict=True)},
        dropped=dict(reasons.iter_rows()),
        duplicates=duplicates,
    )


ON_TIME, BY_RULE, ABANDONED, UNFINISHED = "lost on time", "ended by a rule", "abandoned", "not finished"
_ENDINGS = (
    (ON_TIME, re.compile(r"\btime\b|\bflag\b|zeit", re.IGNORECASE)),
    (BY_RULE, re.compile(r"rules? infraction|illegal|cheat|adjudicat", re.IGNORECASE)),
    (ABANDONED, re.compile(r"abandon|forfeit|disconnect|did not (?:show|appear)", re.IGNORECASE)),
    (UNFINISHED, re.compile(r"unterminated|unfinished", re.IGNORECASE)),
)


@lru_cache(maxsize=10_000)
def ending(termination: str | None) -> str | None:
    """What a Termination tag says, in words of its own; None for a usual end.

    >>> ending("Time forfeit"), ending("elm won on time"), ending("Normal"), ending("Abandoned")
    ('lost on time', 'lost on time', None, 'abandoned')
    """
    return next((name for name, words in _ENDINGS if words.search(termination or "")), None)


def endings(terminations: Iterable[str | None]) -> Counter[str]:
    """How many games ended each way that is not the usual one."""
    return Counter(name for name in map(ending, terminations) if name)


def told_endings(terminations: Iterable[str | None]) -> list[str]:
    """A remark on results that no move brought about, if there are any."""
    found = endings(terminations)
    each = ", ".join(f"{name} {count}" for name, count in found.most_common())
    return [f"Results that no move brought about: {each}."] if found else []
