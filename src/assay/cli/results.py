"""`assay results`: Ordo's switches and what goes beyond them."""

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay import __version__
from assay.cli.common import Command, format_option
from assay.errors import AssayWarning, OutputError, RatingError

if TYPE_CHECKING:
    from assay.cli.resultfiles import Results
    from assay.results import Ratings
    from assay.results.listing import Errors, Listing, Style

F = TypeVar("F", bound=Callable[..., Any])
FILE = click.Path(dir_okay=False)
MOST_COLUMN = 14
LICENSE = """Assay is free software: you can redistribute it and/or modify it under the terms of the GNU General
Public License, version 3 or (at your option) any later version, as published by the Free Software Foundation. It
comes WITHOUT ANY WARRANTY. Its switches and layouts follow those of Ordo by Miguel A. Ballicora; no code of Ordo is
part of it."""


class Switches(Command):
    """A command whose help can also be shown as its switches alone."""

    def format_switches(self, ctx: click.Context) -> str:
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        self.format_options(ctx, formatter)
        return formatter.getvalue().rstrip("\n")


def options(*decorators: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in this order."""

    def apply(function: F) -> F:
        for decorator in reversed(decorators):
            function = decorator(function)
        return function

    return apply


def flag(*names: str, text: str) -> Callable[[F], F]:
    return click.option(*names, is_flag=True, help=text)


input_options = options(
    click.argument("files", nargs=-1, metavar="[FILE]..."),
    click.option("-p", "--pgn", type=str, metavar="FILE", help="Input file."),
    click.option("-P", "--pgn-list", type=str, metavar="FILE", help="Text file with the names of input files."),
    click.option("-Y", "--synonyms", "--aliases", type=str, metavar="FILE",
                 help='Rows of main,synonym,...: the games of all are those of the first.'),
    click.option("-i", "--include", type=str, metavar="FILE", help="Only games between players named in FILE."),
    click.option("-x", "--exclude", type=str, metavar="FILE", help="No games of players named in FILE."),
    flag("--no-warnings", text="No warnings about names of -x or -i that have no games."),
    flag("--strict", text="Stop if a game cannot be read, instead of counting it."),
)  # fmt: skip


@click.command(cls=Switches, add_help_option=False)
@options(
    flag("-h", "--help", text="Print this help and exit."),
    flag("-H", "--show-switches", text="Print the switches alone and exit."),
    flag("-v", "--version", text="Print the version and exit."),
    flag("-L", "--license", text="Print the license and exit."),
    flag("-q", "--quiet", "--silent", text="No progress and no summary."),
    flag("-Q", "--terse", text="As -q, but count the simulations."),
    flag("--timelog", text="Tell the time that each step took (on stderr)."),
    click.option("-a", "--average", type=float, metavar="NUM", help="Average of the pool.  [default: 2300]"),
    click.option("-A", "--anchor", type=str, metavar="PLAYER", help="This player has the rating given by -a."),
    flag("-V", "--pool-relative", text="Errors relative to the pool, not to the anchor."),
    click.option("-m", "--multi-anchors", type=str, metavar="FILE", help='Rows of "Player",rating: held exactly.'),
    click.option("-y", "--loose-anchors", type=str, metavar="FILE", help='Rows of "Player",rating,uncertainty.'),
    click.option(
        "-r",
        "--relations",
        type=str,
        metavar="FILE",
        help='Rows of "PlayerA","PlayerB",difference,uncertainty; B is the older version of A.',
    ),
    flag("-R", "--remove-older", text="Do not list the older versions of -r."),
    click.option("-w", "--white", type=float, metavar="NUM", help="White advantage.  [default: 0]"),
    click.option("-u", "--white-error", type=float, metavar="NUM", help="Uncertainty of -w: it is then fitted too."),
    flag("-W", "--white-auto", text="Fit the white advantage."),
    click.option("-d", "--draw", type=float, metavar="NUM", help="Draw rate between equals in %.  [default: 50]"),
    click.option("-k", "--draw-error", type=float, metavar="NUM", help="Uncertainty of -d: it is then fitted too."),
    flag("-D", "--draw-auto", text="Fit the draw rate."),
    click.option("-z", "--scale", type=float, metavar="NUM", help="Difference that scores 76 %.  [default: 202]"),
    flag("-T", "--table", text="Print the differences for scores from 50 to 99 % and exit."),
)
@input_options
@options(
    click.option("-o", "--output", type=FILE, metavar="FILE", help="Write the table here instead of to the screen."),
    click.option("-c", "--csv", type=FILE, metavar="FILE", help="Write the list as comma-separated values."),
    flag("-E", "--elostat", text="Write rating.dat, programs.dat and general.dat, as Elostat does."),
    click.option("-j", "--head2head", type=FILE, metavar="FILE", help="Write the results against each opponent."),
    click.option("-g", "--groups", type=FILE, metavar="FILE",
                 help="Write which players games connect, and stop there."),
    flag("-G", "--force", text="No warnings about groups and perfect scores."),
    click.option("-s", "--simulations", type=click.IntRange(0), metavar="NUM",
                 help="Errors from NUM simulations, the same as Ordo's."),
    click.option("-e", "--error-matrix", type=FILE, metavar="FILE", help="Write the errors of all differences."),
    click.option("-C", "--cfs-matrix", type=FILE, metavar="FILE",
                 help="Write the confidence of superiority for all pairs."),
    flag("-J", "--cfs-show", text="A column with the confidence of superiority over the next."),
    click.option("-F", "--confidence", type=float, default=95.0, metavar="NUM",
                 help="Confidence of the errors in %.  [default: 95]"),
    flag("-X", "--ignore-draws", text="Leave out draws."),
    click.option("-t", "--threshold", type=click.IntRange(0), default=0, metavar="NUM",
                 help="List only players with that many games."),
    click.option("-N", "--decimals", type=str, metavar="A[,B]", help="Decimals of ratings, and of scores."),
    flag("-M", "--ML", "ml", text="Fit the likelihood of wins, draws and losses instead of the points."),
    click.option("-n", "--cpus", type=click.IntRange(1), default=1, metavar="NUM",
                 help="Taken for Ordo's sake: one processor is enough here."),
    click.option("-U", "--columns", type=str, metavar="A,..,Z",
                 help="Columns 0-14 in this order.  [default: 0,1,2,3,4,5]"),
    click.option("-b", "--column-format", type=str, metavar="FILE", help='Rows of column,width,"Header".'),
)  # fmt: skip
@options(
    click.option("--errors/--no-errors", default=None,
                 help="Show errors without simulations; the default unless the input is given by -p or -P."),
    flag("--pairs", text="Errors from game pairs: same players and opening, colours reversed."),
    flag("--los", text="Print the matrix of the likelihood of superiority."),
    click.option("--prior", type=float, metavar="ELO", help="Everybody is within ELO of the average, for few games."),
    click.option("--start", type=str, metavar="FILE", help="Start from the ratings of an earlier list (CSV)."),
    flag("--scale-logistic", text="The logistic scale with 400 points in it (-z 200.24)."),
)  # fmt: skip
@format_option
@click.pass_context
def results(ctx: click.Context, /, **switches: Any) -> None:
    """Rate players from the results of their games: all of Ordo, and more.

    FILE is PGN, also as .zst or .gz, "-" for stdin, or an index made by 'assay index'. The switches are those of
    Ordo 1.2.6, short or long, and mean the same. Input given Ordo's way (-p, -P) is printed Ordo's way, summary and
    all; input given as plain arguments prints the list alone, with errors.

    Every player gets a rating or a reason. Perfect scores (marked > and <) stand where their result has an even
    chance; players that no games connect are rated in pools of their own, and a warning says so. Games that cannot be
    read are counted by reason and left out.

    \b
    Examples:
      assay results games.pgn                          white advantage 0, draw rate 50 %
      assay results -W -D games.pgn.zst                fit both
      assay results -q -a 2800 -A "Stockfish 16" -W -D -s 1000 -p games.pgn -o list.txt -c list.csv
      assay results -W -D --pairs --format json match.pgn
      assay results -m anchors.csv -J -C cfs.csv games.parquet
    """
    if switches["help"]:
        click.echo(ctx.get_help())
    elif switches["show_switches"]:
        click.echo(Switches.format_switches(ctx.command, ctx))  # type: ignore[arg-type]
    elif switches["version"] or switches["license"]:
        click.echo(f"assay results {__version__} (switches of ordo 1.2.6)")
        if switches["license"]:
            click.echo(LICENSE)
    elif switches["table"]:
        from assay.results.ordo import expectancy_table

        click.echo(expectancy_table(_scale(switches)), nl=False)
    else:
        _light_start()
        _run(switches)


def _light_start() -> None:
    """One thread for the linear algebra: the matrices are small, and idle threads cost processor time."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")


