"""The commands on games: index, month, stats, filter, balance, sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    Command,
    format_option,
    is_quiet,
    keep_duplicates_option,
    out_folder_option,
    print_table,
    say,
    tell_duplicates,
)
from assay.errors import InputError
from assay.printable import json_text

if TYPE_CHECKING:
    import polars as pl

    from assay.games.catalog import Index
    from assay.games.indexing import IndexReport
    from assay.games.stats import Stats


_PREVIEW = ("white", "white_elo", "black", "black_elo", "result", "date", "time_control", "speed", "plies", "opening")


def where_option(function: Callable[..., Any]) -> Callable[..., Any]:
    """`--where EXPR`, the filter language."""
    return click.option("--where", metavar="EXPR", help="Only games for which this holds; see 'assay filter --help'.")(
        function
    )


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option(
    "-o",
    "--out",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="INDEX",
    help="Where the index goes: INDEX.parquet or INDEX.csv.",
)
@click.option("--movetext", is_flag=True, help="Keep the text of the games too (Parquet only).")
@format_option
def index(files: tuple[str, ...], out: Path, movetext: bool, format: str) -> None:
    """Make an index of PGN files: one row per game with its tags, typed, and where its bytes are.

    FILE is a .pgn, .pgn.zst, .pgn.gz, .pgn.bz2 or .zip file, a folder of them, or - for stdin. An index is a table that
    any tool reads; 'assay stats', 'filter' and 'balance' work on it alone and go back to the games only to write them.

    What is damaged is read as far as it goes and counted by reason; the exit code is then 1.

    \b
    Examples:
      assay index games.pgn.zst -o games.parquet
      assay index tournaments/ club.pgn -o all.parquet
      zstdcat games.pgn.zst | assay index - -o games.parquet --movetext
    """
    from assay.games.indexing import index as make_index

    report = make_index(files, out, movetext=movetext, quiet=is_quiet())
    rows = [
        {
            "source": s.source,
            "games": s.games,
            "bytes": s.bytes,
            "problems": sum(s.problems.values()),
            "damage": s.damage,
        }
        for s in report.sources
    ]
    print_table(rows, format=format)
    _tell_problems(report)


def _tell_problems(report: IndexReport) -> None:
    """What was wrong, on stderr; damage of whole files ends with exit code 1."""
    counts: Counter[str] = Counter()
    for source in report.sources:
        counts.update(source.problems)
    _tell_counts(counts)
    if report.damaged:
        raise InputError(
            f"{report.output} holds {report.games:,} games, but not everything could be read: "
            + "; ".join(f"{source.source}: {source.damage}" for source in report.damaged)
            + "."
        )


def _tell_counts(counts: Mapping[str, int]) -> None:
    for reason, count in sorted(counts.items(), key=lambda item: -item[1]):
        say(f"assay: {count:,} x {reason}", err=True)


@click.command(cls=Command)
@click.argument("month", metavar="YYYY-MM")
@out_folder_option
@click.option("--url", metavar="URL", help="Where the archives are.  [default: https://database.lichess.org/standard]")
@click.option("--movetext", is_flag=True, help="Keep the text of the games in the index too.")
@format_option
def month(month: str, out: Path, url: str | None, movetext: bool, format: str) -> None:
    """Fetch the standard rated games of a month from Lichess and index them.

    A broken download goes on where it stopped, in this run and in the next; the archive is checked against the
    published SHA-256. What is there already is used as it is. A recent month has about 90 million games in 30 GB.

    \b
    Examples:
      assay month 2013-01 -o lichess
      assay month 2018-06 -o lichess --url https://mirror.example.org/lichess
    """
    from assay.games.archives import LICHESS, fetch_month

    got = fetch_month(month, out, url=url or LICHESS, movetext=movetext, quiet=is_quiet())
    row = {
        "archive": str(got.archive),
        "index": str(got.index),
        "games": got.games,
        "fetched": got.fetched,
        "indexed": got.indexed,
    }
    print_table([row], format=format)
    if got.report:
        _tell_problems(got.report)


@click.command(cls=Command)
@click.argument("indexes", nargs=-1, required=True, metavar="INDEX...")
@where_option
@click.option("--plots", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Draw pictures there.")
@click.option(
    "--top", type=click.IntRange(1, 10**9), default=20, show_default=True, help="Time controls in the text tables."
)
@keep_duplicates_option
@format_option
def stats(
    indexes: tuple[str, ...], where: str | None, plots: Path | None, top: int, format: str, keep_duplicates: bool
) -> None:
    """Count games by rating band and time control.

    A game belongs to the band of its players' average rating, [600,700) to [3000,3100); games whose players differ
    by more than two bands are dropped, and all drops are counted by reason. With --plots: rating_hist.png,
    time_control.png, rating_tc_heatmap_pct.png and rating_tc_heatmap_log.png.

    \b
    Examples:
      assay stats games.parquet
      assay stats *.parquet --where 'speed == "blitz"' --plots pictures
    """
    from assay.games.catalog import open_indexes, reading, rows_of
    from assay.games.stats import count

    opened = open_indexes(indexes)
    rows = _each_once(opened, rows_of(opened, where), keep_duplicates)
    with reading([index.path for index in opened]):
        found = count(rows)
    # The pictures first: whoever reads only the first lines of the tables (`| head`) wants them all the same.
    if plots is not None:
        from assay.reports.plots_games import plot_stats

        for path in plot_stats(found, plots):
            say(f"assay: wrote {path}", err=True)
    if format == "table":
        _print_stats(found, top)
    else:
        _print_stats_whole(found, format)


def _each_once(opened: list[Index], rows: pl.LazyFrame, keep_duplicates: bool) -> pl.LazyFrame:
    """The rows without those of games that occur again, unless they are wanted; stderr says which they are."""
    if keep_duplicates:
        return rows
    from assay.games.catalog import once

    rows, duplicates = once(opened, rows)
    tell_duplicates(duplicates)
    return rows


def _rating_rows(found: Stats) -> list[dict[str, Any]]:
    rated = int(found.ratings["games"].sum())
    return [
        {"band": found.bands.label(band), "games": games, "percent": 100 * games / rated}
        for band, games in found.ratings.iter_rows()
    ]


def _control_rows(found: Stats) -> list[dict[str, Any]]:
    total = int(found.controls["games"].sum())
    return [row | {"percent": 100 * row["games"] / total} for row in found.controls.iter_rows(named=True)]


def _both_rows(found: Stats) -> list[dict[str, Any]]:
    return [
        {"band": found.bands.label(band), "time_control": control, "games": games}
        for band, control, games in found.both.iter_rows()
    ]


def _print_stats(found: Stats, top: int) -> None:
    controls = _control_rows(found)
    say(f"{found.games:,} games\n\nBy average rating")
    print_table(_rating_rows(found), ["band", "games", "percent"], decimals={"percent": 1})
    say(f"\nBy time control, the most frequent first ({min(top, len(controls))} of {len(controls)})")
    names = ["time_control", "base_seconds", "increment_seconds", "speed", "games", "percent"]
    titles = {"time_control": "time control", "base_seconds": "base", "increment_seconds": "increment"}
    print_table(controls[:top], names, titles=titles, decimals={"percent": 1})
    shown = [row["time_control"] for row in controls[: min(top, 8)]]
    say("\nRating by time control (games)")
    print_table(_crossed(found, shown), ["band", *shown])
    say("\nDropped")
    print_table([{"reason": reason, "games": games} for reason, games in found.dropped.items()], ["reason", "games"])


def _crossed(found: Stats, controls: list[str]) -> list[dict[str, Any]]:
    rows: dict[int, dict[str, Any]] = {}
    for band, control, games in found.both.iter_rows():
        if control in controls:
            rows.setdefault(band, {"band": found.bands.label(band)})[control] = games
    return [rows[band] for band in sorted(rows)]


def _print_stats_whole(found: Stats, format: str) -> None:
    """Everything: an object of tables as JSON, or one long table as CSV."""
    tables = {
        "rating": _rating_rows(found),
        "time_control": _control_rows(found),
        "rating_time_control": _both_rows(found),
        "dropped": [{"reason": reason, "games": games} for reason, games in found.dropped.items()],
    }
    if format == "json":
        say(json_text({"games": found.games, **tables}, indent=1))
    else:
        names = [
            "table",
            "band",
            "time_control",
            "base_seconds",
            "increment_seconds",
            "speed",
            "reason",
            "games",
            "percent",
        ]
        print_table([{"table": name} | row for name, rows in tables.items() for row in rows], names, format=format)


@click.command(cls=Command)
@click.argument("indexes", nargs=-1, required=True, metavar="INDEX...")
@click.option("--where", required=True, metavar="EXPR", help="The condition; see above.")
@click.option("--count-only", is_flag=True, help="Print the number of games alone.")
@click.option("--preview", type=click.IntRange(0, 10**9), metavar="N", help="Print the first N games.")
@click.option(
    "--out-pgn", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE", help="Write the games there."
)
@keep_duplicates_option
@format_option
def filter(
    indexes: tuple[str, ...],
    where: str,
    count_only: bool,
    preview: int | None,
    out_pgn: Path | None,
    keep_duplicates: bool,
    format: str,
) -> None:
    """Count, show or write the games for which a condition holds.

    EXPR is written like Python, over the columns of the index: comparisons (1900 <= white_elo < 2000), and, or, not,
    in, + - * / // %, abs(x), startswith(text, "..."), contains(text, "..."), is None. A comparison with a missing
    value does not hold, except !=. Nothing in it is ever run as a program.

    \b
    Columns:
      source start_offset end_offset event site date round white black result white_elo black_elo
      white_title black_title white_rating_diff black_rating_diff time_control base_seconds
      increment_seconds speed termination eco opening variant plies has_clock has_eval;
      and avg_elo, the mean of both ratings

    The games are written byte for byte as they stand in the files, which must not have changed since.

    \b
    Examples:
      assay filter games.parquet --where 'white_elo >= 1900 and result == "1-0" and has_clock' --count-only
      assay filter games.parquet --where 'abs(white_elo - black_elo) < 50 and speed in ("blitz", "rapid")' --preview 5
      assay filter games.parquet --where 'startswith(opening, "Sicilian") and plies > 40' --out-pgn sicilians.pgn
    """
    import polars as pl

    from assay.games.catalog import SPAN, collect, games_of, open_indexes, rows_of, write_games

    opened = open_indexes(indexes)
    rows = _each_once(opened, rows_of(opened, where), keep_duplicates)
    if out_pgn is not None:
        spans = collect(rows.select(SPAN), opened)
        written = write_games(games_of(opened, spans), out_pgn, total=spans.height, quiet=is_quiet())
        say(f"assay: wrote {written:,} games to {out_pgn}", err=True)
    matched = int(collect(rows.select(pl.len()), opened).item()) if count_only or preview is None else 0
    if count_only:
        say(matched)
    if preview is not None:
        first = collect(rows.head(preview).drop("_index"), opened)
        names = list(_PREVIEW) if format == "table" else first.columns
        print_table(list(first.iter_rows(named=True)), names, format=format)
        return
    if not count_only:
        total = int(collect(rows_of(opened).select(pl.len()), opened).item())
        print_table([{"games": matched, "of": total}], format=format)


@click.command(cls=Command)
@click.argument("indexes", nargs=-1, required=True, metavar="INDEX...")
@click.option("--per-band", type=click.IntRange(1, 10**12), required=True, metavar="N", help="Games from each band.")
@click.option(
    "--out-pgn",
    required=True,
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Where the games go; FILE.manifest.json beside it tells how they were drawn.",
)
@click.option(
    "--band-width",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="Width of a rating band, in Elo.",
)
@where_option
@click.option(
    "--seed", type=click.IntRange(0, 2**63), default=0, show_default=True, help="The same seed draws the same games."
)
@keep_duplicates_option
@format_option
def balance(
    indexes: tuple[str, ...],
    per_band: int,
    out_pgn: Path,
    band_width: int,
    where: str | None,
    seed: int,
    keep_duplicates: bool,
    format: str,
) -> None:
    """Draw the same number of games from every rating band, or all where there are fewer.

    A game belongs to the band of its players' average rating from 600 up; games whose players differ by more than two
    bands are left out. The games are drawn over the whole of the files and written in their order.

    \b
    Examples:
      assay balance games.parquet --per-band 500 --out-pgn balanced.pgn
      assay balance games.parquet --per-band 100 --band-width 200 --where 'speed == "rapid"' --seed 7 --out-pgn r.pgn
    """
    from assay import manifest
    from assay.bands import Bands
    from assay.games.catalog import games_of, open_indexes, write_games
    from assay.games.indexing import manifest_path
    from assay.games.stats import draw

    opened = open_indexes(indexes)
    drawn = draw(
        opened, per_band, bands=Bands(width=band_width), where=where, seed=seed, keep_duplicates=keep_duplicates
    )
    if not drawn.spans.height:
        raise InputError(
            "no game is left to draw from: none has two ratings near enough, or the filter lets none through."
        )
    write_games(games_of(opened, drawn.spans), out_pgn, total=drawn.spans.height, quiet=is_quiet())
    rows = [
        {"band": drawn.bands.label(start), "available": drawn.available[start], "drawn": drawn.drawn[start]}
        for start in drawn.bands.starts
        if drawn.available[start]
    ]
    settings = {"per_band": per_band, "band_width": band_width, "where": where, "seed": seed}
    settings |= {"keep_duplicates": True} if keep_duplicates else {}
    about = manifest.make("balanced games", inputs=manifest.describe_inputs(indexes), settings=settings)
    about["bands"], about["dropped"] = rows, drawn.dropped
    manifest.write(manifest_path(out_pgn), about)
    print_table(rows, format=format)
    _tell_counts(drawn.dropped)
    tell_duplicates(drawn.duplicates)


@click.command(cls=Command)
@out_folder_option
@format_option
def sample(out: Path, format: str) -> None:
    """Write the sample games that come with Assay into a folder.

    The six games of the match Kasparov - Deep Blue (1997), and a simulated event of 15 games in which one player was
    helped, with the truth about it. The tutorials (docs/tutorials) use them.

    \b
    Examples:
      assay sample
      assay sample -o samples
    """
    from assay.games.archives import SAMPLES, write_samples

    rows = [
        {"file": str(path), "bytes": path.stat().st_size, "what": SAMPLES[path.name]} for path in write_samples(out)
    ]
    print_table(rows, format=format)
