"""The commands that people look at: report, serve."""

from __future__ import annotations

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
    once_more,
    one_engine,
    out_option,
    player_option,
    rating_option,
    say,
    store_option,
    watch_options,
    watched,
    without_option,
    workers_option,
)
from assay.paths import check_place
from assay.table import counted

FORMATS = ("html", "pdf", "csv", "json", "pgn")


@click.command(cls=Command)
@files_argument
@out_option.but("--output", required=False)
@click.option(
    "--format",
    "format",
    type=click.Choice(FORMATS),
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
    player: str | None,
    me: bool,
    without: Sequence[int],
    shown: str,
    evals: bool,
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
    format = format or (suffix if suffix in FORMATS else "html")
    path = out or Path(f"report.{format}")
    check_place(path, format)
    asked = analysing(**options)
    if shown == "beside" and format != "html":
        raise click.UsageError(f"--games beside is for HTML, and {format} is one file: say all, none or how many.")

    def renew(games: Any) -> None:
        made = make_report(games, player=player, me=me, without=without, evals=evals, games=shown, **asked)
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
def serve(
    port: int,
    host: str,
    store: Path | None,
    token: str | None,
    jobs: Path | None,
    depth: int | None,
    engines: Sequence[str],
    workers: int | None,
    max_mb: float,
    allow_fetch: bool,
    max_games: int,
) -> None:
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
        host=host,
        port=port,
        store=store,
        token=token,
        jobs=jobs,
        depth=depth,
        engine=one_engine(engines),
        workers=workers,
        max_mb=max_mb,
        max_games=max_games,
        allow_fetch=allow_fetch,
        told=lambda address: say(f"Assay is at {address} (Ctrl-C ends it).", err=True),
    )
