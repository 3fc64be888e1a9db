"""What is told of many games: what an index holds, counts by rating and time control, chosen games, balanced draws."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import polars as pl

from assay import manifest
from assay.errors import InputError
from assay.games.archives import LICHESS, SAMPLES, fetch_month, write_samples
from assay.games.catalog import PART, SPAN, collect, games_of, reading, rows_of, write_games
from assay.games.indexing import IndexReport, manifest_path
from assay.games.indexing import index as make_index
from assay.games.selection import GameSelection
from assay.games.source import Games, read
from assay.games.stats import Stats, count, draw
from assay.games.stream import Paths
from assay.paths import File
from assay.pools import Bands, whole
from assay.printable import decode, json_text
from assay.records import dataclass
from assay.table import WIDTH, Answer, Table, columns_of, counted, told_copies

_PREVIEW = ("white", "black", "result", "white_elo", "black_elo", "speed", "plies")


def told_counts(counts: Mapping[str, int]) -> list[str]:
    """A remark for each reason, the most frequent first."""
    return [f"assay: {many:,} x {reason}" for reason, many in sorted(counts.items(), key=lambda item: -item[1])]


@dataclass(frozen=True, eq=False, kw_only=True)
class IndexTable(Answer):
    """What was indexed, a row for each file; `damage` is a sentence where not everything could be read."""

    report: IndexReport | None
    damage: str = ""

    def refuse_damage(self) -> None:
        """Raise what is wrong, if anything is: the index is written all the same."""
        if self.damage:
            raise InputError(self.damage)


def _indexed(report: IndexReport, table: Table) -> IndexTable:
    problems: Counter[str] = Counter()
    for source in report.sources:
        problems.update(source.problems)
    damage = "; ".join(f"{source.source}: {source.damage}" for source in report.damaged)
    held = f"{report.output} holds {counted(report.games, 'game')}, but not everything could be read: {damage}."
    remarks = told_counts(problems)
    return IndexTable(
        shown=table, report=report, problems=problems, remarks=remarks, damage=held if report.damaged else ""
    )


def index(
    what: Paths | Games, path: File, *, where: str | None = None, movetext: bool = False, quiet: bool = True
) -> IndexTable:
    """Make an index of games, as `assay index` does: a Parquet or CSV file that every function takes in their place.

    What is damaged is read as far as it goes; `.damage` is a sentence about it, `.refuse_damage()` raises it.

    >>> import assay
    >>> assay.index(assay.SAMPLE, "games.parquet", where="white_ello > 2000")
    Traceback (most recent call last):
        ...
    assay.errors.WhereError: there is no column 'white_ello'; did you mean 'white_elo'?
    """
    report = make_index(what, Path(path), where=where, movetext=movetext, quiet=quiet)  # type: ignore[arg-type]
    rows = [
        {
            "source": source.source,
            "games": source.games,
            "bytes": source.bytes,
            "problems": sum(source.problems.values()),
            "damage": source.damage,
        }
        for source in report.sources
    ]
    return _indexed(report, Table(rows, columns_of(("source", "games", "bytes", "problems", "damage"))))


def month(
    month: str,
    folder: File = ".",
    *,
    url: str | None = None,
    movetext: bool = False,
    pgn: bool = False,
    csv: bool = False,
    quiet: bool = True,
) -> IndexTable:
    """Fetch a month of rated games from Lichess and index it, as `assay month` does.

    >>> import assay
    >>> assay.month("June 2018")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: 'June 2018' is not a month; write it like 2018-06.
    """
    got = fetch_month(month, Path(folder), url=url or LICHESS, movetext=movetext, pgn=pgn, csv=csv, quiet=quiet)
    row = {
        "archive": str(got.archive),
        "index": str(got.index),
        "games": got.games,
        "fetched": got.fetched,
        "indexed": got.indexed,
    }
    row |= {"pgn": str(got.pgn)} if got.pgn else {}
    row |= {"csv": str(got.csv)} if got.csv else {}
    table = Table([row], columns_of(tuple(row)))
    return _indexed(got.report, table) if got.report else IndexTable(shown=table, report=None)


def samples(folder: File = ".") -> Answer:
    """Write the sample games that come with Assay into a folder, as `assay sample` does.

    >>> import assay
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     assay.samples(folder).table["bytes"].len()
    3
    """
    rows = [
        {"file": str(path), "bytes": path.stat().st_size, "what": SAMPLES[path.name]}
        for path in write_samples(Path(folder))
    ]
    return Answer(shown=Table(rows, columns_of(("file", "bytes", "what"))))


@dataclass(frozen=True, eq=False, kw_only=True)
class GameCounts(Answer):
    """Games by rating and time control: several tables in text and JSON, one long one in CSV; `counts` as frames."""

    sections: Mapping[str, Table]
    counts: Stats

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """Table after table."""
        shown = {title: table for title, table in self.sections.items() if table.rows}
        parts = [f"{title}\n{table.text(width, wide=wide)}" for title, table in shown.items()]
        return "\n\n".join([counted(self.counts.games, "game"), *parts])

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """As JSON an object of tables."""
        if format != "json":
            return super().to(format, width, wide=wide)
        tables: dict[str, list[dict[str, Any]]] = {}
        for row in self.shown.rows:
            tables.setdefault(row["table"], []).append({name: row[name] for name in row if name != "table"})
        return json_text({"games": self.counts.games} | tables, indent=1)


def stats(what: Paths | Games, *, where: str | None = None, top: int = 20, keep_duplicates: bool = False) -> GameCounts:
    """Count games by rating band and time control, as `assay stats` does; `.counts` has the frames.

    >>> import assay
    >>> answer = assay.stats(assay.SAMPLE)
    >>> answer.counts.games, dict(answer.problems)
    (6, {'rating missing': 6})
    """
    games = read(what, where=where)
    rows, duplicates = games.rows(keep_duplicates=keep_duplicates)
    with reading([index.path for index in games.indexes]):
        found = count(rows)
    return _counted(found, top, [*told_copies(duplicates), *told_counts(games.problems)])


def _counted(found: Stats, top: int, remarks: list[str]) -> GameCounts:
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
    return GameCounts(
        shown=Table(long, columns), sections=sections, counts=found, problems=found.dropped, remarks=remarks
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ChosenGames(Answer):
    """Games for which a condition holds: how many there are, or the first of them with their tags as a table.

    `games` is their number, unless the first ones alone were asked for; in text these stand below the table.
    """

    games: int | None
    texts: tuple[str, ...] = ()

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The table, and below it game after game."""
        size = None if wide else width
        texts = ("\n".join(_wrapped(text, size)) for text in self.texts)
        return "\n\n".join([super().text(width, wide=wide), *texts])


