"""The settings of a training: defaults, a TOML file, the command line, in that order; checked once."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, replace
from pathlib import Path
from typing import Any

from assay.errors import InputError, LearnedError

_MOST = 2**31 - 1

MODELS = ("transformer", "gru", "boosting", "tags", "mean")


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
        for field in fields(self):
            value = getattr(self, field.name)
            if isinstance(value, int | float) and not abs(value) <= _MOST:
                raise LearnedError(f"{field.name} is {value}, which is no number that can be used here.")
        sizes = ("d_model", "layers", "heads", "max_plies", "batch_size", "epochs", "patience", "threads")
        for name in (*sizes, "lr", "clip"):
            if getattr(self, name) <= 0:
                raise LearnedError(f"{name} is {getattr(self, name)}; it must be greater than 0.")
        for name in (
            "square_width",
            "weight_decay",
            "average",
            "elo_weight",
            "foresight",
            "smoothing",
            "book",
            "games",
            "per_band",
            "epoch_games",
        ):
            if getattr(self, name) < 0:
                raise LearnedError(f"{name} is {getattr(self, name)}; it must not be negative.")
        for name in ("dropout", "warmup"):
            if not 0 <= getattr(self, name) < 1:
                raise LearnedError(f"{name} is {getattr(self, name)}; it must lie between 0 and 1.")
        if self.model not in MODELS:
            raise LearnedError(f"there is no model {self.model!r}; choose one of {', '.join(MODELS)}.")
        if self.d_model % self.heads:
            raise LearnedError(f"d_model {self.d_model} is not a multiple of heads {self.heads}.")

    def as_dict(self) -> dict[str, Any]:
        return asdict(self)


def from_mapping(values: Mapping[str, Any], source: str = "the configuration") -> Config:
    """Settings by name; an unknown name or a value of the wrong kind is refused.

    >>> from_mapping({"d-model": 64, "layers": 2}).layers
    2
    """
    known = {field.name: type(field.default) for field in fields(Config)}
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
