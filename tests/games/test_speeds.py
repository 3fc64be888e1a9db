"""The speed of a game: by its clock, in seconds or minutes, and by its event where the clock is not told."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest

from assay.engine.parsed import read_plies
from assay.games import index, read

CASES = [
    ("https://lichess.org/abcdefgh", "Rated Blitz game", "180+2", 180, "blitz"),
    ("https://lichess.org/abcdefgh", "Rated Bullet game", "?", None, "bullet"),
    ("https://lichess.org/abcdefgh", "Rated game", "90+30", 90, "rapid"),
    ("?", "Rated Classical game", "", None, "classical"),
    ("https://lichess.org/broadcast/-/x/y", "Round 1: A - B", "90+30", 5400, "classical"),
    ("Madrid ESP", "Open", "90+30", 5400, "classical"),
    ("Madrid ESP", "Open", "15 minutes + 10 seconds increment per move", 900, "rapid"),
    ("Madrid ESP", "Open", "", None, None),
    ("London", "Engine match", "60+0.6", 60, "bullet"),
    ("?", "Engine match", "10+5", 10, "blitz"),
    ("https://lichess.org/abcdefgh", "Rated Correspondence game", "-", None, "correspondence"),
]


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("speeds") / "games.pgn"
    path.write_text(
        "\n\n".join(
            f'[Event "{event}"]\n[Site "{site}"]\n[TimeControl "{control}"]\n[White "A"]\n[Black "B"]\n\n1. e4 e5 *'
            for site, event, control, _, _ in CASES
        )
    )
    return path


def test_the_index_knows_the_speed(games: Path) -> None:
    index([str(games)], games.with_suffix(".parquet"), quiet=True)
    found = pl.read_parquet(games.with_suffix(".parquet"))
    assert found["base_seconds"].to_list() == [base for *_, base, _ in CASES]
    assert found["speed"].cast(pl.String).to_list() == [speed for *_, speed in CASES]


def test_games_with_moves_have_the_same_speed(games: Path) -> None:
    assert read_plies(read(games), 1).games["speed"].to_list() == [speed for *_, speed in CASES]
