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
import os
import re
import secrets
import shutil
import warnings
from collections.abc import Mapping
from dataclasses import asdict, fields
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay.errors import AssayWarning, OutputError
from assay.paths import atomic
from assay.records import dataclass

WAITING = ("queued", "running")
ENDED = ("done", "failed", "cancelled")
FORMATS = {
    "html": "text/html; charset=utf-8",
    "csv": "text/csv; charset=utf-8",
    "json": "application/json",
    "pgn": "application/x-chess-pgn; charset=utf-8",
}
# What may be had of a report: a PDF is printed when it is asked for.
PDF = "pdf"
DOWNLOADS = FORMATS | {PDF: "application/pdf"}
INPUT = "input.pgn"
EVERYBODY = "*"
UNTOLD = 4  # the exit code of a worker that cannot even write why it ends
_ID = re.compile(r"[0-9a-f]{16}\Z")


@dataclass(frozen=True)
class Job:
    """What was asked; `player` is whose report it is to be: a name, EVERYBODY, or nothing: as the games tell."""

    id: str
    name: str
    preset: str
    games: int
    bytes: int
    sha256: str
    created: str
    player: str = ""


class JobFolders:
    """All jobs of one server; a job is named by sixteen hexadecimal digits and never by anything a user wrote."""

    def __init__(self, root: Path) -> None:
        self.root = root
        # Only one server works on a folder, so that what it has read or written itself need not be read again.
        self._asked: dict[str, Job] = {}
        self._states: dict[str, dict[str, Any]] = {}
        self._ended: dict[str, dict[str, Any]] = {}
        self._odd: set[str] = set()
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

    def create(self, data: bytes, *, name: str, preset: str, games: int, sha256: str, player: str = "") -> Job:
        """Make the folder of a new job. It is one only when `job.json`, written last, is there."""
        folder = self.root / secrets.token_hex(8)
        try:
            folder.mkdir()
            # Never before the jobs that are there, wherever the clock jumps: the queue goes by this.
            created = max([now(), *(job.created for job in self.all())])
            job = Job(folder.name, name, preset, games, len(data), sha256, created, player)
            with atomic(folder / INPUT) as part:
                part.write_bytes(data)
            self.set_state(job.id, "queued")
            write_json(folder / "job.json", asdict(job))
        except (OSError, OutputError) as error:
            self._states.pop(folder.name, None)
            shutil.rmtree(folder, ignore_errors=True)
            raise OutputError(f"The upload cannot be kept: {getattr(error, 'strerror', None) or error}.") from error
        self._asked[job.id] = job
        return job

    def all(self) -> list[Job]:
        """All jobs, newest first."""
        with os.scandir(self.root) as entries:
            names = [entry.name for entry in entries if _ID.match(entry.name)]
        found = (self._asked.get(name) or self.get(name) for name in names)
        return sorted((job for job in found if job), key=lambda job: (job.created, job.id), reverse=True)

    def get(self, job: str) -> Job | None:
        """What there is to know of a job. One whose record makes no sense is passed over, with a warning."""
        folder = self.folder(job)
        if folder is None:
            return None
        if job not in self._asked and job not in self._odd:
            try:
                self._asked[job] = _read_job(read_json(folder / "job.json"), job)
            except ValueError as error:
                self._odd.add(job)
                warnings.warn(
                    f"{folder / 'job.json'} is no job ({error}): it is passed over; remove {folder}.",
                    AssayWarning,
                    stacklevel=2,
                )
        return self._asked.get(job)

    def state(self, job: str) -> dict[str, Any]:
        """The state of a job."""
        if job not in self._states:
            read = read_json(self.root / job / "state.json") or {}
            known = read.get("state") in (*WAITING, *ENDED) and isinstance(read.get("message"), str)
            self._states[job] = read if known else {"state": "failed", "message": "its state was lost."}
        return self._states[job]

    def set_state(self, job: str, state: str, message: str = "") -> None:
        """Write the state of a job; where it cannot be written it is so all the same, as long as this server lives."""
        told = self._states[job] = {"state": state, "message": message, "since": now()}
        self._ended.pop(job, None)
        write_json(self.root / job / "state.json", told)

    def status(self, job: Job) -> dict[str, Any]:
        """A job, its state and its progress, as the API tells them."""
        if (told := self._ended.get(job.id)) is not None:
            return told
        folder = self.root / job.id
        state = self.state(job.id)
        progress = read_json(folder / "progress.json") or {}
        formats = [name for name in FORMATS if (folder / f"report.{name}").is_file()]
        told = {
            **asdict(job),
            "state": state["state"],
            "message": state["message"],
            "positions_done": _count(progress, "positions_done") or 0,
            "positions": _count(progress, "positions"),
            "games_done": _count(progress, "games_done") or 0,
            "seconds_left": _seconds(progress, "seconds_left") if state["state"] == "running" else None,
            "version": _count(progress, "version") or 0,
            "formats": formats,
        }
        if state["state"] in ENDED:  # nothing of it changes any more
            self._ended[job.id] = told
        return told

    def result(self, job: str, format: str) -> bytes | None:
        """The bytes of a result, None if there is none yet. Read at once: the file is replaced as the report grows."""
        folder = self.folder(job)
        if folder is None or format not in FORMATS:
            return None
        try:
            return (folder / f"report.{format}").read_bytes()
        except OSError:
            return None

    def delete(self, job: str) -> None:
        """Remove a job and everything of it. The record goes first, so that half a removal leaves no half a job."""
        if folder := self.folder(job):
            (folder / "job.json").unlink(missing_ok=True)
            for known in (self._asked, self._states, self._ended):
                known.pop(job, None)
            shutil.rmtree(folder, ignore_errors=True)


