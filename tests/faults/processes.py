"""`assay` as a process of its own: run to its end, or started to be killed."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import assay

COMMAND = (sys.executable, "-c", "from assay.cli.main import main; main()")
DATA = Path(assay.__file__).parent / "data"
EVENT = DATA / "simulated-event.pgn"


@dataclass(frozen=True)
class Ended:
    """How a process ended."""

    code: int
    out: str
    err: str

    @property
    def sentence(self) -> str:
        """What it said last; a failure if it said it badly."""
        assert self.code == 1, (self.code, self.err)
        assert "Traceback" not in self.err and "bug in Assay" not in self.err, self.err
        last = self.err.strip().splitlines()[-1]
        assert last.startswith("assay: ") and last.endswith("."), self.err
        return last.removeprefix("assay: ")


def run(*words: object, **how: Any) -> Ended:
    """Run a command to its end."""
    done = subprocess.run([*COMMAND, *map(str, words)], capture_output=True, text=True, timeout=300, **how)
    return Ended(done.returncode, done.stdout, done.stderr)


def start(*command: object, **how: Any) -> subprocess.Popen[bytes]:
    """Start a program as the leader of a process group."""
    return subprocess.Popen([*map(str, command)], start_new_session=True, **how)


def kill(process: subprocess.Popen[bytes]) -> None:
    """kill -9, with all that it started."""
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            pipe.close()
