"""The options of all commands, each defined once; how a command prints; the foot of its help."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from assay.errors import AssayError
from assay.paths import guarding_inputs, spare_inputs
from assay.presets import ALL_MOVES_TO, DEFAULT_DEPTH, PRESETS
from assay.printable import printable
from assay.progress import hush
from assay.records import dataclass
from assay.table import FORMATS, WIDTH, Answer, filled

if TYPE_CHECKING:
    from assay import GameSelection

_MOST = 10**15  # no option takes more: nodes of a search are the greatest

F = TypeVar("F", bound=Callable[..., Any])

FILE = click.Path(path_type=Path, dir_okay=False)
FOLDER = click.Path(path_type=Path, file_okay=False)
KNOWN_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
KNOWN_FOLDER = click.Path(path_type=Path, exists=True, file_okay=False)


class OneOf(click.Choice):  # type: ignore[type-arg]
    """A choice among the names of a table of the library, which is loaded when it is needed and no sooner."""

    def __init__(self, module: str, table: str) -> None:
        self.module, self.table, self.case_sensitive = module, table, True

    @property
    def choices(self) -> tuple[str, ...]:  # type: ignore[override]
        """The names of the table."""
        return tuple(getattr(import_module(self.module), self.table))


class SomeOf(OneOf):
    """Several names of such a table, with commas between."""

    name = "names"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, ...]:
        """The names, each once."""
        names = tuple(dict.fromkeys(word.strip() for word in value.split(",") if word.strip()))
        what, known = (param.name if param else None) or "name", ", ".join(self.choices)
        if wrong := [name for name in names if name not in self.choices]:
            self.fail(f"there is no {what} {wrong[0]!r}: choose among {known}.", param, ctx)
        if not names:
            self.fail(f"name at least one {what}: {known}.", param, ctx)
        return names


class Command(click.Command):
    """A command with `--quiet` and `--debug`, and with the usual foot of its help."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        taken = {name for param in self.params for name in param.opts}
        if "--quiet" not in taken:
            self.params.append(
                click.Option(
                    ["--quiet", "quiet"],
                    is_flag=True,
                    expose_value=False,
                    help="No progress.",
                    callback=_remember,
                )
            )
        if "--debug" not in taken:
            self.params.append(
                click.Option(
                    ["--debug", "debug"],
                    is_flag=True,
                    expose_value=False,
                    help="Show the traceback of an error.",
                )
            )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; none writes over what it reads."""
        named = {name: list(_paths(value)) for name, value in ctx.params.items() if name not in _MAY_BE_REPLACED}
        for name in _OUTPUTS & set(named):
            spare_inputs(named[name], [path for other, paths in named.items() if other != name for path in paths])
        with guarding_inputs(path for paths in named.values() for path in paths):
            return super().invoke(ctx)

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Read the words of a command; a number that measures nothing (nan, 1e308) or an empty name is wrong usage."""
        rest = super().parse_args(ctx, args)
        _one_depth(ctx)
        for param in self.params:
            value = ctx.params.get(param.name or "")
            is_file = isinstance(param.type, click.Path) and not param.type.dir_okay
            if is_file and isinstance(value, str | Path) and not Path(value).name:
                raise click.BadParameter(f"{str(value)!r} is no name of a file.", ctx=ctx, param=param)
            for number in _numbers(value):
                if not abs(number) <= _MOST:
                    raise click.BadParameter(f"{number} is no number that can be used here.", ctx=ctx, param=param)
        return rest

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Files, exit status, and where to read on."""
        super().format_epilog(ctx, formatter)
        write_foot(ctx, formatter)


_OUTPUTS = {"out", "output", "out_pgn"}
_MAY_BE_REPLACED = {"start"}  # an earlier list to start from, by the new one


def _paths(value: Any) -> Iterator[str | Path]:
    """What may be files among the values of a parameter."""
    for each in value if isinstance(value, tuple) else (value,):
        if isinstance(each, str | Path) and str(each):
            yield each


def _numbers(value: object) -> Iterator[int | float]:
    """The numbers in the value of an option."""
    if isinstance(value, tuple):
        for part in value:
            yield from _numbers(part)
    elif isinstance(value, int | float):
        yield value


def _remember(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    ctx.meta["assay.quiet"] = value
    hush(value)
    return value


def is_quiet() -> bool:
    """Whether the running command was asked to show no progress."""
    ctx = click.get_current_context(silent=True)
    return bool(ctx and ctx.meta.get("assay.quiet"))


def stacked(*options: Callable[[F], F]) -> Callable[[F], F]:
    """Several options as one decorator, in this order."""

    def apply(function: F) -> F:
        for option in reversed(options):
            function = option(function)
        return function

    return apply


class Shared:
    """An option of several commands: one name, one meaning, one text; a command may need another default."""

    def __init__(self, *names: str, **how: Any) -> None:
        self.names, self.how = names, how

    def __call__(self, function: F) -> F:
        """Give the option to a command."""
        return click.option(*self.names, **self.how)(function)

    def but(self, *names: str, **how: Any) -> Shared:
        """The same with another default, required or not, or known by an older name as well."""
        return Shared(*self.names, *names, **self.how | how)


def _kept(ctx: click.Context, param: click.Parameter, value: Any) -> Any:
    """Remember how to print, for `print_answer`."""
    ctx.meta[f"assay.{param.name}"] = value
    return value


def _preset(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
    """Remember a preset of the depth, for `_one_depth`."""
    if value:
        ctx.meta.setdefault("assay.presets", []).append(param.name)
    return value


def _one_depth(ctx: click.Context) -> None:
    """One depth is asked for, if any; a preset is that depth where the command takes no presets."""
    presets = ctx.meta.get("assay.presets", [])
    if len(presets) + (ctx.params.get("depth") is not None) > 1:
        raise click.UsageError("--quick, --deep and --depth exclude each other.", ctx)
    for name in presets:
        if name not in ctx.params:
            ctx.params["depth"] = PRESETS[name].depth


files_argument = click.argument("files", nargs=-1, required=True, metavar="FILE...")

# What the games are, and which of them.
where_option = Shared("--where", metavar="EXPR", help="Only games for which this holds; see 'assay filter --help'.")
player_option = Shared("--player", metavar="NAME", help="Only this player.")
players_option = Shared("--players", nargs=2, metavar="A B", help="The two players, the first one's side is taken.")
without_option = Shared(
    "--without",
    type=click.IntRange(1),
    multiple=True,
    metavar="GAME",
    help="Leave out this game, by its number; may be given several times.",
)
aliases_option = Shared(
    "--aliases", type=FILE, metavar="FILE", help="CSV file, rows of main,other,...: all are taken for the first."
)
pool_option = Shared(
    "--pool",
    type=OneOf("assay.pools", "POOLS"),
    metavar="NAME",
    help="Take all games for this pool's, such as otb-slow.  [default: by Site, Event, TimeControl]",
)
scale_year_option = Shared(
    "--scale-year",
    type=click.IntRange(1900, 2200),
    metavar="YEAR",
    help="What ratings over the board meant in this year.  [default: in the year of the game]",
)
keep_duplicates_option = Shared(
    "--keep-duplicates", is_flag=True, help="Count a game that occurs twice (same players, same moves) twice."
)
exclude_termination_option = Shared(
    "--exclude-termination",
    multiple=True,
    metavar="TEXT",
    help='Leave out games with this Termination tag, such as "time forfeit"; may be given several times.',
)


game_option = Shared(
    "--game", "number", type=click.IntRange(1), show_default=True, help="Number of the game, as in the file."
)
witness_option = Shared(
    "--witness",
    type=SomeOf("assay.answer.joining", "WITNESSES"),
    metavar="NAMES",
    help="Who is heard, with commas between.  [default: results,moves,learned; with --list results,moves]",
)
evals_option = Shared(
    "--evals", is_flag=True, help="By the evaluations that the games carry ([%eval]) alone: no engine runs."
)
band_width_option = Shared(
    "--band-width",
    type=click.IntRange(1, 10_000),
    default=100,
    show_default=True,
    help="Width of a rating band, in Elo.",
)

rating_option = Shared(
    "--rating",
    default="tag",
    show_default=True,
    metavar="tag|fide",
    type=click.Choice(["tag", "fide"]),
    help="Ratings of the players: those of the tags, or those in force by FIDE's lists ('assay ratings add').",
)

fide_option = Shared("--fide", is_flag=True, help="Add what the rating would be in FIDE's, with the spread of people.")

watch_options = stacked(
    Shared("--watch", is_flag=True, help="On a broadcast: again whenever moves or rounds have come in, until Ctrl-C."),
    Shared(
        "--every",
        type=click.IntRange(10, 86_400),
        default=60,
        show_default=True,
        metavar="SECONDS",
        help="How often --watch looks for news.",
    ),
)


def watched(files: Sequence[str], watch: bool, every: int, *, folders: bool = False) -> Iterator[Any]:
    """The files as they are; or the games behind a broadcast link or in folders, again whenever something is new."""
    if not (watch or folders):
        yield files
        return
    from assay import watch as coming_in

    yield from coming_in(files, every, folders=folders, told=lambda text: say(text, err=True))


def once_more(watch: bool, make: Callable[[], None]) -> None:
    """Do the work of a command; while it watches, what cannot be done yet is said and no end."""
    try:
        make()
    except AssayError as error:
        if not watch:
            raise
        say(f"assay: {error}", err=True)


# The analyses.
store_option = Shared("--store", type=FILE, help="Analysis store.  [default: in the user's data folder]")
depth_option = Shared(
    "--depth", type=click.IntRange(1, 244), help=f"Depth of the analyses, in plies.  [default: {DEFAULT_DEPTH}]"
)
engine_option = Shared(
    "--engine",
    "engines",
    multiple=True,
    metavar="NAME",
    help="A program, or whose stored analyses; several times for a jury.  [default: stockfish]",
)
workers_option = Shared("--workers", type=click.IntRange(1), help="Engines at a time.  [default: one per core]")
calibration_option = Shared("--calibration", metavar="NAME|FILE", help="Calibration.  [default: that of the depth]")
likely_option = Shared(
    "--likely",
    "calibration",
    flag_value="likely",
    help=f"Search only the likeliest and best moves beyond depth {ALL_MOVES_TO}: a third of the work at depth 8.",
)
quick_option, deep_option = (
    Shared(f"--{name}", is_flag=True, callback=_preset, help=f"{PRESETS[name].words.capitalize()}.")
    for name in ("quick", "deep")
)
# Where a depth is all that is asked for, a preset is that depth.
depth_options = stacked(depth_option, quick_option.but(expose_value=False), deep_option.but(expose_value=False))
policy_option = Shared(
    "--policy",
    default="shipped",
    show_default=True,
    metavar="shipped|none|FILE",
    help="What people would play: by the network that comes with Assay, not asked, or by another (as Maia's).",
)
from_move_option = Shared(
    "--from-move", type=click.IntRange(1), default=9, show_default=True, help="First move of each game that counts."
)
# Regan's way: how values become deltas, and deltas temptation.
cap_option = Shared(
    "--cap",
    type=click.FloatRange(0, min_open=True),
    default=4.0,
    show_default=True,
    help="Greatest loss of a move, in pawns.",
)
_regan = (
    Shared(
        "--model",
        type=OneOf("assay.moves.regan.models", "MODELS"),
        default="power",
        show_default=True,
        help="How temptation becomes probability: the ratio rule.",
    ),
    Shared(
        "--curve",
        type=OneOf("assay.moves.regan.spread", "CURVES"),
        default="invexp",
        show_default=True,
        help="Curve of temptation.",
    ),
    Shared(
        "--k",
        type=click.FloatRange(0.01, 100),
        default=1.0,
        show_default=True,
        help="Where the log scale bends, in pawns.",
    ),
    cap_option,
    Shared(
        "--tie",
        type=click.FloatRange(0, 10),
        default=0.03,
        show_default=True,
        help="Difference that counts for a later move as good as the best.",
    ),
    Shared(
        "--scale",
        type=OneOf("assay.moves.regan.spread", "SCALES"),
        default="log",
        show_default=True,
        help="Scale on which values are compared.",
    ),
)


def _periods(ctx: click.Context, param: click.Parameter, value: str) -> tuple[str, ...]:
    """`1976-1979,1991-1994` as periods."""
    from assay.pools import period_years

    periods = tuple(part.strip() for part in value.split(",")) if value else ()
    try:
        for period in periods:
            period_years(period)
    except AssayError as error:
        raise click.BadParameter(str(error)) from None
    return periods


periods_option = Shared(
    "--periods",
    callback=_periods,
    default="",
    metavar="FIRST-LAST,...",
    help="Rows for each of these periods, in order of time, such as 1976-1979,1991-1994.",
)
# Which games count, as the papers choose theirs.
selection_options = stacked(
    Shared("--exclude-team", is_flag=True, help="Leave out games between teams, by tags and the names of events."),
    Shared(
        "--max-swiss",
        type=click.FloatRange(0, min_open=True),
        metavar="N",
        help="Leave out events with more players per round; 6 is the papers'.",
    ),
    Shared(
        "--archive",
        type=click.Path(path_type=str),
        multiple=True,
        metavar="INDEX",
        help="With --max-swiss: count players and rounds here, too, an index or games of whole events; several times.",
    ),
)


def selection_of(exclude_team: bool, max_swiss: float | None, archive: Sequence[str]) -> GameSelection | None:
    """What the options of a selection ask for; None if nothing."""
    if archive and max_swiss is None:
        raise click.UsageError("--archive tells how large events were: give --max-swiss N with it.")
    if not exclude_team and max_swiss is None:
        return None
    from assay import GameSelection

    return GameSelection(exclude_team, max_swiss, tuple(archive))


reference_option = Shared(
    "--reference",
    type=click.Path(path_type=Path, exists=True),
    metavar="FILE|FOLDER",
    help="Fit Regan's line on this: rated games analysed in the store, or a reference set; for rybka-3-d13 the "
    "positions of its line, also those of a calibration.",
)
REGAN = ("model", "curve", "k", "cap", "tie", "scale")
regan_options = stacked(*_regan)
# Where a calibration has its own, nothing is asked for unless it is given.
regan_asked_options = stacked(*(option.but(default=None) for option in _regan))
analysis_options = stacked(
    where_option,
    store_option,
    calibration_option,
    likely_option,
    depth_option,
    quick_option,
    deep_option,
    engine_option,
    policy_option,
    Shared("--no-analysis", is_flag=True, help="Use what is stored; start no engine."),
    workers_option,
    pool_option,
    scale_year_option,
    keep_duplicates_option,
)

# What is made of them.
format_option = Shared(
    "--format",
    type=click.Choice(FORMATS),
    default="table",
    show_default=True,
    callback=_kept,
    expose_value=False,
    help="How to print the table.",
)
wide_option = Shared(
    "--wide",
    is_flag=True,
    callback=_kept,
    expose_value=False,
    help="All columns in text, however wide; CSV and JSON have them all.",
)
table_options = stacked(format_option, wide_option)
plots_option = Shared("--plots", type=FOLDER, metavar="DIR", help="Write plots into this folder, too.")


out_option = Shared("-o", "--out", type=FILE, required=True, metavar="FILE", help="Where the output goes.")
out_folder_option = out_option.but(type=FOLDER, default=Path(), required=False, metavar="DIR")
seed_option = Shared(
    "--seed",
    type=click.IntRange(0, 2**63),
    default=0,
    show_default=True,
    help="Of what is drawn at random: the same seed, the same result.",
)


def _level(ctx: click.Context, param: click.Parameter, value: float) -> float:
    if not 50 <= value < 100:
        raise click.BadParameter(f"{value:g} is not between 50 and 100.")
    return value / 100


level_option = Shared(
    "--level", type=float, callback=_level, default=95, show_default=True, help="Level of the interval, in %."
)


def policy_of(text: str) -> str | bool:
    """What --policy names: the file of a network, True for the shipped one, False for none."""
    return text == "shipped" if text in ("shipped", "none") else text


def one_engine(engines: Sequence[str]) -> str:
    """The engine, where a jury has no meaning."""
    if len(engines) > 1:
        raise click.UsageError(
            "only one --engine here; a jury of several is for 'assay analyse', 'assay fit', 'assay calibrate' and "
            "'assay ipr --method regan'."
        )
    return engines[0] if engines else "stockfish"


def analysing(engines: Sequence[str], policy: str, **options: Any) -> dict[str, Any]:
    """The options of an analysis as the keywords of the front door."""
    return options | {"engine": one_engine(engines), "policy": policy_of(policy), "quiet": is_quiet()}


def _range(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, int]:
    low, _, high = value.partition(":")
    if not low.isdecimal() or not high.isdecimal() or int(low) >= int(high):
        raise click.BadParameter(f"{value!r} is no range of ratings such as 600:3000.")
    return int(low), int(high)


def ratings_option(name: str) -> Shared:
    """A range of ratings, LOW:HIGH."""
    return Shared(name, "bounds", callback=_range, default="600:3000", show_default=True, help="Ratings to take.")


def width() -> int:
    """How wide a text may be: as the terminal, if it goes to one."""
    if not sys.stdout.isatty():
        return WIDTH
    import shutil

    return shutil.get_terminal_size().columns


def print_answer(answer: Answer) -> None:
    """Print an answer to stdout, as --format and --wide ask, and its remarks to stderr."""
    meta = click.get_current_context().meta
    say(answer.to(meta.get("assay.format", "table"), width(), wide=meta.get("assay.wide", False)))
    tell(answer.remarks)


def tell(remarks: Iterable[str]) -> None:
    """Say what stands beside the output, on stderr; a terminal gets lines that end between words."""
    for remark in remarks:
        say(filled(str(remark), width()) if sys.stderr.isatty() else remark, err=True)


def draw_plots(answer: Answer, folder: Path | None) -> None:
    """Write the pictures of an answer into a folder, if one is named."""
    if folder is not None:
        from assay import plot

        for path in plot(answer, folder):
            say(f"Written: {path}", err=True)


_LONGEST_REMARK = 4000


def say(text: object = "", *, err: bool = False, nl: bool = True) -> None:
    """Print a text, made harmless: all that commands print goes through here, since much of it quotes files.

    Remarks on stderr lose their middle when they are endless, as where a file of one line is quoted.
    """
    click.echo(printable(str(text), _LONGEST_REMARK if err else None, lines=True), err=err, nl=nl)


def print_data(text: str) -> None:
    """Print a file's worth of text to stdout: as it is for the program that reads it there, harmless for a terminal."""
    click.echo(printable(text, lines=True) if sys.stdout.isatty() else text, nl=False)


