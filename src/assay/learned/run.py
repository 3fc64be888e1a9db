"""A training on disk: its settings, and when finished its weights and the numbers that turn logits into posteriors.

Settings come from defaults, a TOML file and the command line, in that order. Two small runs ship with the package.
"""

from __future__ import annotations

import json
import tomllib
from collections.abc import Mapping
from dataclasses import asdict, field, fields, replace
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay import manifest
from assay.arrays import Arrays, load_arrays, save_arrays
from assay.errors import InputError, LearnedError
from assay.learned.curves import AS_IT_IS, Tuning
from assay.paths import atomic
from assay.pools import is_online
from assay.records import dataclass

_MOST = 2**31 - 1

MODELS = ("transformer", "gru", "boosting", "tags", "mean")

POOLINGS = ("last", "mean", "max", "cls", "sum")
ELO_LOSSES = ("mse", "mae")
SUM_UNIT = 10.0  # plies whose sum is of the size of one
ALL_POOLS = ""  # what is true of games whatever their pool
WITH_EVALS = "+evals"  # behind the name of a pool: of games whose evals are read
LATER, LATER_FROM = "+later", 2020  # behind that: of games from this year on

KIND = "learned-run"
VERSION = 2
MANIFEST, WEIGHTS, METRICS, SETTINGS = "run.json", "weights.npz", "metrics.csv", "settings.json"

Floats = npt.NDArray[np.float64]

SHIPPED = ("lichess", "otb")


@dataclass(frozen=True)
class Config:
    """What a training is made of; the names are those of the options of `assay train`."""

    model: str = "transformer"
    d_model: int = 128
    layers: int = 4
    heads: int = 4
    square_width: int = 24  # channels of the layer shared by all squares; 0 projects the raw bits
    dropout: float = 0.1
    batch_size: int = 64
    lr: float = 3e-4
    weight_decay: float = 0.05
    warmup: float = 0.05  # share of all steps
    clip: float = 1.0
    average: int = 0  # steps that the kept weights are a moving average over; 0 keeps those of the last step
    epochs: int = 10
    patience: int = 3  # epochs without a better validation NLL before stopping
    elo_weight: float = 0.0  # of the squared error of the posterior mean, in band widths
    elo_loss: str = "mse"  # or "mae", of the mean's error
    ply_weight: float = 0.0  # plies count as their place in the game to this power, all games alike; 0: all plies alike
    pool: str = "last"  # what the head reads beside the last ply: how earlier plies are pooled
    hide: float = 0.5  # share of the training games whose evals, clocks and analyses are kept from the model
    foresight: float = 0.0  # of foretelling the next move and the result too, which teaches the network chess
    balanced: bool = False  # learn posteriors under an even prior over bands
    max_plies: int = 128
    smoothing: float = 0.0  # standard deviation, in bands, of the bell that a label is spread over
    book: int = 0  # read an opening book of the moves that so many training games have; 0 for none
    games: int = 0  # training games to use; 0 for all
    per_band: int = 0  # draw at most so many games of each band of the players' average for an epoch; 0 for all
    epoch_games: int = 0  # games of an epoch; all are seen once before any is seen again; 0 for all
    threads: int = 1
    seed: int = 1

    def __post_init__(self) -> None:
        for setting in fields(self):
            value = getattr(self, setting.name)
            if isinstance(value, int | float) and not abs(value) <= _MOST:
                raise LearnedError(f"{setting.name} is {value}, which is no number that can be used here.")
        sizes = ("d_model", "layers", "heads", "max_plies", "batch_size", "epochs", "patience", "threads")
        for name in (*sizes, "lr", "clip"):
            if getattr(self, name) <= 0:
                raise LearnedError(f"{name} is {getattr(self, name)}; it must be greater than 0.")
        for name in (
            "square_width",
            "weight_decay",
            "average",
            "elo_weight",
            "ply_weight",
            "foresight",
            "smoothing",
            "book",
            "games",
            "per_band",
            "epoch_games",
        ):
            if getattr(self, name) < 0:
                raise LearnedError(f"{name} is {getattr(self, name)}; it must not be negative.")
        for name in ("dropout", "warmup", "hide"):
            if not 0 <= getattr(self, name) < 1:
                raise LearnedError(f"{name} is {getattr(self, name)}; it must lie between 0 and 1.")
        if self.model not in MODELS:
            raise LearnedError(f"there is no model {self.model!r}; choose one of {', '.join(MODELS)}.")
        for name, known in (("pool", POOLINGS), ("elo_loss", ELO_LOSSES)):
            if getattr(self, name) not in known:
                raise LearnedError(f"{name} is {getattr(self, name)!r}; choose one of {', '.join(known)}.")
        if self.d_model % self.heads:
            raise LearnedError(f"d_model {self.d_model} is not a multiple of heads {self.heads}.")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def from_mapping(values: Mapping[str, Any], source: str = "the configuration") -> Config:
    """Settings by name; an unknown name or a value of the wrong kind is refused.

    >>> from_mapping({"d-model": 64, "layers": 2}).layers
    2
    """
    known = {setting.name: type(setting.default) for setting in fields(Config)}
    settings: dict[str, Any] = {}
    for key, value in values.items():
        name = key.replace("-", "_")
        if name not in known:
            raise LearnedError(f"{source} has no setting {key!r}; the settings are {', '.join(known)}.")
        kind = known[name]
        if kind is float and type(value) is int:
            value = float(value)
        if type(value) is not kind:
            raise LearnedError(f"{source}: {key} must be of type {kind.__name__}, not {value!r}.")
        settings[name] = value
    return Config(**settings)


