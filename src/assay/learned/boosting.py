"""The baseline of gradient-boosted trees on aggregate features of the plies so far.

Features of a player after t plies: the means of the board scalars (and clocks, engine scalars, where the run reads
them) over the player's own plies and over the opponent's, how often pieces were left hanging or taken for nothing, the
material balance, what the opening book says of both (where the run has one), and t. scikit-learn grows the trees; they
are stored and read as plain arrays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.arrays import Arrays
from assay.errors import LearnedError, MissingExtra
from assay.learned.book import Book
from assay.learned.encode import SCALAR_NAMES
from assay.learned.inputs import Inputs, scalars_of

Floats = npt.NDArray[np.float64]

ROUNDS = 80
_NEVER = -20.0  # the logit of a band that nobody in training is in

_AT = {name: number for number, name in enumerate(SCALAR_NAMES)}


def features(plies: Inputs, kinds: tuple[str, ...], book: Book | None = None) -> Floats:
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


def fit(features: Floats, bands: npt.NDArray[np.int64], number: int, weight: Floats | None, seed: int) -> Arrays:
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


def logits(trees: Arrays, features: Floats) -> Floats:
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
