"""The commands that make a learned rating: encode, train, evaluate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from assay.cli.common import (
    Command,
    format_option,
    is_quiet,
    keep_duplicates_option,
    print_table,
    say,
    tell_duplicates,
)

if TYPE_CHECKING:
    from assay.learned.evaluate import Beside
    from assay.learned.run import Run
    from assay.scoring import Score

_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
_FOLDER = click.Path(path_type=Path, file_okay=False)


def _range(ctx: click.Context, param: click.Parameter, value: str) -> tuple[int, int]:
    low, _, high = value.partition(":")
    if not low.isdecimal() or not high.isdecimal() or int(low) >= int(high):
        raise click.BadParameter(f"{value!r} is no range of ratings such as 600:3100.")
    return int(low), int(high)


@click.command(cls=Command)
@click.argument("files", nargs=-1, required=True, type=_FILE, metavar="FILE...")
@click.option("-o", "--out", type=_FOLDER, required=True, metavar="DATASET", help="The new dataset (a folder).")
@click.option("--where", metavar="EXPR", help="Take only games for which this holds, as in 'assay filter'.")
@click.option(
    "--band-width",
    type=click.IntRange(10, 1000),
    default=100,
    show_default=True,
    help="Width of a rating band, in Elo.",
)
@click.option("--range", "bounds", callback=_range, default="600:3100", show_default=True, help="Ratings to take.")
@click.option("--max-plies", type=click.IntRange(1), default=200, show_default=True, help="Plies to keep of a game.")
@click.option("--min-plies", type=click.IntRange(1), default=10, show_default=True, help="Leave shorter games out.")
@click.option("--share", type=click.FloatRange(0, 1, min_open=True), default=1.0, help="Take this share of the games.")
@click.option("--seed", type=click.IntRange(0), default=1, show_default=True, help="Seed of the draw by --share.")
@click.option("--analyses", type=_FILE, metavar="STORE", help="Add engine scalars from this analysis store.")
@click.option("--depth", type=click.IntRange(1), default=10, show_default=True, help="Depth of those analyses.")
@keep_duplicates_option
@format_option
def encode(
    files: Sequence[Path],
    out: Path,
    where: str | None,
    band_width: int,
    bounds: tuple[int, int],
    max_plies: int,
    min_plies: int,
    share: float,
    seed: int,
    analyses: Path | None,
    depth: int,
    keep_duplicates: bool,
    format: str,
) -> None:
    """Encode the rated games of PGN files into a dataset for 'assay train'.

    A dataset is a folder of packed shards (64 planes of 64 bits per ply) that are mapped into memory when read. Games
    are split into training (80 %), validation and test (10 % each) by a hash of the players' names, so that nobody is
    in two sets; a game between players of different sets is left out. Where a name is unknown, the game itself is
    hashed, and the command says so.

    \b
    Examples:
      assay encode games.pgn.zst -o dataset
      assay encode lichess.pgn.zst -o bands --band-width 200 --range 700:2700
      assay encode games.pgn -o rapid --where 'speed == "rapid"' --analyses analyses.db
    """
    from contextlib import ExitStack

    from assay.bands import Bands
    from assay.learned.build import Selection, build_dataset

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
    print_table(rows, format=format)
    tell_duplicates(built.duplicates)
    if built.by_game:
        say(f"assay: {built.by_game} games do not name both players and were split by game.", err=True)
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
@click.argument("dataset", type=_FOLDER, metavar="DATASET")
@click.option("-o", "--out", type=_FOLDER, required=True, metavar="RUN", help="Where the training goes (a folder).")
@click.option("--config", "config_file", type=_FILE, help="Settings as TOML; options given here come before it.")
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
@click.option("--elo-weight", type=float, help="Weight of the squared error of the mean.  [default: 0]")
@click.option("--average", type=int, help="Keep the mean of the weights over about so many steps.  [default: 0]")
@click.option("--foresight", type=float, help="Weight of foretelling moves and results as well.  [default: 0]")
@click.option("--smoothing", type=float, help="Spread each label over a bell of so many bands.  [default: 0]")
@click.option(
    "--book", type=int, help="Read an opening book of moves that so many games have; 0 for none.  [default: 0]"
)
@click.option("--balanced", is_flag=True, default=None, help="Learn posteriors under an even prior over the bands.")
@click.option("--max-plies", type=int, help="Plies that the model reads.  [default: 128]")
@click.option("--games", type=int, help="Training games to use; 0 for all.  [default: 0]")
@click.option("--per-band", type=int, help="Games per band and epoch at most; 0 for all.  [default: 0]")
@click.option("--epoch-games", type=int, help="Games of an epoch; 0 for all.  [default: 0]")
@click.option("--threads", type=int, help="Processor threads.  [default: 1]")
@click.option(
    "--seed", type=click.IntRange(0), help="Seed of the first weights and the order of the games.  [default: 1]"
)
@click.option("--clock", is_flag=True, help="Read clock times too.")
@click.option("--engine", is_flag=True, help="Read engine scalars too.")
@click.option("--ending", is_flag=True, help="Know with the last move of a finished game that it is the last.")
@click.option("--start", "begin", type=_FOLDER, metavar="RUN", help="Begin with another run, of this size or smaller.")
@click.option("--resume", is_flag=True, help="Go on with the training in RUN.")
@format_option
def train(
    dataset: Path,
    out: Path,
    config_file: Path | None,
    clock: bool,
    engine: bool,
    ending: bool,
    begin: Path | None,
    resume: bool,
    format: str,
    **options: Any,
) -> None:
    """Train a model that keeps a posterior over rating bands, ply by ply.

    The model sees the moves alone (with --clock and --engine more), never a tag. The output at ply t is
    p(band | plies 0..t) for both players. Training stops early on the validation NLL and ends with one fitted
    temperature. It writes to RUN: weights.npz, run.json (settings, data, prior, temperature), metrics.csv, curves.svg,
    reliability.svg, and checkpoint.npz, from which --resume goes on after any interruption, along the same curve.

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

    inputs = ("board", *(kind for kind, wanted in (("clock", clock), ("engine", engine), ("ending", ending)) if wanted))
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
    print_table([{"set": "validation", **_shown(fitted.validation.score())}], format=format, decimals=_DECIMALS)