_LISTS = ("ratings/", "a Parquet file for each month, in the data folder")
_STORE = ("analyses.db", "the analysis store, in the user's data folder; --store names another")
EXIT = (
    ("0", "the job was done"),
    ("1", "it could not be done; one sentence on stderr says why, and what to do"),
    ("2", "wrong usage"),
    ("130", "interrupted; what was finished is kept"),
)
ENVIRONMENT = (
    ("ASSAY_HOME", "the data folder, in place of the system's usual one (docs/install.md)"),
    ("PATH", "where engines are looked for first"),
    ("LICHESS_TOKEN", "a token of Lichess: quicker, and your private studies (docs/fetch.md)"),
    ("ASSAY_CONTACT", "how chess.com can reach you: an e-mail address, or your name there"),
)


@dataclass(frozen=True)
class Foot:
    """What stands below the options of a command: related commands, the page of the documentation, files, and what an
    exit status of 1 may mean besides."""

    see: tuple[str, ...]
    page: str
    files: tuple[tuple[str, str], ...] = ()
    failure: str = ""


FOOT = {
    "demo": Foot(("sample", "rate", "doctor"), "install", (("DIR", "the samples, demo.db, demo.html"),)),
    "doctor": Foot(("engines", "demo"), "install", (), "or: something is broken"),
    "rate": Foot(("compare", "ipr", "results", "guess", "report"), "answer"),
    "compare": Foot(("rate", "ipr", "match"), "answer", (_STORE,)),
    "index": Foot(
        ("stats", "filter", "balance", "month"),
        "games",
        (("INDEX", "Parquet or CSV; its columns are in docs/data-format.md"),),
        "or: the index was written, but a file is damaged",
    ),
    "month": Foot(("index", "stats"), "games", (("DIR", "the archive, its index, and a .part while it is fetched"),)),
    "stats": Foot(("index", "filter", "balance"), "games"),
    "filter": Foot(("index", "stats", "balance"), "games"),
    "balance": Foot(
        ("index", "stats", "filter"), "games", (("FILE.manifest.json", "how the games were drawn, and from what"),)
    ),
    "fetch": Foot(
        ("index", "ipr", "report", "month"),
        "fetch",
        (("fetched/", "what was fetched, by account and month, in the data folder; --forget removes it"),),
        "or: not everything came; the games that did are written",
    ),
    "players": Foot(("ratings add", "event", "results"), "fide"),
    "ratings add": Foot(("ratings list", "screen", "event"), "fide", (_LISTS,)),
    "ratings list": Foot(("ratings add",), "fide", (_LISTS,)),
    "sample": Foot(("ipr", "screen", "results", "guess"), "index"),
    "analyse": Foot(("analyses", "ipr", "fit", "export-analyses"), "analysis", (_STORE,)),
    "engines": Foot(("calibrate", "calibration list", "ipr"), "install"),
    "analyses": Foot(("analyse", "export-analyses"), "analysis", (_STORE,)),
    "export-analyses": Foot(("import-analyses", "analyse"), "analysis", (_STORE,)),
    "import-analyses": Foot(("export-analyses", "analyse"), "analysis", (_STORE,)),
    "fit": Foot(("analyse", "show", "difference", "calibrate", "ipr"), "model", (_STORE,)),
    "show": Foot(("fit", "posterior", "report"), "model", (_STORE,)),
    "export-turns": Foot(("show", "export-analyses", "fit"), "model", (_STORE,)),
    "difference": Foot(("fit", "analyse"), "model", (_STORE,)),
    "simulate": Foot(
        ("fit", "ipr", "screen"), "model", (("F.manifest.json", "the truth about the games; kept beside F.pgn"),)
    ),
    "ipr": Foot(("screen", "posterior", "report", "calibration show"), "rating", (_STORE,)),
    "posterior": Foot(("ipr", "show", "guess"), "rating", (_STORE,)),
    "screen": Foot(("ipr", "show", "report"), "screening", (_STORE,)),
    "calibrate": Foot(("analyse", "calibration show", "ipr"), "rating", (_STORE,)),
    "calibration show": Foot(("calibrate", "calibration list", "ipr"), "rating"),
    "calibration list": Foot(("calibration show", "calibrate"), "rating"),
    "results": Foot(("match", "prep", "index", "ipr"), "results"),
    "match": Foot(("results", "prep"), "results"),
    "event": Foot(("results", "screen", "fetch"), "event"),
    "prep": Foot(("results", "filter"), "results"),
    "guess": Foot(("posterior", "ipr", "train"), "learned"),
    "planes": Foot(("encode", "guess"), "learned"),
    "encode": Foot(("train", "evaluate", "filter"), "learned", (("DATASET", "shards and a manifest"),)),
    "train": Foot(
        ("encode", "evaluate", "guess"), "learned", (("RUN", "weights, settings, metrics, checkpoint, pictures"),)
    ),
    "evaluate": Foot(("train", "guess"), "learned"),
    "chances": Foot(("show", "guess", "policy train"), "policy"),
    "policy gather": Foot(
        ("policy label", "policy train", "filter"), "policy", (("POSITIONS", "blocks of rows, labels, a manifest"),)
    ),
    "policy label": Foot(("policy gather", "policy train"), "policy", (("POSITIONS", "labels are added to it"),)),
    "policy train": Foot(
        ("policy gather", "policy label", "policy export"),
        "policy",
        (("RUN", "checkpoint.npz, policy.npz, curve.csv"),),
    ),
    "policy export": Foot(("policy train",), "policy"),
    "review": Foot(("report", "posterior", "chances"), "review", (_STORE,)),
    "report": Foot(("serve", "ipr", "screen"), "report", (_STORE,)),
    "serve": Foot(("report",), "web", (_STORE, ("jobs/", "jobs and their reports, in the data folder, or --jobs"))),
}


def write_foot(ctx: click.Context, formatter: click.HelpFormatter) -> None:
    """Write the foot of a command's help."""
    foot = FOOT.get(ctx.command_path.partition(" ")[2])
    if foot is None:
        return
    if foot.files:
        with formatter.section("Files"):
            formatter.write_dl(foot.files)
    with formatter.section("Exit status"):
        failure = f"{EXIT[1][1]}{f'; {foot.failure}' if foot.failure else ''}"
        formatter.write_dl([(code, failure if code == "1" else text) for code, text in EXIT])
    with formatter.section("See also"):
        commands = ", ".join(f"assay {name}" for name in foot.see)
        formatter.write_text(f"{commands}; docs/{foot.page}.md")
