"""A disk that fills up: a sentence, nothing half-written, and with more room the same command goes on."""

from __future__ import annotations

import asyncio
import sys
from contextlib import suppress
from pathlib import Path

import pytest
from tests.engine.fake_engine import command
from tests.faults.conftest import Disk
from tests.faults.processes import EVENT, run

import assay
from assay.engine.store import Store
from assay.errors import OutputError
from assay.moves.asked import Asked
from assay.web import worker
from assay.web.jobs import UNTOLD, JobFolders
from assay.web.runner import Runner


def test_an_index_that_does_not_fit_leaves_the_one_before(disk: Disk, tmp_path: Path) -> None:
    (tmp_path / "many.pgn").write_bytes(EVENT.read_bytes() * 100)
    index = disk.path / "games.csv"
    index.write_text("the one before")
    for file in ("games.csv", "games.parquet"):
        keep = disk.path / "ballast"
        keep.write_bytes(bytes(60_000))
        assert "No space left on device" in run("index", tmp_path / "many.pgn", "-o", disk.path / file).sentence
        assert disk.names() == ["ballast", "games.csv"]
        keep.unlink()
    assert index.read_text() == "the one before"


def test_an_analysis_keeps_what_it_stored_and_goes_on_when_there_is_room(disk: Disk) -> None:
    store = disk.path / "store.db"
    analyse = ("analyse", EVENT, "--store", store, "--depth", 2, "--from-move", 20, "--workers", 1, "--quiet")
    disk.change("size=280k")
    ended = run(*analyse, "--engine", command())
    assert "disk" in ended.sentence
    with Store(store) as opened:
        before = list(opened.all_valued(1))
    assert before
    disk.change("size=20m")
    assert run(*analyse, "--engine", command()).code == 0
    with Store(store) as opened:
        after = list(opened.all_valued(1))
        lasting = int((assay.read(EVENT).frame["plies"] > 38).sum())
        assert opened.kept()[0].games == lasting, "those that last longer than that"
    assert after[: len(before)] == before


def test_exports_and_datasets_that_do_not_fit_leave_nothing(disk: Disk, tmp_path: Path) -> None:
    store = tmp_path / "store.db"
    analyse = ("analyse", EVENT, "--store", store, "--depth", 1, "--limit", 4, "--quiet")
    assert run(*analyse, "--engine", command()).code == 0
    (disk.path / "ballast").write_bytes(bytes(60_000))
    for name in ("out.jsonl", "out.jsonl.zst", "out.parquet"):
        ended = run("export-analyses", "--store", store, "-o", disk.path / name)
        assert ended.sentence == f"cannot write {disk.path / name}: No space left on device."
    ended = run("encode", EVENT, "-o", disk.path / "dataset", "--quiet")
    assert ended.sentence == f"cannot write {disk.path / 'dataset'}/plies-00000.arrow: No space left on device."
    assert disk.names() == ["ballast"]


def test_an_upload_that_does_not_fit_is_no_job(disk: Disk) -> None:
    folders = JobFolders(disk.path)
    with pytest.raises(OutputError, match="The upload cannot be kept"):
        folders.create(bytes(100_000), name="club.pgn", preset="quick", games=1, sha256="0" * 64)
    assert folders.all() == [] and disk.names() == []


FILL = f"""
import pathlib, sys
with suppress(OSError), open(pathlib.Path(sys.argv[1]) / "ballast", "wb", buffering=0) as file:
    while True:
        file.write(bytes(512))
sys.exit({UNTOLD})
"""


def test_a_job_that_fills_the_disk_has_failed_and_goes_on_with_more_room(
    disk: Disk, capsys: pytest.CaptureFixture[str]
) -> None:
    """It was told as running for ever: that it had failed could not be written."""
    folders = JobFolders(disk.path)
    job = folders.create(b"1. e4 *", name="club.pgn", preset="quick", games=1, sha256="0" * 64)

    async def run_until(state: str, *program: str) -> None:
        runner = Runner(folders, [sys.executable, *program])
        if folders.state(job.id)["state"] == "failed":
            runner.again(job.id)
        running = asyncio.create_task(runner.run())
        while folders.state(job.id)["state"] != state:
            await asyncio.sleep(0.01)
        running.cancel()
        with suppress(asyncio.CancelledError):
            await running

    asyncio.run(run_until("failed", "-c", f"from contextlib import suppress\n{FILL}"))
    assert worker.run(disk.path / job.id, Asked()) == UNTOLD, "a worker that can write nothing says so in its own way"
    assert "with more room on the disk" in folders.state(job.id)["message"]
    assert folders.status(job)["state"] == "failed" and not capsys.readouterr().err
    disk.change("size=1m")
    asyncio.run(run_until("done", "-c", ""))