class _Clock:
    """Tells how long each step took."""

    def __init__(self, shown: bool) -> None:
        self._shown, self._last = shown, time.perf_counter()

    def tell(self, step: str) -> None:
        now = time.perf_counter()
        if self._shown:
            click.echo(f"{now - self._last:8.3f} s  {step}", err=True)
        self._last = now


def _run(switches: dict[str, Any]) -> None:
    _check(switches)
    clock = _Clock(switches["timelog"])
    ordo_way = switches["pgn"] is not None or switches["pgn_list"] is not None
    talk = _talker(ordo_way and not (switches["quiet"] or switches["terse"]) and switches["format"] == "table")
    found = read_input(switches, talk, openings=switches["pairs"])
    table = found.table()
    clock.tell("read")
    if not len(table.white):
        raise RatingError("the input contains no games to rate." + _why_none(found))
    _summary(talk, found, table, switches)
    if switches["groups"]:
        _write_groups(talk, found, table, switches["groups"])
        return
    ratings = _rate(found, table, switches)
    clock.tell("rate")
    _tell_fit(talk, ratings)
    _warn(found, ratings, switches, ordo_way)
    listing = _listing(ratings, found, switches, ordo_way)
    clock.tell("errors")
    _output(talk, listing, found, switches)
    clock.tell("write")
    talk("\ndone!")


