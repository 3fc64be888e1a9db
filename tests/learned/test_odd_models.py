"""Models from elsewhere: what is missing, misshapen or no number is a sentence, and never a rating."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from assay import manifest
from assay.errors import AssayError, InputError, LearnedError
from assay.learned import guess_games
from assay.learned.run import read_config, shipped

Array = npt.NDArray[Any]


@pytest.fixture
def model(tmp_path: Path) -> Path:
    """A copy of a shipped model."""
    return Path(shutil.copytree(shipped("otb").path, tmp_path / "model"))


@pytest.fixture
def game(tmp_path: Path) -> Path:
    file = tmp_path / "game.pgn"
    file.write_text("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 1/2-1/2\n", encoding="utf-8")
    return file


def reweigh(model: Path, name: str, change: Callable[[Array], Array] | None) -> None:
    with np.load(model / "weights.npz") as file:
        weights = dict(file)
    if change is None:
        del weights[name]
    else:
        weights[name] = change(weights[name])
    np.savez(model / "weights.npz", **weights)


@pytest.mark.parametrize("name", ["head.weight", "encode.mean", "norm.bias"])
@pytest.mark.parametrize(
    "change",
    [
        None,
        lambda array: array[:-1],
        lambda array: array[:0],
        lambda array: np.full_like(array, np.nan),
        lambda array: np.full_like(array, np.inf),
        lambda array: array.astype(np.float64) * 1e300 * 1e300,
        lambda array: np.array(["text"]),
    ],
    ids=["missing", "short", "empty", "nan", "inf", "beyond", "text"],
)
def test_a_weight_that_is_none(model: Path, game: Path, name: str, change: Callable[[Array], Array] | None) -> None:
    with np.errstate(all="ignore"):
        reweigh(model, name, change)
        with pytest.raises(AssayError, match=r"[Tt]rain it again|is damaged|reads \d+ scalars"):
            guess_games(game, model=str(model))


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("edges", []),
        ("edges", [1000.0]),
        ("edges", [float("nan")] * 20),
        ("prior", [1.0]),
        ("prior", []),
        ("temperature", float("nan")),
        ("temperature", 0.0),
        ("temperature", -1.0),
        ("tunings", {"": {"power": float("inf")}}),
        ("tunings", {"": {"power": 0.0}}),
        ("tunings", []),
        ("populations", {"": [1.0]}),
        ("within", [[1.0]]),
        ("inputs", [1]),
        ("inputs", None),
        ("config", {"lr": float("nan")}),
        ("config", {"d_model": 10**30}),
        ("config", []),
    ],
)
def test_a_setting_that_makes_no_sense(model: Path, game: Path, name: str, value: object) -> None:
    about = json.loads((model / "run.json").read_text(encoding="utf-8"))
    about["settings"][name] = value
    manifest.write(model / "run.json", {key: part for key, part in about.items() if key != "checksum"})
    with pytest.raises(AssayError):
        guess_games(game, model=str(model))


def test_a_nest_without_end(model: Path, game: Path) -> None:
    for depth in (150, 100_000):
        (model / "run.json").write_text('{"settings": ' + "[" * depth + "]" * depth + "}", encoding="utf-8")
        with pytest.raises(InputError, match="nested too deeply"):
            guess_games(game, model=str(model))


@pytest.mark.parametrize("content", [b"lr = \xff", b"lr = nan", b"epochs = 99999999999999", b"lr = inf"])
def test_a_configuration_that_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "config.toml").write_bytes(content)
    with pytest.raises((InputError, LearnedError)):
        read_config(tmp_path / "config.toml")
