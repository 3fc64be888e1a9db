"""The process behind a job: analyse, and publish the report as it grows.

``python -m assay.web.worker FOLDER --store S [--engine E] [--workers N]``; it lives as long as its standard input.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import sys
import threading
import time
import traceback
from dataclasses import replace
from pathlib import Path
from typing import Any

from assay.engine.uci import end_engines
from assay.errors import AssayError, OutputError
from assay.moves.asked import Asked
from assay.presets import PRESETS
from assay.progress import Progress
from assay.reports.content import Report
from assay.reports.exports import TEXTS, write
from assay.reports.growing import make
from assay.web.jobs import EVERYBODY, INPUT, UNTOLD, read_json, write_json

_TELL_EVERY = 0.5
ORPHANED = 3


class Told(Progress):
    """Progress that is told in a file of the job's folder."""

    def __init__(self, folder: Path) -> None:
        super().__init__("Analysing", quiet=True)
        self.folder = folder
        before = read_json(folder / "progress.json") or {}
        self.facts: dict[str, Any] = {"version": before.get("version", 0), "games_done": 0}
        self._begun: float | None = None
        self._told = 0.0
        self._lock = threading.Lock()

    def update(self, done: float, total: float | None = None) -> None:
        """Say how far the work is."""
        super().update(done, total)
        now = time.monotonic()
        self._begun = self._begun or now
        if now - self._told >= _TELL_EVERY or done == self.total:
            self._told = now
            left = (self.total - done) * (now - self._begun) / done if self.total and done else None
            self.tell(positions_done=int(done), positions=int(self.total or 0), seconds_left=left)

    def tell(self, **facts: Any) -> None:
        """Write what is known now; called from two threads."""
        with self._lock:
            self.facts |= facts
            write_json(self.folder / "progress.json", self.facts)

    def publish(self, report: Report) -> None:
        """Write the report in all its formats, then say that there is a new one."""
        for format in TEXTS:
            write(report, self.folder / f"report.{format}", format)
        self.tell(version=self.facts["version"] + 1, games_done=len(report.games))


def end_with_parent() -> None:
    """From now on, end with our engines when the server says so or is gone.

    Its end of our standard input closes with it, whatever happened. A thread sees that even while the main one, which
    gets signals, is in the midst of a long computation.
    """

    def end(*_: object) -> None:
        end_engines()
        os._exit(ORPHANED)

    def wait() -> None:
        while os.read(0, 1):  # not sys.stdin: its lock would be held when the interpreter ends
            pass
        end()

    signal.signal(signal.SIGTERM, end)
    threading.Thread(target=wait, daemon=True).start()


DEPTH = "depth-"  # before the number, where a depth is asked for that no preset has
NICE = 5  # the page comes first: who looks at it waits, and a job takes its time anyway


def run(folder: Path, given: Asked) -> int:
    """Do the job in this folder; 0 if it is done, else 1 and a sentence in the folder, if one can be written there."""
    asked = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    told = Told(folder)
    try:
        told.tell()
        preset = asked["preset"]
        depth = int(preset.removeprefix(DEPTH)) if preset.startswith(DEPTH) else PRESETS[preset].depth
        player = asked.get("player", "")
        named = player if player != EVERYBODY else ""
        make(
            [folder / INPUT],
            replace(given, depth=depth),
            name=asked["name"],
            player=named or None,
            me=bool(named),
            guess=player != EVERYBODY,
            progress=told,
            publish=told.publish,
        )
    except AssayError as error:
        why = str(error)
    except Exception as error:
        traceback.print_exc()
        why = f"this is a bug in Assay: {type(error).__name__}: {error}. worker.log in {folder} says more."
    else:
        return 0
    try:
        told.tell(error=why)
    except OutputError:
        return UNTOLD
    return 1


def main() -> None:
    """Read the command line and do the job."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--workers", type=int)
    words = parser.parse_args()
    end_with_parent()
    if hasattr(os, "nice"):
        os.nice(NICE)
    sys.exit(run(words.folder, Asked(store=words.store, engine=words.engine, workers=words.workers)))


if __name__ == "__main__":
    main()