def _talker(loud: bool) -> Callable[[str], None]:
    return click.echo if loud else lambda text: None


CONTRADICTIONS = (
    (("multi_anchors", "average"), "-m and -a both set the level: leave out one of them."),
    (("multi_anchors", "anchor"), "-m and -A both set the level: leave out one of them."),
    (("loose_anchors", "average"), "-y and -a both set the level: leave out one of them."),
    (("white_auto", "white"), "-W fits the white advantage, -w gives it: leave out one of them."),
    (("white_auto", "white_error"), "-W fits the white advantage freely, -u about a value: leave out one of them."),
    (("draw_auto", "draw"), "-D fits the draw rate, -d gives it: leave out one of them."),
    (("draw_auto", "draw_error"), "-D fits the draw rate freely, -k about a value: leave out one of them."),
    (("groups", "force"), "-g reports the groups that -G ignores: leave out one of them."),
    (("include", "exclude"), "-i and -x cannot be used together: leave out one of them."),
    (("scale", "scale_logistic"), "-z and --scale-logistic both set the scale: leave out one of them."),
    (("pairs", "simulations"), "--pairs gives errors without simulations: leave out -s."),
    (("quiet", "terse"), "-q and -Q contradict each other: leave out one of them."),
)  # fmt: skip


def _check(switches: Mapping[str, Any]) -> None:
    for names, sentence in CONTRADICTIONS:
        if all(switches[name] not in (None, False) for name in names):
            raise RatingError(sentence)
    if not 50.001 <= switches["confidence"] <= 99.999:
        raise RatingError(f"a confidence of {switches['confidence']:g} % is not between 50.001 and 99.999.")
    if switches["draw"] is not None and not 0.0 <= switches["draw"] <= 99.9:
        raise RatingError(f"a draw rate of {switches['draw']:g} % is not between 0 and 99.9.")
    if not (switches["files"] or switches["pgn"] or switches["pgn_list"]):
        raise RatingError("there is no input: name a file of games ('assay results -h' tells more).")
    for name in ("output", "csv", "head2head", "groups", "error_matrix", "cfs_matrix"):
        if switches[name] is not None and not Path(switches[name]).parent.is_dir():
            raise OutputError(f"cannot write {switches[name]}: there is no such folder.")


