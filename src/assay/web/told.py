"""What a worker tells the server, in files of the job's folder: how far it is, and the report as it grows."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path
from typing import Any

from assay.engine.uci import end_engines
from assay.progress import Progress
from assay.reports.content import Report
from assay.reports.exports import TEXTS, write
from assay.web.jobs import read_json, write_json

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
