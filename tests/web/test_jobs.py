"""Jobs as folders, without a server."""

from __future__ import annotations

import asyncio
import shutil
from pathlib import Path

import pytest

from assay.errors import OutputError
from assay.web.jobs import JobFolders
from assay.web.runner import Runner


def make_job(folders: JobFolders, name: str = "club.pgn") -> str:
    return folders.create(b"1. e4 *", name=name, preset="quick", games=1, sha256="0" * 64).id


def test_a_job_is_found_by_its_digits_alone(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path / "jobs")
    job = make_job(folders)
    assert folders.folder(job) == tmp_path / "jobs" / job
    for text in ("", "..", f"../jobs/{job}", f"{job}/", f"{job}\n", job.upper() + "X", "0" * 16):
        assert folders.folder(text) is None


def test_what_is_half_there_is_no_job(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path)
    (tmp_path / ("a" * 16)).mkdir()
    (tmp_path / "notes.txt").touch()
    assert folders.all() == []


def test_the_newest_comes_first_and_the_oldest_is_next(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path)
    first, second = make_job(folders), make_job(folders)
    assert {job.id for job in folders.all()} == {first, second}
    assert Runner(folders, ()).waiting == [job.id for job in reversed(folders.all())]


def test_an_upload_that_cannot_be_kept_leaves_nothing(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path / "jobs")
    shutil.rmtree(tmp_path / "jobs")
    with pytest.raises(OutputError, match="cannot be kept"):
        make_job(folders)
    assert not list(tmp_path.iterdir())


def test_a_worker_that_cannot_start_costs_its_job_and_not_the_next(tmp_path: Path) -> None:
    folders = JobFolders(tmp_path)
    jobs = [make_job(folders), make_job(folders)]

    async def work() -> None:
        running = asyncio.create_task(Runner(folders, ["/no/such/program"]).run())
        while any(folders.state(job)["state"] == "queued" for job in jobs):
            await asyncio.sleep(0.05)
        while any(folders.state(job)["state"] == "running" for job in jobs):
            await asyncio.sleep(0.05)
        running.cancel()

    asyncio.run(work())
    for job in jobs:
        assert folders.state(job)["state"] == "failed"
        assert "could not be started" in folders.state(job)["message"]
