"""The baselines: gradient-boosted trees on aggregates of the plies so far, or on tags alone, and the mean.

Features of a player after t plies: the means of the board scalars (and clocks, engine scalars, where the run reads
them) over the player's own plies and over the opponent's, how often pieces were left hanging or taken for nothing, the
material balance, what the opening book says of both (where the run has one), and t. scikit-learn grows the trees; they
are stored and read as plain arrays.

One baseline sees no move, only opening (ECO), length and result of a whole game. What it reaches is what a model of
moves must beat before it can claim to see how well somebody plays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.arrays import Arrays
from assay.errors import LearnedError, MissingExtra
from assay.games.outcomes import score_of
from assay.learned.book import Book, Books, Keys, make_books, stored_book
from assay.learned.dataset import Dataset
from assay.learned.encode import SCALAR_NAMES
from assay.learned.inputs import Inputs, scalars_of
from assay.learned.lessons import (
    Trained,
    band_shares,
    drawn,
    fit_temperature,
    game_weight,
    log_softmax,
    opening_books,
    stated_prior,
    training_rows,
    validation_rows,
)
from assay.learned.run import Config, Run
from assay.players import hash64
from assay.progress import Progress

Floats = npt.NDArray[np.float64]

ROUNDS = 80
_NEVER = -20.0  # the logit of a band that nobody in training is in

_AT = {name: number for number, name in enumerate(SCALAR_NAMES)}

LEAST_OPENING = 3  # games that make an opening known


def ply_features(plies: Inputs, kinds: tuple[str, ...], book: Book | None = None) -> Floats:
    """Features of White and Black after each ply, (plies, 2, n)."""
    each = np.concatenate((scalars_of(plies, kinds), _events(plies.board)), axis=1).astype(np.float64)
    by_white = plies.white[:, None]
    means = []
    for mask in (by_white, ~by_white):
        counts = np.maximum(np.cumsum(mask, axis=0), 1)
        means.append(np.cumsum(each * mask, axis=0) / counts)
    balance = (plies.board[:, _AT["my material after"]] - plies.board[:, _AT["their material after"]]).astype(float)
    balance = np.where(plies.white, balance, -balance)
    number = np.arange(1.0, len(plies) + 1)
    white = np.column_stack((means[0], means[1], balance, number))
    black = np.column_stack((means[1], means[0], -balance, number))
    both = np.stack((white, black), axis=1)
    if book is None:
        return both
    followed = book.follow(plies)
    depth = np.cumsum(followed[:, 0])
    opening = [np.column_stack((depth, followed[:, columns])) for columns in ([1, 2, 3], [1, 3, 2])]
    return np.concatenate((both, np.stack(opening, axis=1)), axis=2)


def _events(board: npt.NDArray[np.int8]) -> npt.NDArray[np.float32]:
    """Per ply: a piece left hanging, a pawn left hanging, what was there to win and was not taken."""
    after, there = board[:, _AT["my at stake after"]], board[:, _AT["their at stake"]]
    missed = np.maximum(there - board[:, _AT["captured"]], 0)
    return np.stack((after >= 3, after >= 1, missed >= 3, missed), axis=1).astype(np.float32)


def grow_trees(features: Floats, bands: npt.NDArray[np.int64], number: int, weight: Floats | None, seed: int) -> Arrays:
    """Grow trees for the probability of each of `number` bands; one row per player and prefix."""
    if len(np.unique(bands)) < 3:
        raise LearnedError("boosting needs training players in at least three bands; encode more games or finer bands.")
    try:
        from sklearn.ensemble import HistGradientBoostingClassifier
    except ImportError:
        raise MissingExtra("scikit-learn", "learn") from None
    grown = HistGradientBoostingClassifier(
        max_iter=ROUNDS,
        learning_rate=0.1,
        max_leaf_nodes=12,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=seed,
    ).fit(features, bands, sample_weight=weight)
    trees = [(output, tree.nodes) for trees in grown._predictors for output, tree in enumerate(trees)]
    roots = np.cumsum([0, *(len(nodes) for _, nodes in trees)])[:-1]
    nodes = np.concatenate([nodes for _, nodes in trees])
    start = np.repeat(roots, [len(some) for _, some in trees])
    leaf, here = nodes["is_leaf"].astype(bool), np.arange(len(nodes))
    base = np.full(number, _NEVER)
    base[grown.classes_] = np.ravel(grown._baseline_prediction)
    return {
        # A leaf points at itself, so that walking on changes nothing.
        "feature": np.where(leaf, 0, nodes["feature_idx"]).astype(np.int16),
        "threshold": nodes["num_threshold"].astype(np.float64),
        "low": np.where(leaf, here, nodes["left"] + start).astype(np.int32),
        "high": np.where(leaf, here, nodes["right"] + start).astype(np.int32),
        "value": np.where(leaf, nodes["value"], 0.0).astype(np.float32),
        "roots": roots.astype(np.int32),
        "outputs": grown.classes_[[output for output, _ in trees]].astype(np.int32),
        "base": base,
    }


def tree_logits(trees: Arrays, features: Floats) -> Floats:
    """Logits over the bands of rows of features, (rows, bands)."""
    node = np.broadcast_to(trees["roots"], (len(features), len(trees["roots"])))
    rows = np.arange(len(features))[:, None]
    while True:
        low = features[rows, trees["feature"][node]] <= trees["threshold"][node]
        after = np.where(low, trees["low"][node], trees["high"][node])
        if (after == node).all():
            break
        node = after
    out = np.broadcast_to(trees["base"], (len(features), len(trees["base"]))).copy()
    values = trees["value"][node]
    for band in np.unique(trees["outputs"]):
        out[:, band] += values[:, trees["outputs"] == band].sum(axis=1)
    return out


def opening_keys(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Keys:
    """Numbers that stand for the openings of games."""
    return np.array([hash64(str(dataset.openings[row])) for row in rows.tolist()], dtype=np.uint64)


def tag_features(dataset: Dataset, row: int, book: Book) -> Floats:
    """Of White and Black, (2, 7): what is known of the opening's players, length, score and colour."""
    known, games, white, black = book.look(opening_keys(dataset, np.array([row])))[0]
    scored = score_of(str(dataset.results[row]))
    score = 0.5 if scored is None else scored
    length = dataset.lengths[row]
    return np.array(
        [[known, games, white, black, length, score, 1], [known, games, black, white, length, 1 - score, 0]]
    )


