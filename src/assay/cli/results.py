"""`assay results` and `assay prep`: the switches of Ordo and Ordoprep, and what goes beyond them."""

from __future__ import annotations

import math
import sys
import time
import warnings
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay import __version__
from assay.cli.options import (
    Command,
    OneOf,
    aliases_option,
    exclude_termination_option,
    format_option,
    keep_duplicates_option,
    player_option,
    print_answer,
    print_data,
    say,
    stacked,
    tell_duplicates,
    where_option,
    wide_option,
)
from assay.errors import AssayWarning, OutputError, RatingError
from assay.table import counted, described

if TYPE_CHECKING:
    from assay.games.outcomes import Outcomes
    from assay.results.listing import Listing, Style
    from assay.results.rated import RatingList
    from assay.results.timeline import Timeline


F = TypeVar("F", bound=Callable[..., Any])


class Number(click.FloatRange):
    """A number between two ends; infinity and "not a number" are none."""

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The number, or a sentence that says which numbers are taken."""
        found = click.FLOAT.convert(value, param, ctx)
        if not (math.isfinite(found) and (self.min or 0.0) <= found <= (self.max or 0.0)):
            self.fail(f"{value} is not a number between {self.min:g} and {self.max:g}.", param, ctx)
        return found


MOST_COLUMN = 14
WIDEST_COLUMN = 1000
# No list of ratings has numbers beyond these.
RATING, ERROR, SCALE = Number(-1e6, 1e6), Number(0, 1e5), Number(0.01, 1e6)
FILE = click.Path(dir_okay=False)
LICENSE = """Assay is free software: you can redistribute it and/or modify it under the terms of the GNU General
Public License, version 3 or (at your option) any later version, as published by the Free Software Foundation. It
comes WITHOUT ANY WARRANTY. Its switches and layouts follow those of Ordo by Miguel A. Ballicora; no code of Ordo is
part of it."""


class Switches(Command):
    """A command whose help can also be shown as its switches alone."""

    def format_switches(self, ctx: click.Context) -> str:
        """The switches alone, for -H."""
        formatter = ctx.make_formatter()
        self.format_usage(ctx, formatter)
        self.format_options(ctx, formatter)
        return formatter.getvalue().rstrip("\n")


def flag(*names: str, text: str) -> Callable[[F], F]:
    """A switch without a value."""
    return click.option(*names, is_flag=True, help=text)


input_options = stacked(
    click.argument("files", nargs=-1, metavar="[FILE]..."),
    click.option("-p", "--pgn", type=str, metavar="FILE", help="Input file."),
    click.option("-P", "--pgn-list", type=str, metavar="FILE", help="Text file with the names of input files."),
    aliases_option.but("-Y", "--synonyms", "synonyms"),
    click.option("-i", "--include", type=str, metavar="FILE", help="Only games between players named in FILE."),
    click.option("-x", "--exclude", type=str, metavar="FILE", help="No games of players named in FILE."),
    flag("--no-warnings", text="No warnings about names of -x, -i or -Y that have no games."),
    flag("--strict", text="Stop if a game cannot be read, instead of counting it."),
    where_option,
    exclude_termination_option,
    keep_duplicates_option,
)  # fmt: skip


@click.command(cls=Switches, add_help_option=False)
@stacked(
    flag("-h", "--help", text="Print this help and exit."),
    flag("-H", "--show-switches", text="Print the switches alone and exit."),
    flag("-v", "--version", text="Print the version and exit."),
    flag("-L", "--license", text="Print the license and exit."),
    flag("-q", "--quiet", "--silent", text="No progress and no summary."),
    flag("-Q", "--terse", text="As -q, but count the simulations."),
    flag("--timelog", text="Tell the time that each step took (on stderr)."),
    click.option("-a", "--average", type=RATING, metavar="NUM", help="Average of the pool.  [default: 2300]"),
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
    click.option("-w", "--white", type=Number(-1e5, 1e5), metavar="NUM", help="White advantage.  [default: 0]"),
    click.option("-u", "--white-error", type=ERROR, metavar="NUM", help="Uncertainty of -w: it is then fitted too."),
    flag("-W", "--white-auto", text="Fit the white advantage."),
    click.option(
        "--white-by",
        type=OneOf("assay.games.outcomes", "KINDS"),
        help="Fit White's advantage in each pool (server and speed), speed or time control.",
    ),
    click.option("-d", "--draw", type=float, metavar="NUM", help="Draw rate between equals in %.  [default: 50]"),
    click.option("-k", "--draw-error", type=ERROR, metavar="NUM", help="Uncertainty of -d: it is then fitted too."),
    flag("-D", "--draw-auto", text="Fit the draw rate."),
    click.option("-z", "--scale", type=SCALE, metavar="NUM", help="Difference that scores 76 %.  [default: 202]"),
    flag("-T", "--table", text="Print the differences for scores from 50 to 99 % and exit."),
)
@input_options
@stacked(
    click.option("-o", "--output", type=FILE, metavar="FILE",
                 help="Write the table here instead of to the screen; as a page if FILE ends in .html."),
    click.option("-c", "--csv", type=FILE, metavar="FILE", help="Write the list as comma-separated values."),
    flag("-E", "--elostat", text="Write rating.dat, programs.dat and general.dat, as Elostat does."),
    click.option("-j", "--head2head", type=FILE, metavar="FILE", help="Write the results against each opponent."),
    click.option("-g", "--groups", type=FILE, metavar="FILE",
                 help="Write which players games connect, and stop there."),
    flag("-G", "--force", text="Rate pools that no games connect; no warnings about groups and perfect scores."),
    flag("--require-connected", text="Stop if no games connect some players; with -p or -P that is so without it."),
    click.option("-s", "--simulations", type=click.IntRange(0, 1_000_000), metavar="NUM",
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
    click.option("-n", "--cpus", type=click.IntRange(1, 256), default=1, metavar="NUM",
                 help="Processors for the simulations of -s; the numbers stay the same.  [default: 1]"),
    click.option("-U", "--columns", type=str, metavar="A,..,Z",
                 help="Columns 0-14 in this order.  [default: 0,1,2,3,4,5]"),
    click.option("-b", "--column-format", type=str, metavar="FILE", help='Rows of column,width,"Header".'),
)  # fmt: skip
@stacked(
    click.option("--errors/--no-errors", default=None,
                 help="Show errors without simulations; the default unless the input is given by -p or -P."),
    flag("--pairs", text="Errors from game pairs: same players and opening, colours reversed."),
    flag("--los", text="Print the matrix of the likelihood of superiority."),
    click.option("--prior", type=Number(0.01, 1e6), metavar="ELO",
                 help="Everybody is within ELO of the average, for few games."),
    click.option("--start", type=str, metavar="FILE", help="Start from the ratings of an earlier list (CSV)."),
    click.option("--draw-model", type=OneOf("assay.results.expectancy", "DRAW_MODELS"), default="ordo",
                 help="How draws depend on the difference; others than ordo imply -M.  [default: ordo]"),
    flag("--manual", text="Where Ordo's manual and its program differ, follow the manual."),
    flag("--scale-logistic", text="The logistic scale with 400 points in it (-z 200.24)."),
)  # fmt: skip
@stacked(
    click.option("--over-time", type=OneOf("assay.games.periods", "PERIODS"),
                 help="Rate everybody at each time, from all games at once."),
    player_option,
    click.option("--plot", type=FILE, is_flag=False, flag_value="-", metavar="[FILE]",
                 help="With --player, a chart; as .svg, .png or .pdf if FILE is named."),
    click.option("--on", metavar="DATE", help="With --over-time: who stood where on a day, such as 2012-05-14."),
    flag("--peak", text="With --over-time: everybody at the highest rating ever had."),
    click.option("--walk", type=Number(0.01, 1000), metavar="ELO",
                 help="With --over-time: how much a strength changes in a month.  [default: fitted]"),
)  # fmt: skip
@format_option.but(expose_value=True)
@wide_option
@click.pass_context
def results(ctx: click.Context, /, **switches: Any) -> None:
    """Rate players from the results of their games: all of Ordo, and more.

    FILE is PGN, also as .zst or .gz, "-" for stdin, or an index made by 'assay index'. The switches are those of
    Ordo 1.2.6, short or long, and mean the same. Input given Ordo's way (-p, -P) is printed Ordo's way, summary and
    all; input given as plain arguments prints the list alone, with errors.

    Every player gets a rating or a reason. Perfect scores (marked > and <) stand where their result has an even
    chance; players that no games connect are rated in pools of their own, each with a section of the list. Games that
    cannot be read are counted by reason and left out; a game that occurs twice counts once.

    \b
    Examples:
      assay results games.pgn                          white advantage 0, draw rate 50 %
      assay results -W -D games.pgn.zst                fit both
      assay results -q -a 2800 -A "Stockfish 16" -W -D -s 1000 -p games.pgn -o list.txt -c list.csv
      assay results -W -D --pairs --format json match.pgn
      assay results -m anchors.csv -J -C cfs.csv games.parquet
      assay results --over-time month games.parquet --player "Carlsen,M" --plot
    """
    if switches["help"]:
        say(ctx.get_help())
    elif switches["show_switches"]:
        say(Switches.format_switches(ctx.command, ctx))  # type: ignore[arg-type]
    elif switches["version"] or switches["license"]:
        say(f"assay results {__version__} (switches of ordo 1.2.6)")
        if switches["license"]:
            say(LICENSE)
    elif switches["table"]:
        from assay.results.ordo import expectancy_table

        say(expectancy_table(scale_of(switches)), nl=False)
    else:
        _run(switches)


def _run(switches: dict[str, Any]) -> None:
    """Rate, and print and write what the switches ask for."""
    from assay.api import rate_results
    from assay.results import ordo
    from assay.results.rated import Unconnected

    _check(switches)
    clock = _Clock(switches["timelog"])
    if switches["over_time"]:
        _run_over_time(switches, clock)
        return
    ordo_way = switches["pgn"] is not None or switches["pgn_list"] is not None
    talk = _talker(ordo_way and not (switches["quiet"] or switches["terse"]) and switches["format"] == "table")
    if switches["groups"]:
        _write_groups(talk, switches)
        return
    try:
        answer = rate_results(read_input(switches, talk, clock=clock), **_keywords(switches, ordo_way))
    except Unconnected as error:
        talk(ordo.summary(error.standings.encounters, error.read, _level(switches), *_anchored(switches)))
        talk(ordo.perfect_scores(error.standings))
        say(ordo.UNCONNECTED.format(groups=error.standings.fit.groups.count), err=True)
        sys.exit(1)
    clock.tell("rate")
    standings = answer.standings
    talk(ordo.summary(standings.encounters, answer.games["read"], _level(switches), *_anchored(switches)))
    talk(ordo.perfect_scores(standings))
    talk(ordo.convergence(standings))
    texts = _texts(answer, switches)
    if switches["output"]:
        for remark in answer.remarks:
            say(remark, err=True)
    else:
        print_answer(replace(answer, superiority=switches["los"]))
    for path, text in texts.items():
        _write(path, text)
    if switches["elostat"]:
        talk(
            "\nOutput (Elostat format):\ngeneral file = general.dat\n"
            "rating file = rating.dat\nprograms file = programs.dat"
        )
    clock.tell("write")
    talk("\ndone!")


def _run_over_time(switches: Mapping[str, Any], clock: _Clock) -> None:
    """Rate over time, and print and write what the switches ask for."""
    from assay.api import rate_over_time

    answer = rate_over_time(
        read_input(switches, lambda text: None, clock=clock),
        by=switches["over_time"],
        player=switches["player"],
        on=switches["on"],
        peak=switches["peak"],
        average=switches["average"],
        walk=switches["walk"],
        white="fit" if switches["white"] is None else switches["white"],
        draws="fit" if switches["draw"] is None else switches["draw"] / 100.0,
        scale=scale_of(switches),
        level=switches["confidence"] / 100.0,
        least=switches["threshold"],
        chart=switches["plot"] == "-",
    )
    clock.tell("rate")
    if switches["csv"]:
        _write(switches["csv"], answer.to("csv") + "\n")
    if switches["plot"] not in (None, "-"):
        from assay.reports.plots import plot_history

        plot_history(answer.times, answer.shown.rows, Path(switches["plot"]))
    if switches["output"]:
        _write(switches["output"], _over_time_text(answer, switches))
        for remark in answer.remarks:
            say(remark, err=True)
    else:
        print_answer(answer)
    clock.tell("write")


def _over_time_text(answer: Timeline, switches: Mapping[str, Any]) -> str:
    """What -o writes: a page, or the text."""
    if not str(switches["output"]).lower().endswith((".html", ".htm")):
        return answer.text() + "\n"
    from assay.results.webpage import timeline_page

    rows = answer.shown.rows
    if switches["player"] is not None:
        rows = [row for row in answer.standings().rows if row["player"] == switches["player"]]
    return timeline_page(answer, rows)


def _keywords(switches: Mapping[str, Any], ordo_way: bool) -> dict[str, Any]:
    """Ordo's switches as the keywords of `rate_results`."""
    matrix = any(switches[name] for name in ("error_matrix", "cfs_matrix", "los"))
    wanted = switches["errors"]
    if wanted is None:
        wanted = matrix or switches["cfs_show"] or switches["pairs"] or not ordo_way or switches["format"] == "json"
    anchors: Any = switches["multi_anchors"]
    if switches["anchor"] is not None:
        anchors = {switches["anchor"]: 2300.0 if switches["average"] is None else switches["average"]}
    return {
        "average": switches["average"],
        "anchors": anchors,
        "loose_anchors": switches["loose_anchors"],
        "relations": switches["relations"],
        "remove_older": switches["remove_older"],
        "white": "fit" if switches["white_auto"] else switches["white"] or 0.0,
        "white_error": switches["white_error"] or 0.0,
        "white_by": switches["white_by"],
        "draws": "fit" if switches["draw_auto"] else (50.0 if switches["draw"] is None else switches["draw"]) / 100.0,
        "draws_error": (switches["draw_error"] or 0.0) / 100.0,
        "prior": switches["prior"],
        "likelihood": switches["ml"],
        "draw_model": switches["draw_model"],
        "perfect": "manual" if switches["manual"] else "program",
        "scale": scale_of(switches),
        "start": switches["start"],
        "pairs": switches["pairs"],
        "relative_to": "pool" if switches["pool_relative"] else "anchor",
        "errors": wanted,
        "simulations": switches["simulations"] or 0,
        "processes": switches["cpus"],
        "level": switches["confidence"] / 100.0,
        "least": switches["threshold"],
        "matrix": matrix,
        "connected": (ordo_way or switches["require_connected"]) and not switches["force"],
        "force": switches["force"],
        "style": _style(switches, ordo_way),
        "warn": False,  # remarks are printed
        "quiet": switches["quiet"],
    }


