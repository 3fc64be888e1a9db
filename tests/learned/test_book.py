"""The opening book of ratings: what it counts, how far it follows a game, and that no game reads its own rating."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from assay.games import to_arrays
from assay.learned import Config, encode_games, fit_run, open_run
from assay.learned.book import BOOK_PLIES, PULL, Book, game_keys, make_book, make_books, position_keys, read_scalars
from assay.learned.dataset import Dataset
from assay.learned.forward import posteriors
from assay.learned.inputs import Inputs

SPANISH, ITALIAN, ENGLISH = "1. e4 e5 2. Nf3 Nc6 3. Bb5", "1. e4 e5 2. Nf3 Nc6 3. Bc4", "1. c4 e5"


def plies_of(moves: str) -> Inputs:
    encoded = encode_games(to_arrays([moves]))
    unknown = np.full((len(encoded.planes), 4), np.nan, dtype=np.float32)
    return Inputs(encoded.planes, encoded.scalars, unknown[:, :2], unknown, unknown[:, :2])


@cache
def keys_of(moves: str) -> np.ndarray:
    return position_keys(plies_of(moves).planes)


def book_of(games: list[tuple[str, float, float]], least: int = 1) -> Book:
    """A book from moves with the two players' standardised ratings."""
    keys = np.zeros((len(games), BOOK_PLIES), dtype=np.uint64)
    for number, (moves, _, _) in enumerate(games):
        found = keys_of(moves)
        keys[number, : len(found)] = found
    return make_book(keys, np.array([game[1:] for game in games]), np.ones(len(games)), least)


def test_few_games_are_drawn_to_the_move_before() -> None:
    followed = book_of([(ENGLISH, 1.0, -2.0)]).follow(plies_of(ENGLISH))
    first = 1 / (1 + PULL)
    second = (1 + PULL * first) / (1 + PULL)
    np.testing.assert_allclose(followed[:, 2], [first, second], rtol=1e-6)
    np.testing.assert_allclose(followed[:, 3], [-2 * first, -2 * second], rtol=1e-6)
    np.testing.assert_allclose(followed[:, 1], np.log(2), rtol=1e-6)


def test_many_games_are_their_mean() -> None:
    followed = book_of([(ENGLISH, 1.0, -1.0), (ENGLISH, 0.0, -1.0)] * 5000).follow(plies_of(ENGLISH))
    np.testing.assert_allclose(followed[-1, 2:], [0.5, -1.0], atol=0.002)


def test_transpositions_meet_again() -> None:
    one, other = (
        position_keys(plies_of(moves).planes) for moves in ("1. d4 d5 2. c4 e6 3. Nf3", "1. c4 e6 2. d4 d5 3. Nf3")
    )
    assert one[0] != other[0]
    assert one[4] == other[4]


def test_after_the_book_its_last_word_stands() -> None:
    book = book_of([(SPANISH, 1.0, 1.0), (ITALIAN, -1.0, -1.0), (SPANISH, 1.0, 1.0)], least=2)
    spanish, italian = book.follow(plies_of(SPANISH + " a6 4. Ba4")), book.follow(plies_of(ITALIAN + " Bc5"))
    assert spanish[:, 0].tolist() == [1, 1, 1, 1, 1, 0, 0]
    assert italian[:, 0].tolist() == [1, 1, 1, 1, 0, 0]
    assert spanish[4, 2] > spanish[3, 2] > 0
    assert (spanish[5:, 2:] == spanish[4, 2:]).all()
    assert not spanish[5:, 1].any()
    assert not book.follow(plies_of(ENGLISH)).any()


def test_the_mover_comes_first() -> None:
    plies = plies_of(ENGLISH)
    read = read_scalars(plies, ("board",), book_of([(ENGLISH, 1.0, -1.0)]))
    assert read.shape[1] == plies.board.shape[1] + 4
    assert (read[:, -2] > 0).tolist() == [True, False]
    assert (read[:, -1] > 0).tolist() == [False, True]


def test_no_game_reads_its_own_rating(dataset: Dataset) -> None:
    """The games are random, so beyond the first moves a line is known only if the game itself is in the book."""
    rows = dataset.rows("train")
    books = make_books(dataset, rows, game_keys(dataset, rows), np.ones(len(rows)), least=1)
    deepest = [books.of(row).follow(dataset.game(row))[:, 0].sum() for row in rows.tolist()]
    assert max(deepest) < 6
    assert books.whole.follow(dataset.game(int(rows[0])))[:, 0].all()
    held = int(dataset.rows("validation")[0])
    assert books.of(held) is books.whole


@pytest.mark.parametrize("model", ["transformer", "boosting"])
def test_a_run_keeps_its_book(dataset: Dataset, tmp_path: Path, model: str) -> None:
    config = Config(model, d_model=8, layers=1, heads=2, square_width=2, max_plies=16, epochs=1, book=2)
    fit_run(dataset, tmp_path / "run", config, ("board", "ending"))
    run = open_run(tmp_path / "run")
    assert len(run.weights["book.keys"])
    assert np.isfinite(posteriors(run, dataset.game(0))).all()
