"""The commands that begin with a name or a link: fetch."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from assay.cli.options import Command, is_quiet, out_option, print_answer, print_data, say, table_options
from assay.errors import FetchError
from assay.table import Answer, Table, columns_of, counted


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
    from assay.fetch.address import filters, parse
    from assay.fetch.fetching import fetch as fetch_one
    from assay.fetch.fetching import told_of
    from assay.fetch.texts import write

    addresses = [parse(source) for source in sources]
    if forget:
        _forget(sources)
        return
    if not addresses:
        raise click.UsageError("Missing argument 'SOURCE...'.")
    asked = filters(wanted)
    found = []
    for address in addresses:
        got = fetch_one(address, asked, quiet=is_quiet(), told=lambda text: say(f"assay: {text}", err=True))
        found.append(got)
        if got.problem is None and not got.texts:
            say(f"assay: {address.text} has no such games.", err=True)
    games = [game for got in found for game in got.texts]
    if out is not None and games:
        write(games, out)
        rows = [
            {"source": got.address.text, "games": len(got.texts), "fetched": got.came, "bytes": got.bytes}
            for got in found
        ]
        print_answer(Answer(shown=Table(rows, columns_of(("source", "games", "fetched", "bytes")))))
        say(f"assay: wrote {counted(len(games), 'game')} to {out}", err=True)
    else:
        for game in games:
            print_data(game.decode("utf-8", "replace").rstrip("\n") + "\n\n")
        if not is_quiet():
            for got in found:
                say(f"assay: {told_of(got)}", err=True)
    if problems := [got.problem for got in found if got.problem is not None]:
        raise FetchError(" ".join(problems))


def _forget(sources: tuple[str, ...]) -> None:
    from assay.fetch.address import parse
    from assay.fetch.shelf import forget as remove

    if not sources:
        say(f"assay: forgot everything ({counted(remove(), 'file')}).", err=True)
    for source in sources:
        address = parse(source)
        if address.kind != "user":
            raise FetchError(f"nothing is kept of {source}: name an account, such as lichess:USER.")
        count = remove(address.service, address.ids[0])
        say(f"assay: forgot {address.service}:{address.ids[0]} ({counted(count, 'file')}).", err=True)