def read_config(path: Path) -> Config:
    """A configuration from a TOML file."""
    try:
        with path.open("rb") as file:
            return from_mapping(tomllib.load(file), str(path))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"{path} is not TOML: {error}.") from error


def with_options(config: Config, options: Mapping[str, Any]) -> Config:
    """The configuration with the options that were given (not None) in place of its own."""
    return replace(config, **{name: value for name, value in options.items() if value is not None})


@dataclass(frozen=True)
class Run:
    """A model ready to rate.

    `prior` is the distribution over bands under which its posteriors stand: even for a balanced training, else that
    of the training players. `within` is how those are spread inside each band (None in runs that did not note it:
    evenly). `tunings` bring evidence to the scale of ratings and make intervals hold, by the speed of the game
    (ALL_POOLS for any), whether its evals are read, and whether it is of later years, whose ratings are other ones;
    `populations` is how the training players are spread over the bands, by speed.
    """

    path: Path
    manifest: dict[str, Any]
    config: Config
    weights: Arrays
    edges: Floats
    prior: Floats
    within: Floats | None
    inputs: tuple[str, ...]
    temperature: float
    tunings: Mapping[str, Tuning] = field(default_factory=dict)
    populations: Mapping[str, Floats] = field(default_factory=dict)

    def __repr__(self) -> str:
        bands = f"bands {self.edges[0]:.0f} to {self.edges[-1]:.0f} by {self.edges[1] - self.edges[0]:.0f}"
        return f"Run {self.path}: {self.config.model} that reads {', '.join(self.inputs)}; {bands}"

    def tuning_of(self, speed: str | None, *, evals: bool = False, year: float | None = None) -> Tuning:
        """What brings games of this speed and year to the scale."""
        read = WITH_EVALS if evals and "evals" in self.inputs else ""
        pools = (f"{speed or ALL_POOLS}{read}", f"{ALL_POOLS}{read}", ALL_POOLS)
        eras = (LATER, "") if year is not None and year >= LATER_FROM else ("",)
        names = [pool + era for pool in pools for era in eras]
        return next((self.tunings[name] for name in names if name in self.tunings), AS_IT_IS)

    def population_of(self, speed: str | None) -> Floats:
        """How the players of this speed are spread over the bands, as far as the training games tell."""
        return self.populations.get(speed or ALL_POOLS, self.populations.get(ALL_POOLS, self.prior))

    @property
    def name(self) -> str:
        return self.path.name

    @property
    def error(self) -> tuple[float, float] | None:
        """Mean absolute error on unseen players at the end of a game, and that of the mean; None if never judged."""
        judged = self.manifest["settings"].get("judged")
        return (judged["by_ply"]["end"]["mae"], judged["by_ply"]["end"]["mean_mae"]) if judged else None


def save_run(run: Run, *, dataset: dict[str, Any], results: dict[str, Any]) -> Run:
    """Write weights, then the manifest that names them: without it a folder is no run yet. Return what was written."""
    save_arrays(run.path / WEIGHTS, run.weights, {"kind": KIND, "version": VERSION})
    settings = {
        "version": VERSION,
        "config": run.config.as_dict(),
        "edges": run.edges.tolist(),
        "prior": run.prior.tolist(),
        "within": None if run.within is None else run.within.round(4).tolist(),
        "inputs": list(run.inputs),
        "temperature": run.temperature,
        "tunings": {name: asdict(found) for name, found in run.tunings.items()},
        "populations": {speed: shares.round(5).tolist() for speed, shares in run.populations.items()},
        "dataset": dataset,
        "results": results,
    }
    manifest.write(run.path / MANIFEST, manifest.make(KIND, inputs=dataset["inputs"], settings=settings))
    return open_run(run.path)


def write_settings(path: Path, config: Config, inputs: tuple[str, ...]) -> None:
    """Note what a training starts with, so that it can be resumed without saying it again."""
    with atomic(path / SETTINGS) as part:
        part.write_text(json.dumps({"config": config.as_dict(), "inputs": list(inputs)}, indent=1) + "\n")


