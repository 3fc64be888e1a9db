"""An opening book of ratings: which players choose a move in a position, learned from the training games alone.

The choice of an opening tells more of a player than any later move, but a network needs hundreds of thousands of
games to learn it from planes. Counting learns it at once: every move in a position that several training games have
seen knows what their players' ratings were. Few games are drawn towards the move before (a Bayesian mean at every
step of the tree), so that deep lines add what they can and no more.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from assay.arrays import Arrays
from assay.games.rules import Boards
from assay.learned.dataset import Dataset
from assay.learned.encode import SCALAR_NAMES
from assay.learned.inputs import ENGINE_NAMES, EVAL_FEATURES, POOL_NAMES, Floats, Inputs, scalars_of
from assay.records import dataclass

BOOK_PLIES = 30
BOOK_NAMES = ("in book", "games", "mover's", "opponent's")
PULL = 10.0  # games that the move before counts for
FOLDS = 5

Keys = npt.NDArray[np.uint64]

_SEEN = [*range(12), 48, 49]  # pieces, from and to square
# A product of 32-bit halves with odd 64-bit numbers keeps at least 33 bits of every square.
_FACTORS = np.random.default_rng(64).integers(0, 2**63, size=2 * len(_SEEN) + 1, dtype=np.uint64) * 2 + 1


def position_keys(planes: Boards) -> Keys:
    """A number for each of a game's first plies that stands for the position, the move and the ply number.

    >>> from assay.games import to_arrays
    >>> from assay.learned import encode_games
    >>> e4, d4 = (position_keys(encode_games(to_arrays([text])).planes) for text in ("1. e4 e5", "1. d4 e5"))
    >>> len(e4), bool(e4[0] == d4[0])
    (2, False)
    """
    seen = np.ascontiguousarray(planes[:BOOK_PLIES, _SEEN], dtype="<u8")
    halves = seen.view("<u4").astype(np.uint64)
    numbers = np.arange(1, len(seen) + 1, dtype=np.uint64)
    return np.asarray(halves @ _FACTORS[:-1] + numbers * _FACTORS[-1], dtype=np.uint64)


@dataclass(frozen=True)
class Book:
    """Moves in positions, by key, and what is known of those who play them."""

    keys: Keys  # sorted
    values: Floats  # (keys, 3): log(1 + games), White's and Black's mean rating in standard deviations from the mean

    def follow(self, plies: Inputs) -> Floats:
        """Of each ply: whether the game is still in book, in how many games, White's and Black's mean; (plies, 4).

        After the book the means of its last move stand, and the rest is 0.
        """
        found = np.zeros((len(plies), len(BOOK_NAMES)), dtype=np.float32)
        known = self.look(position_keys(plies.planes))
        depth = int(np.logical_and.accumulate(known[:, 0] > 0).sum())
        if depth:
            found[:depth] = known[:depth]
            found[depth:, 2:] = found[depth - 1, 2:]
        return found

    def look(self, keys: Keys) -> Floats:
        """Of each key: whether the book has it, in how many games, White's and Black's mean; (keys, 4)."""
        found = np.zeros((len(keys), len(BOOK_NAMES)), dtype=np.float32)
        if len(self.keys):
            at = np.minimum(np.searchsorted(self.keys, keys), len(self.keys) - 1)
            there = self.keys[at] == keys
            found[there, 0] = 1
            found[there, 1:] = self.values[at[there]]
        return found

    def arrays(self) -> Arrays:
        """As it is stored among the weights of a run."""
        return {"book.keys": self.keys, "book.values": self.values}


def stored_book(weights: Arrays) -> Book | None:
    """The book of a run, if it has one."""
    return Book(weights["book.keys"], weights["book.values"]) if "book.keys" in weights else None


def read_scalars(plies: Inputs, kinds: tuple[str, ...], book: Book | None) -> Floats:
    """The scalars that a sequence model reads: those of these kinds, and the book's from the mover's side."""
    scalars = scalars_of(plies, kinds)
    if book is None:
        return scalars
    followed = book.follow(plies)
    mover = np.where(plies.white[:, None], followed, followed[:, [0, 1, 3, 2]])
    return np.concatenate((scalars, mover), axis=1)


def scalar_names(kinds: Sequence[str], *, book: bool) -> list[str]:
    """What the scalars that a sequence model reads are called, in their order."""
    each = {
        "board": SCALAR_NAMES,
        "clock": ("clock left", "clock used", "clock known"),
        "engine": (*(f"engine {name}" for name in ENGINE_NAMES), "engine known"),
        "evals": (*(f"eval {number}" for number in range(EVAL_FEATURES)), "eval known"),
        "ending": ("ending",),
        "pool": POOL_NAMES,
    }
    return [name for kind in kinds for name in each[kind]] + [f"book {name}" for name in BOOK_NAMES if book]


def make_book(keys: Keys, ratings: npt.NDArray[np.float64], weight: npt.NDArray[np.float64], least: int) -> Book:
    """A book from the keys of games (games, BOOK_PLIES; 0 after the end) and standardised ratings (games, 2).

    A move belongs to the book if at least so many games have it. Its estimate is the weighted mean of their ratings
    and of PULL games at the estimates of the moves before.
    """
    before = np.zeros((len(keys), 2))
    inside = np.ones(len(keys), dtype=bool)
    found: list[tuple[Keys, Floats]] = []
    for ply in range(keys.shape[1]):
        games = np.flatnonzero(inside & (keys[:, ply] != 0))
        if not len(games):
            break
        moves, move = np.unique(keys[games, ply], return_inverse=True)
        count = np.bincount(move)
        mass = np.bincount(move, weights=weight[games])
        estimates = np.empty((len(moves), 2))
        for side in (0, 1):
            total = np.bincount(move, weights=weight[games] * ratings[games, side])
            drawn = np.bincount(move, weights=before[games, side]) / count
            estimates[:, side] = (total + PULL * drawn) / (mass + PULL)
        kept = count >= least
        found.append((moves[kept], np.column_stack((np.log1p(count), estimates))[kept].astype(np.float32)))
        before[games] = estimates[move]
        inside[:] = False
        inside[games] = kept[move]
    all_keys = np.concatenate([some for some, _ in found] or [np.empty(0, np.uint64)])
    values = np.concatenate([some for _, some in found] or [np.empty((0, 3), np.float32)])
    order = np.argsort(all_keys)
    return Book(all_keys[order], values[order])


@dataclass(frozen=True)
class Books:
    """The book of all training games, and for each training game one that has not seen it.

    A network that read its own rating in the book would trust the book too much, so the training games are dealt into
    folds, and each is read with a book made from the other folds.
    """

    whole: Book
    parts: tuple[Book, ...]
    fold: dict[int, int]  # of each training game

    def of(self, row: int) -> Book:
        """The book to read a game with."""
        fold = self.fold.get(row)
        return self.whole if fold is None else self.parts[fold]


def game_keys(dataset: Dataset, rows: npt.NDArray[np.int64]) -> Keys:
    """The keys of the first plies of games, (games, BOOK_PLIES); 0 after the end."""
    keys = np.zeros((len(rows), BOOK_PLIES), dtype=np.uint64)
    for number, row in enumerate(rows.tolist()):
        some = position_keys(dataset.game(row, BOOK_PLIES).planes)
        keys[number, : len(some)] = some
    return keys


def make_books(
    dataset: Dataset, rows: npt.NDArray[np.int64], keys: Keys, weight: npt.NDArray[np.float64], least: int
) -> Books:
    """The books of the training games `rows` with these keys, each game of this weight."""
    ratings = dataset.ratings[rows].astype(np.float64)
    centre = np.average(ratings, axis=0, weights=weight).mean()
    standard = (ratings - centre) / np.sqrt(np.average((ratings - centre) ** 2, axis=0, weights=weight).mean())
    fold = np.random.default_rng(0).integers(0, FOLDS, len(rows))
    parts = [make_book(keys[fold != f], standard[fold != f], weight[fold != f], least) for f in range(FOLDS)]
    return Books(
        make_book(keys, standard, weight, least), tuple(parts), dict(zip(rows.tolist(), fold.tolist(), strict=True))
    )
