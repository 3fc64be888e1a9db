"""The commands on events and matches, their people and ratings: event, match, players, ratings."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    Command,
    OneOf,
    aliases_option,
    exclude_termination_option,
    files_argument,
    is_quiet,
    keep_duplicates_option,
    level_option,
    out_option,
    players_option,
    print_answer,
    print_data,
    rating_option,
    say,
    table_options,
    tell,
    where_option,
    wide_option,
    width,
)
from assay.errors import AssayError

COUNT = click.IntRange(0, 10**12)
SHARE = click.FloatRange(0.0, 0.5, min_open=True, max_open=True)


@click.command(cls=Command)
@files_argument
@where_option
@out_option.but(required=False)
@click.option(
    "--format",
    "format",
    type=OneOf("assay.results.crosstable", "EVENT_FORMATS"),
    help="How to print or write it.  [default: by the name of the output, else table]",
)
@rating_option
@keep_duplicates_option
@wide_option.but(expose_value=True)
def event(
    files: tuple[str, ...],
    where: str | None,
    out: Path | None,
    format: str | None,
    rating: str,
    keep_duplicates: bool,
    wide: bool,
) -> None:
    """Show the table of an event: what an arbiter looks for first.

    FILE is a FIDE tournament report (.trf, TRF16 or TRF-2026), or games: PGN, a table of results, or a link. A row per
    player with points, games, expected points, performance by FIDE's table, change of rating with K and the average
    of the opponents; below it the results round by round (5w1: won with White against the fifth). Forfeits and byes
    count for the points and for nothing else. Differences of more than 400 count as 400, as FIDE has it.

    \b
    Examples:
      assay event open.trf
      assay event open.trf -o open.html
      assay event https://lichess.org/broadcast/name/AbCdEfGh --format csv
    """
    from assay import event as make_table

    answer = make_table(files, where=where, rating=rating, keep_duplicates=keep_duplicates)
    text = answer.to(format or "table", width(), wide=wide)
    if out is not None:
        answer.write_text(out, format, wide=wide)
        say(f"assay: wrote {out}", err=True)
    elif format == "html":
        print_data(f"{text}\n")
    else:
        say(text)
    tell(answer.remarks)


@click.command(cls=Command)
@files_argument
@where_option
@keep_duplicates_option
@table_options
def players(files: tuple[str, ...], where: str | None, keep_duplicates: bool) -> None:
    """List who plays in some games: names with FIDE ids, spellings, games, ratings, and who looks like one person.

    One person under several spellings is told by the id, and so are two people of one name; ratings, reports and lists
    go by that. Who has no id, and a name that is the same but for its spelling or its initials, is shown as alike: put
    them into a file for --aliases if they are one.

    \b
    Examples:
      assay players season.pgn
      assay players *.pgn --format csv > players.csv
    """
    from assay.api import players as list_players

    print_answer(list_players(files, where=where, keep_duplicates=keep_duplicates))


@click.group()
def ratings() -> None:
    """FIDE's rating lists, for --rating fide: the rating in force on the day of a game, with K and year of birth.

    \b
    Examples:
      assay ratings add standard_rating_list.zip --month 2024-03
      assay ratings list
    """


@ratings.command(cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--month", metavar="YYYY-MM", help="The month of the list.  [default: as the list or its name says]")
@click.option(
    "--kind",
    type=OneOf("assay.lists.fidelist", "KINDS"),
    help="What the ratings are.  [default: as the list or its name says, else standard]",
)
@table_options
def add(files: tuple[str, ...], month: str | None, kind: str | None) -> None:
    """Take in lists that FIDE offers for download: text, XML or zip; standard, rapid, blitz or combined.

    They become a compact Parquet file for each month in the data folder; players without any rating are left out.
    Lists of one month go together: standard, rapid and blitz may come one by one.

    \b
    Examples:
      assay ratings add standard_mar24frl.txt
      assay ratings add players_list_xml.zip --month 2024-03
      assay ratings add rapid_rating_list.zip --kind rapid --month 2024-03
    """
    from assay import add_ratings

    print_answer(add_ratings(files, month=month, kind=kind))


@ratings.command(name="list", cls=Command)
@table_options
def list_months() -> None:
    """List the months whose lists are here.

    \b
    Examples:
      assay ratings list
    """
    from assay import rating_lists

    print_answer(rating_lists())


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, metavar="[FILE]...")
@players_option
@click.option("--wdl", type=COUNT, nargs=3, metavar="W D L", help="Counts instead of games: wins, draws, losses.")
@click.option(
    "--penta",
    type=COUNT,
    nargs=5,
    metavar="N0 N1 N2 N3 N4",
    help="Counts instead of games: pairs with 0, 1/2, 1, 1 1/2 and 2 points.",
)
@click.option("--sprt", type=float, nargs=2, metavar="ELO0 ELO1", help="Test whether it is ELO1 rather than ELO0.")
@click.option(
    "--bounds",
    type=OneOf("assay.results.sprt", "SCALES"),
    default="normalised",
    show_default=True,
    help="What the Elo of --sprt is.",
)
@click.option("--alpha", type=SHARE, default=0.05, show_default=True, help="How often a test may wrongly accept ELO1.")
@click.option("--beta", type=SHARE, default=0.05, show_default=True, help="How often a test may wrongly accept ELO0.")
@click.option(
    "--pairs",
    type=OneOf("assay.results.duel", "PAIRINGS"),
    default="auto",
    show_default=True,
    help="What makes two games a pair, the colours being reversed; auto: the opening, where games tell it.",
)
@click.option("--watch", is_flag=True, help="Tell again whenever a file has grown, until the test ends (or Ctrl-C).")
@click.option(
    "--every",
    type=click.FloatRange(0.05, 3600.0),
    default=2.0,
    show_default=True,
    metavar="SECONDS",
    help="How often --watch looks.",
)
@exclude_termination_option
@aliases_option
@where_option
@keep_duplicates_option
@level_option
@table_options
def match(files: tuple[str, ...], watch: bool, every: float, **how: Any) -> None:
    """Tell how a match of two players stands: Elo with its error, normalised Elo, pairs, a sequential test.

    FILE is PGN or an index, with games of two players or of more (--players). The match may also be given by counts:
    --wdl, --penta, or both. Errors come from game pairs (pentanomial) where there are any: two games from one opening,
    or two successive ones, with the colours reversed. --sprt is the test of engine testers, by pairs and by games; it
    says how many more games to expect.

    \b
    Examples:
      assay match match.pgn
      assay match gauntlet.pgn --players "New 2" "Old 1" --sprt 0 2
      assay match --penta 379 10170 21828 10640 343 --sprt 0 2
      assay match --wdl 36433 68692 36027 --sprt 0 2 --bounds logistic
      assay match running.pgn --sprt 0 5 --watch
    """
    from assay import match as match_of

    how |= {"players": how["players"] or None, "wdl": how["wdl"] or None, "penta": how["penta"] or None}
    how |= {"sprt": how["sprt"] or None, "quiet": is_quiet()}
    if not watch:
        print_answer(match_of(files or None, **how))
        return
    if not files:
        raise click.UsageError("--watch follows files: name one.")
    for _ in _grown(files, every):
        try:
            answer = match_of(files, **how)
        except AssayError as error:
            say(f"assay: waiting: {error}", err=True)
            continue
        print_answer(answer)
        say()
        if answer.test is not None and answer.test.accepted is not None:
            return


def _grown(files: tuple[str, ...], every: float) -> Iterator[None]:
    """Comes back at once, and again whenever one of the files has changed."""
    before: list[tuple[int, int]] | None = None
    while True:
        now = [_size_and_time(Path(file)) for file in files]
        if now != before:
            before = now
            yield
        else:
            time.sleep(every)


def _size_and_time(file: Path) -> tuple[int, int]:
    try:
        stat = file.stat()
    except OSError:
        return 0, 0
    return stat.st_size, stat.st_mtime_ns
