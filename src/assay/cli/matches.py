"""`assay match`: how a match of two players stands, once or as it grows."""

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
    is_quiet,
    keep_duplicates_option,
    level_option,
    players_option,
    print_answer,
    say,
    table_options,
    where_option,
)
from assay.errors import AssayError

COUNT = click.IntRange(0, 10**12)
SHARE = click.FloatRange(0.0, 0.5, min_open=True, max_open=True)


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
