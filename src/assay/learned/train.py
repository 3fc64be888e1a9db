"""From a dataset to a finished run: train the model that is asked for, calibrate it, write it."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path
from typing import Protocol

import numpy as np

from assay.errors import MissingExtra, OutputError
from assay.learned.baselines import train_boosting, train_mean, train_tags
from assay.learned.dataset import Dataset
from assay.learned.evaluate import Judged, judge, tunings_of
from assay.learned.lessons import Trained, populations, spread_within, training_rows, validation_rows
from assay.learned.run import MANIFEST, METRICS, SETTINGS, Config, Run, read_settings, save_run, write_settings
from assay.records import dataclass

CALIBRATION_GAMES = 1500


@dataclass(frozen=True)
class Finished:
    """A finished run and how it does on validation games, under its own prior."""

    run: Run
    validation: Judged
    history: list[dict[str, float]]  # by epoch; empty for a baseline


def fit_run(
    dataset: Dataset,
    folder: Path,
    config: Config,
    inputs: tuple[str, ...] = ("board",),
    *,
    start: Run | None = None,
    resume: bool = False,
    quiet: bool = True,
) -> Finished:
    """Train into a folder, beginning with the weights of `start`, if any.

    A folder that holds a training already is only touched with `resume`.
    """
    train = _trainer(config.model)  # before anything is written: a package may be missing
    if resume:
        read_settings(folder)  # refuses a folder without a training
    elif (folder / SETTINGS).exists() or (folder / MANIFEST).exists():
        raise OutputError(f"{folder} holds a training already; go on with --resume, or choose another folder.")
    else:
        try:
            folder.mkdir(exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot write {folder}: {error.strerror or error}.") from error
        write_settings(folder, config, inputs)
    trained = train(dataset, folder, config, inputs, start=start, resume=resume, quiet=quiet)
    rows = training_rows(dataset, config)
    run = Run(
        path=folder,
        manifest={},
        config=config,
        weights=trained.weights,
        edges=dataset.edges,
        prior=trained.prior,
        within=spread_within(dataset, rows),
        inputs=inputs,
        temperature=trained.temperature,
        populations=populations(dataset, rows),
    )
    held = np.random.default_rng(0).permutation(validation_rows(dataset, balanced=config.balanced))
    validation = judge(run, dataset, np.sort(held[:CALIBRATION_GAMES]), quiet=quiet)
    run = replace(run, tunings=tunings_of(validation))
    about = {
        "identity": dataset.identity,
        "inputs": dataset.manifest["inputs"],
        "split": "game" if dataset.manifest["settings"]["by_game"] else "player",
    }
    run = save_run(run, dataset=about, results=trained.results)
    return Finished(run, validation, read_history(folder))


def read_history(folder: Path) -> list[dict[str, float]]:
    """The curve of a training, one row per epoch; none for a baseline."""
    if not (folder / METRICS).is_file():
        return []
    with (folder / METRICS).open(encoding="utf-8", newline="") as file:
        return [{name: float(value) for name, value in row.items()} for row in csv.DictReader(file)]


class _Trainer(Protocol):
    def __call__(
        self,
        dataset: Dataset,
        folder: Path,
        config: Config,
        inputs: tuple[str, ...],
        *,
        start: Run | None,
        resume: bool,
        quiet: bool,
    ) -> Trained: ...


def _trainer(model: str) -> _Trainer:
    """What trains a model of this kind; torch is only needed for sequences."""
    if model == "mean":
        return lambda dataset, folder, config, inputs, **_: train_mean(dataset, config)
    if model == "tags":
        return lambda dataset, folder, config, inputs, **_: train_tags(dataset, config)
    if model == "boosting":
        return lambda dataset, folder, config, inputs, *, quiet, **_: train_boosting(
            dataset, config, inputs, quiet=quiet
        )
    try:
        from assay.learned.epochs import train
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise MissingExtra("torch", "learn") from None
    return train