def read_input(switches: Mapping[str, Any], talk: Callable[[str], None], *, openings: bool = False) -> Results:
    """The games that the input switches name and let in."""
    from assay.cli.resultfiles import read_list, read_results, read_synonyms

    paths = [switches["pgn"]] if switches["pgn"] else []
    paths += read_list(switches["pgn_list"]) if switches["pgn_list"] else []
    paths += switches["files"]
    for path in paths:
        talk(f"\nFile: {path}\nLoading data (2000 games x dot): \n\n|")
    talk("")
    synonyms = read_synonyms(switches["synonyms"])
    found = read_results(
        paths,
        synonyms=synonyms,
        openings=openings,
        strict=switches["strict"],
        quiet=bool(switches.get("quiet") or switches.get("terse")),
    )
    for switch, inside in (("include", True), ("exclude", False)):
        if switches[switch]:
            found = _keep_named(found, switches[switch], inside, synonyms, warn=not switches["no_warnings"])
    return _without_draws(found) if switches.get("ignore_draws") else found


def _keep_named(found: Results, path: str, inside: bool, synonyms: Mapping[str, str], *, warn: bool) -> Results:
    """Only games between the players named in a file, or only games between all others."""
    from dataclasses import replace

    import numpy as np

    from assay.cli.resultfiles import read_rows

    index = {name: i for i, name in enumerate(found.players)}
    named = np.zeros(len(found.players) + 1, np.bool_)
    for line, cells in read_rows(path, 1):
        name = synonyms.get(cells[0], cells[0])
        if name in index:
            named[index[name]] = True
        elif warn:
            warnings.warn(f'{path}, line {line}: no games of "{cells[0]}".', AssayWarning, stacklevel=2)
    let_in = named if inside else ~named
    return replace(
        found, outcome=np.where(let_in[found.white] & let_in[found.black], found.outcome, -3).astype(np.int8)
    )


def _without_draws(found: Results) -> Results:
    from dataclasses import replace

    import numpy as np

    from assay.results.table import DRAW

    return replace(found, outcome=np.where(found.outcome == DRAW, -3, found.outcome).astype(np.int8))


def _why_none(found: Results) -> str:
    from assay.cli.resultfiles import describe

    reasons = dict(found.skipped)
    if found.unfinished:
        reasons['without a result ("*")'] = found.unfinished
    return f" Left out: {describe(reasons)}." if reasons else ""


def _summary(talk: Callable[[str], None], found: Results, table: Any, switches: Mapping[str, Any]) -> None:
    wins, draws, losses = (int(counts.sum()) for counts in (table.wins, table.draws, table.losses))
    counted = wins + draws + losses
    talk(
        f"Total games            {len(found.outcome):8}\n"
        f" - White wins          {wins:8}\n"
        f" - Draws               {draws:8}\n"
        f" - Black wins          {losses:8}\n"
        f" - Truncated/Discarded {len(found.outcome) - counted:8}\n"
        f"Unique head to head    {100.0 * len(table.white) / counted:8.2f}%"
    )
    average = 2300.0 if switches["average"] is None else switches["average"]
    if switches["anchor"] is not None:
        talk(f'Reference rating    {average:8.1f} (set to "{switches["anchor"]}")')
    elif switches["loose_anchors"] or switches["multi_anchors"]:
        talk("Reference rating     --> not fixed, determined by anchors")
    else:
        talk(f"Reference rating    {average:8.1f} (average of the pool)")
    for title, switch in (("\nLoose Anchors", "loose_anchors"), ("Relative Anchors", "relations")):
        talk(f"{title} = {switches[switch] or 'none'}")
    talk("\n")