def tag_posteriors(run: Run, dataset: Dataset, row: int, prior: Floats | None = None) -> Floats:
    """The posterior before the game and after it, (2, 2, bands); see :func:`assay.learned.forward.posteriors`."""
    book = stored_book(run.weights)
    assert book is not None
    logs = np.empty((2, 2, len(run.prior)))
    logs[0] = np.log(run.prior)
    logs[1] = log_softmax(tree_logits(run.weights, tag_features(dataset, row, book)) / run.temperature)
    if prior is not None:
        logs += np.log(np.maximum(prior, 1e-12)) - np.log(run.prior)
    return np.asarray(np.exp(log_softmax(logs)))


def train_mean(dataset: Dataset, config: Config) -> Trained:
    """The share of each band among the training players, whatever is played; balanced, all bands alike."""
    rows = training_rows(dataset, config)
    prior = stated_prior(band_shares(dataset, rows), config)
    return Trained({}, prior, 1.0, {"training_games": len(rows), "validation_games": 0})


def train_tags(dataset: Dataset, config: Config) -> Trained:
    """Boosted trees on opening, length and result, which a whole game has whatever its moves are."""
    rows = training_rows(dataset, config)
    held = validation_rows(dataset, balanced=config.balanced)
    openings = opening_keys(dataset, rows)[:, None]
    books = make_books(dataset, rows, openings, game_weight(dataset, rows, config), LEAST_OPENING)
    rows = rows[drawn(dataset, rows, config)]
    known = np.concatenate([tag_features(dataset, row, books.of(row)) for row in rows.tolist()])
    seen = np.concatenate([tag_features(dataset, row, books.whole) for row in held.tolist()])
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
    trees = grow_trees(known, bands, len(prior), weight, config.seed)
    return Trained(
        weights=trees | (books.whole.arrays() if books else {}),
        prior=stated_prior(prior, config),
        temperature=fit_temperature(tree_logits(trees, seen), truth),
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
            found.append(ply_features(plies, inputs, book)[at].astype(np.float32).reshape(4, -1))
            bands.append(np.tile(dataset.bands[row], 2))
            progress.advance()
    return np.concatenate(found).astype(np.float64), np.concatenate(bands)
