"""The commands that use a learned rating: guess, planes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.common import Command, format_option, keep_duplicates_option, print_table, say

if TYPE_CHECKING:
    from assay.learned.guess import Guess

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_OUT = click.Path(path_type=Path, dir_okay=False)


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int]:
    """Numbers from 0 to 63 like `0-11,36`."""
    chosen: list[int] = []
    for word in (value or "0-63").split(","):
        first, _, last = word.strip().partition("-")
        if not first.isdecimal() or not (last or first).isdecimal() or not int(first) <= int(last or first) < 64:
            raise click.BadParameter(f"{word!r} is no plane or range of planes from 0 to 63, such as 36-41.")
        chosen += range(int(first), int(last or first) + 1)
    return chosen


@click.command(cls=Command)
@click.argument("file", type=_FILE, metavar="FILE")
@click.option("--game", "number", type=click.IntRange(1), default=1, show_default=True, help="Which game of the file.")
@click.option("--ply", type=click.IntRange(1), default=1, show_default=True, help="Which ply of the game.")
@click.option("--planes", callback=_numbers, metavar="LIST", help="Planes to show, such as 0-11,36.  [default: all]")
@click.option("-o", "--out", type=_OUT, help="Draw them over the board (.svg, .png, .pdf).")
@format_option
def planes(file: Path, number: int, ply: int, planes: list[int], out: Path | None, format: str) -> None:
    """Show the planes that the learned rating reads: what stands where, who controls what, before and after a move.

    Prints a table of the planes with their squares; with -o draws them over the board.

    \b
    Examples:
      assay planes game.pgn --ply 20
      assay planes game.pgn --ply 20 --planes 36-47 -o control.svg
    """
    import numpy as np

    from assay.errors import InputError
    from assay.games import read_games, to_arrays
    from assay.learned.encode import encode_games
    from assay.learned.planes import PLANE_NAMES, squares_of, unpack

    game = next((game for at, game in enumerate(read_games(file), start=1) if at == number), None)
    if game is None:
        raise InputError(f"{file} has no game {number}.")
    arrays = to_arrays([game])
    if not arrays.valid[0]:
        raise InputError(f"game {number} of {file} cannot be read: {arrays.reason[0]}.")
    if ply > arrays.plies:
        raise InputError(f"game {number} of {file} has {arrays.plies} plies, so there is no ply {ply}.")
    packed = encode_games(arrays).planes[ply - 1]
    if out is None:
        shown = [{"plane": at, "name": PLANE_NAMES[at], "squares": squares_of(int(packed[at]))} for at in planes]
        print_table(shown, format=format)
        return
    from assay.learned.guess import sans
    from assay.reports.plots_learned import planes_figure, save_figure

    title = f"game {number}, ply {ply}: {sans(arrays, 0, game)[ply - 1]}"
    save_figure(planes_figure(np.asarray(arrays.boards[ply - 1]), unpack(packed), planes, title), out)


@click.command(cls=Command)
@click.argument("file", type=_FILE, metavar="FILE")
@click.option("--game", "number", type=click.IntRange(1), help="This game alone, move by move.")
@click.option("--player", metavar="NAME", help="All games of this player, pooled.")
@click.option("--model", metavar="RUN", help="A trained run, or 'lichess' or 'otb'.  [default: by the Site tag]")
@click.option("--prior", type=_FILE, help="Another prior over the bands (JSON or CSV).")
@click.option("-o", "--out", type=_OUT, help="Draw the posterior of the game (.svg, .png, .pdf).")
@keep_duplicates_option
@format_option
def guess(
    file: Path,
    number: int | None,
    player: str | None,
    model: str | None,
    prior: Path | None,
    out: Path | None,
    keep_duplicates: bool,
    format: str,
) -> None:
    """Guess both players' ratings from the moves alone, after every move.

    Of one game (the only one of the file, or --game N) prints the posterior over rating bands after every move as a
    row of blocks, with its mean and the interval that holds 80 % of it. Of several games prints the last posterior of
    each. --player pools the games of one player. The models that ship with Assay need no extra; the one trained on
    Lichess games speaks of Lichess ratings, the other of over-the-board ratings.

    --prior says whom you expect: JSON like {"1500": 0.3, "1700": 0.7} or CSV with the columns band and share.

    \b
    Examples:
      assay guess game.pgn -o posterior.svg
      assay guess tournament.pgn --player "Carlsen,M"
      assay guess games.pgn --game 3 --model run --format csv
    """
    from assay.errors import LearnedError
    from assay.learned.guess import guess_games, pool_games

    guesses, problems = guess_games(
        file, model=model, number=number, player=player, prior=prior, keep_duplicates=keep_duplicates
    )
    if len(guesses) == 1 and player is None:
        _print_moves(guesses[0], format)
        if out is not None:
            from assay.reports.plots_learned import posterior_figure, save_figure

            save_figure(posterior_figure(guesses[0]), out)
    elif out is not None:
        raise LearnedError("-o draws one game: choose it with --game.")
    else:
        _print_games(guesses, format, player, pool_games(guesses, player) if player else None)
    for run in {guess.run.name: guess.run for guess in guesses}.values():
        if run.error is not None:
            own, mean = run.error
            say(
                f"assay: on unseen players the model {run.name} is off by {own:.0f} Elo on average; "
                f"guessing the mean for everybody, by {mean:.0f}.",
                err=True,
            )
    for reason, count in problems.most_common():
        say(f"assay: {count} games left out: {reason}.", err=True)


def _print_moves(guess: Guess, format: str) -> None:
    from assay.learned.guess import estimate, sparkline

    rows: list[dict[str, Any]] = []
    for ply, pair in enumerate(guess.posteriors):
        row: dict[str, Any] = {"ply": ply, "move": _numbered(guess, ply)}
        for side, posterior in zip(("white", "black"), pair, strict=True):
            found = estimate(posterior, guess.run)
            row |= {side: found.value, f"{side}_low": found.low, f"{side}_high": found.high}
            if format == "table":
                row[f"{side}_bands"] = f"|{sparkline(posterior)}|"
            else:
                low = guess.edges[:-1].astype(int).tolist()
                row |= {f"{side}_{band}": p for band, p in zip(low, posterior.tolist(), strict=True)}
        rows.append(row)
    if format == "table":
        for side, name, rating in zip(("White", "Black"), guess.players, guess.ratings, strict=True):
            say(f"{side}: {name}" + (f" ({rating})" if rating is not None else ""))
        bands = f"{guess.edges[0]:.0f} to {guess.edges[-1]:.0f} by {guess.edges[1] - guess.edges[0]:.0f}"
        say(f"Model: {guess.run.name}; bands {bands}; 80 % intervals\n")
    titles = {"white": "White", "black": "Black"} | {f"{s}_{w}": w for s in ("white", "black") for w in ("low", "high")}
    titles |= {f"{side}_bands": "bands" for side in ("white", "black")}
    print_table(rows, format=format, titles=titles, decimals=dict.fromkeys(_ESTIMATES, 0))


_ESTIMATES = tuple(f"{side}{what}" for side in ("white", "black") for what in ("", "_low", "_high"))


def _numbered(guess: Guess, ply: int) -> str:
    """The move of a ply with its number, as in a score sheet."""
    if ply == 0:
        return "before"
    number, black = divmod(ply - 1, 2)
    return f"{number + 1}{'...' if black else '.'} {guess.moves[ply - 1]}"


def _print_games(guesses: list[Guess], format: str, player: str | None, pooled: Any) -> None:
    from assay.learned.guess import estimate, sparkline

    rows: list[dict[str, Any]] = []
    for guess in guesses:
        for side, colour in enumerate(("White", "Black")):
            if player is None or guess.players[side] == player:
                posterior = guess.posteriors[-1, side]
                found = estimate(posterior, guess.run)
                row = {"game": guess.number, "colour": colour, "player": guess.players[side]}
                row |= {"rating": guess.ratings[side], "guess": found.value, "low": found.low, "high": found.high}
                rows.append(row | {"bands": f"|{sparkline(posterior)}|"})
    if pooled is not None:
        found = estimate(pooled, guesses[0].run)
        row = {"game": None, "colour": "pooled", "player": player, "rating": None, "guess": found.value}
        rows.append(row | {"low": found.low, "high": found.high, "bands": f"|{sparkline(pooled)}|"})
    print_table(rows, format=format, decimals={"guess": 0, "low": 0, "high": 0})