def _write_groups(talk: Callable[[str], None], found: Results, table: Any, path: str) -> None:
    import numpy as np

    from assay.results.ordo import group_report
    from assay.results.table import connect

    groups = connect(table)
    _write(path, group_report(found.players, table, groups))
    within = int(np.count_nonzero(groups.label[table.white] == groups.label[table.black]))
    total = len(table.white)
    talk(f"Groups={groups.count}")
    talk(f"Encounters: Total={total}, within groups={within}, @ interface between groups={total - within}")


def _scale(switches: Mapping[str, Any]) -> float:
    from assay.results.model import LOGISTIC_SCALE, SCALE

    if switches["scale_logistic"]:
        return LOGISTIC_SCALE
    return SCALE if switches["scale"] is None else float(switches["scale"])


def _rate(found: Results, table: Any, switches: Mapping[str, Any]) -> Ratings:
    from assay.cli.resultfiles import number, read_rows, read_start, read_synonyms
    from assay.results import rate_table
    from assay.results.gamepairs import count_pairs

    synonyms = read_synonyms(switches["synonyms"])
    present = {name for name, played in zip(found.players, table.played.tolist(), strict=True) if played}

    def player(name: str, where: str) -> str:
        main = synonyms.get(name, name)
        if main not in present:
            raise RatingError(f'{where}: no games of "{name}"; check spelling, capitals and spaces.')
        return main

    def rows(switch: str, names: int, numbers: int) -> list[tuple[Any, ...]]:
        path = switches[switch]
        return [] if path is None else [
            (
                *(player(cell, f"{path}, line {line}") for cell in cells[:names]),
                *(number(path, line, cell) for cell in cells[names : names + numbers]),
            )
            for line, cells in read_rows(path, names + numbers)
        ]  # fmt: skip

    average = 2300.0 if switches["average"] is None else float(switches["average"])
    anchors = dict(rows("multi_anchors", 1, 1))
    if switches["anchor"] is not None:
        anchors[player(switches["anchor"], "-A")] = average
    pairs = None
    if found.openings is not None:
        use = found.counted
        score = found.outcome[use] / 2.0
        pairs = count_pairs(found.white[use], found.black[use], score, found.openings[use])
        if not len(pairs.first):
            raise RatingError("--pairs found no two games of the same players and opening with the colours reversed.")
    return rate_table(
        found.players,
        table,
        average=average,
        white_advantage="fit" if switches["white_auto"] else (switches["white"] or 0.0),
        white_advantage_error=switches["white_error"] or 0.0,
        draw_rate="fit" if switches["draw_auto"] else (50.0 if switches["draw"] is None else switches["draw"]) / 100.0,
        draw_rate_error=(switches["draw_error"] or 0.0) / 100.0,
        anchors=anchors,
        priors={name: (value, error) for name, value, error in rows("loose_anchors", 1, 2)},
        relations=rows("relations", 2, 2),
        prior=switches["prior"],
        likelihood=switches["ml"],
        scale=_scale(switches),
        start=read_start(switches["start"]),
        errors_from="pool" if switches["pool_relative"] else "anchor",
        pairs=pairs,
        skipped=found.skipped,
    )