def _level(switches: Mapping[str, Any]) -> str:
    average = 2300.0 if switches["average"] is None else switches["average"]
    if switches["anchor"] is not None:
        return f'{average:8.1f} (set to "{switches["anchor"]}")'
    if switches["loose_anchors"] or switches["multi_anchors"]:
        return " --> not fixed, determined by anchors"
    return f"{average:8.1f} (average of the pool)"


def _anchored(switches: Mapping[str, Any]) -> tuple[str | None, str | None]:
    return switches["loose_anchors"], switches["relations"]


def scale_of(switches: Mapping[str, Any]) -> float:
    """The difference that scores 76 %."""
    from assay.results.expectancy import LOGISTIC_SCALE, SCALE

    if switches["scale_logistic"]:
        return LOGISTIC_SCALE
    return SCALE if switches["scale"] is None else float(switches["scale"])


def _write_groups(talk: Callable[[str], None], switches: Mapping[str, Any]) -> None:
    """Write which players games connect (-g)."""
    from assay.results import ordo
    from assay.results.encounters import connect, tabulate

    found = read_input(switches, talk)
    table = tabulate(*found.finished(), len(found.players))
    if not len(table.white):
        raise RatingError("the input contains no games to rate.")
    talk(ordo.summary(table, len(found.outcome), _level(switches), *_anchored(switches)))
    groups = connect(table)
    _write(switches["groups"], ordo.group_report(found.players, table, groups))
    talk(ordo.connections(table, groups))


