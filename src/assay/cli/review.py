"""The command that looks at one game: review."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    Command,
    analysing,
    analysis_options,
    evals_option,
    files_argument,
    game_option,
    out_option,
    print_data,
    rating_option,
    say,
    tell,
    wide_option,
    width,
)
from assay.paths import check_place
from assay.table import FORMATS


@click.command(cls=Command)
@files_argument
@game_option.but(default=1)
@evals_option
@out_option.but(required=False)
@click.option(
    "--format",
    "format",
    type=click.Choice((*FORMATS, "pgn")),
    help="How to print or write it.  [default: by the name of the output, else table]",
)
@rating_option
@analysis_options
@wide_option.but(expose_value=True)
def review(
    files: Sequence[str],
    number: int,
    evals: bool,
    out: Path | None,
    format: str | None,
    wide: bool,
    **options: Any,
) -> None:
    """Review one game: accuracy, mistakes, critical moments, and what players of the ratings do in these positions.

    Accuracy of both sides (win chances kept, by Lichess's formula) beside what players of the rating reach in these
    positions; centipawns lost on average; inaccuracies, mistakes and blunders; the three moments that decided, with the
    better line and how many players of the rating find it; opening, phases, clocks.

    As pgn it is the game as it stands in the file, every tag, clock, comment and variation, with marks, evaluations and
    better lines that Lichess and ChessBase show. Without an engine the evaluations in the file serve.

    \b
    Examples:
      assay review my-games.pgn --game 3
      assay review game.pgn --deep -o reviewed.pgn
      assay review lichess-game.pgn --evals --format json
    """
    from assay import review as look_at

    if out is not None:
        check_place(out)
    found = look_at(files, number, evals=evals, **analysing(**options))
    text = found.to(format or "table", width(), wide=wide)
    if out is not None:
        found.write_text(out, format, wide=wide)
        say(f"{found.head}\nWritten: {out}", err=True)
    elif format == "pgn":
        print_data(f"{text}\n")
    else:
        say(text)
    tell(found.remarks)
