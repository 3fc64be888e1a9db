"""The commands that give the answer: rate, compare."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    Command,
    OneOf,
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
    players_option,
    plots_option,
    print_answer,
    rating_option,
    table_options,
    watch_options,
    watched,
    without_option,
    witness_option,
)


@click.command(cls=Command)
@files_argument
@click.option("--by", type=OneOf("assay.answer.voices", "BY"), help="A row for each of these, player by player.")
@witness_option
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
def rate(files: Sequence[str], plots: Path | None, watch: bool, every: int, **options: Any) -> None:
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
        found = answer(games, **asked)
        print_answer(found)
        draw_plots(found, plots)

    for games in watched(files, watch, every):
        once_more(watch, partial(show, games))


@click.command(cls=Command)
@files_argument
@players_option
@player_option
@click.option("--by", type=OneOf("assay.answer.voices", "BY"), help="One row for each of these.")
@click.option("--pairwise", is_flag=True, help="Each part with each other.  [default: more than two with all others]")
@witness_option
@without_option
@level_option
@evals_option
@rating_option
@analysis_options
@aliases_option
@table_options
def compare(
    files: Sequence[str],
    players: tuple[str, str],
    player: str | None,
    by: str | None,
    pairwise: bool,
    **options: Any,
) -> None:
    """Tell how far two players, or the parts of one player's games, are apart, and how sure that is.

    A row per comparison: both ratings as 'assay rate' has them, the first less the second with its interval, and the
    chance that the first is stronger. The intervals of two ratings share errors (of the scale, and for parts of one
    player's games all that is his own); these are not in the difference. Games of the two with each other tell of
    nothing but the difference, so that it need not be that of the two ratings.

    Of a player with more than two parts each is compared with all his others together, or with --pairwise each with
    each. p is the chance of so great a difference where there is none, corrected for how many were compared (Holm):
    one of twenty comparisons looks striking by chance alone.

    \b
    Examples:
      assay compare match.pgn
      assay compare tournament.pgn --players Elm Oak
      assay compare my-games.pgn --player Elm --by year
      assay compare my-games.pgn --player Elm --by phase --pairwise
      assay compare my-games.pgn --player Elm --by event --witness results --format csv
    """
    from assay import compare as tell_apart

    if player is not None and by is None:
        raise click.UsageError("--player is compared with himself: say by which parts with --by.")
    if player is None and by is not None:
        raise click.UsageError("--by parts the games of one player: name him with --player.")
    if player is not None and players:
        raise click.UsageError("--players compares two players, --player the parts of one: leave out one of them.")
    if pairwise and player is None:
        raise click.UsageError("--pairwise is for the parts of one player: name him with --player, and --by.")
    answer = tell_apart(files, players=players or None, player=player, by=by, pairwise=pairwise, **analysing(**options))
    print_answer(answer)
