"""The commands of the learned rating: guess, planes, encode, train, evaluate."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.options import (
    FOLDER,
    KNOWN_FILE,
    Command,
    Shared,
    band_width_option,
    depth_option,
    files_argument,
    game_option,
    is_quiet,
    keep_duplicates_option,
    out_option,
    player_option,
    plots_option,
    print_answer,
    ratings_option,
    say,
    seed_option,
    table_options,
    tell_duplicates,
    where_option,
)
from assay.table import Answer, Table, columns_of, counted

if TYPE_CHECKING:
    from assay.learned.evaluate import Beside
    from assay.learned.run import Run
    from assay.scoring import Score

max_plies_option = Shared("--max-plies", type=click.IntRange(1), help="Plies to take of a game.  [default: 128]")
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
@depth_option
@keep_duplicates_option
@table_options
def encode(
    files: Sequence[str],
    out: Path,
    where: str | None,
    band_width: int,
    bounds: tuple[int, int],
    max_plies: int,
    min_plies: int,
    share: float,
    seed: int,
    analyses: Path | None,
    depth: int | None,
    keep_duplicates: bool,
) -> None:
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
    from contextlib import ExitStack

    from assay.engine.identity import DEFAULT_DEPTH
    from assay.learned.build import Selection, build_dataset
    from assay.pools import Bands

    depth = depth or DEFAULT_DEPTH
    low, high = bounds
    bands = Bands(low, low + -(-(high - low) // band_width) * band_width, band_width)
    selection = Selection(bands, max_plies, min_plies, share, seed)
    settings: dict[str, Any] = {"where": where} | ({"keep_duplicates": True} if keep_duplicates else {})
    with ExitStack() as stack:
        analyst = None
        if analyses is not None:
            from assay.engine.store import Store
            from assay.learned.build import analyst as analyst_of

            analyst = analyst_of(stack.enter_context(Store(analyses)), depth)
            settings |= {"analyses": analyses.name, "depth": depth}
        built = build_dataset(
            files,
            out,
            selection,
            chosen=_filter(where),
            analyst=analyst,
            settings=settings,
            keep_duplicates=keep_duplicates,
            quiet=is_quiet(),
        )
    rows = [{"games": f"in {name}", "count": count} for name, count in built.games.items()]
    rows += [{"games": f"left out: {reason}", "count": count} for reason, count in built.left_out.items()]
    if analyses is not None:
        rows.append({"games": "with engine analyses", "count": built.analysed})
    print_answer(Answer(shown=Table(rows, columns_of(("games", "count")))))
    tell_duplicates(built.duplicates)
    if built.by_game:
        do = "do not name both players and were" if built.by_game > 1 else "does not name both players and was"
        say(f"assay: {counted(built.by_game, 'game')} {do} split by game.", err=True)
    if analyses is not None and not built.analysed:
        say(f"assay: none of these games is in {analyses}; the engine scalars are empty.", err=True)


def _filter(where: str | None) -> Any:
    """The filter language as a test of index rows."""
    if where is None:
        return None
    from assay.games.where import compile_where

    condition = compile_where(where)
    return lambda tags: tags.select(condition).to_series().fill_null(False).to_numpy()


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
@max_plies_option
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
    from assay.learned.dataset import open_dataset
    from assay.learned.run import Config, open_run, read_config, read_settings, with_options
    from assay.learned.train import fit_run
    from assay.reports.plots_learned import reliability_figure, save_figure, training_figure

    asked = {"clock": clock, "engine": engine_inputs, "evals": evals, "ending": ending, "pool": speed}
    inputs = ("board", *(kind for kind, wanted in asked.items() if wanted))
    if resume:
        start, inputs = read_settings(out)
    else:
        start = read_config(config_file) if config_file else Config()
    config = with_options(start, options)
    other = open_run(begin) if begin else None
    fitted = fit_run(open_dataset(dataset), out, config, inputs, start=other, resume=resume, quiet=is_quiet())
    if fitted.history:
        save_figure(training_figure(fitted.history), out / "curves.svg")
    save_figure(reliability_figure(fitted.validation), out / "reliability.svg")
    row = {"set": "validation", **_shown(fitted.validation.score())}
    columns = columns_of(list(row), decimals=_DECIMALS, wide=_WIDE)
    print_answer(Answer(shown=Table([row], columns)))


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
    split: str,
    balanced: bool,
    prior: Path | None,
    games: int | None,
    plots: Path | None,
    analysed: Path | None,
    analyses: Path | None,
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
    import numpy as np

    from assay.learned.dataset import open_dataset
    from assay.learned.evaluate import (
        by_band,
        by_ply,
        by_speed,
        judge,
        pair_error,
        standard_error,
        together,
        unseen_rows,
    )
    from assay.learned.guess import read_prior
    from assay.learned.run import open_run

    data = open_dataset(dataset)
    rows = unseen_rows(data, split)
    if games is not None:
        rows = np.sort(np.random.default_rng(1).permutation(rows)[:games])
    table = []
    for folder in (run, *others):
        opened = open_run(folder)
        shift = None if prior is None else read_prior(prior, opened.edges)
        judged = judge(opened, data, rows, prior=shift, balanced=balanced, quiet=is_quiet())
        name = folder.name
        for plies, found in by_ply(judged).items():
            table.append({"run": name, "what": f"after {plies}" if plies != "end" else "end", **_shown(found)})
        table[-1]["mae_se"] = standard_error(judged)
        if folder != run:
            continue
        table += [{"run": name, "what": f"band {band}", **_shown(found)} for band, found in by_band(judged).items()]
        table += [{"run": name, "what": speed, **_shown(found)} for speed, found in by_speed(judged).items()]
        table.append({"run": name, "what": "average of the pair", "cases": len(rows), "mae": pair_error(judged)})
        several = together(judged, opened, opened.prior if shift is None else shift)
        if several is not None:
            table.append({"run": name, "what": "players with several games", **_shown(several)})
        if plots is not None:
            from assay.reports.plots_learned import confusion_figure, reliability_figure, save_figure

            plots.mkdir(parents=True, exist_ok=True)
            save_figure(reliability_figure(judged), plots / "reliability.svg")
            save_figure(confusion_figure(judged), plots / "confusion.svg")
    if analysed is not None and analyses is not None:
        both = _beside_moves(open_run(run), analysed, analyses)
        table.append({"run": run.name, "what": "analysed games", **_shown(both.learned)})
        table.append({"run": "intrinsic", "what": "analysed games", **_shown(both.others)})
    columns = columns_of(("run", "what", *_COLUMNS), decimals=_DECIMALS, wide=_WIDE)
    print_answer(Answer(shown=Table(table, columns)))


def _beside_moves(run: Run, path: Path, store: Path) -> Beside:
    """The run and the model of valued moves on the analysed games of a file, both under the run's prior."""
    import numpy as np

    from assay.games import read
    from assay.learned.evaluate import judge_beside, normal_prior
    from assay.learned.guess import guess_games
    from assay.moves.analysed import analysed_turns
    from assay.moves.calibration import load
    from assay.moves.evidence import weigh

    scale, (mean, deviation) = load(None), normal_prior(run)
    evidence = weigh(analysed_turns(read(path).all(), store, scale, no_analysis=True, quiet=True), scale)
    sides = evidence.sides
    curve = evidence.curve.sum(sides.of, len(sides.game))
    prior = np.exp(-0.5 * ((curve.grid - mean) / deviation) ** 2)
    others = {
        (int(sides.game[at]) + 1, 0 if sides.white[at] else 1): (float(sides.rating[at]), curve.grid, chances)
        for at, chances in enumerate(curve.posterior(prior, evidence.model.honesty))
        if np.isfinite(sides.rating[at])
    }
    return judge_beside(run, guess_games(path, model=str(run.path))[0], others)


