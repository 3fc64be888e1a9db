"""Random games with ratings, and a small dataset of them: enough to run everything, small enough to run it often."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path

import chess
import chess.pgn
import pytest

from assay.learned.build import Selection, build_dataset
from assay.learned.dataset import Dataset, open_dataset
from assay.pools import Bands

BANDS = Bands(1000, 2000, 250)
# Moves that random play finds too seldom, taken whenever they are there.
SELDOM = 0.5


def random_game(seed: int, plies: int, fen: str = chess.STARTING_FEN) -> chess.Board:
    """Random legal moves that like to castle, to promote and to take en passant."""
    rng = random.Random(seed)
    board = chess.Board(fen)
    while len(board.move_stack) < plies and (legal := list(board.legal_moves)):
        odd = [m for m in legal if m.promotion or board.is_castling(m) or board.is_en_passant(m)]
        board.push(rng.choice(odd if odd and rng.random() < SELDOM else legal))
    return board


def as_pgn(board: chess.Board, **tags: str) -> str:
    game = chess.pgn.Game.from_board(board)
    game.headers.update(tags)
    return str(game) + "\n\n"


@pytest.fixture(scope="session")
def pgn(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """90 games of unnamed players, two or three in ten plies long, ratings from 1000 to 2000."""
    file = tmp_path_factory.mktemp("games") / "random.pgn"
    games = [
        as_pgn(
            random_game(seed, 12 + seed % 14),
            White="?",
            Black="?",
            WhiteElo=str(1000 + 11 * seed),
            BlackElo=str(1000 + 11 * ((seed + 5) % 90)),
            TimeControl="300+2",
        )
        for seed in range(90)
    ]
    file.write_text("".join(games), encoding="utf-8")
    return file


@pytest.fixture(scope="session")
def make_dataset(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Dataset]:
    """A function that encodes a file into a dataset of its own."""

    def make(file: Path, **selection: object) -> Dataset:
        folder = tmp_path_factory.mktemp("datasets") / "dataset"
        build_dataset([file], folder, Selection(**({"bands": BANDS} | selection)))  # type: ignore[arg-type]
        return open_dataset(folder)

    return make


@pytest.fixture(scope="session")
def dataset(pgn: Path, make_dataset: Callable[..., Dataset]) -> Dataset:
    return make_dataset(pgn)


@pytest.fixture(scope="session")
def play() -> Callable[..., chess.Board]:
    """See random_game."""
    return random_game


@pytest.fixture(scope="session")
def write_pgn() -> Callable[..., str]:
    """See as_pgn."""
    return as_pgn
