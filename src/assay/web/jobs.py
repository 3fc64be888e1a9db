"""Jobs as folders: what was asked, how it stands, and what came out, each in a file of its own.

::

    JOBS/0123456789abcdef/
        job.json        what was asked; written once
        state.json      queued, running, done, failed or cancelled; written by the server
        progress.json   how far it is; written by the worker
        input.pgn       the games
        report.html     report.csv  report.json  report.pgn    the result, replaced whole as it grows

Every file is written whole or not at all, so that a server killed at any moment finds its jobs again.
"""

from __future__ import annotations

import json
import re
import secrets
import shutil
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.errors import OutputError
from assay.paths import atomic

WAITING = ("queued", "running")
ENDED = ("done", "failed", "cancelled")
FORMATS = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "pgn": "application/x-chess-pgn; charset=utf-8",
}
INPUT = "input.pgn"
_ID = re.compile(r"[0-9a-f]{16}\Z")


@dataclass(frozen=True)
class Job:
    """What was asked."""

    id: str
    name: str
    preset: str
    games: int
    bytes: int
    sha256: str
    created: str


class JobFolders:
    """All jobs of one server; a job is named by sixteen hexadecimal digits and never by anything a user wrote."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._asked: dict[str, Job] = {}
        try:
            root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder for jobs {root}: {error.strerror or error}.") from error

    def folder(self, job: str) -> Path | None:
        """The folder of a job; None if there is no such job, whatever the text is."""
        if not _ID.match(job):
            return None
        folder = self.root / job
        return folder if (folder / "job.json").is_file() else None

    def create(self, data: bytes, *, name: str, preset: str, games: int, sha256: str) -> Job:
        """Make the folder of a new job. It is one only when `job.json`, written last, is there."""
        folder = self.root / secrets.token_hex(8)
        try:
            folder.mkdir()
            # Never before the jobs that are there, wherever the clock jumps: the queue goes by this.
            created = max([now(), *(job.created for job in self.all())])
            job = Job(folder.name, name, preset, games, len(data), sha256, created)
            with atomic(folder / INPUT) as part:
                part.write_bytes(data)
            self.set_state(job.id, "queued")
            write_json(folder / "job.json", asdict(job))
        except (OSError, OutputError) as error:
            shutil.rmtree(folder, ignore_errors=True)
            raise OutputError(f"The upload cannot be kept: {getattr(error, 'strerror', None) or error}.") from error
        return job

    def all(self) -> list[Job]:
        """All jobs, newest first."""
        found = []
        for folder in self.root.iterdir():
            if _ID.match(folder.name) and (job := self.get(folder.name)) is not None:
                found.append(job)
        return sorted(found, key=lambda job: (job.created, job.id), reverse=True)

    def get(self, job: str) -> Job | None:
        """What there is to know of a job."""
        folder = self.folder(job)
        if folder is None:
            return None
        if job not in self._asked and (asked := read_json(folder / "job.json")) is not None:
            self._asked[job] = Job(**asked)
        return self._asked.get(job)

    def state(self, job: str) -> dict[str, Any]:
        """The state of a job."""
        return read_json(self.root / job / "state.json") or {"state": "failed", "message": "its state was lost."}

    def set_state(self, job: str, state: str, message: str = "") -> None:
        """Write the state of a job."""
        write_json(self.root / job / "state.json", {"state": state, "message": message, "since": now()})

    def status(self, job: Job) -> dict[str, Any]:
        """A job, its state and its progress, as the API tells them."""
        folder = self.root / job.id
        state = self.state(job.id)
        progress = read_json(folder / "progress.json") or {}
        formats = [name for name in FORMATS if (folder / f"report.{name}").is_file()]
        return {
            **asdict(job),
            "state": state["state"],
            "message": state["message"],
            "positions_done": progress.get("positions_done", 0),
            "positions": progress.get("positions"),
            "games_done": progress.get("games_done", 0),
            "seconds_left": progress.get("seconds_left") if state["state"] == "running" else None,
            "version": progress.get("version", 0),
            "formats": formats,
        }

    def result(self, job: str, format: str) -> Path | None:
        """The file of a result, None if there is none yet."""
        folder = self.folder(job)
        if folder is None or format not in FORMATS:
            return None
        file = folder / f"report.{format}"
        return file if file.is_file() else None

    def delete(self, job: str) -> None:
        """Remove a job and everything of it. The record goes first, so that half a removal leaves no half a job."""
        if folder := self.folder(job):
            (folder / "job.json").unlink(missing_ok=True)
            shutil.rmtree(folder, ignore_errors=True)


def now() -> str:
    """The time as it is written."""
    return datetime.now(UTC).isoformat(timespec="milliseconds")


def write_json(path: Path, data: Mapping[str, Any]) -> None:
    """Write a JSON file, whole or not at all."""
    with atomic(path) as part:
        part.write_text(json.dumps(data, ensure_ascii=False), encoding="utf-8")


def read_json(path: Path) -> dict[str, Any] | None:
    """A JSON object, None where the file is missing or broken."""
    try:
        data = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return None
    return data if isinstance(data, dict) else None