_COLUMNS = (
    "cases",
    "top1",
    "within1",
    "mae",
    "mae_se",
    "mean_mae",
    "rmse",
    "bias",
    "noise",
    "nll",
    "ece",
    "cover50",
    "cover80",
    "cover95",
)
_WIDE = ("within1", "mae_se", "mean_mae", "rmse", "noise", "cover50", "cover95")
_DECIMALS = dict.fromkeys(_COLUMNS, 3) | dict.fromkeys(("mae", "mae_se", "mean_mae", "rmse", "bias", "noise"), 0)


def _shown(score: Score) -> dict[str, Any]:
    return {name: value for name, value in score.row().items() if name in _COLUMNS}


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
    import numpy as np

    from assay.errors import InputError
    from assay.games import read, to_arrays
    from assay.learned.encode import encode_games
    from assay.learned.planes import PLANE_NAMES, squares_of, unpack

    games = read(files, where=where)
    game = next(islice(games, number - 1, None), None)
    if game is None:
        raise InputError(f"{games.named} has no game {number}.")
    arrays = to_arrays([game])
    if not arrays.valid[0]:
        raise InputError(f"game {number} of {games.named} cannot be read: {arrays.reason[0]}.")
    if ply > arrays.plies:
        raise InputError(
            f"game {number} of {games.named} has {counted(arrays.plies, 'ply')}, so there is no ply {ply}."
        )
    packed = encode_games(arrays).planes[ply - 1]
    if out is None:
        shown = [{"plane": at, "name": PLANE_NAMES[at], "squares": squares_of(int(packed[at]))} for at in planes]
        print_answer(Answer(shown=Table(shown, columns_of(("plane", "name", "squares")))))
        return
    from assay.games.notation import sans
    from assay.games.packed import pack, played_moves
    from assay.reports.plots_learned import planes_figure, save_figure

    at = np.array([ply - 1])
    (move,) = sans(pack(arrays, at), np.zeros(1, np.intp), played_moves(arrays, at))
    title = f"game {number}, ply {ply}: {move}"
    save_figure(planes_figure(np.asarray(arrays.boards[ply - 1]), unpack(packed), planes, title), out)


@click.command(cls=Command)
@files_argument
@where_option
@game_option
@player_option
@click.option("--model", metavar="RUN", help="A trained run, or 'lichess' or 'otb'.  [default: by the Site tag]")
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
    where: str | None,
    number: int | None,
    player: str | None,
    model: str | None,
    prior: str | None,
    moves_alone: bool,
    out: Path | None,
    keep_duplicates: bool,
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
    from assay.api import rate_learned
    from assay.errors import LearnedError

    answer = rate_learned(
        files,
        game=number,
        player=player,
        model=model,
        prior=prior,
        evals=not moves_alone,
        keep_duplicates=keep_duplicates,
        where=where,
    )
    if out is not None and (len(answer.guesses) > 1 or player is not None):
        raise LearnedError("-o draws one game: choose it with --game.")
    print_answer(answer)
    if out is not None:
        from assay.reports.plots_learned import posterior_figure, save_figure

        save_figure(posterior_figure(answer.guesses[0]), out)
