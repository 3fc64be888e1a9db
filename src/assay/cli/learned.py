"""The commands of the learned rating: guess, planes, encode, train, evaluate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from assay.cli.options import (
    FOLDER,
    KNOWN_FILE,
    Command,
    Shared,
    band_width_option,
    depth_options,
    files_argument,
    game_option,
    is_quiet,
    keep_duplicates_option,
    out_option,
    player_option,
    plots_option,
    print_answer,
    ratings_option,
    seed_option,
    table_options,
    where_option,
)

max_plies_option = Shared("--max-plies", type=click.IntRange(1), help="Plies to take of a game.")
analyses_option = Shared("--analyses", type=KNOWN_FILE, metavar="STORE", help="Store with the analyses of the games.")
prior_option = Shared("--prior", type=KNOWN_FILE, help="Another prior over the bands (JSON or CSV).")
games_option = Shared("--games", type=click.IntRange(0), help="Take so many games only.  [default: all]")
balanced_option = Shared("--balanced", is_flag=True, help="Let every band of ratings count the same.")


@click.command(cls=Command)
@files_argument
@out_option.but(type=FOLDER, metavar="DATASET")
@where_option
@band_width_option
@ratings_option("--range").but(default="600:3100")
@max_plies_option.but(default=200, show_default=True)
@click.option("--min-plies", type=click.IntRange(1), default=10, show_default=True, help="Leave shorter games out.")
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=1.0, help="Take this share of the games.")
@seed_option.but(default=1)
@analyses_option
@depth_options
@keep_duplicates_option
@table_options
def encode(files: Sequence[str], out: Path, **options: Any) -> None:
    """Encode the rated games of PGN files into a dataset for 'assay train'.

    A dataset is a folder of packed shards (64 planes of 64 bits per ply) that are mapped into memory when read. Games
    are split into training, validation and test by a hash of the players' names (80, 10 and 10 % of the players): a
    game belongs to training if both players do, else to the later of their sets, where only players of that set are
    judged. No game is lost, and nobody who is judged was learned from. Where a name is unknown, the game itself is
    hashed, and the command says so.

    \b
    Examples:
      assay encode games.pgn.zst -o dataset
      assay encode lichess.pgn.zst -o bands --band-width 200 --range 700:2700
      assay encode games.pgn -o rapid --where 'speed == "rapid"' --analyses analyses.db
    """
    from assay import encode as build

    answer = build(files, out, quiet=is_quiet(), **options)
    print_answer(answer)


@click.command(cls=Command)
@click.argument("dataset", type=FOLDER, metavar="DATASET")
@out_option.but(type=FOLDER, metavar="RUN")
@click.option("--config", "config_file", type=KNOWN_FILE, help="Settings as TOML; options given here come before it.")
@click.option(
    "--model",
    type=click.Choice(("transformer", "gru", "boosting", "tags", "mean")),
    help="Kind of model.  [default: transformer]",
)
@click.option("--d-model", type=int, help="Width of the model.  [default: 128]")
@click.option("--layers", type=int, help="Layers.  [default: 4]")
@click.option("--heads", type=int, help="Attention heads.  [default: 4]")
@click.option("--square-width", type=int, help="Channels per square; 0 projects the raw bits.  [default: 24]")
@click.option("--dropout", type=float, help="Share of activations left out in training.  [default: 0.1]")
@click.option("--batch-size", type=int, help="Games per step.  [default: 64]")
@click.option("--lr", type=float, help="Peak learning rate.  [default: 3e-4]")
@click.option("--weight-decay", type=float, help="Weight decay of AdamW.  [default: 0.05]")
@click.option("--epochs", type=int, help="Passes over the training games, at most.  [default: 10]")
@click.option("--patience", type=int, help="Epochs without a better validation NLL before stopping.  [default: 3]")
@click.option("--elo-weight", type=float, help="Weight of the error of the mean.  [default: 0]")
@click.option("--elo-loss", type=click.Choice(("mse", "mae")), help="Squared or absolute error.  [default: mse]")
@click.option("--ply-weight", type=float, help="Plies count as their place to this power; 0: alike.  [default: 0]")
@click.option(
    "--pool",
    type=click.Choice(("last", "mean", "max", "cls", "sum")),
    help="What the head reads of the plies so far.  [default: last]",
)
@click.option("--hide", type=float, help="Share of games to hide evals, clocks, analyses of.  [default: 0.5]")
@click.option("--average", type=int, help="Keep the mean of the weights over about so many steps.  [default: 0]")
@click.option("--foresight", type=float, help="Weight of foretelling moves and results as well.  [default: 0]")
@click.option("--smoothing", type=float, help="Spread each label over a bell of so many bands.  [default: 0]")
@click.option(
    "--book", type=int, help="Read an opening book of moves that so many games have; 0 for none.  [default: 0]"
)
@balanced_option.but(default=None)
@max_plies_option.but(help="Plies to take of a game.  [default: 128]")
@games_option
@click.option("--per-band", type=int, help="Games per band and epoch at most; 0 for all.  [default: 0]")
@click.option("--epoch-games", type=int, help="Games of an epoch; 0 for all.  [default: 0]")
@click.option("--threads", type=int, help="Processor threads.  [default: 1]")
@seed_option.but(default=None)
@click.option("--clock", is_flag=True, help="Read clock times too.")
@click.option("--engine-inputs", is_flag=True, help="Read engine scalars too.")
@click.option("--evals", is_flag=True, help="Read the evals of games that have them.")
@click.option("--speed", is_flag=True, help="Know the speed of the game, and whether it is older than 2018.")
@click.option("--ending", is_flag=True, help="Know with the last move of a finished game that it is the last.")
@click.option("--start", "begin", type=FOLDER, metavar="RUN", help="Begin with another run, of this size or smaller.")
@click.option("--resume", is_flag=True, help="Go on with the training in RUN.")
@table_options
def train(
    dataset: Path,
    out: Path,
    config_file: Path | None,
    clock: bool,
    engine_inputs: bool,
    evals: bool,
    speed: bool,
    ending: bool,
    begin: Path | None,
    resume: bool,
    **options: Any,
) -> None:
    """Train a model that keeps a posterior over rating bands, ply by ply.

    The model sees the moves alone (with --clock, --evals, --engine-inputs and --speed more), never another tag. The
    output at ply t is p(band | plies 0..t) for both players. Training stops early on the validation NLL and ends with
    one fitted temperature and the powers that make intervals hold. It writes to RUN: weights.npz, run.json (settings,
    data, prior, temperature), metrics.csv, curves.svg, reliability.svg, and checkpoint.npz, from which --resume goes on
    after any interruption, along the same curve.

    The baselines are trained the same way: --model gru, --model boosting, --model tags (opening, length and result
    alone), --model mean.

    \b
    Examples:
      assay train dataset -o run --d-model 64 --layers 2 --epochs 8
      assay train dataset -o trees --model boosting
      assay train dataset -o run --resume
    """
    from assay import train as fit

    asked = {"clock": clock, "engine": engine_inputs, "evals": evals, "ending": ending, "pool": speed}
    inputs = ("board", *(kind for kind, wanted in asked.items() if wanted))
    print_answer(
        fit(
            dataset,
            out,
            inputs=inputs,
            config=config_file,
            start=begin,
            resume=resume,
            quiet=is_quiet(),
            **options,
        )
    )


@click.command(cls=Command)
@click.argument("run", type=FOLDER, metavar="RUN")
@click.argument("dataset", type=FOLDER, metavar="DATASET")
@click.option("--against", "others", multiple=True, type=FOLDER, metavar="RUN", help="Other runs beside it (repeat).")
@click.option(
    "--split",
    type=click.Choice(("train", "validation", "test")),
    default="test",
    show_default=True,
    help="Games of which set.",
)
@balanced_option
@prior_option
@games_option.but(type=click.IntRange(1))
@plots_option
@click.option(
    "--analysed", type=KNOWN_FILE, metavar="PGN", help="Judge beside the intrinsic rating on these games too."
)
@analyses_option
@table_options
def evaluate(
    run: Path,
    dataset: Path,
    others: Sequence[Path],
    analysed: Path | None,
    analyses: Path | None,
    **options: Any,
) -> None:
    """Judge a trained model on games it has not seen: by ply, by band, by speed, next to other runs.

    \b
    top1, within1       share of players whose most likely band is right, or at most one off
    mae, rmse, bias     of the posterior mean, in Elo; mean_mae is that of predicting the mean for everybody, mae_se the
                        standard error of mae
    noise               one game as a measurement: 1/RMSE^2 = 1/spread^2 + 1/noise^2
    nll, ece            likelihood in nats; calibration error of the most likely band, 15 bins of equal mass
    cover50/80/95       how often the central intervals hold the true rating

    \b
    Examples:
      assay evaluate run dataset --balanced --plots figures
      assay evaluate run dataset --against gru --against trees --against mean --format csv
      assay evaluate run dataset --analysed games.pgn --analyses analyses.db
    """
    if (analysed is None) != (analyses is None):
        raise click.UsageError("--analysed and --analyses belong together.")
    from assay import evaluate as judge

    answer = judge(run, dataset, against=others, analysed=analysed, analyses=analyses, quiet=is_quiet(), **options)
    print_answer(answer)


_PLANE = re.compile("[0-9]{1,2}")


def _numbers(ctx: click.Context, param: click.Parameter, value: str | None) -> list[int]:
    """Numbers from 0 to 63 like `0-11,36`."""
    chosen: list[int] = []
    for word in (value or "0-63").split(","):
        first, _, last = word.strip().partition("-")
        known = _PLANE.fullmatch(first) and _PLANE.fullmatch(last or first)
        if not known or not int(first) <= int(last or first) < 64:
            raise click.BadParameter(f"{word!r} is no plane or range of planes from 0 to 63, such as 36-41.")
        chosen += range(int(first), int(last or first) + 1)
    return chosen


@click.command(cls=Command)
@files_argument
@where_option
@game_option.but(default=1)
@click.option("--ply", type=click.IntRange(1), default=1, show_default=True, help="Which ply of the game.")
@click.option("--planes", callback=_numbers, metavar="LIST", help="Planes to show, such as 0-11,36.  [default: all]")
@out_option.but(required=False, metavar="FILE.svg|.png|.pdf")
@table_options
def planes(files: Sequence[str], where: str | None, number: int, ply: int, planes: list[int], out: Path | None) -> None:
    """Show the planes that the learned rating reads: what stands where, who controls what, before and after a move.

    Prints a table of the planes with their squares; with -o draws them over the board.

    \b
    Examples:
      assay planes game.pgn --ply 20
      assay planes game.pgn --ply 20 --planes 36-47 -o control.svg
    """
    from assay import planes as show

    answer = show(files, number, ply, planes=planes, where=where, out=out)
    if out is None:
        print_answer(answer)


@click.command(cls=Command)
@files_argument
@where_option
@game_option
@player_option
@click.option("--model", metavar="RUN", help="A trained run, or 'lichess' or 'otb'.  [default: by the game's pool]")
@click.option(
    "--prior",
    metavar="none|pool|FILE",
    help="Whom you expect: nobody, the model's players, a file.  [default: none]",
)
@click.option("--moves-alone", is_flag=True, help="Do not read the evals that games have.")
@out_option.but(required=False, metavar="FILE.svg|.png|.pdf")
@keep_duplicates_option
@table_options
def guess(
    files: Sequence[str],
    number: int | None,
    player: str | None,
    moves_alone: bool,
    out: Path | None,
    **options: Any,
) -> None:
    """Guess both players' ratings from the moves alone, after every move.

    Of one game (the only one of the file, or --game N) prints after every move the most likely rating of both players,
    the ratings that the moves so far do not rule out (80 % intervals), and how likely each band of ratings makes them,
    as a row of blocks. Of several games prints what each says at its end. --player adds up the games of one player. The
    models that ship with Assay need no extra; the one trained on Lichess games speaks of Lichess ratings, the other of
    over-the-board ratings. Evals in the games are read where the model can, unless --moves-alone.

    No population is in the answer, unless you ask for it: with --prior pool (the players that the model was trained on,
    of the game's speed) or a FILE (JSON like {"1500": 0.3, "1700": 0.7}, or CSV with the columns band and share) the
    rating is the mean of the posterior.

    \b
    Examples:
      assay guess game.pgn -o posterior.svg
      assay guess tournament.pgn --player "Carlsen,M"
      assay guess games.pgn --game 3 --prior pool --format csv
    """
    from assay import plot, rate_learned
    from assay.errors import LearnedError

    answer = rate_learned(files, game=number, player=player, evals=not moves_alone, **options)
    if out is not None and (len(answer.guesses) > 1 or player is not None):
        raise LearnedError("-o draws one game: choose it with --game.")
    print_answer(answer)
    if out is not None:
        plot(answer, out)
