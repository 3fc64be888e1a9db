"""Switches of Ordo, for `assay results` and `assay prep`: their kinds, what contradicts what, what they mean."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, TypeVar

import click

from assay.cli.options import aliases_option, exclude_termination_option, keep_duplicates_option, stacked, where_option
from assay.errors import AssayWarning, OutputError, RatingError

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


def check(switches: Mapping[str, Any]) -> None:
    """Refuse what contradicts itself, belongs to another list, or cannot be written."""
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


def input_files(switches: Mapping[str, Any], talk: Callable[[str], None] = lambda text: None) -> list[str]:
    """The files that the input switches name; Ordo says that it loads each."""
    from assay.players import read_list

    files = [switches["pgn"]] if switches["pgn"] else []
    files += read_list(switches["pgn_list"]) if switches["pgn_list"] else []
    files += switches["files"]
    for file in files:
        talk(f"\nFile: {file}\nLoading data (2000 games x dot): \n\n|")
    talk("")
    return files


def counting(switches: Mapping[str, Any]) -> dict[str, Any]:
    """The input switches as the keywords that say which results count."""
    names = ("where", "include", "exclude", "exclude_termination", "strict", "keep_duplicates")
    return {name: switches[name] for name in names} | {
        "aliases": switches["synonyms"],
        "ignore_draws": bool(switches.get("ignore_draws")),
        # Ordo's command lines go on: its lists of synonyms are kept for many events.
        "lenient": bool(switches["pgn"] or switches["pgn_list"] or switches["no_warnings"]),
        "quiet": bool(switches.get("quiet") or switches.get("terse")),
    }


@contextmanager
def as_warned(switches: Mapping[str, Any]) -> Iterator[None]:
    """While the block runs, no warnings about names that have no games, if that was asked for."""
    with warnings.catch_warnings():
        if switches["no_warnings"]:
            names = r".*nam.* nobody|.*nobody is called|.*: no games of \"|no game ended by \""
            warnings.filterwarnings("ignore", names, AssayWarning)
        yield


def keywords(switches: Mapping[str, Any], ordo_way: bool) -> dict[str, Any]:
    """Ordo's other switches as the keywords of `rate_results`."""
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
        "superiority": switches["los"],
        "style": _style(switches, ordo_way),
        "warn": False,  # remarks are printed
    }


def resting_on(switches: Mapping[str, Any]) -> tuple[str, str | None, str | None]:
    """What the level of the list rests on, in Ordo's words, and the files of loose anchors and of relations."""
    average = 2300.0 if switches["average"] is None else switches["average"]
    level = f"{average:8.1f} (average of the pool)"
    if switches["anchor"] is not None:
        level = f'{average:8.1f} (set to "{switches["anchor"]}")'
    elif switches["loose_anchors"] or switches["multi_anchors"]:
        level = " --> not fixed, determined by anchors"
    return level, switches["loose_anchors"], switches["relations"]


def scale_of(switches: Mapping[str, Any]) -> float | Literal["logistic"] | None:
    """The difference that scores 76 %, as it is asked for."""
    return "logistic" if switches["scale_logistic"] else switches["scale"]


def _style(switches: Mapping[str, Any], ordo_way: bool) -> dict[str, Any]:
    from assay.players import number, read_rows

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
    columns = _whole_numbers("-U", switches["columns"], MOST_COLUMN)
    return ({"columns": columns} if columns else {}) | {
        "headers": headers,
        "widths": widths,
        "decimals": decimals[0],
        # Where -N names one number, the manual means all output, and the program prints scores with one decimal.
        "score_decimals": decimals[1] if len(decimals) > 1 else decimals[0] if switches["manual"] else 1,
        "cfs": switches["cfs_show"],
        "bytes_wide": ordo_way,
    }


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
