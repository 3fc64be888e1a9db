"""A run killed at any moment loses nothing that was stored and repeats nothing."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import assay
from assay.engine.store import Store
from assay.games.packed import to_fen

SAMPLE = Path(assay.__file__).parent / "data" / "kasparov-deep-blue-1997.pgn"
RUN = """
import sys
from assay.engine.identity import Search
from assay.engine.parsed import wanted
from assay.engine.analysis import value
from assay.engine.store import writing
from assay.games import read

games, store, engine = sys.argv[1:]
with writing(store) as opened:
    value(wanted(read(games), from_move=1), opened, Search(engine, depth=2), workers=2, quiet=True)
"""


def start(games: Path, store: Path, engine: str) -> subprocess.Popen[bytes]:
    """Start a run as the leader of a process group, engines and all."""
    return subprocess.Popen([sys.executable, "-c", RUN, str(games), str(store), engine], start_new_session=True)


def contents(path: Path) -> dict[str, tuple[bytes, bytes]]:
    """FEN to moves and scores; empty before the store is made."""
    if not path.exists():
        return {}
    with Store(path) as store:
        return {
            to_fen(valued.key): (valued.moves, valued.scores)
            for kept in store.kept()
            for valued in store.all_valued(kept.id)
        }


def test_killed_twenty_times_the_store_equals_that_of_an_undisturbed_run(
    tmp_path: Path, fake: Callable[..., str]
) -> None:
    calm, log = tmp_path / "calm.db", tmp_path / "log"
    assert start(SAMPLE, calm, fake()).wait() == 0

    chance = random.Random(20)
    disturbed = tmp_path / "disturbed.db"
    engine = fake(log=log, seconds=0.02)
    kills_that_left_something = 0
    for _ in range(20):
        before, logged = contents(disturbed), _logged(log)
        run = start(SAMPLE, disturbed, engine)
        _wait_for_work(log, len(logged) + chance.randrange(4, 14), run)
        os.killpg(run.pid, signal.SIGKILL)
        run.wait()
        again = [fen for fen in _logged(log)[len(logged) :] if fen in before]
        assert not again, "analysed although it was stored"
        after = contents(disturbed)
        assert before.items() <= after.items(), "a stored position was lost"
        kills_that_left_something += len(before) < len(after) < len(contents(calm))
    assert kills_that_left_something > 5, "the kills came too early or too late to mean anything"

    assert start(SAMPLE, disturbed, fake()).wait() == 0
    assert contents(disturbed) == contents(calm)


def _logged(log: Path) -> list[str]:
    return log.read_text().splitlines() if log.exists() else []


def _wait_for_work(log: Path, logged: int, run: subprocess.Popen[bytes]) -> None:
    """Until so many searches were begun in all; where within the last of them that is, chance tells."""
    while len(_logged(log)) < logged and run.poll() is None:
        time.sleep(0.01)


def test_ctrl_c_ends_the_run_and_keeps_what_was_done(tmp_path: Path, fake: Callable[..., str]) -> None:
    store, log = tmp_path / "store.db", tmp_path / "log"
    command = ["analyse", str(SAMPLE), "--store", str(store), "--depth", "2", "--engine", fake(log=log, seconds=0.05)]
    run = subprocess.Popen(
        [sys.executable, "-c", "from assay.cli.main import main; main()", *command],
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    while len(_logged(log)) < 10 and run.poll() is None:
        time.sleep(0.02)
    os.killpg(run.pid, signal.SIGINT)
    _, said = run.communicate()
    assert run.returncode == 130
    assert "What was finished is stored" in said and "interrupted" in said and "Traceback" not in said
    assert len(contents(store)) >= 5
