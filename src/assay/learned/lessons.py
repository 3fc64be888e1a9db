"""What every training shares, whatever the model: which games it sees, what it leaves, and how that is calibrated.

One temperature for all logits (Guo et al. 2017).
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from assay.arrays import Arrays
from assay.errors import LearnedError
from assay.learned.book import Books, game_keys, make_books
from assay.learned.dataset import Dataset
from assay.learned.inputs import POOL_SPEEDS
from assay.learned.run import ALL_POOLS, Config
from assay.records import dataclass
from assay.scoring import shares_within

VALIDATION_GAMES = 4000
POOL_PULL = 200.0
GOLDEN = 0.6180339887498949

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
    return np.sort(rows[: config.games] if config.games else rows)


def drawn(dataset: Dataset, rows: npt.NDArray[np.int64], config: Config, epoch: int = 0) -> npt.NDArray[np.int64]:
    """The places in `rows` of the games of one epoch.

    With `per_band` at most so many of each band, others every time; with `epoch_games` so many of them, all once before
    any comes again.
    """
    places = np.arange(len(rows))
    if config.per_band:
        places = np.random.default_rng((config.seed, epoch)).permutation(places)
        bands = average_bands(dataset, rows[places])
        places = np.sort(places[_number_in_group(bands) < config.per_band])
    if not 0 < config.epoch_games < len(places):
        return places
    if config.balanced:
        mixed = np.random.default_rng(config.seed).permutation(places)
        reach = np.cumsum(draw_weights(dataset, rows[mixed]))
        # Evenly spaced along the weights, beginning elsewhere each time: a game comes as often as it weighs.
        at = (np.arange(config.epoch_games) + epoch * GOLDEN % 1) / config.epoch_games
        return np.sort(mixed[np.minimum(np.searchsorted(reach, at * reach[-1]), len(mixed) - 1)])
    turn, part = divmod(epoch, len(places) // config.epoch_games)
    mixed = np.random.default_rng((config.seed, turn)).permutation(places)
    return np.sort(mixed[part * config.epoch_games :][: config.epoch_games])


def draw_weights(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Floats:
    """How often each game is drawn for a balanced training: rare bands of a pool, and rare pools, more often.

    Each by the root of its size: an even draw would show the few games of the ends over and over.
    """
    cells = dataset.pools[rows] * len(dataset.edges) + average_bands(dataset, rows)
    return np.asarray(1 / np.sqrt(np.bincount(cells)[cells]), dtype=np.float64)


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


def validation_rows(dataset: Dataset, *, balanced: bool = False) -> npt.NDArray[np.int64]:
    """The validation games, at most a few thousand.

    Balanced, every band of the players' average that has any has as many; games of rare bands are then repeated.
    """
    rows = np.random.default_rng(0).permutation(dataset.rows("validation"))
    if not len(rows):
        raise LearnedError(f"{dataset.path} has no validation games; encode more games.")
    if not balanced:
        return np.sort(rows[:VALIDATION_GAMES])
    bands = average_bands(dataset, rows)
    there = np.unique(bands)
    size = max(1, min(VALIDATION_GAMES // 2, len(rows)) // len(there))
    return np.sort(np.concatenate([np.resize(rows[bands == band], size) for band in there]))


def game_weight(dataset: Dataset, rows: npt.NDArray[np.int64], config: Config) -> Floats:
    """What each game counts in a book: 1; balanced, all bands of the players' average weigh the same."""
    if not config.balanced:
        return np.ones(len(rows))
    bands = average_bands(dataset, rows)
    weight = 1.0 / np.bincount(bands)[bands]
    return np.asarray(weight / weight.mean(), dtype=np.float64)


def opening_books(dataset: Dataset, rows: npt.NDArray[np.int64], config: Config) -> Books | None:
    """The books of the training games, where the configuration wants them."""
    if not config.book:
        return None
    return make_books(dataset, rows, game_keys(dataset, rows), game_weight(dataset, rows, config), config.book)


def stated_prior(shares: Floats, config: Config) -> Floats:
    """The prior that posteriors stand on: the training games' own, or an even one for a balanced training."""
    return np.full_like(shares, 1 / len(shares)) if config.balanced else shares


def spread_within(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Floats:
    """How the players of these games are spread inside each band."""
    return shares_within(dataset.ratings[rows].reshape(-1).astype(np.float64), dataset.edges)


def populations(dataset: Dataset, rows: npt.NDArray[np.int64]) -> dict[str, Floats]:
    """How the players of these games are spread over the bands: of every speed that is known, and of all."""
    found = {ALL_POOLS: band_shares(dataset, rows)}
    for name, place in POOL_SPEEDS.items():
        there = rows[(dataset.pools[rows] >> 1) == place]
        if len(there):
            found[name] = band_shares(dataset, there)
    return found


def band_shares(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Floats:
    """How the players of these games are spread over the bands; no band is thought impossible."""
    counts = np.bincount(dataset.bands[rows].reshape(-1), minlength=len(dataset.edges) - 1) + 0.5
    return np.asarray(counts / counts.sum(), dtype=np.float64)


def pool_shares(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Floats:
    """How the players of these games are spread over the bands in each pool, (pools, bands).

    A small pool is drawn towards all players, as if POOL_PULL of them had been in it.
    """
    count, bands = int(dataset.pools.max()) + 1, len(dataset.edges) - 1
    cells = (dataset.pools[rows][:, None] * bands + dataset.bands[rows]).reshape(-1)
    counts = np.bincount(cells, minlength=count * bands).reshape(count, bands)
    pulled = counts + POOL_PULL * band_shares(dataset, rows)
    return np.asarray(pulled / pulled.sum(axis=1, keepdims=True), dtype=np.float64)


def log_softmax(logits: Floats) -> Floats:
    """Logarithms of the probabilities that logits stand for, over the last axis."""
    shifted = logits - logits.max(axis=-1, keepdims=True)
    return np.asarray(shifted - np.log(np.exp(shifted).sum(axis=-1, keepdims=True)))


def fit_temperature(logits: Floats, bands: npt.NDArray[np.int64]) -> float:
    """The temperature T for which softmax(logits / T) makes the true bands most likely.

    >>> rng = np.random.default_rng(1)
    >>> true = rng.normal(size=(20_000, 5))
    >>> bands = (log_softmax(true) + rng.gumbel(size=true.shape)).argmax(axis=1)
    >>> round(fit_temperature(3 * true, bands), 1)
    3.0
    """

    from scipy.optimize import minimize_scalar  # half a second that a guess need not wait for

    def nll(log_temperature: float) -> float:
        logs = log_softmax(logits / np.exp(log_temperature))
        return float(-np.take_along_axis(logs, bands[:, None], axis=-1).mean())

    found = minimize_scalar(nll, bounds=(np.log(0.2), np.log(10.0)), method="bounded", options={"xatol": 1e-4})
    return float(np.exp(found.x))
