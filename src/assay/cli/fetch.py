"""The commands that begin with a name or a link: fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.options import Command, is_quiet, out_option, print_answer, print_data, say, table_options, tell
from assay.table import counted


@click.command(cls=Command)
@click.argument("sources", nargs=-1, metavar="SOURCE...")
@out_option.but(required=False)
@click.option("--since", metavar="DATE", help="Games begun on this day or later (2024, 2024-03 or 2024-03-31).")
@click.option("--until", metavar="DATE", help="Games begun on this day or earlier.")
@click.option("--max", "max", type=click.IntRange(1, 10**9), metavar="N", help="The newest N games of each source.")
@click.option("--speed", metavar="SPEED", help="bullet, blitz, rapid, classical, correspondence; with commas, several.")
@click.option("--rated/--casual", "rated", default=None, help="Only rated games, or only casual ones.")
@click.option("--color", type=click.Choice(["white", "black"]), help="Only games with these pieces.")
@click.option("--vs", metavar="NAME", help="Only games against this opponent.")
@click.option("--analysed", is_flag=True, default=None, help="Only games that the service has analysed.")
@click.option("--forget", is_flag=True, help="Remove what is kept of these accounts, or of all; fetch nothing.")
@table_options
def fetch(sources: tuple[str, ...], out: Path | None, forget: bool, **wanted: Any) -> None:
    """Fetch games from Lichess or chess.com, by a name or a link.

    SOURCE is lichess:USER, lichess:USER/rapid, chess.com:USER, or a link: to a profile, game, study, Swiss, arena,
    broadcast tournament or round of Lichess, to a profile or game of chess.com. Every command takes the same words in
    the place of a FILE; 'lichess:USER?max=50&since=2024' asks for less there. Evals and clocks come along.

    One request at a time. What was fetched of an account is kept by month: the second time only new games are asked
    for. A broken download goes on where it stopped. Without -o the games are printed.

    \b
    Examples:
      assay fetch lichess:DrNykterstein --max 50 -o games.pgn
      assay fetch chess.com:Hikaru --since 2024-01 --speed blitz,rapid --rated -o hikaru.pgn
      assay fetch https://lichess.org/broadcast/name/round/AbCdEfGh -o round.pgn
      assay ipr 'lichess:DrNykterstein/rapid?max=20'
      assay fetch --forget lichess:DrNykterstein
    """
    from assay import fetch_games
    from assay import forget as forget_accounts

    def told(text: str) -> None:
        say(f"assay: {text}", err=True)

    if forget:
        for account, count in forget_accounts(*sources).items():
            told(f"forgot {account} ({counted(count, 'file')}).")
        return
    if not sources:
        raise click.UsageError("Missing argument 'SOURCE...'.")
    answer = fetch_games(*sources, out=out, quiet=is_quiet(), told=told, **wanted)
    games = answer.texts
    if out is not None and games:
        print_answer(answer)
    else:
        for game in games:
            print_data(game.decode("utf-8", "replace").rstrip("\n") + "\n\n")
        if not is_quiet():
            tell(answer.remarks)
    answer.refuse_damage()
