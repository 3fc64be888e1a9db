"""An engine behind a script: whatever happens to it, nothing that the script started stays behind."""

from __future__ import annotations

import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.engine.conftest import GAMES
from tests.faults.processes import COMMAND

from assay.engine.analysis import Outcome

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
WEIRD = "r1b1kbnr/pppp1Npp/8/6q1/2BnP3/8/PPPP1PPP/RNBQK2R"  # after 5. Nxf7, Black to move


@pytest.fixture
def behind_a_script(tmp_path: Path, fake: Callable[..., str]) -> Callable[..., str]:
    """The command of an engine that a shell starts and waits for, as wrappers do that set up its surroundings."""

    def write(**told: object) -> str:
        script = tmp_path / "engine.sh"
        script.write_text(f"#!/bin/sh\n{fake(log=tmp_path / 'log', **told)}\nexit $?\n")
        script.chmod(0o755)
        return shlex.quote(str(script))

    return write


def processes(folder: Path) -> list[str]:
    """The command lines that name this folder: the script, and the engine with its log."""
    found = []
    for entry in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = entry.read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except OSError:
            continue  # it has just ended
        if (f"{folder}/log" in words or f"{folder}/engine.sh" in words) and "-c" not in words.split():
            found.append(words)
    return found


def wait_until_gone(folder: Path) -> None:
    while processes(folder):
        time.sleep(0.05)


def test_an_engine_that_hangs_is_ended_with_its_script(
    behind_a_script: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    outcome = analysed(behind_a_script(fault="hangs", at=WEIRD), patience=3, workers=2)
    assert [position.fen.split()[0] for position in outcome.set_aside] == [WEIRD]
    wait_until_gone(tmp_path)


def test_what_a_script_started_beside_its_engine_ends_with_it(
    behind_a_script: Callable[..., str], analysed: Callable[..., Outcome], tmp_path: Path
) -> None:
    engine = behind_a_script()
    script = tmp_path / "engine.sh"
    script.write_text(script.read_text().replace("#!/bin/sh\n", f"#!/bin/sh\ntail -f {script} >/dev/null &\n"))
    assert analysed(engine, workers=2).valued
    wait_until_gone(tmp_path)


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_run_that_is_ended_ends_its_engines(
    how: signal.Signals, behind_a_script: Callable[..., str], tmp_path: Path
) -> None:
    games, log = tmp_path / "games.pgn", tmp_path / "log"
    games.write_text(GAMES)
    command = ["analyse", str(games), "--store", str(tmp_path / "s.db"), "--depth", "2", "--from-move", "2"]
    run = subprocess.Popen(
        [*COMMAND, *command, "--engine", behind_a_script(fault="hangs"), "--patience", "3600"],
        stderr=subprocess.PIPE,
        text=True,
    )
    while not log.exists() and run.poll() is None:
        time.sleep(0.02)
    run.send_signal(how)
    _, said = run.communicate()
    assert run.returncode == {signal.SIGINT: 130, signal.SIGTERM: 143}[how]
    assert "Traceback" not in said
    wait_until_gone(tmp_path)


CANCEL = """
import asyncio, gc, sys
from assay.engine.identity import Search
from assay.engine.uci import UciEngine

async def start_and_cancel(steps):
    starting = asyncio.create_task(UciEngine.start(Search(sys.argv[1])))
    for more in (steps, 1):
        for _ in range(more):
            await asyncio.sleep(0)
        starting.cancel()
    await asyncio.wait([starting])

for steps in range(12):
    asyncio.run(start_and_cancel(steps))
    gc.collect()
"""


def test_a_start_that_is_cancelled_halfway_leaves_no_engine_and_says_nothing(
    behind_a_script: Callable[..., str], tmp_path: Path
) -> None:
    run = subprocess.run([sys.executable, "-c", CANCEL, behind_a_script()], capture_output=True, text=True, check=True)
    assert not run.stderr
    wait_until_gone(tmp_path)
