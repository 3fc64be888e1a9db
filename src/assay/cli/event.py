"""The commands on an event and its people: event."""

from __future__ import annotations

from pathlib import Path

import click

from assay.cli.options import (
    Command,
    OneOf,
    files_argument,
    out_option,
    print_data,
    say,
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
@wide_option.but(expose_value=True)
def event(files: tuple[str, ...], where: str | None, out: Path | None, format: str | None, wide: bool) -> None:
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
    from assay.api import event as make_table
    from assay.paths import atomic
    from assay.results.crosstable import EVENT_FORMATS

    suffix = out.suffix.lower().removeprefix(".") if out else ""
    kind = format or (suffix if suffix in EVENT_FORMATS else "table")
    answer = make_table(files, where=where)
    text = answer.to(kind, width(), wide=wide)
    if out is None:
        print_data(text + "\n") if kind == "html" else say(text)
    else:
        with atomic(out) as part:
            part.write_text(text + "\n", encoding="utf-8")
        say(f"assay: wrote {out}", err=True)
    for remark in answer.remarks:
        say(remark, err=True)
