"""The baseline that sees no move: opening (ECO), length and result of a whole game, boosted trees on them.

What it reaches is what a model of moves must beat before it can claim to see how well somebody plays.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.games.sets import hash64
from assay.learned import boosting
from assay.learned.book import Book, Keys, stored_book
from assay.learned.calibrate import log_softmax
from assay.learned.dataset import Dataset
from assay.learned.inputs import RESULTS
from assay.learned.run import Run

Floats = npt.NDArray[np.float64]


def opening_keys(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Keys:
    """Numbers that stand for the openings of games."""
    return np.array([hash64(str(dataset.openings[row])) for row in rows.tolist()], dtype=np.uint64)


def features(dataset: Dataset, row: int, book: Book) -> Floats:
    """Of White and Black, (2, 7): what is known of the opening's players, length, score and colour."""
    known, games, white, black = book.look(opening_keys(dataset, np.array([row])))[0]
    score = RESULTS.get(str(dataset.results[row]), 0.5)
    length = dataset.lengths[row]
    return np.array(
        [[known, games, white, black, length, score, 1], [known, games, black, white, length, 1 - score, 0]]
    )


def posteriors(run: Run, dataset: Dataset, row: int, prior: Floats | None = None) -> Floats:
    """The posterior before the game and after it, (2, 2, bands); see :func:`assay.learned.rate.posteriors`."""
    book = stored_book(run.weights)
    assert book is not None
    logs = np.empty((2, 2, len(run.prior)))
    logs[0] = np.log(run.prior)
    logs[1] = log_softmax(boosting.logits(run.weights, features(dataset, row, book)) / run.temperature)
    if prior is not None:
        logs += np.log(np.maximum(prior, 1e-12)) - np.log(run.prior)
    return np.asarray(np.exp(log_softmax(logs)))
