"""What people play: the command that tells it, chances, and those that make the network behind it."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    FOLDER,
    KNOWN_FILE,
    KNOWN_FOLDER,
    Command,
    depth_options,
    engine_option,
    files_argument,
    game_option,
    is_quiet,
    keep_duplicates_option,
    one_engine,
    out_option,
    print_answer,
    ratings_option,
    say,
    seed_option,
    table_options,
    where_option,
)
from assay.table import counted


def _levels(ctx: click.Context, param: click.Parameter, value: str) -> list[int]:
    """Ratings like `1200,1600,2000`."""
    words = [word.strip() for word in value.split(",")]
    if not all(word.isdecimal() and len(word) < 10 for word in words):
        raise click.BadParameter(f"{value!r} is no list of ratings such as 1200,1600,2000.")
    return list(dict.fromkeys(map(int, words)))


@click.command(cls=Command)
@click.argument("words", nargs=-1, required=True, metavar="FEN|FILE")
@click.option("--elo", "levels", callback=_levels, default="1200,1600,2000", show_default=True, help="Ratings to ask.")
@click.option(
    "--pool",
    type=click.Choice(("board", "lichess")),
    default="board",
    show_default=True,
    help="Whose ratings they are: of games over the board, or of Lichess.",
)
@click.option("--top", type=click.IntRange(1), help="Moves to list of a position.  [default: 8 in the table, else all]")
@game_option
@click.option("--ply", type=click.IntRange(1), help="Of FILE, the position before this ply, or of this line, alone.")
@click.option(
    "--policy", "network", type=KNOWN_FILE, metavar="NETWORK", help="Another policy, or weights such as Maia's."
)
@click.option(
    "--sharper", is_flag=True, help="Ask an engine, too: chances by the policy and the values of moves together."
)
@engine_option
@depth_options
@out_option.but(required=False, metavar="FILE.svg")
@table_options
def chances(
    words: Sequence[str],
    levels: Sequence[int],
    pool: str,
    top: int | None,
    number: int | None,
    ply: int | None,
    network: Path | None,
    sharper: bool,
    engines: Sequence[str],
    depth: int | None,
    out: Path | None,
) -> None:
    """Tell what people of some ratings would play: the chance of every move, at once and without an engine.

    Of one position (a FEN) prints its likeliest moves. FILE is a game, of which every move is listed with its chance
    and with the move that was likeliest, or positions in FEN, one a line. JSON and CSV have every move of every
    position. With -o draws a board for each rating, with the likeliest moves as arrows. With --sharper an engine values
    the moves first, and what is good counts as it does for players of these ratings.

    \b
    Examples:
      assay chances "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4"
      assay chances game.pgn --elo 1500,2500
      assay chances game.pgn --ply 37 -o position.svg
      assay chances game.pgn --ply 37 --sharper
      assay chances positions.fen --elo 1800 --pool lichess --format json
    """
    from assay import foretell

    if sharper and network is not None:
        raise click.UsageError("--sharper rests on the policy that ships: leave out --policy.")
    text = " ".join(words)
    if (number or ply) and "/" in text and " " in text and not Path(text).exists():
        raise click.UsageError("--game and --ply choose a position of a file; a FEN is one position.")
    answer = foretell(
        text,
        levels,
        pool=pool,
        top=top,
        game=number,
        ply=ply,
        network=network,
        sharper=sharper,
        engine=one_engine(engines),
        depth=depth,
        out=out,
    )
    print_answer(answer)


@click.group(cls=click.Group)
def policy() -> None:
    """Make a policy: a network that foretells what people play.

    \b
    Examples:
      assay policy gather lichess.pgn.zst -o lichess --without check.pgn
      assay policy label lichess --teacher maia-1500.pb.gz
      assay policy train lichess -o run
      assay policy export run -o policy.npz
    """


@policy.command("gather", cls=Command)
@files_argument
@out_option.but(type=FOLDER, metavar="POSITIONS")
@where_option
@click.option("--without", multiple=True, metavar="FILE", help="Take no game that occurs there (repeat).")
@ratings_option("--elo")
@click.option("--first-ply", type=click.IntRange(0), default=8, show_default=True, help="Leave out plies before.")
@click.option("--per-game", type=click.IntRange(0), default=0, show_default=True, help="Positions a game; 0 for all.")
@seed_option.but(default=1)
@keep_duplicates_option
@table_options
def gather(files: Sequence[str], out: Path, **options: Any) -> None:
    """Gather positions of rated games, each with the move that was played, its mover's rating and the move before.

    Positions of games with a player who is held out (a twentieth of all, by a hash of the name) are marked, and no
    training uses them; whoever has no name is held out by game. Games that occur in a file given by --without are known
    by their moves, or by the players and the first moves, and left out.

    \b
    Examples:
      assay policy gather games.pgn.zst -o otb --per-game 24 --without test.pgn.zst
      assay policy gather lichess.pgn.zst -o lichess --where 'speed != "bullet"' --elo 800:2000
    """
    from assay import gather_positions

    answer = gather_positions(files, out, quiet=is_quiet(), **options)
    print_answer(answer)


@policy.command("label", cls=Command)
@click.argument("positions", nargs=-1, required=True, type=KNOWN_FOLDER, metavar="POSITIONS...")
@click.option(
    "--teacher",
    "teachers",
    type=KNOWN_FILE,
    multiple=True,
    required=True,
    metavar="FILE",
    help="A network in Leela's format with its level in the name, such as maia-1500.pb.gz (repeat: in turns).",
)
@click.option("--count", type=click.IntRange(1), default=500_000, show_default=True, help="Positions to label in all.")
@seed_option.but(default=1)
def label(positions: Sequence[Path], teachers: Sequence[Path], count: int, seed: int) -> None:
    """Label gathered positions with what a teacher would play there: chances of all legal moves.

    Labels are added to the folders in blocks of 20,000, folder by folder and teacher by teacher; a block is there whole
    or not at all, so the command may be stopped at any time and called again for more. A training that is running takes
    them up. It takes about half a millisecond a position.

    \b
    Examples:
      assay policy label lichess otb --teacher maia-1500.pb.gz --count 1000000
      assay policy label lichess --teacher maia-1100.pb.gz --teacher maia-1900.pb.gz
    """
    from assay import label_positions

    done = label_positions(positions, teachers, count, seed=seed, quiet=is_quiet())
    say(f"{counted(done, 'position')} labelled.")


@policy.command("train", cls=Command)
@click.argument("positions", nargs=-1, required=True, type=KNOWN_FOLDER, metavar="POSITIONS...")
@out_option.but(type=FOLDER, metavar="RUN")
@click.option("--width", type=click.IntRange(8, 2048), help="Numbers that describe a move.  [default: 96]")
@click.option("--bag", type=click.IntRange(8, 4096), help="Numbers that describe the board.  [default: 128]")
@click.option("--hidden", type=click.IntRange(4, 1024), help="Width of the last layer.  [default: 32]")
@click.option("--steps", type=click.IntRange(1), help="Steps in all.  [default: 200000]")
@click.option("--batch", type=click.IntRange(8), help="Positions a step.  [default: 512]")
@click.option("--lr", type=click.FloatRange(0, min_open=True), help="Learning rate of AdamW.  [default: 3e-3]")
@click.option("--cool", type=click.FloatRange(0, 1), help="Last part of the steps: falling rate.  [default: .2]")
@click.option("--soft", type=click.FloatRange(0, 1), help="Share of a teacher's labels, if any.  [default: .6]")
@click.option("--known", type=click.FloatRange(0, 1), help="Share of the rest with the move before.  [default: .5]")
@click.option("--average", type=click.IntRange(1), help="Steps over which weights are averaged.  [default: 2000]")
@seed_option.but(default=None)
@click.option("--every", type=click.IntRange(1), default=1000, show_default=True, help="Steps between checkpoints.")
@click.option("--start", type=KNOWN_FILE, metavar="POLICY", help="Begin with a policy of these widths or smaller.")
@click.option("--resume", is_flag=True, help="Go on with the training in RUN; its settings hold unless given anew.")
@table_options
def train(
    positions: Sequence[Path],
    out: Path,
    every: int,
    start: Path | None,
    resume: bool,
    **options: Any,
) -> None:
    """Train a policy on gathered positions and on the labels in their folders.

    Every folder gives the same share of a step. The training is watched on players held out. It writes to RUN:
    checkpoint.npz, from which --resume goes on after any interruption, policy.npz (averaged weights, ready to use) and
    curve.csv. It runs in one thread; hours are well spent.

    \b
    Examples:
      assay policy train lichess otb -o run --steps 50000
      assay policy train lichess otb -o run --resume --steps 400000
      assay policy train lichess otb -o on --start policy.npz
    """
    from assay import train_policy

    given = {name: value for name, value in options.items() if value is not None}
    print_answer(train_policy(positions, out, resume=resume, start=start, every=every, quiet=is_quiet(), **given))


@policy.command("export", cls=Command)
@click.argument("run", type=KNOWN_FOLDER, metavar="RUN")
@out_option
def export(run: Path, out: Path) -> None:
    """Write the policy of a training as one small file, in 16-bit numbers.

    \b
    Examples:
      assay policy export run -o policy.npz
    """
    from assay import export_policy

    for told in export_policy(run, out).remarks:
        say(told)