def _read_job(record: dict[str, Any] | None, id: str) -> Job:
    """A job from its record; ValueError where it is none."""
    if record is None:
        raise ValueError("no JSON object")
    record = {"player": ""} | record  # jobs of earlier versions have none
    for field in fields(Job):
        value = record.get(field.name)
        if type(value).__name__ != field.type:
            raise ValueError(f"its {field.name} is missing or of another kind")
        if isinstance(value, str):
            value.encode()  # half a character could not be told to anybody
    if record["id"] != id:
        raise ValueError("it belongs to another folder")
    return Job(**{field.name: record[field.name] for field in fields(Job)})


def _count(progress: Mapping[str, Any], name: str) -> int | None:
    value = progress.get(name)
    return value if isinstance(value, int) and 0 <= value < 1 << 53 else None


def _seconds(progress: Mapping[str, Any], name: str) -> float | None:
    value = progress.get(name)
    return value if isinstance(value, int | float) and 0 <= value < 1e12 else None


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
    except (OSError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


@dataclass(frozen=True)
class Limits:
    """Bounds on uploads, on waiting work and on patience, all in one place.

    `bytes` and `games` bound one upload, `waiting` the jobs in the queue, `uploads` the bodies held at the same time
    (so that memory stays bounded), `seconds` how long one upload may wait for its turn and how long it may take,
    `check_seconds` how long it may be looked at, `header_seconds` how long a client may take to say what it wants,
    `body_seconds` how long it may go on sending when it has its answer, `read_seconds` how long it may read nothing of
    that, `connections` how many there may be; beyond, those go that wait for their client. `fetch_seconds` is how long
    it may take to fetch games by a name or a link.
    """

    bytes: int = 10 * 1024 * 1024
    games: int = 500
    waiting: int = 20
    uploads: int = 16
    seconds: float = 30.0
    check_seconds: float = 20.0
    header_seconds: float = 10.0
    body_seconds: float = 2.0
    read_seconds: float = 60.0
    connections: int = 1000
    fetch_seconds: float = 60.0
