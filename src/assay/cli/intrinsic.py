"""The commands of the intrinsic model on analysed games: fit, difference, show."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.common import (
    Command,
    F,
    OneOf,
    each_once,
    format_option,
    keep_duplicates_option,
    print_table,
    reasons,
    say,
    store_option,
    tell_turns,
)
from assay.paths import default_store

if TYPE_CHECKING:
    from assay.engine.turns import Turns
    from assay.games import Game

FIT_GROUPS = ("all", "milepost", "player", "event", "year", "period", "speed", "color", "phase")
DIFFERENCE_GROUPS = ("player", "event", "evaluation", "all", "game", "year", "color", "phase")


def _turns_options(function: F) -> F:
    """Which analyses, and which turns of the games: what the commands on stored analyses ask."""
    for option in reversed(
        (
            store_option,
            click.option(
                "--depth",
                type=click.IntRange(1, 244),
                default=10,
                show_default=True,
                help="Depth of the analyses, in plies.",
            ),
            click.option("--engine", multiple=True, help="Whose analyses, if the store has several; several: a jury."),
            click.option(
                "--from-move", type=click.IntRange(1), default=9, show_default=True, help="First move counted."
            ),
            click.option(
                "--limit",
                type=click.FloatRange(0, min_open=True),
                default=3.0,
                show_default=True,
                help="Leave out turns whose best move is worth more than so many pawns to either side.",
            ),
        )
    ):
        function = option(function)
    return function


def _turns(
    games: Sequence[Game],
    store: Path | None,
    depth: int,
    engine: Sequence[str],
    from_move: int,
    limit: float,
    lines: int | None = None,
) -> Turns:
    """The turns of the games in the store, with what was left out told on stderr."""
    from assay.engine.store import Store
    from assay.engine.turns import turns

    with Store(store or default_store()) as opened:
        names = list(engine) or None
        found = turns(games, opened, depth=depth, engine=names, from_move=from_move, limit=limit, lines=lines)
    who = " and ".join(str(identity) for identity in found.identities)
    tell_turns(found, Counter(), f"Analysed by {who}, depth {depth}.")
    return found


def _read(files: Sequence[str]) -> list[Game]:
    from assay.moves.analysed import read_all

    problems: Counter[str] = Counter()
    games = read_all(files, problems)
    if problems:
        say(f"Damage in the files: {reasons(problems)}.", err=True)
    return games


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_turns_options
@click.option(
    "--by", type=click.Choice(FIT_GROUPS), default="all", show_default=True, help="One row for each of these."
)
@click.option(
    "--within",
    type=click.FloatRange(0),
    default=10,
    show_default=True,
    help="With --by milepost: both players within so many points of the mark.",
)
@click.option(
    "--model",
    type=OneOf("assay.moves.regan.models", "MODELS"),
    default="power",
    show_default=True,
    help="How temptation becomes probability: the ratio rule.",
)
@click.option(
    "--curve",
    type=OneOf("assay.moves.regan.temptation", "CURVES"),
    default="invexp",
    show_default=True,
    help="Curve of temptation.",
)
@click.option(
    "--method",
    type=OneOf("assay.moves.regan.problem", "CRITERIA"),
    default="percentile",
    show_default=True,
    help="Way of fitting; percentile is the paper's.",
)
@click.option("--fix-c", is_flag=True, help="Put c on the line through all groups and fit s alone.")
@click.option("--exclude-team", is_flag=True, help="Leave out team games, where the tags tell.")
@click.option(
    "--max-swiss",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Leave out events with more players per round.",
)
@click.option(
    "--append", type=click.Path(path_type=Path, dir_okay=False), metavar="F.csv", help="Add the rows to this CSV."
)
@click.option("--plots", type=click.Path(path_type=Path, file_okay=False), metavar="DIR", help="Write plots here.")
@keep_duplicates_option
@format_option
def fit(
    files: Sequence[str],
    by: str,
    within: float,
    model: str,
    curve: str,
    method: str,
    fix_c: bool,
    exclude_team: bool,
    max_swiss: float | None,
    append: Path | None,
    plots: Path | None,
    keep_duplicates: bool,
    format: str,
    **turns_options: Any,
) -> None:
    """Fit the model of a fallible player to games: sensitivity s and consistency c (Regan & Haworth 2011).

    The games must be analysed first ('assay analyse'). A row per group: average Elo, s and c fitted together, c_fit (c
    on the line through all groups) and s_fit (s fitted with c there), the share of first-choice matches (mm) and the
    average scaled error (ad), projected and actual, Qfit (10^4 times the mean squared difference of rank frequencies),
    turns, games, and standard errors clustered by game.

    --by milepost takes the games whose players are both within --within points of the same century mark.

    \b
    Examples:
      assay fit games.pgn --store games.db
      assay fit games.pgn.zst --store games.db --by milepost --within 10 --plots plots
      assay fit wch.pgn --by player --method equations --fix-c
      assay fit 2013.pgn --append fits.csv
    """
    from assay.moves.events import without_crowds, without_teams
    from assay.moves.fits import COLUMNS, Fitting, append_rows, fit_table

    games = each_once(_read(files), keep_duplicates)
    for wanted, keep, what in (
        (exclude_team, without_teams, "team games"),
        (max_swiss is not None, lambda some: without_crowds(some, max_swiss or 0), "games of crowded events"),
    ):
        if wanted:
            kept = keep(games)
            say(f"Left out: {len(games) - len(kept):,} {what}.", err=True)
            games = kept
    turns = _turns(games, **turns_options)
    how = Fitting(method, model, curve)  # type: ignore[arg-type]
    rows = fit_table(turns, by, how, within=within)
    values = [{by: row.label, **row.values(fix_c)} for row in rows]
    columns = [by, *(name for name in COLUMNS if name != "note" or any(row.note for row in rows))]
    decimals = dict.fromkeys(("s", "c", "c_fit", "s_fit", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual"), 3)
    decimals |= dict.fromkeys(("s_error", "c_error", "s_fit_error", "qfit"), 4) | {"elo": 0}
    print_table(values, columns, format=format, decimals=decimals)
    if append is not None:
        count = append_rows(append, ", ".join(Path(file).name for file in files), rows, fix_c)
        say(f"Added {count:,} rows to {append}.", err=True)
    if plots is not None:
        from assay.reports.plots import plot_fits

        for path in plot_fits(turns, rows, how, plots):
            say(f"Written: {path}", err=True)


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@_turns_options
@click.option(
    "--by", type=click.Choice(DIFFERENCE_GROUPS), default="player", show_default=True, help="One row for each of these."
)
@click.option(
    "--cap",
    type=click.FloatRange(0, min_open=True),
    default=4.0,
    show_default=True,
    help="Greatest loss of a move, in pawns.",
)
@click.option("--lines", type=click.IntRange(1), help="Which analyses, if the store has several widths.")
@keep_duplicates_option
@format_option
def difference(
    files: Sequence[str],
    by: str,
    cap: float,
    lines: int | None,
    keep_duplicates: bool,
    format: str,
    **turns_options: Any,
) -> None:
    """How much worse the moves played were than the engine's own, on average (Guid & Bratko 2006).

    Raw in pawns, and scaled so that a pawn counts less the more one side is ahead (Regan & Haworth 2011); standard
    errors are clustered by game. One line per position suffices ('assay analyse --lines 1'): the played move is then
    worth what the next position says, so that very many games can be surveyed cheaply. A greater loss than --cap counts
    as that; a move that the next position finds better than the engine's choice counts as none.

    \b
    Examples:
      assay difference games.pgn --store games.db
      assay difference games.pgn --by evaluation
      assay analyse all.pgn.zst --lines 1 --depth 12; assay difference all.pgn.zst --lines 1 --depth 12 --by year
    """
    from assay.moves.fits import DIFFERENCE_COLUMNS, difference_table

    games = each_once(_read(files), keep_duplicates)
    rows = difference_table(_turns(games, lines=lines, **turns_options), by, cap=cap)
    decimals = dict.fromkeys(("raw", "raw_error", "scaled", "scaled_error"), 4) | {"elo": 0}
    print_table(rows, [by, *DIFFERENCE_COLUMNS], format=format, decimals=decimals)


def _parameters(
    elo: float | None, s: float | None, c: float | None, calibration: str | None, depth: int
) -> tuple[float, float]:
    """s and c as given, or those of a rating by the calibration."""
    if (s is None) != (c is None):
        raise click.UsageError("--s and --c go together.")
    if (elo is None) == (s is None):
        raise click.UsageError("give either --elo, or --s and --c.")
    if s is not None and c is not None:
        return s, c
    from assay.moves.calibration import load

    assert elo is not None
    return load(calibration, depth=depth).usable().artery.at(elo)


@click.command(cls=Command)
@click.argument("file", metavar="FILE")
@_turns_options
@click.option(
    "--game", "number", type=click.IntRange(1), default=1, show_default=True, help="Number of the game in the file."
)
@click.option(
    "--candidates", type=click.IntRange(1), default=4, show_default=True, help="Moves of each spread to show."
)
@click.option("--elo", type=float, help="Probabilities for this rating.  [default: the rating in the tags]")
@click.option("--s", type=float, help="Probabilities for this sensitivity.")
@click.option("--c", type=float, help="Probabilities for this consistency.")
@click.option(
    "--calibration", metavar="NAME|FILE", help="Which makes s and c of a rating.  [default: that of the depth]"
)
@format_option
def show(
    file: str,
    number: int,
    candidates: int,
    elo: float | None,
    s: float | None,
    c: float | None,
    calibration: str | None,
    format: str,
    **turns_options: Any,
) -> None:
    """Show a game turn by turn, as the model sees it.

    For each turn: the move played, the engine's move, the evaluation of the move played in pawns from the mover's side,
    its rank, how much worse it is than the engine's (scaled), its probability, and the spread: candidates with value
    and probability, the played one marked with *.

    The probabilities are those of a player rated as the tags say (2000 where they do not), of --elo, or of --s and --c.

    \b
    Examples:
      assay show game.pgn --store games.db
      assay show match.pgn --game 6 --elo 2800
      assay show game.pgn --s 0.1 --c 0.5 --format csv
    """
    import numpy as np

    from assay.errors import InputError
    from assay.moves.review import show_turns
    from assay.reports.charts import said_chance

    games = _read([file])
    if number > len(games):
        raise InputError(f"there are {len(games)} games in {file}, and no game {number}.")
    turns = _turns(games[number - 1 : number], **turns_options)
    if elo is not None or s is not None or c is not None:
        pairs = np.tile(_parameters(elo, s, c, calibration, turns.depth), (len(turns), 1))
    else:
        ratings = np.where(np.isfinite(turns.rating), turns.rating, 2000.0)
        known = {rating: _parameters(rating, None, None, calibration, turns.depth) for rating in set(ratings.tolist())}
        pairs = np.array([known[rating] for rating in ratings.tolist()])
    rows, as_text = [], format == "table"
    for turn in show_turns(turns, pairs[:, 0], pairs[:, 1], lines=candidates):
        spread = [f"{'*' if x.played else ''}{x.san} {x.value:+.2f} {said_chance(x.probability)}" for x in turn.spread]
        chance = said_chance(turn.probability) if as_text and turn.probability is not None else turn.probability
        rows.append(
            {
                "move": turn.number,
                "played": turn.played,
                "engine": turn.spread[0].san,
                "evaluation": turn.value,
                "rank": turn.rank,
                "delta": turn.delta,
                "probability": chance,
                "spread": ", ".join(spread),
            }
        )
    print_table(rows, format=format, decimals={"delta": 3})
