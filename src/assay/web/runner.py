"""Runs the jobs, one after the other, each in a process of its own, so that the page never waits for them."""

from __future__ import annotations

import asyncio
import os
import signal
import traceback
from asyncio.subprocess import Process
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from assay.errors import AssayError, OutputError
from assay.web.jobs import UNTOLD, JobFolders, read_json

_POLITE_SECONDS = 5.0
_PAUSE_SECONDS = 1.0


class Runner:
    """Takes the oldest job that waits, until it is stopped.

    `worker` is the command that does a job; the folder of the job follows it.
    """

    def __init__(self, folders: JobFolders, worker: Sequence[str]) -> None:
        self.folders, self.worker = folders, worker
        self._wake = asyncio.Event()
        self._process: asyncio.subprocess.Process | None = None
        self._running = ""
        self._cancelled: set[str] = set()

    @property
    def waiting(self) -> list[str]:
        """The jobs that wait, oldest first."""
        return [job.id for job in reversed(self.folders.all()) if self.folders.state(job.id)["state"] == "queued"]

    def resume(self) -> None:
        """Put jobs that a stopped server left running back into the queue; what was analysed is in the store."""
        for job in self.folders.all():
            if self.folders.state(job.id)["state"] == "running":
                self.folders.set_state(job.id, "queued")

    def wake(self) -> None:
        """Say that there is a new job."""
        self._wake.set()

    async def run(self) -> None:
        """Work until cancelled; then the running worker is ended, and its job goes on with the next server."""
        try:
            while True:
                self._wake.clear()
                for job in (await asyncio.to_thread(lambda: self.waiting))[:1]:
                    await self._try_one(job)
                    self._wake.set()
                await self._wake.wait()
        finally:
            await self._end_process()

    async def cancel(self, job: str) -> None:
        """Stop a job for good; what its report holds so far stays."""
        if job == self._running:
            self._cancelled.add(job)
            await self._end_process()
        if self.folders.state(job)["state"] in ("queued", "running"):
            self.folders.set_state(job, "cancelled", "Cancelled; the games finished before stay in the report.")

    def again(self, job: str) -> None:
        """Let a job that was cancelled or failed go on where it stopped; what was analysed is in the store."""
        if self.folders.state(job)["state"] in ("cancelled", "failed"):
            self.folders.set_state(job, "queued")
            self.wake()

    async def _try_one(self, job: str) -> None:
        """Run a job; whatever goes wrong here (a full disk, no more processes) costs this job and not the next."""
        try:
            await self._run_one(job)
        except Exception as error:
            traceback.print_exc()
            await asyncio.sleep(_PAUSE_SECONDS)
            with suppress(AssayError):
                self.folders.set_state(job, "failed", f"The analysis could not be started: {error}")

    async def _run_one(self, job: str) -> None:
        folder = self.folders.root / job
        self.folders.set_state(job, "running")
        self._running = job
        try:
            with (folder / "worker.log").open("ab") as log:
                # The worker lives only as long as its standard input is open: a killed server leaves no orphan.
                process = self._process = await asyncio.create_subprocess_exec(
                    *self.worker, str(folder),
                    stdin=asyncio.subprocess.PIPE, stdout=log, stderr=log, start_new_session=True,
                )  # fmt: skip
            if job in self._cancelled:  # while it was being started
                await self._end_process()
            code = await process.wait()
        finally:
            self._running = ""
        if job in self._cancelled or self.folders.folder(job) is None:
            self._cancelled.discard(job)
        else:
            state, why = ("failed", _why(folder, code)) if code else ("done", "")
            with suppress(OutputError):  # on a full disk it is known here alone
                self.folders.set_state(job, state, why)

    async def _end_process(self) -> None:
        process, self._process = self._process, None
        if process is None or process.returncode is not None:
            return
        assert process.stdin is not None
        process.stdin.close()  # either of the two ends a worker, with its engines (see `worker.end_with_parent`)
        send(process, signal.SIGTERM)
        try:
            await asyncio.wait_for(process.wait(), _POLITE_SECONDS)
        except TimeoutError:
            send(process, signal.SIGKILL, group=True)
            await process.wait()


def _why(folder: Path, code: int) -> str:
    if code == UNTOLD:
        return f"Nothing can be written in {folder}: with more room on the disk the job can go on where it stopped."
    error = (read_json(folder / "progress.json") or {}).get("error")
    return str(error) if error else f"The analysis ended unexpectedly (exit code {code}); its log is worker.log."


def send(process: Process, number: int, *, group: bool = False) -> None:
    """Send a signal to a process that is still there, or to all that it started too.

    Not process.kill: it looks first whether the process is dead, and takes the news from whom asyncio set to wait.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            (os.killpg if group and hasattr(os, "killpg") else os.kill)(process.pid, number)
