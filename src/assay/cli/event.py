"""The commands on an event, its people and their ratings: event, players, ratings."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import (
    Command,
    OneOf,
    files_argument,
    keep_duplicates_option,
    out_option,
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