def _tell_fit(talk: Callable[[str], None], ratings: Ratings) -> None:
    import numpy as np

    from assay.results.place import UNPLAYED

    played, points = ratings.played, ratings.points
    perfect = played > 0
    talk(f"players with no games = {int(np.count_nonzero(ratings.status == UNPLAYED))}")
    talk(f"players with all wins = {int(np.count_nonzero(perfect & (points == played)))}")
    talk(f"players w/ all losses = {int(np.count_nonzero(perfect & (points == 0)))}")
    talk("\nConvergence rating calculation (Newton's method)\n\n step      largest change")
    for step, change in enumerate(ratings.fit.solution.trace, 1):
        talk(f"{step:5} {change:19.9f}")
    talk(
        f"done\n\nWhite Advantage = {ratings.white_advantage:.1f}\nDraw Rate (eq.) = {100 * ratings.draw_rate:.1f} %\n"
    )


def _warn(found: Results, ratings: Ratings, switches: Mapping[str, Any], ordo_way: bool) -> None:
    import numpy as np

    from assay.cli.resultfiles import describe
    from assay.results.place import ABOVE, BELOW

    reasons = dict(found.skipped)
    if found.unfinished and not ordo_way:
        reasons['without a result ("*")'] = found.unfinished
    if reasons:
        warnings.warn(f"left out: {describe(reasons)}.", AssayWarning, stacklevel=2)
    if switches["force"]:
        return
    pools = len(np.unique(ratings.pool[ratings.pool >= 0]))
    if pools > 1:
        sentence = (
            f"no games connect {pools:,} pools of players; ratings compare only within a pool ('-g FILE' lists them)."
        )
        warnings.warn(sentence, AssayWarning, stacklevel=2)
    placed = int(np.count_nonzero((ratings.status == ABOVE) | (ratings.status == BELOW)))
    if placed:
        sentence = (
            f"{placed:,} players have only wins or only losses against the rest; their ratings (> and <) are bounds."
        )
        warnings.warn(sentence, AssayWarning, stacklevel=2)


def _errors(ratings: Ratings, switches: Mapping[str, Any], ordo_way: bool) -> Errors | None:
    from assay.progress import Progress
    from assay.results.listing import Errors

    runs = switches["simulations"]
    if runs is not None and runs > 1:
        with Progress("simulations", runs, quiet=switches["quiet"]) as progress:
            simulation = ratings.simulate(runs, advance=progress.advance)
        if simulation.redrawn:
            warnings.warn(
                f"{simulation.redrawn:,} simulations fell apart into groups and were drawn again.",
                AssayWarning,
                stacklevel=2,
            )
        return Errors(
            simulation.deviation,
            simulation.difference_deviation,
            simulation.white_deviation,
            simulation.draws_deviation,
        )
    asked = any(switches[name] for name in ("error_matrix", "cfs_matrix", "cfs_show", "los", "pairs"))
    wanted = switches["errors"]
    if wanted is None:
        wanted = asked or not ordo_way or switches["format"] == "json"
    if not wanted:
        return None
    return Errors(ratings.deviation, ratings.difference_deviation, ratings.white_deviation, ratings.draws_deviation)


def _listing(ratings: Ratings, found: Results, switches: Mapping[str, Any], ordo_way: bool) -> Listing:
    from assay.cli.resultfiles import read_rows, read_synonyms
    from assay.results.listing import Listing

    older: frozenset[int] = frozenset()
    if switches["relations"]:
        synonyms = read_synonyms(switches["synonyms"])
        index = {name: i for i, name in enumerate(found.players)}
        rows = read_rows(switches["relations"], 2)
        older = frozenset(index[synonyms.get(cells[1], cells[1])] for _, cells in rows)
    listing = Listing(
        ratings,
        _errors(ratings, switches, ordo_way),
        _style(switches, ordo_way),
        switches["threshold"],
        older,
        switches["remove_older"],
    )
    if not len(listing.players):
        raise RatingError(
            f"no player has {switches['threshold']:,} games (-t): the most are {int(ratings.played.max()):,}."
        )
    return listing


