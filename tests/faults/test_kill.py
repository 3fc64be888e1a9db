"""kill -9 at random moments: what was there before stays, nothing is half there, and the next run ends as if alone.

Kills of an analysis are in `tests/engine/test_kill.py`, of a training in `tests/learned/test_train.py`.
"""

from __future__ import annotations

import json
import random
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from tests.faults.processes import COMMAND, DATA, EVENT, kill, run, start

from assay.moves.calibration import load
from assay.paths import atomic


def test_an_index_is_whole_or_the_one_before(tmp_path: Path) -> None:
    """Games come through a pipe, so that the run can be killed after any of them."""
    games, index, chance = EVENT.read_bytes() * 40, tmp_path / "games.parquet", random.Random(9)
    index.write_bytes(b"the one before")
    for _ in range(4):
        process = start(*COMMAND, "index", "-", "-o", index, stdin=-1)
        assert process.stdin is not None
        process.stdin.write(games[: chance.randrange(len(games))])
        process.stdin.flush()
        time.sleep(chance.random() * 0.6)
        kill(process)
        assert index.read_bytes() == b"the one before"
    assert run("index", EVENT, "-o", index).code == 0
    assert len(pl.read_parquet(index)) == 15
    assert [path.name for path in tmp_path.iterdir()] == ["games.parquet"], "what the killed runs left is swept away"


SAVE = """
import sys
from dataclasses import replace
from assay.moves.calibration import load, save, unpack_values
import json
path, source = sys.argv[1:]
values = unpack_values(json.load(open(source))["regan"]["reference"]["data"])
one = load(source)
while True:
    for name in ("first", "second"):
        save(replace(one, name=name), values, path)
"""


def test_a_calibration_is_whole_whenever_its_writing_is_killed(tmp_path: Path) -> None:
    """A calibration is written once, at its end; here it is written over and over, and killed in the midst."""
    file, source = tmp_path / "mine.json", DATA / "calibrations" / "stockfish-15.1-d6.json"
    chance = random.Random(9)
    for _ in range(4):
        process = start(sys.executable, "-c", SAVE, file, source)
        while not file.exists():
            assert process.poll() is None, "it ended before it wrote anything"
            time.sleep(0.01)
        time.sleep(0.4 + chance.random() * 0.1)
        kill(process)
        assert load(file).name in ("first", "second"), "a warning would tell that it is not as it was written"
    with atomic(file) as part:
        part.write_text("{}")
    assert [path.name for path in tmp_path.iterdir()] == ["mine.json"]


SERVE = """
import sys
from pathlib import Path
from assay.web.jobs import Limits
from assay.web.serve import serve
jobs, worker = sys.argv[1:]
serve(host="127.0.0.1", port=0, jobs=Path(jobs), worker=[sys.executable, worker], limits=Limits(), token=None,
      tell=lambda address: print(address, flush=True))
"""
TWO_GAMES = EVENT.read_bytes().partition(b'[Round "3"]')[0].rpartition(b"[Event")[0]
WORKER = Path(__file__).parents[1] / "web" / "made_up_worker.py"


def ask(address: str, data: bytes | None = None) -> Any:
    with urllib.request.urlopen(address, data) as answer:
        return json.loads(answer.read())


@pytest.mark.skipif(sys.platform == "win32", reason="process groups")
def test_a_server_finds_its_jobs_again(tmp_path: Path) -> None:
    sent: list[str] = []
    chance = random.Random(9)
    for kills_left in reversed(range(4)):
        process = start(sys.executable, "-c", SERVE, tmp_path, WORKER, stdout=-1)
        assert process.stdout is not None
        address = process.stdout.readline().decode().strip() + "api/jobs"
        assert [job["id"] for job in reversed(ask(address))] == sent, "a job was lost or made up"
        sent.append(ask(f"{address}?name=club.pgn", TWO_GAMES)["id"])
        time.sleep(chance.random() * 1.5)
        while not kills_left and any(job["state"] in ("queued", "running") for job in ask(address)):
            time.sleep(0.1)
        told = ask(address)
        kill(process)
        for file in tmp_path.rglob("[!.]*.json"):
            json.loads(file.read_text())
    assert [(job["id"], job["state"], job["games_done"]) for job in reversed(told)] == [
        (job, "done", 2) for job in sent
    ]
    assert not list(tmp_path.rglob(".*.part"))
