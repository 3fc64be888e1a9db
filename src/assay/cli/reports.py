"""The commands that people look at: report, serve, review; and those of a first hour: demo, doctor."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    Command,
    aliases_option,
    analysing,
    analysis_options,
    depth_options,
    engine_option,
    evals_option,
    files_argument,
    game_option,
    once_more,
    one_engine,
    out_folder_option,
    out_option,
    player_option,
    print_answer,
    print_data,
    rating_option,
    say,
    store_option,
    table_options,
    tell,
    watch_options,
    watched,
    wide_option,
    width,
    without_option,
    workers_option,
)
from assay.errors import EngineError
from assay.paths import check_place
from assay.table import FORMATS, counted

REPORT_FORMATS = ("html", "pdf", "csv", "json", "pgn")
MATCH, EVENT = "kasparov-deep-blue-1997.pgn", "simulated-event.pgn"
# What is shown: a sentence, and the words of a command. Real analyses, small enough for two minutes on two cores.
WITH_ENGINE = (
    ("Kasparov - Deep Blue, New York 1997: one rating for each side", f"rate {MATCH} --quick"),
    ("The same from the moves alone", f"ipr {MATCH} --quick"),
    ("A simulated event: whose moves are unusual for the rating?", f"screen {EVENT}"),
    ("The report", f"report {EVENT} -o demo.html"),
)
WITHOUT = (
    ("Kasparov - Deep Blue, New York 1997: one rating for each side", f"rate {MATCH}"),
    ("A simulated event: ratings from its results", f"results {EVENT}"),
)
STORED = {"rate", "ipr", "screen", "report"}


@click.command(cls=Command)
@files_argument
@out_option.but("--output", required=False)
@click.option(
    "--format",
    "format",
    type=click.Choice(REPORT_FORMATS),
    help="What to write; pdf needs Chromium.  [default: by the name of the output, else html]",
)
@click.option(
    "--paper",
    type=click.Choice(("A4", "letter"), case_sensitive=False),
    default="A4",
    show_default=True,
    help="Paper of a PDF.",
)
@rating_option
@player_option
@click.option("--me", is_flag=True, help="Your own games: you are the one who plays in nearly all of them.")
@without_option
@click.option(
    "--games",
    "shown",
    metavar="all|beside|none|N",
    default="all",
    show_default=True,
    help="Games to show: all in the file, all in files beside it, none, or the N with the gravest mistakes.",
)
@evals_option
@watch_options
@analysis_options
@aliases_option
def report(
    files: Sequence[str],
    out: Path | None,
    format: str | None,
    paper: str,
    shown: str,
    watch: bool,
    every: int,
    **options: Any,
) -> None:
    """Write a report on some games: one HTML file that anybody can open, mail and print.

    First a sentence: whether anybody's play is unusual, or how a single player or game was. Then the players, each with
    one rating from results, moves and the learned model together and its range; a tap explains every number and shows
    what each witness says alone. Every game move by move with marks, evaluation and what players of the rating would
    have played; and how all of it was made.

    Where one name is in nearly all games, or with --player, it is that player's report: rating over time by pool,
    accuracy by phase, opening, clock and month, where the points go, the most instructive mistakes.

    Positions that the store lacks are analysed first; where no engine is found, the evaluations that the games carry
    are taken, and it is said (--evals takes them in any case). The file needs no network and stays under 2 MB. As csv
    it is the table of players, as json everything, as pgn the games with evaluations and probabilities as comments.

    \b
    Examples:
      assay report tournament.pgn
      assay report lichess:NAME/rapid?max=50 --me
      assay report round*.pgn --store club.db -o club.html
      assay report tournament.pgn --quick -o tournament.pdf
      assay report archive.pgn --games beside -o archive.html
      assay report https://lichess.org/broadcast/name/AbCdEfGh --watch -o live.html
    """
    from assay import report as make_report

    suffix = out.suffix.lower().removeprefix(".") if out else ""
    format = format or (suffix if suffix in REPORT_FORMATS else "html")
    path = out or Path(f"report.{format}")
    check_place(path, format)
    asked = analysing(**options)
    if shown == "beside" and format != "html":
        raise click.UsageError(f"--games beside is for HTML, and {format} is one file: say all, none or how many.")

    def renew(games: Any) -> None:
        made = make_report(games, games=shown, **asked)
        size = made.write(path, format, paper)
        for remark in made.remarks:
            say(remark, err=True)
        players = made.report.me.name if made.report.me else counted(len(made.report.players), "player")
        what = f"{counted(len(made.report.games), 'game')}{' shown' if made.report.selection else ''}, {players}"
        say(f"{what}: {path} ({size / 1e3:,.0f} kB).\n{made.head}", err=True)

    for games in watched(files, watch, every):
        once_more(watch, partial(renew, games))


@click.command(cls=Command)
@click.option(
    "--port", type=click.IntRange(0, 65535), default=8765, show_default=True, help="Port; 0 takes a free one."
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="Where to listen; another than this machine needs a token."
)
@store_option
@click.option("--token", help="What callers have to know.  [default: none on this machine, else one is made]")
@click.option(
    "--jobs",
    type=click.Path(path_type=Path, file_okay=False),
    help="Folder of the jobs and their reports.  [default: in the user's data folder]",
)
@depth_options
@engine_option
@workers_option
@click.option(
    "--max-mb", type=click.FloatRange(0.001, 100_000), default=10, show_default=True, help="Largest upload, in MB."
)
@click.option("--allow-fetch", is_flag=True, help="Fetch games by a name or a link for others than this machine, too.")
@click.option("--max-games", type=click.IntRange(1), default=500, show_default=True, help="Most games of an upload.")
def serve(engines: Sequence[str], **options: Any) -> None:
    """Open a page in the browser: give a name, a link or a PGN, watch the analysis, read the report.

    Reports grow game by game, can be cancelled, survive a reload of the page and a restart of the server, and are kept
    in a list. A JSON API stands behind the page; /api/openapi.json describes it. The page offers all depths that a
    calibration is shipped for, first the one that is given here.

    The server listens to this machine alone. With another --host a token is needed: your own, or one that is made and
    printed. Nothing is loaded from elsewhere, and nothing leaves this machine, but for games that somebody asks for by
    a name or a link: those come from Lichess or chess.com alone. With another --host that is off without --allow-fetch.

    \b
    Examples:
      assay serve
      assay serve --port 9000 --store club.db
      assay serve --host 0.0.0.0 --token sesame
    """
    from assay import serve as open_page

    open_page(
        engine=one_engine(engines),
        told=lambda address: say(f"Assay is at {address} (Ctrl-C ends it).", err=True),
        **options,
    )


@click.command(cls=Command)
@files_argument
@game_option.but(default=1)
@evals_option
@out_option.but(required=False)
@click.option(
    "--format",
    "format",
    type=click.Choice((*FORMATS, "pgn")),
    help="How to print or write it.  [default: by the name of the output, else table]",
)
@rating_option
@analysis_options
@wide_option.but(expose_value=True)
def review(
    files: Sequence[str],
    number: int,
    evals: bool,
    out: Path | None,
    format: str | None,
    wide: bool,
    **options: Any,
) -> None:
    """Review one game: accuracy, mistakes, critical moments, and what players of the ratings do in these positions.

    Accuracy of both sides (win chances kept, by Lichess's formula) beside what players of the rating reach in these
    positions; centipawns lost on average; inaccuracies, mistakes and blunders; the three moments that decided, with the
    better line and how many players of the rating find it; opening, phases, clocks.

    As pgn it is the game as it stands in the file, every tag, clock, comment and variation, with marks, evaluations and
    better lines that Lichess and ChessBase show. Without an engine the evaluations in the file serve.

    \b
    Examples:
      assay review my-games.pgn --game 3
      assay review game.pgn --deep -o reviewed.pgn
      assay review lichess-game.pgn --evals --format json
    """
    from assay import review as look_at

    if out is not None:
        check_place(out)
    found = look_at(files, number, evals=evals, **analysing(**options))
    text = found.to(format or "table", width(), wide=wide)
    if out is not None:
        found.write_text(out, format, wide=wide)
        say(f"{found.head}\nWritten: {out}", err=True)
    elif format == "pgn":
        print_data(f"{text}\n")
    else:
        say(text)
    tell(found.remarks)


@click.command(cls=Command)
@out_folder_option.but(default=Path("assay-demo"))
@click.pass_context
def demo(ctx: click.Context, out: Path) -> None:
    """Show what Assay does, on the sample games that come with it.

    Writes the samples into a folder, rates the match Kasparov - Deep Blue by results, moves and the learned model,
    screens a simulated event in which one player was helped (simulated-event.manifest.json has the truth), and writes
    a report to open in a browser. The commands are shown as they are run. Takes a minute or two with a chess engine;
    without one, what can be said without.

    \b
    Examples:
      assay demo
      assay demo -o samples
    """
    from assay import engines, samples

    samples(out)
    steps: Sequence[tuple[str, str]] = WITH_ENGINE
    try:
        engines()
    except EngineError as error:
        say(f"Without a chess engine, moves cannot be judged. {error}", err=True)
        steps = WITHOUT
    for sentence, line in steps:
        words = [str(out / word) if "." in word else word for word in line.split()]
        if words[0] in STORED:
            words += ["--store", str(out / "demo.db")]
        say(f"\n== {sentence}\n$ assay {shlex.join(words)}")
        ctx.find_root().command.main(args=words, prog_name="assay", standalone_mode=False)
    if steps is WITH_ENGINE:
        say(f"\nOpen {(out / 'demo.html').absolute()} in a browser.")
    say("Now your own: assay rate GAMES.pgn, assay report GAMES.pgn, or lichess:NAME for a file. More: assay --help")


@click.command(cls=Command)
@table_options
def doctor() -> None:
    """Say what is installed, whether it works, and what to do where it does not.

    Looks at chess engines (each is started and asked), calibrations, learned models, the extras, a browser for PDF,
    cores, and the folder for analyses. What lacks is no error; the exit status is 1 where something is broken.

    \b
    Examples:
      assay doctor
      assay doctor --format json
    """
    from assay import doctor as look

    answer = look()
    print_answer(answer)
    answer.refuse_damage()
