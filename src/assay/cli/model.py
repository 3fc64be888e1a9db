"""The commands of the model of a fallible player: fit, difference, show, export-turns, calibrate, calibration,
simulate."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    FILE,
    REGAN,
    Command,
    OneOf,
    Shared,
    calibration_option,
    cap_option,
    depth_options,
    draw_plots,
    engine_option,
    files_argument,
    format_option,
    from_move_option,
    game_option,
    is_quiet,
    keep_duplicates_option,
    one_engine,
    out_option,
    periods_option,
    plots_option,
    policy_of,
    policy_option,
    print_answer,
    regan_options,
    say,
    seed_option,
    selection_of,
    selection_options,
    stacked,
    store_option,
    table_options,
    tell,
    where_option,
    wide_option,
    workers_option,
)
from assay.table import counted

FIT_GROUPS = ("all", "milepost", "player", "event", "year", "period", "speed", "color", "phase")

_turns_options = stacked(
    where_option,
    store_option,
    depth_options,
    engine_option,
    from_move_option,
    click.option(
        "--limit",
        type=click.FloatRange(0, min_open=True),
        default=3.0,
        show_default=True,
        help="Leave out turns whose best move is worth more than so many pawns to either side.",
    ),
)
_within_option = Shared(
    "--within", type=click.FloatRange(0), show_default=True, help="Both players within so many points of a mark."
)
_lines_option = Shared("--lines", type=click.IntRange(1), help="Moves to value, best first.")


def _c_line(ctx: click.Context, param: click.Parameter, value: str | None) -> tuple[float, float] | None:
    """`0.464,0.007` as two numbers."""
    if value is None:
        return None
    try:
        at_2000, per_100 = map(float, value.split(","))
    except ValueError:
        raise click.BadParameter(f"{value!r} is not AT2000,PER100, such as 0.464,0.007.") from None
    return at_2000, per_100


@click.command(cls=Command)
@files_argument
@_turns_options
@click.option(
    "--by", type=click.Choice(FIT_GROUPS), default="all", show_default=True, help="One row for each of these."
)
@_within_option.but(default=10)
@periods_option
@regan_options
@click.option(
    "--method",
    type=OneOf("assay.moves.regan.fitting", "TABLE_METHODS"),
    default="percentile",
    show_default=True,
    help="Way of fitting; percentile is the paper's, grid the paper's as printed, depths weighs what shallower "
    "searches see.",
)
@click.option("--fix-c", is_flag=True, help="Put c on the line through all groups and fit s alone.")
@click.option(
    "--c-line", callback=_c_line, metavar="AT2000,PER100", help="Take this line for c: at 2000, and per 100 Elo."
)
@selection_options
@click.option("--append", type=FILE, metavar="F.csv", help="Add the rows to this CSV.")
@click.option(
    "--append-format",
    type=OneOf("assay.moves.appending", "FORMATS"),
    default="assay",
    show_default=True,
    help="Columns of --append: ours, or those of the program that re-implements the papers.",
)
@plots_option
@keep_duplicates_option
@table_options
def fit(
    files: Sequence[str],
    method: str,
    fix_c: bool,
    exclude_team: bool,
    max_swiss: float | None,
    archive: Sequence[str],
    append: Path | None,
    append_format: str,
    plots: Path | None,
    engines: Sequence[str],
    **options: Any,
) -> None:
    """Fit the model of a fallible player to games: sensitivity s and consistency c (Regan & Haworth 2011).

    The games must be analysed first ('assay analyse'). A row per group: average Elo, s and c fitted together, c_fit (c
    on the line through all groups) and s_fit (s fitted with c there), the share of first-choice matches (mm) and the
    average scaled error (ad), projected and actual, three measures of fit, turns, games, and standard errors clustered
    by game. Qfit is 10^4 times the mean squared difference of rank frequencies, qfit_root sqrt(S / 19) and qfit_mean S
    / 19, where S sums the squared distances of the percentile curve.

    --by milepost takes the games whose players are both within --within points of the same century mark. --periods
    makes rows for each period, in order of time; --c-line takes the c of one of them for all.

    --method depths lets a move tempt by what every second depth sees of it: weights over depths are fitted for each
    group, s and c with them as in the papers. The row shows the weights, and by how much ln p of a move rises in games
    that the fit has not seen (gain).

    \b
    Examples:
      assay fit games.pgn --store games.db
      assay fit games.pgn --store games.db --method depths
      assay fit games.pgn.zst --store games.db --by milepost --within 10 --plots plots
      assay fit games.pgn --by milepost --periods 1976-1979,1991-1994,2006-2009 --c-line 0.464,0.007
      assay fit rated.pgn --exclude-team --max-swiss 6 --archive everything.parquet
      assay fit wch.pgn --by player --method equations --fix-c
      assay fit 2013.pgn --append fits.csv --append-format regan
    """
    from assay import fit as fit_games

    settings = {name: options.pop(name) for name in REGAN}
    answer = fit_games(
        files,
        method=method,
        settings=settings,
        fix_c=fix_c,
        engine=engines,
        selection=selection_of(exclude_team, max_swiss, archive),
        **options,
    )
    print_answer(answer)
    if append is not None:
        count = answer.append_to(append, ", ".join(Path(file).name for file in files), append_format)
        say(f"Added {counted(count, 'row')} to {append}.", err=True)
    draw_plots(answer, plots)


@click.command(cls=Command)
@files_argument
@_turns_options
@click.option(
    "--by",
    type=OneOf("assay.moves.differences", "DIFFERENCE_GROUPS"),
    default="player",
    show_default=True,
    help="One row for each of these.",
)
@click.option(
    "--bin",
    type=click.FloatRange(0.01, 10),
    default=0.5,
    show_default=True,
    metavar="PAWNS",
    help="With --by evaluation: width of a bin; the value 0 is one of its own.",
)
@cap_option
@_lines_option
@keep_duplicates_option
@table_options
def difference(files: Sequence[str], engines: Sequence[str], **options: Any) -> None:
    """How much worse the moves played were than the engine's own, on average (Guid & Bratko 2006).

    Raw in pawns, and scaled so that a pawn counts less the more one side is ahead (Regan & Haworth 2011), beside the
    share of moves that are the engine's first choice (mm); standard errors are clustered by game. One line per position
    suffices ('assay analyse --lines 1'): the played move is then worth what the next position says, so that very many
    games can be surveyed cheaply. A greater loss than --cap counts as that; a move that the next position finds better
    than the engine's choice counts as none. Differences of one line and of the full width do not compare.

    \b
    Examples:
      assay difference games.pgn --store games.db
      assay difference games.pgn --by evaluation --bin 0.05
      assay difference season.pgn --by player-event
      assay analyse all.pgn.zst --lines 1 --depth 12; assay difference all.pgn.zst --lines 1 --depth 12 --by year
    """
    from assay import difference as compare

    print_answer(compare(files, engine=engines, **options))


@click.command(cls=Command)
@files_argument
@_turns_options
@game_option.but(default=1)
@click.option(
    "--candidates", type=click.IntRange(1), default=4, show_default=True, help="Moves of each spread to show."
)
@click.option("--elo", type=float, help="Probabilities for this rating.  [default: the rating in the tags]")
@click.option("--s", type=float, help="Probabilities for this sensitivity.")
@click.option("--c", type=float, help="Probabilities for this consistency.")
@calibration_option
@policy_option
@format_option.but(
    type=OneOf("assay.moves.review", "LISTINGS"), help="How to print it; delta is the listing of the papers."
)
@wide_option
def show(
    files: Sequence[str],
    number: int,
    elo: float | None,
    s: float | None,
    c: float | None,
    policy: str,
    engines: Sequence[str],
    **options: Any,
) -> None:
    """Show a game turn by turn, as the model sees it.

    For each turn: the move played, the engine's move, the evaluation of the move played in pawns from the mover's side,
    its rank, how much worse it is than the engine's (scaled), its probability, and the spread: candidates with value
    and probability, the played one marked with *. --wide adds the entropy of the probabilities, in bits (2 bits are as
    open as four moves that are equally likely), and whether the turn is critical: such a player is expected to lose
    0.2 and more there, scaled.

    --format delta prints, turn by turn, the move played, the engine's, its value, and the deltas of the candidates: the
    played one starred, ") *" for one that the engine did not list, --- where the list has no more moves.

    The probabilities are those of a player rated as the tags say (2000 where they do not), of --elo, or of --s and --c.

    \b
    Examples:
      assay show game.pgn --store games.db
      assay show match.pgn --game 6 --elo 2800
      assay show game.pgn --format delta --candidates 6
      assay show game.pgn --s 0.1 --c 0.5 --format csv
    """
    from assay import show as show_game

    if (s is None) != (c is None):
        raise click.UsageError("--s and --c go together.")
    if s is not None and elo is not None:
        raise click.UsageError("give either --elo, or --s and --c.")
    print_answer(show_game(files, number, elo=elo, s=s, c=c, policy=policy_of(policy), engine=engines, **options))


@click.command("export-turns", cls=Command)
@files_argument
@_turns_options
@out_option.but(metavar="TURNS.parquet|TURNS.jsonl")
@keep_duplicates_option
@table_options
def export_turns(files: Sequence[str], out: Path, engines: Sequence[str], **options: Any) -> None:
    """Write the turns of analysed games for other programs: Parquet or JSON lines, by the name of the file.

    A row per turn that counts: the game with its players, ratings and result, the ply, who moves, the position (FEN),
    the move played and its value, and all moves that the engine valued (UCI) with their values in pawns from the
    mover's side, best first.

    \b
    Examples:
      assay export-turns games.pgn --store games.db -o turns.parquet
      assay export-turns games.pgn --store games.db --depth 6 -o turns.jsonl
    """
    from assay import export_turns as write

    print_answer(write(files, out, engine=engines, **options))


def _marks(ctx: click.Context, param: click.Parameter, value: str) -> range:
    """`1600:2700:100` as a range, both ends taken."""
    parts = value.split(":")
    if len(parts) != 3 or not all(part.isdecimal() for part in parts) or int(parts[2]) < 1:
        raise click.BadParameter(f"{value!r} is not FIRST:LAST:STEP, such as 1600:2700:100.")
    first, last, step = map(int, parts)
    return range(first, last + 1, step)


@click.command(cls=Command)
@click.argument("files", nargs=-1, metavar="FILE...|REFERENCE")
@click.option(
    "--transfer", is_flag=True, help="For another engine, from that of 15.1: on positions that come with Assay."
)
@where_option
@store_option
@depth_options
@click.option("--mileposts", callback=_marks, default="1600:2700:100", show_default=True, help="The marks.")
@_within_option.but(default=20)
@click.option(
    "--method",
    type=OneOf("assay.moves.regan.fitting", "METHODS"),
    default="equations",
    show_default=True,
    help="How s and c are fitted at each mark, for Regan's way; with depths, ipr has that method, too.",
)
@regan_options
@selection_options
@engine_option
@policy_option
@click.option("--name", help="Name of the calibration.  [default: that of the output file]")
@seed_option.but(default=1)
@workers_option
@click.option(
    "--turns", type=click.IntRange(1), metavar="N", help="With --transfer: the first N positions.  [default: all]"
)
@out_option.but("--output", metavar="CALIBRATION.json", required=False)
@keep_duplicates_option
@table_options
def calibrate(
    files: Sequence[str],
    transfer: bool,
    where: str | None,
    store: Path | None,
    depth: int | None,
    mileposts: range,
    within: float,
    method: Any,
    engines: Sequence[str],
    policy: str,
    name: str | None,
    seed: int,
    workers: int | None,
    turns: int | None,
    out: Path | None,
    keep_duplicates: bool,
    exclude_team: bool,
    max_swiss: float | None,
    archive: Sequence[str],
    **settings: Any,
) -> None:
    """Fit the models that turn moves into ratings, on rated and analysed games.

    Takes the games whose players are both within --within points of the same mark, or the folder of a reference set.
    Fits the choice model, by the engine's values alone and with the policy, and judges both on players that the fit has
    not seen: noise, slope, how far each mark is off. On the same turns s and c are fitted at each mark, for Regan's
    way. The games must be analysed before ('assay analyse'); turns that are not are left out.

    A calibration belongs to one engine, version, net, depth and width. Smaller depths come from the same analyses: run
    again with --depth. Several --engine make a jury, whose values are averaged: the choice model needs one engine, so
    that there is Regan's part alone ('assay ipr --method regan').

    --method, --model, --curve, --k, --cap, --tie and --scale are for Regan's part. --exclude-team and --max-swiss 6
    select games as the papers do; the calibration says how.

    --transfer makes one for an engine that has none: it values positions that come with Assay (a quarter of an hour on
    two cores; run the same command again after an interruption), and the model of Stockfish 15.1 is fitted anew to
    its values. It goes to the user's data folder, where it is found without being named, unless -o names a file.

    \b
    Examples:
      assay calibrate --engine ~/chess/my-engine --transfer
      assay analyse rated.pgn.zst --store rated.db
      assay calibrate rated.pgn.zst --store rated.db -o mine.json
      assay calibrate reference --depth 6 -o mine-d6.json
      assay ipr tournament.pgn --calibration mine.json
    """
    from assay import calibrate as fit_models

    def told(text: str) -> None:
        if not is_quiet():
            say(text, err=True)

    if transfer:
        _transfer(files, one_engine(engines), name, store, depth, turns, policy, workers, seed, out, told)
        return
    if not files or out is None:
        raise click.UsageError(
            f"give {'-o CALIBRATION.json' if files else 'games, the folder of a reference set'}, or "
            "--engine PATH --transfer."
        )
    made = fit_models(
        files,
        name=name or out.name.removesuffix(".json"),
        store=store,
        depth=depth,
        marks=mileposts,
        within=within,
        method=method,
        engine=engines,
        policy=policy_of(policy),
        seed=seed,
        keep_duplicates=keep_duplicates,
        where=where,
        selection=selection_of(exclude_team, max_swiss, archive),
        told=told,
        settings=settings,
    )
    made.save(out)
    print_answer(made)
    say(f"Written to {out}.", err=True)


def _transfer(
    files: Sequence[str],
    engine: str,
    name: str | None,
    store: Path | None,
    depth: int | None,
    turns: int | None,
    policy: str,
    workers: int | None,
    seed: int,
    out: Path | None,
    told: Callable[[str], None],
) -> None:
    """Make a calibration for another engine, and put it where it is found."""
    from assay import transfer

    if len(files) > 1:
        raise click.UsageError("--transfer takes one reference set, or none.")
    try:
        made = transfer(
            engine,
            reference=files[0] if files else None,
            name=name or (out.name.removesuffix(".json") if out else None),
            store=store,
            depth=depth,
            turns=turns,
            policy=policy_of(policy),
            workers=workers,
            seed=seed,
            quiet=is_quiet(),
            told=told,
        )
    except KeyboardInterrupt:
        say("\nWhat was finished is stored. Run the same command again to go on.", err=True)
        raise
    place = made.save(out)
    print_answer(made)
    say(f"Written to {place}.", err=True)


@click.group(cls=click.Group)
def calibration() -> None:
    """Show calibrations: how an average error becomes Elo.

    \b
    Examples:
      assay calibration list
      assay calibration show --depth 8
    """


@calibration.command("show", cls=Command)
@click.argument("name", required=False)
@depth_options
@plots_option
@table_options
def calibration_show(name: str | None, depth: int | None, plots: Path | None) -> None:
    """Print a calibration: its marks, its line, and what identifies it.

    NAME is one that comes with Assay or the path of a file; without it, the default. 'rybka-3-d13' is the published
    calibration of Regan and Haworth (2011), for reading the papers and for 'assay ipr --reference'.

    \b
    Examples:
      assay calibration show
      assay calibration show --depth 8 --plots out
      assay calibration show rybka-3-d13
      assay calibration list
    """
    from assay import calibration as look_up

    answer = look_up(name, depth=depth)
    print_answer(answer)
    draw_plots(answer, plots)


@calibration.command("list", cls=Command)
@table_options
def calibration_list() -> None:
    """List the calibrations that come with Assay.

    \b
    Examples:
      assay calibration list
      assay calibration list --format json
    """
    from assay import calibrations

    print_answer(calibrations())


@click.command(cls=Command)
@click.option("--elo", "elos", type=float, multiple=True, help="A player of this rating; once for each player.")
@click.option("--s", "all_s", type=float, multiple=True, help="A player of this sensitivity ...")
@click.option("--c", "all_c", type=float, multiple=True, help="... and this consistency; once for each player.")
@click.option("--games", type=click.IntRange(1), default=10, show_default=True, help="Games in all, each pair in turn.")
@out_option.but(metavar="F.pgn")
@click.option(
    "--assist", "assists", multiple=True, metavar="NAME:SHARE[:FROM_MOVE]", help="Help a player on a share of moves."
)
@click.option("--name", "names", multiple=True, help="Name of a player, in order.  [default: Player 1, Player 2, ...]")
@engine_option
@depth_options
@_lines_option.but(default=50, show_default=True)
@calibration_option
@policy_option
@click.option("--event", default="Simulated tournament", show_default=True, help="Name of the event.")
@seed_option
@workers_option
@store_option.but(help="Keep the analyses in this store.")
def simulate(
    elos: Sequence[float],
    all_s: Sequence[float],
    all_c: Sequence[float],
    out: Path,
    assists: Sequence[str],
    engines: Sequence[str],
    policy: str,
    **options: Any,
) -> None:
    """Play a tournament among agents: games whose players are known exactly.

    An agent chooses each move with the chances of the choice model for its rating, or of Regan's for its s and c, on
    what an engine says of the position. --assist lets a player follow the engine on a share of the moves, from a move
    on. The truth (players, help, which plies were helped) is written beside the games, to F.manifest.json.

    A game costs about as much as its analysis: an eighth of a second a move at depth 8. With --store the analyses are
    kept, so that rating the games later costs nothing.

    \b
    Examples:
      assay simulate --elo 2400 --elo 2200 --games 10 -o games.pgn
      assay simulate --elo 2000 --elo 2000 --elo 2000 --games 12 --assist 'Player 3:0.3:12' -o helped.pgn
      assay simulate --s 0.1 --c 0.5 --s 0.2 --c 0.45 --games 4 --depth 6 -o fast.pgn
    """
    from assay import simulate as play

    if len(all_s) != len(all_c) or bool(elos) == bool(all_s):
        raise click.UsageError("give --elo for each player, or --s and --c for each.")
    answer = play(
        out,
        elo=elos,
        s=all_s,
        c=all_c,
        assist=assists,
        engine=one_engine(engines),
        policy=policy_of(policy),
        quiet=is_quiet(),
        **options,
    )
    tell(answer.remarks)
