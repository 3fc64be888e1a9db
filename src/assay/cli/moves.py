"""The commands of ratings from moves: ipr, posterior, screen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    REGAN,
    Command,
    OneOf,
    aliases_option,
    analysing,
    analysis_options,
    draw_plots,
    evals_option,
    fide_option,
    files_argument,
    game_option,
    level_option,
    once_more,
    out_option,
    periods_option,
    player_option,
    plots_option,
    print_answer,
    rating_option,
    reference_option,
    regan_asked_options,
    say,
    seed_option,
    table_options,
    watch_options,
    watched,
    without_option,
)

IPR_GROUPS = ("player", "event", "game", "color", "phase", "year", "period", "speed", "opponent", "band", "all")
SCREEN_PARTS = ("event", "round", "phase", "all")


@click.command(cls=Command)
@files_argument
@click.option(
    "--by", type=click.Choice(IPR_GROUPS), default="player", show_default=True, help="One row for each of these."
)
@periods_option
@player_option
@without_option
@rating_option
@watch_options
@click.option(
    "--weight",
    "weights",
    multiple=True,
    metavar="'EXPR: W'",
    help="Turns for which this holds count W times, 0 to 1; may be given several times.",
)
@click.option("--min-turns", type=click.IntRange(1), default=1, show_default=True, help="Fewer turns: no rating.")
@evals_option
@fide_option
@click.option(
    "--method",
    type=OneOf("assay.moves.performance", "METHOD_NAMES"),
    default="choice",
    show_default=True,
    help="How the rating is found; regan is the papers' way (percentile), depths weighs what shallower searches see.",
)
@click.option(
    "--interval",
    type=OneOf("assay.moves.regan.ipr", "INTERVALS"),
    default="clustered",
    show_default=True,
    help="Kind of interval of a fit.",
)
@reference_option
@regan_asked_options
@level_option
@seed_option
@plots_option
@analysis_options
@aliases_option
@table_options
def ipr(
    files: Sequence[str],
    method: str,
    reference: Path | None,
    plots: Path | None,
    watch: bool,
    every: int,
    engines: Sequence[str],
    **options: Any,
) -> None:
    """Rate players by their moves: the intrinsic performance rating, with its interval.

    Analyses what the store lacks (from move 9 on; about an eighth of a second a position and core), then prints a row
    per group: games, turns, the rating in the tags, FIDE's performance rating (perf: opponents' mean and share of
    points; `results` of 'assay rate' weighs draws, colours and the opponents' errors), the IPR with its interval,
    matches with the engine's best moves (mm), moves among its first three (top3) and the average scaled error (ad),
    each beside what is expected of the rating in the tags. --wide adds the share of moves that lose more than 50, 100
    and 200 centipawns (beyond_50 ...), beside what is expected.

    A rating says how well the moves of these games were chosen, on the scale of the calibration's players, and nothing
    else: no tag, no result. Every turn has a curve over ratings; a group's rating is the top of their sum.

    --periods 1976-1979,2006-2009 makes rows for each period. --weight 'speed == "rapid": 0.5' lets turns count less,
    by tags as in --where and by move, color, phase and evaluation; intervals are then a little too wide.

    With --evals no engine runs: games that were analysed on Lichess carry the value after every move. That is also what
    happens where no engine is installed and every game has them.

    --method regan, equations and depths fit s and c instead. --reference, --model, --curve, --k, --cap, --tie, --scale
    and a jury of several --engine (analysed before) are for these: a calibration made so has its line, --reference
    fits one here and now.

    \b
    Examples:
      assay ipr tournament.pgn
      assay ipr tournament.pgn --quick --by phase --player 'Carlsen, Magnus'
      assay ipr lichess-games.pgn --evals
      assay ipr mine.pgn --weight 'speed == "rapid": 0.5' --weight 'phase == "opening": 0'
      assay ipr games.pgn.zst --store games.db --by year --method regan --interval regan
      assay ipr tournament.pgn --method depths --reference reference
      assay ipr tournament.pgn --method regan --calibration rybka-3-d13 --reference rated.pgn
      assay ipr tournament.pgn --without 17 --format csv > ratings.csv
    """
    from assay import rate_moves

    settings = {name: value for name in REGAN if (value := options.pop(name)) is not None}
    jury = engines if len(engines) > 1 else ()
    if method == "choice":
        if given := [*settings, *(["reference"] if reference else [])]:
            raise click.UsageError(f"--{given[0]} is for fits of s and c: give --method regan with it.")
        if jury:
            raise click.UsageError("the choice model needs one --engine; a jury of several is for --method regan.")
    asked = analysing(engines=() if jury else engines, **options)

    def show(games: Any) -> None:
        answer = rate_moves(games, method=method, reference=reference, jury=jury, settings=settings, **asked)
        print_answer(answer)
        draw_plots(answer, plots)

    for games in watched(files, watch, every):
        once_more(watch, partial(show, games))


@click.command(cls=Command)
@files_argument
@game_option.but(default=1)
@click.option(
    "--prior",
    default="flat",
    show_default=True,
    metavar="flat|tag|MEAN:SD",
    help="Before the first move: all ratings alike, about the tag's rating, or normal.",
)
@level_option
@plots_option
@analysis_options
@aliases_option
@table_options
def posterior(
    files: Sequence[str],
    number: int,
    prior: str,
    level: float,
    plots: Path | None,
    **options: Any,
) -> None:
    """Follow the rating through one game: what the moves so far say of both players, after every move.

    The running sum of the moves' curves over ratings, with a prior if one is given; without, the last line is the
    rating of 'ipr --by game'. One game says little: expect intervals of several hundred points.

    \b
    Examples:
      assay posterior match.pgn --game 2
      assay posterior match.pgn --game 6 --prior 2700:150 --plots out
    """
    from assay import posterior as follow

    answer = follow(files, number, prior=_prior(prior), level=level, **analysing(**options))
    print_answer(answer)
    draw_plots(answer, plots)


def _prior(text: str) -> tuple[float, float] | str | None:
    if text in ("flat", "tag"):
        return None if text == "flat" else text
    mean, _, deviation = text.partition(":")
    try:
        pair = float(mean), float(deviation)
    except ValueError:
        raise click.UsageError(f"--prior {text!r} is neither flat, tag nor MEAN:SD, such as 2400:200.") from None
    if pair[1] <= 0:
        raise click.UsageError("the SD of --prior must be positive.")
    return pair


@click.command(cls=Command)
@files_argument
@click.option(
    "--rating",
    "ratings",
    default="tag",
    show_default=True,
    metavar="tag|fide|FILE",
    help="Ratings to compare with: those of the tags, those in force by FIDE's lists ('assay ratings add'), or "
    "those of a CSV file of names and ratings or of a .trf report.",
)
@click.option(
    "--null",
    type=click.Choice(["calibrated", "field"]),
    default="calibrated",
    show_default=True,
    help="What honest play looks like: as in the calibration, or as in the middle of this field.",
)
@click.option(
    "--by", type=click.Choice(SCREEN_PARTS), default="event", show_default=True, help="A row per player and ..."
)
@player_option
@without_option
@click.option(
    "--rating-error",
    type=click.FloatRange(0),
    default=0,
    show_default=True,
    metavar="ELO",
    help="Standard error of the ratings, for players whose rating is young or old; --rating fide has one for each.",
)
@watch_options
@click.option("--min-turns", type=click.IntRange(5), default=20, show_default=True, help="Fewer turns: no z.")
@click.option(
    "--deep-choice",
    type=click.IntRange(9, 60),
    metavar="DEPTH",
    help="Compare with what a single line prefers at this depth (16: twice the time), the stronger test.",
)
@click.option(
    "--helper",
    "helpers",
    multiple=True,
    metavar="ENGINE",
    help="A further engine that help might come from, asked beside the deep choice (.2 s a position); may be repeated.",
)
@click.option(
    "--sequential",
    is_flag=True,
    help="A test that goes on as games come in: an e-value for each player.",
)
@click.option("--live", is_flag=True, help="The same for a folder, looked at every --every seconds, until Ctrl-C.")
@click.option(
    "--false-alarm",
    "alpha",
    type=click.FloatRange(0, 0.5, min_open=True),
    default=0.001,
    show_default=True,
    help="Chance that anybody honest passes the bound of --sequential, whenever one looks.",
)
@out_option.but(required=False)
@analysis_options
@aliases_option
@table_options
def screen(
    files: Sequence[str],
    ratings: str,
    null: str,
    by: str,
    player: str | None,
    without: Sequence[int],
    rating_error: float,
    min_turns: int,
    deep_choice: int | None,
    helpers: Sequence[str],
    sequential: bool,
    live: bool,
    alpha: float,
    out: Path | None,
    watch: bool,
    every: int,
    **options: Any,
) -> None:
    """Compare players' moves with what is expected of their ratings.

    First a sentence: who passes 2.75, or who comes nearest, and how many such chance makes. Then a row per player and
    event (--by round, phase, or all: cumulated over every game), sorted by z: rating, games, turns, z, ROI = 50 + 5 z,
    the strength that the moves show with its interval, and a word for z. --wide, CSV and JSON have the rest: matches,
    top-3 moves and error with what was expected, their z's (positive: closer to the engine), the p-value, the q-value
    (Benjamini-Yekutieli) and how many of the field are expected beyond that z.

    All of this is worked out over the whole field; --player shows the rows of one player. The lines below the table
    say what may be concluded. A high z is a reason to look at games, never a finding about a person.

    --deep-choice 16 has the engine choose once more at a depth that help would use; then z is the likelihood ratio of
    following that choice on a share of the moves, and each --helper sharpens it. -o with --player writes a sheet on
    that player (.pdf or .html) for the tournament director, with the critical moves behind it.

    \b
    Examples:
      assay screen tournament.pgn
      assay screen open.pgn --null field --rating current-ratings.csv
      assay screen open.pgn --deep-choice 16 --helper 'node stockfish-19-single.js'
      assay screen open.pgn --player 'Doe, John' -o sheet.pdf
      assay screen season.pgn --by all --player 'Doe, John'
      assay screen --live rounds/
      assay screen https://lichess.org/broadcast/name/AbCdEfGh --watch --quick
    """
    from assay import screen as screen_games
    from assay import screen_running

    asked = analysing(**options)
    if out is not None and (player is None or sequential or live):
        raise click.UsageError("-o writes the sheet on one player: give --player with it, and no --sequential.")
    given: dict[str, Any] = {
        "ratings": None if ratings == "tag" else ratings,
        "player": player,
        "without": without,
        "rating_error": rating_error,
        "deep_choice": deep_choice,
        "helpers": helpers,
        **asked,
    }

    def show(games: Any) -> None:
        if sequential or live:
            print_answer(screen_running(games, alpha=alpha, **given))
            return
        answer = screen_games(games, by=by, null=null, min_turns=min_turns, **given)
        print_answer(answer)
        if out is not None and player is not None:
            from assay import sheet

            say(f"Written: {sheet(answer, player, out, games, where=options['where'])}", err=True)

    for games in watched(files, watch, every, folders=live):
        once_more(watch or live, partial(show, games))
