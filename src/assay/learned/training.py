"""What every training shares, whatever the model: which games it sees, and what it leaves."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.errors import LearnedError
from assay.learned.arrays import Arrays
from assay.learned.config import Config
from assay.learned.dataset import Dataset

VALIDATION_GAMES = 4000

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Trained:
    """What a training leaves: the best weights and what turns their logits into posteriors."""

    weights: Arrays
    prior: Floats
    temperature: float
    results: dict[str, Any]


def training_rows(dataset: Dataset, config: Config) -> npt.NDArray[np.int64]:
    """The training games, or a random part of them; smaller parts are contained in greater ones."""
    rows = np.random.default_rng(0).permutation(dataset.rows("train"))
    if not len(rows):
        raise LearnedError(f"{dataset.path} has no training games; encode more games.")
    if config.per_band:
        bands = average_bands(dataset, rows)
        rows = rows[_number_in_group(bands) < config.per_band]
    return np.sort(rows[: config.games] if config.games else rows)


def average_bands(dataset: Dataset, rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The band of the average of both ratings of each game."""
    average = dataset.ratings[rows].mean(axis=1)
    return np.asarray((average - dataset.edges[0]) // dataset.bands_of_ratings.width, dtype=np.int64)


def _number_in_group(groups: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """How many members of its own group stand before each row."""
    order = np.argsort(groups, kind="stable")
    starts = np.searchsorted(groups[order], groups[order])
    number = np.empty(len(groups), dtype=np.int64)
    number[order] = np.arange(len(groups)) - starts
    return number


def validation_rows(dataset: Dataset) -> npt.NDArray[np.int64]:
    """The validation games, at most a few thousand."""
    rows = np.random.default_rng(0).permutation(dataset.rows("validation"))
    if not len(rows):
        raise LearnedError(f"{dataset.path} has no validation games; encode more games.")
    return np.sort(rows[:VALIDATION_GAMES])


def band_shares(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Floats:
    """How the players of these games are spread over the bands; no band is thought impossible."""
    counts = np.bincount(dataset.bands[rows].reshape(-1), minlength=len(dataset.edges) - 1) + 0.5
    return np.asarray(counts / counts.sum(), dtype=np.float64)