def _wrapped(text: str, width: int | None) -> list[str]:
    """The lines of a game, none longer than the width, if there is one."""
    lines = text.splitlines()
    return lines if width is None else [part for line in lines for part in textwrap.wrap(line, width) or [""]]


def choose(
    what: Paths | Games,
    *,
    where: str | None = None,
    selection: GameSelection | None = None,
    preview: int | None = None,
    count_only: bool = False,
    out_pgn: File | None = None,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> ChosenGames:
    """Count, show or write the games for which conditions hold, as `assay filter` does.

    `.games` is their number; `preview` asks for the first of them instead; `out_pgn` writes them byte for byte.

    >>> import assay
    >>> assay.choose(assay.SAMPLE, where='result == "1-0"').games
    3
    """
    games = read(what, where=where)
    rows, duplicates = games.rows(keep_duplicates=keep_duplicates)
    remarks, opened = told_copies(duplicates), games.indexes
    remarks += told_counts(games.problems)
    if selection is not None:
        rows, why = selection.rows(rows, opened)
        remarks += told_counts({f"left out: {reason}": many for reason, many in why.items() if many})
    if out_pgn is not None:
        spans = collect(rows.select(SPAN), opened)
        written = write_games(games_of(opened, spans), Path(out_pgn), total=spans.height, quiet=quiet)
        remarks.append(f"assay: wrote {counted(written, 'game')} to {out_pgn}")
    matched = int(collect(rows.select(pl.len()), opened).item()) if count_only or preview is None else None
    if preview is None:
        total = None if count_only else int(collect(rows_of(opened).select(pl.len()), opened).item())
        shown = Table([{"games": matched, "of": total}], columns_of(("games", "of")))
        return ChosenGames(shown=shown, games=matched, problems=games.problems, remarks=remarks)
    first = collect(rows.head(preview), opened)
    names = [name for name in first.columns if name != PART]
    columns = columns_of(names, wide=[name for name in names if name not in _PREVIEW])
    try:
        texts = tuple(decode(game.data).strip() for game in games_of(opened, first.select(SPAN)))
    except InputError as error:  # an index tells of games whose archive is elsewhere
        texts = ()
        remarks.append(f"Tags alone: {error}")
    shown = Table(list(first.drop(PART).iter_rows(named=True)), columns)
    return ChosenGames(shown=shown, games=matched, texts=texts, problems=games.problems, remarks=remarks)


def balance(
    what: Paths | Games,
    per_band: int,
    out_pgn: File,
    *,
    band_width: int = 100,
    where: str | None = None,
    seed: int = 0,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> Answer:
    """Draw the same number of games from every rating band into a PGN file, as `assay balance` does.

    >>> import assay
    >>> assay.balance(assay.SAMPLE, 5, "balanced.pgn")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: no game is left to draw from: none has two ratings near enough, ...
    """
    games, target = read(what, where=where), Path(out_pgn)
    drawn = draw(games, per_band, bands=Bands(width=band_width), seed=seed, keep_duplicates=keep_duplicates)
    if not drawn.spans.height:
        raise InputError(
            "no game is left to draw from: none has two ratings near enough, or the filter lets none through."
        )
    write_games(games_of(games.indexes, drawn.spans), target, total=drawn.spans.height, quiet=quiet)
    rows = [
        {"band": drawn.bands.label(start), "available": drawn.available[start], "drawn": drawn.drawn[start]}
        for start in drawn.bands.starts
        if drawn.available[start]
    ]
    settings: dict[str, Any] = {"per_band": per_band, "band_width": band_width, "where": where, "seed": seed}
    settings |= {"keep_duplicates": True} if keep_duplicates else {}
    about = manifest.make("balanced games", inputs=map(asdict, games.sources), settings=settings)
    about["bands"], about["dropped"] = rows, drawn.dropped
    manifest.write(manifest_path(target), about)
    remarks = [*told_counts(drawn.dropped), *told_copies(drawn.duplicates)]
    shown = Table(rows, columns_of(("band", "available", "drawn")))
    return Answer(shown=shown, problems=drawn.dropped, remarks=remarks)
