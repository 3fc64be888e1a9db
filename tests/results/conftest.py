"""Pools of made-up players, and the command line in this process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from assay.cli.main import main

TEXT = {1.0: "1-0", 0.5: "1/2-1/2", 0.0: "0-1"}


@dataclass(frozen=True)
class Pool:
    """Games of players whose strength is known."""

    players: list[str]
    strength: np.ndarray
    white: np.ndarray
    black: np.ndarray
    score: np.ndarray


@pytest.fixture
def make_pool() -> Callable[..., Pool]:
    """Make games at random: every expectancy and draw from the model itself."""

    def make(players: int, games: int, *, seed: int = 1, spread: float = 150.0, advantage: float = 30.0) -> Pool:
        generator = np.random.default_rng(seed)
        strength = generator.normal(2300.0, spread, players)
        white = generator.integers(0, players, games)
        black = (white + generator.integers(1, players, games)) % players
        p = 1.0 / (1.0 + (0.24 / 0.76) ** ((strength[white] - strength[black] + advantage) / 202.0))
        draw = 2.0 * p * (1.0 - p)
        u = generator.random(games)
        score = np.where(u < p - draw / 2, 1.0, np.where(u < p + draw / 2, 0.5, 0.0))
        return Pool([f"P{i:03}" for i in range(players)], strength, white, black, score)

    return make


def pgn(games: list[tuple[str, str, str]]) -> str:
    """Games as PGN with the three tags."""
    return "".join(f'[White "{w}"]\n[Black "{b}"]\n[Result "{r}"]\n\n{r}\n\n' for w, b, r in games)


@pytest.fixture
def as_pgn() -> Callable[[list[tuple[str, str, str]]], str]:
    return pgn


@pytest.fixture
def write_pgn(tmp_path: Path) -> Callable[..., str]:
    def write(games: list[tuple[str, str, str]], name: str = "games.pgn") -> str:
        (tmp_path / name).write_text(pgn(games), encoding="utf-8")
        return str(tmp_path / name)

    return write


@pytest.fixture
def pool_file(make_pool: Callable[..., Pool], write_pgn: Callable[..., str]) -> str:
    """Six players who met a hundred and fifty times."""
    pool = make_pool(6, 150)
    names = pool.players
    return write_pgn(
        [(names[w], names[b], TEXT[s]) for w, b, s in zip(pool.white, pool.black, pool.score.tolist(), strict=True)]
    )


@dataclass(frozen=True)
class Answer:
    code: int
    out: str
    err: str


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str]) -> Callable[..., Answer]:
    """Run `assay results ...` and give back exit code, stdout and stderr."""

    def answer(*words: str, command: str = "results") -> Answer:
        with pytest.raises(SystemExit) as end:
            main([command, *words])
        out, err = capsys.readouterr()
        return Answer(int(end.value.code or 0), out, err)

    return answer
