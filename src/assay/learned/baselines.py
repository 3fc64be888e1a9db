"""Training of the baselines: gradient boosting on aggregates or on tags, and the mean."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.learned import boosting, tags
from assay.learned.book import Books, make_books
from assay.learned.calibrate import fit_temperature
from assay.learned.config import Config
from assay.learned.dataset import Dataset
from assay.learned.training import (
    Trained,
    band_shares,
    drawn,
    game_weight,
    opening_books,
    stated_prior,
    training_rows,
    validation_rows,
)
from assay.progress import Progress

Floats = npt.NDArray[np.float64]

LEAST_OPENING = 3  # games that make an opening known


def train_mean(dataset: Dataset, config: Config) -> Trained:
    """The share of each band among the training players, whatever is played; balanced, all bands alike."""
    rows = training_rows(dataset, config)
    prior = stated_prior(band_shares(dataset, rows), config)
    return Trained({}, prior, 1.0, {"training_games": len(rows), "validation_games": 0})


def train_tags(dataset: Dataset, config: Config) -> Trained:
    """Boosted trees on opening, length and result, which a whole game has whatever its moves are."""
    rows = training_rows(dataset, config)
    held = validation_rows(dataset, balanced=config.balanced)
    openings = tags.opening_keys(dataset, rows)[:, None]
    books = make_books(dataset, rows, openings, game_weight(dataset, rows, config), LEAST_OPENING)
    rows = rows[drawn(dataset, rows, config)]
    known = np.concatenate([tags.features(dataset, row, books.of(row)) for row in rows.tolist()])
    seen = np.concatenate([tags.features(dataset, row, books.whole) for row in held.tolist()])
    return _grown(dataset, config, rows, held, known, seen, dataset.bands[rows], dataset.bands[held], books)


def train_boosting(dataset: Dataset, config: Config, inputs: tuple[str, ...], *, quiet: bool = True) -> Trained:
    """Boosted trees on each player's features after a random number of plies and at the end."""
    rows = training_rows(dataset, config)
    held = validation_rows(dataset, balanced=config.balanced)
    books = opening_books(dataset, rows, config)
    rows = rows[drawn(dataset, rows, config)]
    known, bands = _table(dataset, rows, config, inputs, books, quiet)
    seen, truth = _table(dataset, held, config, inputs, books, quiet)
    return _grown(dataset, config, rows, held, known, seen, bands, truth, books)


def _grown(
    dataset: Dataset,
    config: Config,
    rows: npt.NDArray[np.int64],
    held: npt.NDArray[np.int64],
    known: Floats,
    seen: Floats,
    bands: npt.NDArray[np.int64],
    truth: npt.NDArray[np.int64],
    books: Books | None,
) -> Trained:
    """Trees from the features and bands of training games, with the temperature of the validation games."""
    prior = band_shares(dataset, rows)
    bands, truth = bands.reshape(-1), truth.reshape(-1)
    # An even prior: every band weighs the same.
    weight = (1 / prior)[bands] / np.mean((1 / prior)[bands]) if config.balanced else None
    trees = boosting.fit(known, bands, len(prior), weight, config.seed)
    return Trained(
        weights=trees | (books.whole.arrays() if books else {}),
        prior=stated_prior(prior, config),
        temperature=fit_temperature(boosting.logits(trees, seen), truth),
        results={"training_games": len(rows), "validation_games": len(held), "trees": len(trees["roots"])},
    )


def _table(
    dataset: Dataset,
    rows: npt.NDArray[np.int64],
    config: Config,
    inputs: tuple[str, ...],
    books: Books | None,
    quiet: bool,
) -> tuple[Floats, npt.NDArray[np.int64]]:
    """Features and bands: of each game a random prefix and the whole, both players."""
    random = np.random.default_rng(config.seed)
    found, bands = [], []
    with Progress("features", len(rows), unit="games", quiet=quiet) as progress:
        for row in rows.tolist():
            plies = dataset.game(row, config.max_plies)
            at = [int(random.integers(0, len(plies))), len(plies) - 1]
            book = books.of(row) if books else None
            found.append(boosting.features(plies, inputs, book)[at].astype(np.float32).reshape(4, -1))
            bands.append(np.tile(dataset.bands[row], 2))
            progress.advance()
    return np.concatenate(found).astype(np.float64), np.concatenate(bands)
