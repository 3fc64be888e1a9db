"""The command that gives the answer: rate."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    Command,
    OneOf,
    SomeOf,
    aliases_option,
    analysing,
    analysis_options,
    draw_plots,
    evals_option,
    fide_option,
    files_argument,
    level_option,
    once_more,
    player_option,
    plots_option,
    print_answer,
    rating_option,
    table_options,
    watch_options,
    watched,
    without_option,
)


@click.command(cls=Command)
@files_argument
@click.option("--by", type=OneOf("assay.answer.voices", "BY"), help="A row for each of these, player by player.")
@click.option(
    "--witness",
    type=SomeOf("assay.answer.joining", "WITNESSES"),
    metavar="NAMES",
    help="Who is heard, with commas between.  [default: results,moves,learned; with --list results,moves]",
)
@click.option(
    "--prior",
    type=OneOf("assay.answer.rating", "PRIORS"),
    default="none",
    show_default=True,
    help="What is believed before: nothing, the rating in the tags, or who plays in the pool.",
)
@click.option("--list", "as_list", is_flag=True, help="A rating list: all players at once, results and moves together.")
@player_option
@without_option
@level_option
@plots_option
@evals_option
@fide_option
@rating_option
@watch_options
@analysis_options
@aliases_option
@table_options
def rate(
    files: Sequence[str],
    by: str | None,
    witness: Sequence[str] | None,
    prior: str,
    as_list: bool,
    player: str | None,
    without: Sequence[int],
    level: float,
    plots: Path | None,
    evals: bool,
    fide: bool,
    watch: bool,
    every: int,
    **options: Any,
) -> None:
    """Tell how strong each player's play was: one rating from results, moves and the learned model together.

    A row per player: games, the rating in the tags, the rating with its interval, and beside it what each witness says
    alone. Results speak against the ratings of the opponents, moves by the engine's values (positions that the store
    lacks are analysed first), the learned model by the moves as they are. Without an engine the others go on, and it
    is said; with --evals moves are judged by the evaluations that the games carry. Players of several pools have a row
    for each.

    \b
    Examples:
      assay rate tournament.pgn
      assay rate my-games.pgn --by year --player 'Elm'
      assay rate tournament.pgn --witness results,learned
      assay rate lichess:NAME/rapid?max=50 --evals --fide
      assay rate archive.pgn --list --no-analysis --format csv > list.csv
    """
    from assay import rate as answer

    asked = analysing(**options)

    def show(games: Any) -> None:
        found = answer(
            games,
            by=by,
            witness=witness,
            prior=prior,
            as_list=as_list,
            player=player,
            without=without,
            level=level,
            evals=evals,
            fide=fide,
            **asked,
        )
        print_answer(found)
        draw_plots(found, plots)

    for games in watched(files, watch, every):
        once_more(watch, partial(show, games))