def read_settings(path: Path) -> tuple[Config, tuple[str, ...]]:
    """What the training in this folder was started with."""
    try:
        settings = manifest.parse((path / SETTINGS).read_bytes())
        return from_mapping(settings["config"], str(path / SETTINGS)), tuple(settings["inputs"])
    except OSError:
        raise LearnedError(f"{path} holds no training to resume; leave --resume out to start one.") from None
    except (ValueError, KeyError, TypeError) as error:
        raise InputError(f"{path / SETTINGS} is damaged ({error}); start the training again elsewhere.") from error


def open_run(path: Path) -> Run:
    """Open a finished run."""
    if not (path / MANIFEST).is_file():
        raise InputError(f"{path} is no finished training: it has no {MANIFEST}.")
    made = manifest.read(path / MANIFEST, KIND)
    settings = made["settings"]
    if settings.get("version") != VERSION:
        raise LearnedError(
            f"{path} is a run of version {settings.get('version')}, this Assay reads version {VERSION}; train it again."
        )
    weights, _ = load_arrays(path / WEIGHTS)
    within = settings.get("within")
    try:
        run = Run(
            path=path,
            manifest=made,
            config=from_mapping(settings["config"], str(path / MANIFEST)),
            weights={
                name: np.asarray(a, dtype=np.float32) if a.dtype == np.float16 else a for name, a in weights.items()
            },
            edges=np.array(settings["edges"], dtype=np.float64),
            prior=np.array(settings["prior"], dtype=np.float64),
            within=None if within is None else np.array(within, dtype=np.float64),
            inputs=tuple(settings["inputs"]),
            temperature=float(settings["temperature"]),
            tunings={name: Tuning(**found) for name, found in settings["tunings"].items()},
            populations={
                speed: np.array(shares, dtype=np.float64) for speed, shares in settings["populations"].items()
            },
        )
        error_of_mean = run.error
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError) as error:
        raise InputError(f"{path / MANIFEST} is damaged ({type(error).__name__} {error}); train it again.") from error
    if error_of_mean is not None and not all(isinstance(value, int | float) for value in error_of_mean):
        raise InputError(f"{path / MANIFEST} is damaged (its errors are no numbers); train it again.")
    _check(run)
    return run


def _check(run: Run) -> None:
    """Refuse a run whose numbers cannot be those of a training."""
    bands = len(run.edges) - 1
    even = (
        run.edges.ndim == run.prior.ndim == 1
        and len(run.prior) == bands > 0
        and bool(np.isfinite(run.edges).all() and (np.diff(run.edges) > 0).all())
        and bool(np.isfinite(run.prior).all() and (run.prior > 0).all())
        and 0 < run.temperature < np.inf
        and all(_is_tuning(found) for found in run.tunings.values())
        and all(shares.shape == run.prior.shape and (shares > 0).all() for shares in run.populations.values())
        and all(isinstance(name, str) for name in run.inputs)
    )
    if even and run.within is not None:
        even = run.within.ndim == 2 and len(run.within) == bands and bool((run.within >= 0).all())
    if not even:
        raise InputError(f"{run.path / MANIFEST} is damaged (its bands do not fit each other); train it again.")
    for name, array in run.weights.items():
        if array.dtype.kind not in "fiub" or not np.isfinite(array).all():
            raise LearnedError(
                f"{run.path / WEIGHTS} is damaged: {name} holds values that are no numbers. Train it again."
            )


def _is_tuning(found: Tuning) -> bool:
    numbers = asdict(found).values()
    return (
        all(isinstance(value, int | float) and abs(value) < np.inf for value in numbers)
        and found.power > 0
        and found.scale_error >= 0
        and found.stretch > 0
    )


@cache
def shipped(name: str) -> Run:
    """One of the shipped models: "lichess" (Lichess ratings) or "otb" (over the board, FIDE ratings)."""
    with as_file(files("assay") / "data" / "models" / name) as folder:
        return open_run(folder)


def model_of(choice: str | None, pool: str | None) -> Run:
    """The model to use: a folder or a shipped name if given, else by the pool of the game.

    Ratings of Lichess and over the board are different scales, so each has its model. Other servers are nearer to
    Lichess, and games over a board that Lichess broadcasts are not.
    """
    if choice is None:
        return shipped("lichess" if is_online(pool) else "otb")
    if (Path(choice) / MANIFEST).is_file():
        return open_run(Path(choice))
    if choice in SHIPPED:
        return shipped(choice)
    raise InputError(
        f"there is no model {choice!r}: give the folder of a finished 'assay train', or one of {', '.join(SHIPPED)}."
    )
