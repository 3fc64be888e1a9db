"""What the tests of the engine room share: a few games, an engine that does as told, a way to analyse."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest
from tests.engine import fake_engine

from assay.engine.analysis import Outcome, value
from assay.engine.identity import Search
from assay.engine.parsed import Wanted, wanted
from assay.engine.store import writing
from assay.games import Game, read

# Short, with what matters: a transposition between the two, a repetition, a check with a single reply, a mate.
GAMES = """[Event "Test"]
[White "Adams"]
[Black "Baker"]
[WhiteElo "2100"]
[BlackElo "1950"]
[Result "1-0"]

1. e4 e5 2. Nf3 Nc6 3. Bc4 Nd4 4. Nxe5 Qg5 5. Nxf7 Qxg2 6. Rf1 Qxe4+ 7. Be2 Nf3# 0-1

[Event "Test"]
[White "Baker"]
[Black "Clark"]
[WhiteElo "1950"]
[Result "1/2-1/2"]

1. Nf3 Nc6 2. e4 e5 3. Bc4 Nf6 4. Ng1 Ng8 5. Nf3 Nf6 6. d3 d6 1/2-1/2
"""


@pytest.fixture
def games_file(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    file.write_text(GAMES)
    return file


@pytest.fixture
def games(games_file: Path) -> list[Game]:
    return list(read(games_file))


@pytest.fixture
def fake() -> Callable[..., str]:
    """The command of an engine that does as told: `fake(fault="dies", at="Qxg2")`."""
    return fake_engine.command


@pytest.fixture(scope="session")
def fake_values() -> ModuleType:
    """The fake engine as a module: what it says is what the store must hold."""
    return fake_engine


@pytest.fixture
def analysed(games: list[Game], tmp_path: Path) -> Callable[..., Outcome]:
    """Analyse the games (or a plan) into a store: `analysed(engine, depth=3)`."""

    def run(engine: str, *, store: str = "store.db", work: Wanted | None = None, **how: object) -> Outcome:
        job = {name: how.pop(name) for name in ("depth", "lines", "nodes", "options", "hash_mb") if name in how}
        with writing(tmp_path / store) as opened:
            work = work or wanted(games, from_move=2, ends=job.get("lines") == 1)
            return value(work, opened, Search(engine, **{"depth": 3, **job}), quiet=True, **how)  # type: ignore[arg-type]

    return run
