"""The commands of the model of a fallible player: fit, difference, show, calibrate, calibration, simulate."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    FILE,
    REGAN,
    Command,
    OneOf,
    Shared,
    calibration_option,
    cap_option,
    depth_option,
    each_once,
    engine_option,
    files_argument,
    from_move_option,
    game_option,
    is_quiet,
    keep_duplicates_option,
    one_engine,
    out_option,
    plots_option,
    policy_of,
    policy_option,
    print_answer,
    regan_options,
    say,
    seed_option,
    stacked,
    store_option,
    table_options,
    tell_turns,
    where_option,
    workers_option,
)
from assay.paths import default_store
from assay.table import Answer, Column, Table, columns_of, counted, reasons, there_are

if TYPE_CHECKING:
    from assay.engine.turns import Turns
    from assay.games import Game
    from assay.moves.simulation import Entrant


DEPTH = 8
FIT_GROUPS = ("all", "milepost", "player", "event", "year", "period", "speed", "color", "phase")
DIFFERENCE_GROUPS = ("player", "event", "evaluation", "all", "game", "year", "color", "phase")


_turns_options = stacked(
    where_option,
    store_option,
    depth_option,
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


def _turns(
    games: Sequence[Game],
    store: Path | None,
    depth: int | None,
    engines: Sequence[str],
    from_move: int,
    limit: float,
    lines: int | None = None,
) -> Turns:
    """The turns of the games in the store, with what was left out told on stderr."""
    from assay.engine.store import Store
    from assay.engine.turns import turns

    depth = depth or DEPTH
    with Store(store or default_store()) as opened:
        names = list(engines) or None
        found = turns(games, opened, depth=depth, engine=names, from_move=from_move, limit=limit, lines=lines)
    who = " and ".join(str(identity) for identity in found.identities)
    tell_turns(found, Counter(), f"Analysed by {who}, depth {depth}.")
    return found


def _read(files: Sequence[str], where: str | None) -> list[Game]:
    from assay.games.source import read

    given = read(files, where=where)
    games = given.all()
    if given.problems:
        say(f"Damage in the files: {reasons(given.problems)}.", err=True)
    return games


@click.command(cls=Command)
@files_argument
@_turns_options
@click.option(
    "--by", type=click.Choice(FIT_GROUPS), default="all", show_default=True, help="One row for each of these."
)
@_within_option.but(default=10)
@regan_options
@click.option(
    "--method",
    type=OneOf("assay.moves.regan.settings", "METHODS"),
    default="percentile",
    show_default=True,
    help="Way of fitting; percentile is the paper's, depths weighs what shallower searches see.",
)
@click.option("--fix-c", is_flag=True, help="Put c on the line through all groups and fit s alone.")
@click.option("--exclude-team", is_flag=True, help="Leave out team games, where the tags tell.")
@click.option(
    "--max-swiss",
    type=click.FloatRange(0, min_open=True),
    metavar="N",
    help="Leave out events with more players per round.",
)
@click.option("--append", type=FILE, metavar="F.csv", help="Add the rows to this CSV.")
@plots_option
@keep_duplicates_option
@table_options
def fit(
    files: Sequence[str],
    where: str | None,
    by: str,
    within: float,
    method: str,
    fix_c: bool,
    exclude_team: bool,
    max_swiss: float | None,
    append: Path | None,
    plots: Path | None,
    keep_duplicates: bool,
    **options: Any,
) -> None:
    """Fit the model of a fallible player to games: sensitivity s and consistency c (Regan & Haworth 2011).

    The games must be analysed first ('assay analyse'). A row per group: average Elo, s and c fitted together, c_fit (c
    on the line through all groups) and s_fit (s fitted with c there), the share of first-choice matches (mm) and the
    average scaled error (ad), projected and actual, Qfit (10^4 times the mean squared difference of rank frequencies),
    turns, games, and standard errors clustered by game.

    --by milepost takes the games whose players are both within --within points of the same century mark.

    --method depths lets a move tempt by what every second depth sees of it: weights over depths are fitted for each
    group, s and c with them as in the papers. The row shows the weights, and by how much ln p of a move rises in games
    that the fit has not seen (gain).

    \b
    Examples:
      assay fit games.pgn --store games.db
      assay fit games.pgn --store games.db --method depths
      assay fit games.pgn.zst --store games.db --by milepost --within 10 --plots plots
      assay fit wch.pgn --by player --method equations --fix-c
      assay fit 2013.pgn --append fits.csv
    """
    from assay.moves.fits import COLUMNS, DEPTH_COLUMNS, Fitting, append_rows, fit_table
    from assay.moves.groups import without_crowds, without_teams

    games = each_once(_read(files, where), keep_duplicates)
    for wanted, keep, what, of_what in (
        (exclude_team, without_teams, "team game", ""),
        (max_swiss is not None, lambda some: without_crowds(some, max_swiss or 0), "game", " of crowded events"),
    ):
        if wanted:
            kept = keep(games)
            say(f"Left out: {counted(len(games) - len(kept), what)}{of_what}.", err=True)
            games = kept
    how = Fitting(method=method, **{name: options.pop(name) for name in REGAN})  # type: ignore[arg-type]
    turns = _turns(games, **options)
    rows = fit_table(turns, by, how, within=within)
    values = [{by: row.label, **row.values(fix_c)} for row in rows]
    columns = [by, *(name for name in COLUMNS if name != "note" or any(row.note for row in rows))]
    columns += DEPTH_COLUMNS if any(row.weighed for row in rows) else ()
    decimals = dict.fromkeys(("s", "c", "c_fit", "s_fit", "mm_predicted", "mm_actual", "ad_predicted", "ad_actual"), 3)
    decimals |= dict.fromkeys(("s_error", "c_error", "s_fit_error", "qfit", "gain", "gain_error"), 4) | {"elo": 0}
    wide = ("c_fit", "s_fit", "s_error", "c_error", "s_fit_error", "qfit", "elsewhere", "gain_error")
    titles = {"mm_predicted": "mm_exp", "mm_actual": "mm", "ad_predicted": "ad_exp", "ad_actual": "ad"}
    print_answer(
        Answer(
            shown=Table(
                values, columns_of(columns, decimals=decimals, titles=titles, wide=wide, below=("note", "weights"))
            )
        )
    )
    if append is not None:
        count = append_rows(append, ", ".join(Path(file).name for file in files), rows, fix_c)
        say(f"Added {counted(count, 'row')} to {append}.", err=True)
    if plots is not None:
        from assay.reports.plots import plot_fits

        for path in plot_fits(turns, rows, how, plots):
            say(f"Written: {path}", err=True)


@click.command(cls=Command)
@files_argument
@_turns_options
@click.option(
    "--by", type=click.Choice(DIFFERENCE_GROUPS), default="player", show_default=True, help="One row for each of these."
)
@cap_option
@_lines_option
@keep_duplicates_option
@table_options
def difference(
    files: Sequence[str],
    where: str | None,
    by: str,
    cap: float,
    lines: int | None,
    keep_duplicates: bool,
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

    games = each_once(_read(files, where), keep_duplicates)
    rows = difference_table(_turns(games, lines=lines, **turns_options), by, cap=cap)
    decimals = dict.fromkeys(("raw", "raw_error", "scaled", "scaled_error"), 4) | {"elo": 0}
    print_answer(Answer(shown=Table(rows, columns_of((by, *DIFFERENCE_COLUMNS), decimals=decimals))))


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
@table_options
def show(
    files: Sequence[str],
    where: str | None,
    number: int,
    candidates: int,
    elo: float | None,
    s: float | None,
    c: float | None,
    calibration: str | None,
    policy: str,
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
    from assay.moves.calibration import for_engine, load
    from assay.moves.evidence import weigh
    from assay.moves.review import chances_at, chances_of, show_turns
    from assay.reports.charts import said_chance

    games = _read(files, where)
    if number > len(games):
        raise InputError(f"{there_are(len(games), 'game')} in these files, and no game {number}.")
    turns = _turns(games[number - 1 : number], **turns_options)
    if (s is None) != (c is None):
        raise click.UsageError("--s and --c go together.")
    if s is not None and c is not None:
        if elo is not None:
            raise click.UsageError("give either --elo, or --s and --c.")
        chances = chances_of(turns, s, c)
    else:
        asked = load(calibration, depth=turns.depth)
        judge = for_engine(turns.identities[0], asked.depth, asked if calibration else None)
        evidence = weigh(turns, judge, policy_of(policy))
        tags = np.where(np.isfinite(turns.rating), turns.rating, 2000.0)
        chances = chances_at(evidence, tags if elo is None else np.full(len(turns), elo))
    rows = []
    for turn in show_turns(turns, chances, lines=candidates):
        spread = [f"{'*' if x.played else ''}{x.san} {x.value:+.2f} {said_chance(x.probability)}" for x in turn.spread]
        rows.append(
            {
                "move": turn.number,
                "played": turn.played,
                "engine": turn.spread[0].san,
                "evaluation": turn.value,
                "rank": turn.rank,
                "delta": turn.delta,
                "probability": turn.probability,
                "spread": ", ".join(spread),
            }
        )
    columns = (
        *columns_of(("move", "played", "engine", "evaluation", "rank"), titles={"evaluation": "eval"}),
        Column("delta", decimals=3),
        Column("probability", "prob", said=said_chance),
        Column("spread"),
    )
    print_answer(Answer(shown=Table(rows, columns)))


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
@depth_option
@click.option("--mileposts", callback=_marks, default="1600:2700:100", show_default=True, help="The marks.")
@_within_option.but(default=20)
@click.option(
    "--method",
    type=OneOf("assay.moves.regan.settings", "METHODS"),
    default="equations",
    show_default=True,
    help="How s and c are fitted at each mark, for Regan's way; with depths, ipr has that method, too.",
)
@regan_options
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

    --method, --model, --curve, --k, --cap, --tie and --scale are for Regan's part.

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
    from assay.api import calibrate as fit_models

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
    from assay.api import transfer
    from assay.errors import OutputError
    from assay.paths import own_calibrations

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
    place = out or own_calibrations() / f"{made.calibration.name}.json"
    if out is None:
        try:
            place.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {place.parent}: {error.strerror or error}.") from error
    made.save(place)
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
@depth_option
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
    from assay.moves.answers import calibrated
    from assay.moves.calibration import load

    found = load(name, depth=depth)
    print_answer(calibrated(found))
    if plots is not None:
        from assay.reports.plots import plot_calibration

        for path in plot_calibration(found, plots):
            say(f"Written: {path}", err=True)


@calibration.command("list", cls=Command)
@table_options
def calibration_list() -> None:
    """List the calibrations that come with Assay.

    \b
    Examples:
      assay calibration list
      assay calibration list --format json
    """
    from assay.moves.calibration import load, shipped

    rows = []
    for name in shipped():
        found = load(name)
        figures = found.figures.get("policy", found.figures.get("engine", {}))
        rows.append(
            {
                "name": name,
                "engine": found.engine,
                "depth": found.depth,
                "lines": found.lines,
                "games": found.games or None,
                "turns": found.turns or None,
                "noise": figures.get("noise"),
                "line": f"{found.line.intercept:.0f} - {found.line.slope:.0f} AE" if found.line else None,
            }
        )
    names = ("name", "engine", "depth", "lines", "games", "turns", "noise", "line")
    print_answer(Answer(shown=Table(rows, columns_of(names, decimals={"noise": 0}))))


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
@depth_option
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
    games: int,
    out: Path,
    assists: Sequence[str],
    names: Sequence[str],
    engines: Sequence[str],
    depth: int | None,
    lines: int,
    calibration: str | None,
    policy: str,
    event: str,
    seed: int,
    workers: int | None,
    store: Path | None,
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
    import os
    from contextlib import ExitStack

    from assay.engine.local import Engine
    from assay.engine.store import Writer, writing
    from assay.manifest import make, write
    from assay.moves.calibration import for_engine, load
    from assay.moves.simulation import choosing, tournament, truth
    from assay.paths import atomic
    from assay.progress import Progress

    depth, engine = depth or DEPTH, one_engine(engines)
    entrants = _entrants(elos, all_s, all_c, names, assists)
    model = None
    if elos:
        chosen = load(calibration, depth=depth)
        with Engine(engine) as started:
            judge = for_engine(started.identity(lines), depth, chosen if calibration else None)
        if judge.stand_in:
            say(judge.stand_in.remedy, err=True)
        model = choosing(judge, policy_of(policy))
    settings = {
        "engine": engine,
        "depth": depth,
        "lines": lines,
        "seed": seed,
        "calibration": calibration,
        "event": event,
    }
    played = []
    with ExitStack() as stack:
        keep = None
        if store is not None:
            opened = stack.enter_context(writing(store))
            with Engine(engine) as asked:
                number = opened.number_of(asked.identity(lines))
            keep = stack.enter_context(Writer(opened, number)).put
        progress = stack.enter_context(Progress("Playing", games, unit="games", quiet=is_quiet()))
        part = stack.enter_context(atomic(out))
        with part.open("w", encoding="utf-8") as file:
            for game in tournament(
                entrants, games, engine=engine, depth=depth, lines=lines, seed=seed,
                workers=workers or os.cpu_count() or 1, keep=keep, model=model,
            ):  # fmt: skip
                file.write(game.pgn(event) + "\n\n")
                played.append(game)
                progress.advance()
    manifest = make("simulated games", settings=settings) | {"truth": truth(entrants, played)}
    write(out.with_suffix(".manifest.json"), manifest)
    what = f"{counted(len(played), 'game')} written to {out}, the truth to {out.with_suffix('.manifest.json')}"
    say(f"{what}.", err=True)


def _entrants(
    elos: Sequence[float],
    all_s: Sequence[float],
    all_c: Sequence[float],
    names: Sequence[str],
    assists: Sequence[str],
) -> list[Entrant]:
    """The players that the options describe."""
    from assay.errors import InputError
    from assay.moves.simulation import Assist, Entrant

    if len(all_s) != len(all_c) or bool(elos) == bool(all_s):
        raise click.UsageError("give --elo for each player, or --s and --c for each.")
    pairs: list[tuple[float | None, float | None]] = list(zip(all_s, all_c, strict=True))
    pairs = pairs or [(None, None)] * len(elos)
    labels = [names[i] if i < len(names) else f"Player {i + 1}" for i in range(len(pairs))]
    helped = {assist.name: assist for assist in map(Assist.parse, assists)}
    if unknown := set(helped) - set(labels):
        raise InputError(f"nobody is called {sorted(unknown)[0]!r}: the players are {', '.join(labels)}.")
    ratings = [round(e) for e in elos] if elos else [None] * len(pairs)
    return [
        Entrant(label, s, c, rating, helped.get(label))
        for label, (s, c), rating in zip(labels, pairs, ratings, strict=True)
    ]
