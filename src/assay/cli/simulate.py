"""The command simulate: games whose players are known exactly."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from assay.cli.common import Command, counted, is_quiet, say

if TYPE_CHECKING:
    from assay.moves.simulation import Entrant


@click.command(cls=Command)
@click.option("--elo", "elos", type=float, multiple=True, help="A player of this rating; once for each player.")
@click.option("--s", "all_s", type=float, multiple=True, help="A player of this sensitivity ...")
@click.option("--c", "all_c", type=float, multiple=True, help="... and this consistency; once for each player.")
@click.option("--games", type=click.IntRange(1), default=10, show_default=True, help="Games in all, each pair in turn.")
@click.option(
    "-o",
    "out",
    type=click.Path(path_type=Path, dir_okay=False),
    required=True,
    metavar="F.pgn",
    help="Where to write them.",
)
@click.option(
    "--assist", "assists", multiple=True, metavar="NAME:SHARE[:FROM_MOVE]", help="Help a player on a share of moves."
)
@click.option("--name", "names", multiple=True, help="Name of a player, in order.  [default: Player 1, Player 2, ...]")
@click.option("--engine", default="stockfish", show_default=True, help="Engine that values the moves.")
@click.option(
    "--depth", type=click.IntRange(1, 60), default=10, show_default=True, help="Depth of its searches, in plies."
)
@click.option("--lines", type=click.IntRange(2), default=50, show_default=True, help="Moves to value.")
@click.option(
    "--calibration", metavar="NAME|FILE", help="Which makes s and c of a rating.  [default: that of the depth]"
)
@click.option("--event", default="Simulated tournament", show_default=True, help="Name of the event.")
@click.option(
    "--seed", type=click.IntRange(0), default=0, show_default=True, help="The same seed plays the same games."
)
@click.option("--workers", type=click.IntRange(1), help="Engines at a time.  [default: one per core]")
@click.option("--store", type=click.Path(path_type=Path, dir_okay=False), help="Keep the analyses in this store.")
def simulate(
    elos: Sequence[float],
    all_s: Sequence[float],
    all_c: Sequence[float],
    games: int,
    out: Path,
    assists: Sequence[str],
    names: Sequence[str],
    engine: str,
    depth: int,
    lines: int,
    calibration: str | None,
    event: str,
    seed: int,
    workers: int | None,
    store: Path | None,
) -> None:
    """Play a tournament among agents: games whose players are known exactly.

    An agent chooses each move with the model's probabilities for its s and c, or for a rating by the calibration, on
    what an engine says of the position. --assist lets a player follow the engine on a share of the moves, from a move
    on. The truth (players, help, which plies were helped) is written beside the games, to F.manifest.json.

    A game costs about as much as its analysis: half a second a move at depth 10. With --store the analyses are kept,
    so that rating the games later costs nothing.

    \b
    Examples:
      assay simulate --elo 2400 --elo 2200 --games 10 -o games.pgn
      assay simulate --elo 2000 --elo 2000 --elo 2000 --games 12 --assist 'Player 3:0.3:12' -o helped.pgn
      assay simulate --s 0.1 --c 0.5 --s 0.2 --c 0.45 --games 4 --depth 6 -o fast.pgn
    """
    import os
    from contextlib import ExitStack

    from assay.engine.live import Engine
    from assay.engine.store import writing
    from assay.engine.writer import Writer
    from assay.manifest import make, write
    from assay.moves.simulation import tournament, truth
    from assay.paths import atomic
    from assay.progress import Progress

    entrants = _entrants(elos, all_s, all_c, names, assists, calibration, depth)
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
                workers=workers or os.cpu_count() or 1, keep=keep,
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
    calibration: str | None,
    depth: int,
) -> list[Entrant]:
    """The players that the options describe."""
    from assay.errors import InputError
    from assay.moves.calibration import load
    from assay.moves.simulation import Assist, Entrant

    if len(all_s) != len(all_c) or bool(elos) == bool(all_s):
        raise click.UsageError("give --elo for each player, or --s and --c for each.")
    pairs = list(zip(all_s, all_c, strict=True))
    if elos:
        artery = load(calibration, depth=depth).usable().artery
        pairs = [artery.at(elo) for elo in elos]
    labels = [names[i] if i < len(names) else f"Player {i + 1}" for i in range(len(pairs))]
    helped = {assist.name: assist for assist in map(Assist.parse, assists)}
    if unknown := set(helped) - set(labels):
        raise InputError(f"nobody is called {sorted(unknown)[0]!r}: the players are {', '.join(labels)}.")
    ratings = [round(e) for e in elos] if elos else [None] * len(pairs)
    return [
        Entrant(label, s, c, rating, helped.get(label))
        for label, (s, c), rating in zip(labels, pairs, ratings, strict=True)
    ]