def _style(switches: Mapping[str, Any], ordo_way: bool) -> Style:
    from assay.cli.resultfiles import number, read_rows
    from assay.results.listing import DEFAULT_COLUMNS, Style
    from assay.results.rate import confidence_factor

    decimals = _whole_numbers("-N", switches["decimals"], 9) or [1, 0]
    if len(decimals) > 2:
        raise RatingError("-N takes one or two numbers: decimals of ratings, and of scores.")
    headers, widths = {}, {}
    if switches["column_format"]:
        for line, cells in read_rows(switches["column_format"], 3):
            column = int(number(switches["column_format"], line, cells[0]))
            if not 0 <= column <= MOST_COLUMN:
                raise RatingError(f"{switches['column_format']}, line {line}: there is no column {column} (0-14).")
            widths[column] = int(number(switches["column_format"], line, cells[1]))
            headers[column] = cells[2]
    return Style(
        columns=_whole_numbers("-U", switches["columns"], MOST_COLUMN) or DEFAULT_COLUMNS,
        headers=headers,
        widths=widths,
        decimals=decimals[0],
        # The program prints one decimal where -N names only those of the ratings.
        score_decimals=decimals[1] if len(decimals) > 1 else 1,
        factor=confidence_factor(switches["confidence"] / 100.0),
        cfs=switches["cfs_show"],
        bytes_wide=ordo_way,
    )


def _whole_numbers(switch: str, text: str | None, most: int) -> list[int]:
    if text is None:
        return []
    try:
        values = [int(part) for part in text.split(",")]
    except ValueError:
        raise RatingError(f'{switch} takes whole numbers with commas between them, not "{text}".') from None
    if wrong := [value for value in values if not 0 <= value <= most]:
        raise RatingError(f"{switch} takes numbers from 0 to {most}, not {wrong[0]}.")
    return values


def _output(talk: Callable[[str], None], listing: Listing, found: Results, switches: Mapping[str, Any]) -> None:
    """Make all texts first, then write: what fails leaves no half of the files."""
    from assay.results import matches, ordo

    makers: Sequence[tuple[str, Callable[[Listing], str]]] = (
        ("output", ordo.text_table),
        ("csv", ordo.csv_table),
        ("head2head", matches.head_to_head),
        ("error_matrix", ordo.error_matrix),
        ("cfs_matrix", ordo.superiority_matrix),
    )
    texts = {switches[name]: make(listing) for name, make in makers if switches[name]}
    if switches["elostat"]:
        texts |= matches.elostat(listing, found.unfinished)
    if not switches["output"]:
        if switches["format"] == "json":
            click.echo(_json(listing, found, switches))
        elif switches["format"] == "csv":
            click.echo(ordo.csv_table(listing), nl=False)
        else:
            click.echo(ordo.text_table(listing), nl=False)
            if switches["los"]:
                click.echo(ordo.superiority_text(listing), nl=False)
    for path, text in texts.items():
        _write(path, text)
    if switches["elostat"]:
        talk(
            "\nOutput (Elostat format):\ngeneral file = general.dat\n"
            "rating file = rating.dat\nprograms file = programs.dat"
        )


def _write(path: str, text: str) -> None:
    from assay.paths import atomic

    with atomic(path) as part:
        # Names that were no UTF-8 come out as they came in.
        part.write_bytes(text.encode("utf-8", "surrogateescape"))


def _json(listing: Listing, found: Results, switches: Mapping[str, Any]) -> str:
    import json

    from assay.results.ordo import listing_data

    data = listing_data(listing, superiority=switches["los"])
    data["games"] = {
        "read": len(found.outcome),
        "counted": int(found.counted.sum()),
        "unfinished": found.unfinished,
        "skipped": dict(found.skipped),
    }
    return json.dumps(data, ensure_ascii=False, indent=1)