@click.command(cls=Command)
@click.argument("run", type=_FOLDER, metavar="RUN")
@click.argument("dataset", type=_FOLDER, metavar="DATASET")
@click.option("--against", "others", multiple=True, type=_FOLDER, metavar="RUN", help="Other runs beside it (repeat).")
@click.option(
    "--split",
    type=click.Choice(("train", "validation", "test")),
    default="test",
    show_default=True,
    help="Games of which set.",
)
@click.option("--balanced", is_flag=True, help="Weigh players so that every band counts the same.")
@click.option("--prior", type=_FILE, help="Another prior over the bands (JSON or CSV).")
@click.option("--games", type=click.IntRange(1), help="Judge on so many games only.")
@click.option("--plots", type=_FOLDER, metavar="DIR", help="Write reliability.svg and confusion.svg there.")
@click.option("--analysed", type=_FILE, metavar="PGN", help="Judge beside the intrinsic rating on these games too.")
@click.option("--analyses", type=_FILE, metavar="STORE", help="The analyses of those games.")
@format_option
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
    format: str,
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
    from assay.learned.evaluate import by_band, by_ply, by_speed, judge, pair_error, pooled, standard_error, unseen_rows
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
        several, _ = pooled(judged, opened.prior if shift is None else shift, opened.power)
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
    print_table(table, ("run", "what", *_COLUMNS), format=format, decimals=_DECIMALS)


def _beside_moves(run: Run, path: Path, store: Path) -> Beside:
    """The run and the model of valued moves on the analysed games of a file, both under the run's prior."""
    from assay.learned.evaluate import judge_beside, normal_prior
    from assay.learned.guess import guess_games
    from assay.moves.analysed import analysed_turns, read_all
    from assay.moves.calibration import load
    from assay.moves.review import game_posteriors

    scale, prior = load(None), normal_prior(run)
    turns = analysed_turns(read_all([path]), store, scale, analyse_missing=False, quiet=True)
    others = {
        (game + 1, side): (found.rating, found.posterior.ratings, found.posterior.probability[-1])
        for game in sorted(set(turns.game.tolist()))
        for side, found in enumerate(game_posteriors(turns, game, scale, prior=prior))
        if found.rating is not None
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
_DECIMALS = dict.fromkeys(_COLUMNS, 3) | dict.fromkeys(("mae", "mae_se", "mean_mae", "rmse", "bias", "noise"), 0)


def _shown(score: Score) -> dict[str, Any]:
    return {name: value for name, value in score.row().items() if name in _COLUMNS}
