"""The commands on games: index, month, stats, filter, balance, sample."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    FILE,
    Command,
    Shared,
    band_width_option,
    files_argument,
    is_quiet,
    keep_duplicates_option,
    out_folder_option,
    out_option,
    plots_option,
    print_answer,
    say,
    seed_option,
    selection_of,
    selection_options,
    table_options,
    tell_duplicates,
    where_option,
)
from assay.errors import InputError
from assay.pools import whole
from assay.printable import json_text
from assay.table import WIDTH, Answer, Table, columns_of, counted

if TYPE_CHECKING:
    import polars as pl

    from assay.games.catalog import Index
    from assay.games.indexing import IndexReport
    from assay.games.stats import Stats

_PREVIEW = ("white", "black", "result", "white_elo", "black_elo", "speed", "plies")

out_pgn_option = Shared("--out-pgn", type=FILE, metavar="FILE", help="Write the games there.")
movetext_option = click.option("--movetext", is_flag=True, help="Keep the text of the games too (Parquet only).")


@click.command(cls=Command)
@files_argument
@out_option.but(metavar="INDEX.parquet|INDEX.csv")
@where_option
@movetext_option
@table_options
def index(files: tuple[str, ...], out: Path, where: str | None, movetext: bool) -> None:
    """Make an index of PGN files: one row per game with its tags, typed, and where its bytes are.

    FILE is PGN, plain or packed (.zst, .gz, .bz2, .xz, .zip), a folder of such files, - for stdin, or another index. An
    index is a table that any tool reads. Every command takes it in the place of the games; 'assay stats', 'filter' and
    'balance' work on it alone and go back to the games only to write them.

    What is damaged is read as far as it goes and counted by reason; the exit code is then 1.

    \b
    Examples:
      assay index games.pgn.zst -o games.parquet
      assay index tournaments/ club.pgn -o all.parquet
      zstdcat games.pgn.zst | assay index - -o games.parquet --movetext
    """
    from assay.games.indexing import index as make_index

    report = make_index(files, out, where=where, movetext=movetext, quiet=is_quiet())
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
    print_answer(Answer(shown=Table(rows, columns_of(("source", "games", "bytes", "problems", "damage")))))
    _tell_problems(report)


def _tell_problems(report: IndexReport) -> None:
    """What was wrong, on stderr; damage of whole files ends with exit code 1."""
    counts: Counter[str] = Counter()
    for source in report.sources:
        counts.update(source.problems)
    _tell_counts(counts)
    if report.damaged:
        raise InputError(
            f"{report.output} holds {counted(report.games, 'game')}, but not everything could be read: "
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
@movetext_option
@click.option("--pgn", is_flag=True, help="Unpack the games beside the archive, too (.pgn).")
@click.option("--csv", is_flag=True, help="Write the index as CSV, too.")
@table_options
def month(month: str, out: Path, url: str | None, movetext: bool, pgn: bool, csv: bool) -> None:
    """Fetch the standard rated games of a month from Lichess and index them.

    The index is NAME_index.parquet beside NAME.pgn.zst, with --csv also NAME_index.csv. A broken download goes on where
    it stopped, in this run and in the next; the archive is checked against the published SHA-256. What is there already
    is used as it is. A recent month has about 90 million games in 30 GB.

    \b
    Examples:
      assay month 2013-01 -o lichess
      assay month 2013-01 -o lichess --pgn --csv
      assay month 2018-06 -o lichess --url https://mirror.example.org/lichess
    """
    from assay.games.archives import LICHESS, fetch_month

    got = fetch_month(month, out, url=url or LICHESS, movetext=movetext, pgn=pgn, csv=csv, quiet=is_quiet())
    row = {
        "archive": str(got.archive),
        "index": str(got.index),
        "games": got.games,
        "fetched": got.fetched,
        "indexed": got.indexed,
    }
    row |= {"pgn": str(got.pgn)} if got.pgn else {}
    row |= {"csv": str(got.csv)} if got.csv else {}
    print_answer(Answer(shown=Table([row], columns_of(tuple(row)))))
    if got.report:
        _tell_problems(got.report)


@click.command(cls=Command)
@files_argument
@where_option
@plots_option
@click.option(
    "--top", type=click.IntRange(1, 10**9), default=20, show_default=True, help="Time controls in the text tables."
)
@keep_duplicates_option
@table_options
def stats(files: tuple[str, ...], where: str | None, plots: Path | None, top: int, keep_duplicates: bool) -> None:
    """Count games by rating band and time control.

    A game belongs to the band of its players' average rating, [600,700) to [3000,3100); games whose players differ
    by more than two bands are dropped, and all drops are counted by reason. With --plots: rating_hist.png,
    time_control.png, rating_tc_heatmap_pct.png and rating_tc_heatmap_log.png.

    \b
    Examples:
      assay stats games.parquet
      assay stats *.parquet --where 'speed == "blitz"' --plots pictures
    """
    from assay.games.catalog import reading
    from assay.games.source import read
    from assay.games.stats import count

    games = read(files, where=where)
    rows, duplicates = games.rows(keep_duplicates=keep_duplicates)
    tell_duplicates(duplicates)
    with reading([index.path for index in games.indexes]):
        found = count(rows)
    _tell_counts(games.problems)
    # The pictures first: whoever reads only the first lines of the tables (`| head`) wants them all the same.
    if plots is not None:
        from assay.reports.plots_games import plot_stats

        for path in plot_stats(found, plots):
            say(f"assay: wrote {path}", err=True)
    print_answer(GameCounts.of(found, top))


@dataclass(frozen=True, eq=False, kw_only=True)
class GameCounts(Answer):
    """Games by rating and time control: several tables in text and JSON, one long one in CSV."""

    sections: Mapping[str, Table]
    games: int

    @classmethod
    def of(cls, found: Stats, top: int) -> GameCounts:
        """The counts as tables, with the most frequent time controls in text."""
        rated, total = int(found.ratings["games"].sum()), int(found.controls["games"].sum())
        ratings = [
            {"band": found.bands.label(band), "games": games, "percent": 100 * games / rated}
            for band, games in found.ratings.iter_rows()
        ]
        seconds = ("base_seconds", "increment_seconds")
        controls = [
            row | {name: whole(row[name]) for name in seconds} | {"percent": 100 * row["games"] / total}
            for row in found.controls.iter_rows(named=True)
        ]
        both = [
            {"band": found.bands.label(band), "time_control": control, "games": games}
            for band, control, games in found.both.iter_rows()
        ]
        dropped = [{"reason": reason, "games": games} for reason, games in found.dropped.items()]
        every = {"rating": ratings, "time_control": controls, "rating_time_control": both, "dropped": dropped}
        shown = [row["time_control"] for row in controls[: min(top, 8)]]
        crossed: dict[str, dict[str, Any]] = {}
        for row in both:
            if row["time_control"] in shown:
                crossed.setdefault(row["band"], {"band": row["band"]})[row["time_control"]] = row["games"]
        names = ("time_control", "base_seconds", "increment_seconds", "speed", "games", "percent")
        titles = {"time_control": "time control", "base_seconds": "base", "increment_seconds": "increment"}
        percent = {"percent": 1}
        most = f"By time control, the most frequent first ({min(top, len(controls))} of {len(controls)})"
        sections = {
            "By average rating": Table(ratings, columns_of(("band", "games", "percent"), decimals=percent)),
            most: Table(controls[:top], columns_of(names, titles=titles, decimals=percent)),
            "Rating by time control (games)": Table(
                [crossed[row["band"]] for row in ratings if row["band"] in crossed], columns_of(("band", *shown))
            ),
            "Dropped": Table(dropped, columns_of(("reason", "games"))),
        }
        long = [{"table": name} | row for name, rows in every.items() for row in rows]
        columns = columns_of(("table", "band", *names[:4], "reason", *names[4:]))
        return cls(shown=Table(long, columns), sections=sections, games=found.games, problems=found.dropped)

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """Table after table."""
        shown = {title: table for title, table in self.sections.items() if table.rows}
        parts = [f"{title}\n{table.text(width, wide=wide)}" for title, table in shown.items()]
        return "\n\n".join([counted(self.games, "game"), *parts])

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """As JSON an object of tables."""
        if format != "json":
            return super().to(format, width, wide=wide)
        tables: dict[str, list[dict[str, Any]]] = {}
        for row in self.shown.rows:
            tables.setdefault(row["table"], []).append({name: row[name] for name in row if name != "table"})
        return json_text({"games": self.games} | tables, indent=1)


@click.command(cls=Command)
@files_argument
@where_option
@selection_options
@click.option("--count-only", is_flag=True, help="Print the number of games alone.")
@click.option("--preview", type=click.IntRange(0, 10**9), metavar="N", help="Print the first N games, tags and moves.")
@out_pgn_option
@keep_duplicates_option
@table_options
def filter(
    files: tuple[str, ...],
    where: str | None,
    exclude_team: bool,
    max_swiss: float | None,
    archive: tuple[str, ...],
    count_only: bool,
    preview: int | None,
    out_pgn: Path | None,
    keep_duplicates: bool,
) -> None:
    """Count, show or write the games for which a condition holds.

    --exclude-team and --max-swiss N leave out what Regan and Haworth leave out: games between teams, as far as the
    names of events tell, and events with more than N players a round, counted in the files and in --archive.

    EXPR is written like Python, over the columns of the index: comparisons (1900 <= white_elo < 2000), and, or, not,
    in, + - * / // %, abs(x), startswith(text, "..."), contains(text, "..."), is None. A comparison with a missing
    value does not hold, except !=. Nothing in it is ever run as a program.

    \b
    Columns:
      source start_offset end_offset event site date round white black result white_elo black_elo
      white_title black_title white_rating_diff black_rating_diff time_control base_seconds
      increment_seconds speed termination eco opening variant plies has_clock has_eval fen variation;
      and avg_elo, the mean of both ratings

    The games are written byte for byte as they stand in the files, which must not have changed since.

    \b
    Examples:
      assay filter games.parquet --where 'white_elo >= 1900 and result == "1-0" and has_clock' --count-only
      assay filter games.parquet --where 'abs(white_elo - black_elo) < 50 and speed in ("blitz", "rapid")' --preview 5
      assay filter games.parquet --where 'startswith(opening, "Sicilian") and plies > 40' --out-pgn sicilians.pgn
      assay filter games.parquet --exclude-team --max-swiss 6 --archive all.parquet --out-pgn chosen.pgn
    """
    import polars as pl

    from assay.games.catalog import SPAN, collect, games_of, rows_of, write_games
    from assay.games.source import read

    selection = selection_of(exclude_team, max_swiss, archive)
    if where is None and selection is None:
        raise click.UsageError("give --where EXPR, --exclude-team or --max-swiss N.")
    games = read(files, where=where)
    rows, duplicates = games.rows(keep_duplicates=keep_duplicates)
    tell_duplicates(duplicates)
    _tell_counts(games.problems)
    opened = games.indexes
    if selection is not None:
        rows, why = selection.rows(rows, opened)
        _tell_counts({f"left out: {reason}": count for reason, count in why.items() if count})
    if out_pgn is not None:
        spans = collect(rows.select(SPAN), opened)
        written = write_games(games_of(opened, spans), out_pgn, total=spans.height, quiet=is_quiet())
        say(f"assay: wrote {counted(written, 'game')} to {out_pgn}", err=True)
    matched = int(collect(rows.select(pl.len()), opened).item()) if count_only or preview is None else 0
    if count_only:
        say(matched)
    if preview is not None:
        print_answer(_previewed(opened, collect(rows.head(preview), opened)))
        return
    if not count_only:
        total = int(collect(rows_of(opened).select(pl.len()), opened).item())
        print_answer(Answer(shown=Table([{"games": matched, "of": total}], columns_of(("games", "of")))))


@dataclass(frozen=True, eq=False, kw_only=True)
class GamePreview(Answer):
    """The first games of a choice: their tags as a table, and in text the games themselves below it."""

    texts: tuple[str, ...]

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The table, and below it game after game."""
        size = None if wide else width
        texts = ("\n".join(_wrapped(text, size)) for text in self.texts)
        return "\n\n".join([super().text(width, wide=wide), *texts])


