"""The learned rating as answers: datasets, trainings, judgements on unseen games, and the planes that are read."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from assay.engine.store import Store
from assay.errors import InputError
from assay.games import Games, read, to_arrays
from assay.games.notation import sans
from assay.games.packed import pack, played_moves
from assay.games.stream import Paths
from assay.games.where import compile_where
from assay.learned.build import Selection, build_dataset
from assay.learned.build import analyst as analyst_of
from assay.learned.dataset import open_dataset
from assay.learned.encode import encode_games
from assay.learned.evaluate import (
    Beside,
    by_band,
    by_ply,
    by_speed,
    judge,
    judge_beside,
    normal_prior,
    pair_error,
    standard_error,
    together,
    unseen_rows,
)
from assay.learned.guess import guess_games, read_prior
from assay.learned.planes import PLANE_NAMES, squares_of, unpack
from assay.learned.run import Config, Run, open_run, read_config, read_settings, with_options
from assay.learned.train import fit_run
from assay.moves.analysed import analysed_turns
from assay.moves.calibration import load
from assay.moves.evidence import weigh
from assay.paths import File
from assay.pools import Bands
from assay.presets import DEFAULT_DEPTH
from assay.reports.plots_learned import (
    confusion_figure,
    planes_figure,
    reliability_figure,
    save_figure,
    training_figure,
)
from assay.scoring import Score
from assay.table import Answer, Table, columns_of, counted, told_copies

_COLUMNS = (
    *("cases", "top1", "within1", "mae", "mae_se", "mean_mae", "rmse", "bias", "noise", "nll", "ece", "cover50"),
    *("cover80", "cover95"),
)
_WIDE = ("within1", "mae_se", "rmse", "noise", "cover50", "cover95")
_DECIMALS = dict.fromkeys(_COLUMNS, 3) | dict.fromkeys(("mae", "mae_se", "mean_mae", "rmse", "bias", "noise"), 0)


def encode(
    what: Paths | Games,
    folder: File,
    *,
    where: str | None = None,
    bounds: tuple[int, int] = (600, 3100),
    band_width: int = 100,
    max_plies: int = 200,
    min_plies: int = 10,
    share: float = 1.0,
    seed: int = 1,
    analyses: File | None = None,
    depth: int | None = None,
    keep_duplicates: bool = False,
    quiet: bool = True,
) -> Answer:
    """Encode rated games into a dataset for :func:`train`, as `assay encode` does.

    >>> import assay
    >>> assay.encode("nowhere.pgn", "dataset")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: ...
    """
    depth, (low, high) = depth or DEFAULT_DEPTH, bounds
    bands = Bands(low, low + -(-(high - low) // band_width) * band_width, band_width)
    settings: dict[str, Any] = {"where": where} | ({"keep_duplicates": True} if keep_duplicates else {})
    with ExitStack() as stack:
        analyst = None
        if analyses is not None:
            analyst = analyst_of(stack.enter_context(Store(Path(analyses))), depth)
            settings |= {"analyses": Path(analyses).name, "depth": depth}
        built = build_dataset(
            what,
            Path(folder),
            Selection(bands, max_plies, min_plies, share, seed),
            chosen=_chosen(where),
            analyst=analyst,
            settings=settings,
            keep_duplicates=keep_duplicates,
            quiet=quiet,
        )
    rows = [{"games": f"in {name}", "count": count} for name, count in built.games.items()]
    rows += [{"games": f"left out: {reason}", "count": count} for reason, count in built.left_out.items()]
    remarks = told_copies(built.duplicates)
    if analyses is not None:
        rows.append({"games": "with engine analyses", "count": built.analysed})
    if built.by_game:
        do = "do not name both players and were" if built.by_game > 1 else "does not name both players and was"
        remarks.append(f"assay: {counted(built.by_game, 'game')} {do} split by game.")
    if analyses is not None and not built.analysed:
        remarks.append(f"assay: none of these games is in {analyses}; the engine scalars are empty.")
    shown = Table(rows, columns_of(("games", "count")))
    return Answer(shown=shown, problems=built.left_out, remarks=remarks)


def _chosen(where: str | None) -> Any:
    """The filter language as a test of index rows."""
    if where is None:
        return None
    condition = compile_where(where)
    return lambda tags: tags.select(condition).to_series().fill_null(False).to_numpy()


def train(
    dataset: File,
    folder: File,
    *,
    inputs: Sequence[str] = ("board",),
    config: File | None = None,
    start: File | None = None,
    resume: bool = False,
    quiet: bool = True,
    **options: Any,
) -> Answer:
    """Train a model of ratings on a dataset, as `assay train` does; `options` are the fields of its settings.

    >>> import assay
    >>> assay.train("no-dataset", "run", epochs=1)
    Traceback (most recent call last):
        ...
    assay.errors.InputError: no-dataset is no dataset: ...
    """
    out = Path(folder)
    if resume:
        first, kinds = read_settings(out)
    else:
        first, kinds = read_config(Path(config)) if config else Config(), tuple(inputs)
    other = open_run(Path(start)) if start else None
    fitted = fit_run(
        open_dataset(Path(dataset)), out, with_options(first, options), kinds, start=other, resume=resume, quiet=quiet
    )
    if fitted.history:
        save_figure(training_figure(fitted.history), out / "curves.svg")
    save_figure(reliability_figure(fitted.validation), out / "reliability.svg")
    row = {"set": "validation", **_shown(fitted.validation.score())}
    return Answer(shown=Table([row], columns_of(list(row), decimals=_DECIMALS, wide=_WIDE)))


def evaluate(
    run: File,
    dataset: File,
    *,
    against: Sequence[File] = (),
    split: str = "test",
    balanced: bool = False,
    prior: File | None = None,
    games: int | None = None,
    plots: File | None = None,
    analysed: File | None = None,
    analyses: File | None = None,
    quiet: bool = True,
) -> Answer:
    """Judge a trained model on games that it has not seen, as `assay evaluate` does.

    >>> import assay
    >>> assay.evaluate("no-run", "no-dataset")
    Traceback (most recent call last):
        ...
    assay.errors.InputError: no-dataset is no dataset: ...
    """
    data = open_dataset(Path(dataset))
    rows = unseen_rows(data, split)
    if games is not None:
        rows = np.sort(np.random.default_rng(1).permutation(rows)[:games])
    table: list[dict[str, Any]] = []
    for folder in map(Path, (run, *against)):
        opened = open_run(folder)
        shift = None if prior is None else read_prior(Path(prior), opened.edges)
        judged = judge(opened, data, rows, prior=shift, balanced=balanced, quiet=quiet)
        name = folder.name
        for plies, found in by_ply(judged).items():
            table.append({"run": name, "what": f"after {plies}" if plies != "end" else "end", **_shown(found)})
        table[-1]["mae_se"] = standard_error(judged)
        if folder != Path(run):
            continue
        table += [{"run": name, "what": f"band {band}", **_shown(found)} for band, found in by_band(judged).items()]
        table += [{"run": name, "what": speed, **_shown(found)} for speed, found in by_speed(judged).items()]
        table.append({"run": name, "what": "average of the pair", "cases": len(rows), "mae": pair_error(judged)})
        several = together(judged, opened, opened.prior if shift is None else shift)
        if several is not None:
            table.append({"run": name, "what": "players with several games", **_shown(several)})
        if plots is not None:
            Path(plots).mkdir(parents=True, exist_ok=True)
            save_figure(reliability_figure(judged), Path(plots) / "reliability.svg")
            save_figure(confusion_figure(judged), Path(plots) / "confusion.svg")
    if analysed is not None and analyses is not None:
        both = _beside_moves(open_run(Path(run)), Path(analysed), Path(analyses))
        table.append({"run": Path(run).name, "what": "analysed games", **_shown(both.learned)})
        table.append({"run": "intrinsic", "what": "analysed games", **_shown(both.others)})
    return Answer(shown=Table(table, columns_of(("run", "what", *_COLUMNS), decimals=_DECIMALS, wide=_WIDE)))


def _beside_moves(run: Run, path: Path, store: Path) -> Beside:
    """The run and the model of valued moves on the analysed games of a file, both under the run's prior."""
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