def _texts(answer: RatingList, switches: Mapping[str, Any]) -> dict[str, str]:
    """The texts of all files, made before any is written: what fails leaves no half of them."""
    from assay.results import matches, ordo

    def _page_or_table(listing: Listing) -> str:
        if not str(switches["output"]).lower().endswith((".html", ".htm")):
            return ordo.text_table(listing)
        from assay.results.webpage import list_page

        return list_page(listing.with_errors(), answer.games)

    makers: Sequence[tuple[str, Callable[[Listing], str]]] = (
        ("output", _page_or_table),
        ("csv", ordo.csv_table),
        ("head2head", matches.head_to_head),
        ("error_matrix", ordo.error_matrix),
        ("cfs_matrix", ordo.superiority_matrix),
    )
    texts = {switches[name]: make(answer.listing) for name, make in makers if switches[name]}
    if switches["elostat"]:
        texts |= matches.elostat(answer.listing.with_errors(), answer.games["unfinished"])
    return texts


def _write(path: str, text: str) -> None:
    from assay.paths import atomic

    with atomic(path) as part:
        # Names that were no UTF-8 come out as they came in.
        part.write_bytes(text.encode("utf-8", "surrogateescape"))


def _style(switches: Mapping[str, Any], ordo_way: bool) -> Style:
    from assay.players import number, read_rows
    from assay.results.listing import DEFAULT_COLUMNS, Style

    decimals = _whole_numbers("-N", switches["decimals"], 9) or ([1] if switches["manual"] else [1, 0])
    if len(decimals) > 2:
        raise RatingError("-N takes one or two numbers: decimals of ratings, and of scores.")
    headers, widths = {}, {}
    if switches["column_format"]:
        for line, cells in read_rows(switches["column_format"], 3):
            column = int(number(switches["column_format"], line, cells[0]))
            if not 0 <= column <= MOST_COLUMN:
                raise RatingError(f"{switches['column_format']}, line {line}: there is no column {column} (0-14).")
            widths[column] = int(number(switches["column_format"], line, cells[1]))
            if not 0 <= widths[column] <= WIDEST_COLUMN:
                raise RatingError(f"{switches['column_format']}, line {line}: a column is 0 to {WIDEST_COLUMN} wide.")
            headers[column] = cells[2]
    return Style(
        columns=_whole_numbers("-U", switches["columns"], MOST_COLUMN) or DEFAULT_COLUMNS,
        headers=headers,
        widths=widths,
        decimals=decimals[0],
        # Where -N names one number, the manual means all output, and the program prints scores with one decimal.
        score_decimals=decimals[1] if len(decimals) > 1 else decimals[0] if switches["manual"] else 1,
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


class _Clock:
    """Tells how long each step took."""

    def __init__(self, shown: bool) -> None:
        self._shown, self._last = shown, time.perf_counter()

    def tell(self, step: str) -> None:
        now = time.perf_counter()
        if self._shown:
            say(f"{now - self._last:8.3f} s  {step}", err=True)
        self._last = now


def _talker(loud: bool) -> Callable[[str], None]:
    return click.echo if loud else lambda text: None


# What a list over time does not know, and what it alone knows.
NOT_OVER_TIME = (
    "anchor", "multi_anchors", "loose_anchors", "relations", "simulations", "error_matrix", "cfs_matrix", "los",
    "pairs", "prior", "start", "white_by", "head2head", "elostat", "groups", "white_error", "draw_error", "columns",
    "column_format",
)  # fmt: skip
ONLY_OVER_TIME = ("player", "plot", "on", "peak", "walk")
CONTRADICTIONS = (
    (("multi_anchors", "average"), "-m and -a both set the level: leave out one of them."),
    (("multi_anchors", "anchor"), "-m and -A both set the level: leave out one of them."),
    (("loose_anchors", "average"), "-y and -a both set the level: leave out one of them."),
    (("white_auto", "white"), "-W fits the white advantage, -w gives it: leave out one of them."),
    (("white_by", "white"), "--white-by fits the white advantage, -w gives it: leave out one of them."),
    (("white_auto", "white_error"), "-W fits the white advantage freely, -u about a value: leave out one of them."),
    (("draw_auto", "draw"), "-D fits the draw rate, -d gives it: leave out one of them."),
    (("draw_auto", "draw_error"), "-D fits the draw rate freely, -k about a value: leave out one of them."),
    (("require_connected", "force"), "-G rates what --require-connected refuses: leave out one of them."),
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
    for name in NOT_OVER_TIME if switches["over_time"] else ONLY_OVER_TIME:
        if switches[name] not in (None, False):
            named = f"--{name.replace('_', '-')}"
            more = "does not go with --over-time" if switches["over_time"] else "belongs to --over-time"
            raise RatingError(f"{named} {more}: leave it out{'' if switches['over_time'] else ', or add that'}.")
    if switches["over_time"] and switches["draw_model"] != "ordo":
        raise RatingError("--draw-model does not go with --over-time: leave it out.")
    if switches["plot"] is not None and switches["player"] is None:
        raise RatingError("--plot draws one player: name him with --player.")
    if switches["plot"] not in (None, "-") and Path(switches["plot"]).suffix not in (".svg", ".png", ".pdf"):
        raise RatingError(f"--plot writes .svg, .png or .pdf, not {switches['plot']}.")
    if not 50.001 <= switches["confidence"] <= 99.999:
        raise RatingError(f"a confidence of {switches['confidence']:g} % is not between 50.001 and 99.999.")
    if switches["draw"] is not None and not 0.0 <= switches["draw"] <= 99.9:
        raise RatingError(f"a draw rate of {switches['draw']:g} % is not between 0 and 99.9.")
    if not (switches["files"] or switches["pgn"] or switches["pgn_list"]):
        raise RatingError("there is no input: name a file of games ('assay results -h' tells more).")
    for name in ("output", "csv", "head2head", "groups", "error_matrix", "cfs_matrix"):
        if switches[name] is not None and not Path(switches[name]).parent.is_dir():
            raise OutputError(f"cannot write {switches[name]}: there is no such folder.")


def read_input(switches: Mapping[str, Any], talk: Callable[[str], None], *, clock: _Clock | None = None) -> Outcomes:
    """The games that the input switches name and let in."""
    from assay.games.source import read
    from assay.players import read_list

    paths = [switches["pgn"]] if switches["pgn"] else []
    paths += read_list(switches["pgn_list"]) if switches["pgn_list"] else []
    paths += switches["files"]
    for path in paths:
        talk(f"\nFile: {path}\nLoading data (2000 games x dot): \n\n|")
    talk("")
    with warnings.catch_warnings():
        if switches["no_warnings"]:
            warnings.filterwarnings("ignore", ".*nam.* nobody|.*nobody is called", AssayWarning)
        found = read(paths, where=switches["where"]).outcomes(
            aliases=switches["synonyms"],
            # Ordo's command lines go on: its lists of synonyms are kept for many events.
            lenient=bool(switches["pgn"] or switches["pgn_list"] or switches["no_warnings"]),
            openings=switches.get("pairs", False),
            tags=_wanted_tags(switches),
            strict=switches["strict"],
            keep_duplicates=switches["keep_duplicates"],
            quiet=bool(switches.get("quiet") or switches.get("terse")),
        )
    if clock is not None:
        clock.tell("read")
    for switch, inside in (("include", True), ("exclude", False)):
        if switches[switch]:
            found = found.between(switches[switch], inside, warn=not switches["no_warnings"])
    found = found.without_endings(switches["exclude_termination"], warn=not switches["no_warnings"])
    return found.without_draws() if switches.get("ignore_draws") else found


def _wanted_tags(switches: Mapping[str, Any]) -> tuple[str, ...]:
    """What is to be read of the games besides players and results."""
    from assay.games.outcomes import KEPT_TAGS, KIND_TAGS, TERMINATION

    if "min_games" in switches:  # of prep
        return KEPT_TAGS
    if switches.get("white_by"):
        return (*KIND_TAGS, TERMINATION)
    if not switches.get("over_time"):
        return (TERMINATION,)
    from assay.games.periods import TAGS_OF_TIME

    return (*TAGS_OF_TIME, TERMINATION)


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@input_options
@stacked(
    click.option("-o", "--output", type=click.Path(dir_okay=False), metavar="FILE",
                 help="Write the games here instead of to the screen."),
    flag("-d", "--no-perfects", text="Leave out players with only wins or only losses."),
    click.option("-g", "-M", "--min-games", type=click.IntRange(0), default=0, metavar="NUM",
                 help="Leave out players with fewer games."),
    click.option("-m", "--min-perf", type=Number(0, 100), default=0.0, metavar="NUM",
                 help="Leave out players who scored less than NUM %."),
    flag("--major-only", text="Keep only the largest group that games connect."),
    click.option("--groups", type=click.Path(dir_okay=False), metavar="FILE",
                 help="Write which players the games that are kept connect."),
)  # fmt: skip
def prep(**switches: Any) -> None:
    """Shrink games to their results, and leave out players that cannot be rated well.

    The output is PGN without moves, in the order of the input: White, Black and Result, and what tells openings (FEN,
    ECO, Opening, Variation), time controls and terminations. Rules are applied until nothing changes, for without the
    games of one player another may fall below a limit. What was left out is told on stderr.

    \b
    Examples:
      assay prep games.pgn.zst -o results.pgn
      assay prep -d -g 20 -m 5 -p raw.pgn -o shrunk.pgn
      assay prep --major-only *.pgn | assay results -W -D -
    """
    from assay.paths import atomic
    from assay.results.encounters import connect, select, tabulate
    from assay.results.ordo import group_report

    if not (switches["files"] or switches["pgn"] or switches["pgn_list"]):
        raise RatingError("there is no input: name a file of games ('assay prep -h' tells more).")
    if switches["include"] and switches["exclude"]:
        raise RatingError("-i and -x cannot be used together: leave out one of them.")
    found = read_input(switches, lambda text: None)
    if found.duplicates is not None:
        tell_duplicates(found.duplicates)
    kept = select(
        found.white,
        found.black,
        found.outcome,
        len(found.players),
        no_perfects=switches["no_perfects"],
        min_games=switches["min_games"],
        min_percent=switches["min_perf"],
        major_only=switches["major_only"],
    )
    white, black, outcome = (column[kept.games] for column in (found.white, found.black, found.outcome))
    if not len(outcome):
        raise RatingError("nothing is left: no game fulfils all conditions.")
    text = "".join(found.written(kept.games))
    if switches["groups"]:
        table = tabulate(white, black, outcome, len(found.players))
        with atomic(switches["groups"]) as part:
            part.write_text(group_report(found.players, table, connect(table)), encoding="utf-8")
    if switches["output"]:
        with atomic(switches["output"]) as part:
            part.write_text(text, encoding="utf-8")
    else:
        print_data(text)
    players = {
        "a perfect score": kept.perfect,
        "too few games": kept.few_games,
        "too low a score": kept.low_percent,
        "outside the largest group": kept.other_groups,
    }
    gone = {why: int(who.sum()) for why, who in players.items() if who.any()}
    reasons = Counter(found.skipped)
    reasons['without a result ("*")'] = found.unfinished
    reasons["occurs again"] = 0 if found.duplicates is None else len(found.duplicates)
    told = [f"{len(outcome):,} of {counted(len(found.outcome), 'game')} kept"]
    told += [f"players left out: {described(gone)}"] if gone else []
    told += [f"games left out: {described(+reasons)}"] if +reasons else []
    say(f"{'; '.join(told)}.", err=True)