def _wrapped(text: str, width: int | None) -> list[str]:
    """The lines of a game, none longer than the width, if there is one."""
    lines = text.splitlines()
    return lines if width is None else [part for line in lines for part in textwrap.wrap(line, width) or [""]]


def _previewed(opened: Sequence[Index], first: pl.DataFrame) -> GamePreview:
    from assay.games.catalog import PART, SPAN, games_of
    from assay.printable import decode

    names = [name for name in first.columns if name != PART]
    columns = columns_of(names, wide=[name for name in names if name not in _PREVIEW])
    try:
        texts = tuple(decode(game.data).strip() for game in games_of(opened, first.select(SPAN)))
    except InputError as error:  # an index tells of games whose archive is elsewhere
        texts = ()
        say(f"Tags alone: {error}", err=True)
    return GamePreview(shown=Table(list(first.drop(PART).iter_rows(named=True)), columns), texts=texts)


@click.command(cls=Command)
@files_argument
@click.option("--per-band", type=click.IntRange(1, 10**12), required=True, metavar="N", help="Games from each band.")
@out_pgn_option.but(required=True)
@band_width_option
@where_option
@seed_option
@keep_duplicates_option
@table_options
def balance(
    files: tuple[str, ...],
    per_band: int,
    out_pgn: Path,
    band_width: int,
    where: str | None,
    seed: int,
    keep_duplicates: bool,
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
    from assay.games.catalog import games_of, write_games
    from assay.games.indexing import manifest_path
    from assay.games.source import read
    from assay.games.stats import draw
    from assay.pools import Bands

    games = read(files, where=where)
    drawn = draw(games, per_band, bands=Bands(width=band_width), seed=seed, keep_duplicates=keep_duplicates)
    if not drawn.spans.height:
        raise InputError(
            "no game is left to draw from: none has two ratings near enough, or the filter lets none through."
        )
    write_games(games_of(games.indexes, drawn.spans), out_pgn, total=drawn.spans.height, quiet=is_quiet())
    rows = [
        {"band": drawn.bands.label(start), "available": drawn.available[start], "drawn": drawn.drawn[start]}
        for start in drawn.bands.starts
        if drawn.available[start]
    ]
    settings = {"per_band": per_band, "band_width": band_width, "where": where, "seed": seed}
    settings |= {"keep_duplicates": True} if keep_duplicates else {}
    about = manifest.make("balanced games", inputs=map(asdict, games.sources), settings=settings)
    about["bands"], about["dropped"] = rows, drawn.dropped
    manifest.write(manifest_path(out_pgn), about)
    print_answer(Answer(shown=Table(rows, columns_of(("band", "available", "drawn")))))
    _tell_counts(drawn.dropped)
    tell_duplicates(drawn.duplicates)


@click.command(cls=Command)
@out_folder_option
@table_options
def sample(out: Path) -> None:
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
    print_answer(Answer(shown=Table(rows, columns_of(("file", "bytes", "what")))))