def _shown(score: Score) -> dict[str, Any]:
    return {name: value for name, value in score.row().items() if name in _COLUMNS}


def planes(
    what: Paths | Games,
    game: int = 1,
    ply: int = 1,
    *,
    planes: Sequence[int] = range(64),
    where: str | None = None,
    out: File | None = None,
) -> Answer:
    """The planes that the learned rating reads of a position, as `assay planes` shows them; `out` draws them.

    >>> import assay
    >>> assay.planes(assay.SAMPLE, ply=20).table.height
    64
    """
    games = read(what, where=where)
    one = next(islice(games, game - 1, None), None)
    if one is None:
        raise InputError(f"{games.named} has no game {game}.")
    arrays = to_arrays([one])
    if not arrays.valid[0]:
        raise InputError(f"game {game} of {games.named} cannot be read: {arrays.reason[0]}.")
    if ply > arrays.plies:
        raise InputError(f"game {game} of {games.named} has {counted(arrays.plies, 'ply')}, so there is no ply {ply}.")
    packed = encode_games(arrays).planes[ply - 1]
    if out is not None:
        at = np.array([ply - 1])
        (move,) = sans(pack(arrays, at), np.zeros(1, np.intp), played_moves(arrays, at))
        board, title = np.asarray(arrays.boards[ply - 1]), f"game {game}, ply {ply}: {move}"
        save_figure(planes_figure(board, unpack(packed), planes, title), Path(out))
    shown = [{"plane": at, "name": PLANE_NAMES[at], "squares": squares_of(int(packed[at]))} for at in planes]
    return Answer(shown=Table(shown, columns_of(("plane", "name", "squares"))))
