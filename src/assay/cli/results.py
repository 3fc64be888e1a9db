"""`assay results`: the switches of Ordo, and what goes beyond them; and `assay prep`, games shrunk as Ordoprep does."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Mapping
from typing import Any

import click

from assay import __version__
from assay.cli.options import (
    Command,
    OneOf,
    format_option,
    player_option,
    print_answer,
    print_data,
    say,
    stacked,
    tell,
    wide_option,
)
from assay.cli.switches import (
    ERROR,
    FILE,
    RATING,
    SCALE,
    Number,
    as_warned,
    check,
    counting,
    flag,
    input_files,
    input_options,
    keywords,
    resting_on,
    scale_of,
)
from assay.errors import RatingError, Unconnected

LIST_FILES = ("output", "csv", "head2head", "error_matrix", "cfs_matrix")

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
        from assay import expectancies

        say(expectancies(scale_of(switches)))
    else:
        _run(switches)


def _run(switches: dict[str, Any]) -> None:
    """Rate, and print and write what the switches ask for."""
    from assay import publish, rate_results

    check(switches)
    clock = _Clock(switches["timelog"])
    if switches["over_time"]:
        _run_over_time(switches, clock)
        return
    ordo_way = switches["pgn"] is not None or switches["pgn_list"] is not None
    talk = _talker(ordo_way and not (switches["quiet"] or switches["terse"]) and switches["format"] == "table")
    if switches["groups"]:
        _write_groups(talk, switches)
        return
    files = input_files(switches, talk)
    try:
        with as_warned(switches):
            answer = rate_results(files, **keywords(switches, ordo_way), **counting(switches), told=clock.tell)
    except Unconnected as error:
        talk(error.account(*resting_on(switches)))
        say(error.warning, err=True)
        sys.exit(1)
    talk(answer.account(*resting_on(switches)))
    publish(answer, **{name: switches[name] for name in LIST_FILES}, elostat=switches["elostat"])
    if switches["output"]:
        tell(answer.remarks)
    else:
        print_answer(answer)
    if switches["elostat"]:
        talk(
            "\nOutput (Elostat format):\ngeneral file = general.dat\n"
            "rating file = rating.dat\nprograms file = programs.dat"
        )
    clock.tell("write")
    talk("\ndone!")


def _run_over_time(switches: Mapping[str, Any], clock: _Clock) -> None:
    """Rate over time, and print and write what the switches ask for."""
    from assay import plot, publish, rate_over_time

    with as_warned(switches):
        answer = rate_over_time(
            input_files(switches),
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
            told=clock.tell,
            **counting(switches),
        )
    publish(answer, output=switches["output"], csv=switches["csv"])
    if switches["plot"] not in (None, "-"):
        plot(answer, switches["plot"])
    if switches["output"]:
        tell(answer.remarks)
    else:
        print_answer(answer)
    clock.tell("write")


def _write_groups(talk: Callable[[str], None], switches: Mapping[str, Any]) -> None:
    """Write which players games connect (-g)."""
    from assay import groups

    files = input_files(switches, talk)
    with as_warned(switches):
        answer = groups(files, **counting(switches))
    talk(answer.account(*resting_on(switches)))
    answer.write_text(switches["groups"], "table")
    talk(answer.connections())


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


@click.command(cls=Command, context_settings={"help_option_names": ["-h", "--help"]})
@input_options
@stacked(
    click.option("-o", "--output", type=FILE, metavar="FILE",
                 help="Write the games here instead of to the screen."),
    flag("-d", "--no-perfects", text="Leave out players with only wins or only losses."),
    click.option("-g", "-M", "--min-games", type=click.IntRange(0), default=0, metavar="NUM",
                 help="Leave out players with fewer games."),
    click.option("-m", "--min-perf", type=Number(0, 100), default=0.0, metavar="NUM",
                 help="Leave out players who scored less than NUM %."),
    flag("--major-only", text="Keep only the largest group that games connect."),
    click.option("--groups", type=FILE, metavar="FILE",
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
    from assay import shrink

    if not (switches["files"] or switches["pgn"] or switches["pgn_list"]):
        raise RatingError("there is no input: name a file of games ('assay prep -h' tells more).")
    if switches["include"] and switches["exclude"]:
        raise RatingError("-i and -x cannot be used together: leave out one of them.")
    names = ("no_perfects", "min_games", "major_only")
    with as_warned(switches):
        answer = shrink(
            input_files(switches),
            **{name: switches[name] for name in names},
            min_percent=switches["min_perf"],
            **counting(switches),
        )
    if switches["groups"]:
        answer.groups.write_text(switches["groups"], "table")
    if switches["output"]:
        answer.write_text(switches["output"], "table")
    else:
        print_data(answer.pgn)
    tell(answer.remarks)
