"""A folder that cannot be written: every command that would write says so, and what only reads still works."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.engine.fake_engine import command
from tests.faults.conftest import Disk
from tests.faults.processes import EVENT, run

WRITERS = {
    "index": ("index", EVENT, "-o", "games.parquet"),
    "analyse": ("analyse", EVENT, "--store", "new.db", "--engine", command()),
    "analyse, in a new folder": ("analyse", EVENT, "--store", "folder/new.db", "--engine", command()),
    "export": ("export-analyses", "--store", "store.db", "-o", "out.parquet"),
    "encode": ("encode", EVENT, "-o", "dataset"),
    "results": ("results", EVENT, "-G", "-c", "list.csv"),
    "prep": ("prep", EVENT, "-o", "small.pgn"),
    "event": ("event", EVENT, "-o", "event.html"),
    "results as a page": ("results", EVENT, "-o", "list.html"),
    "chances": ("chances", EVENT, "--ply", "3", "-o", "chances.svg"),
    "sample": ("sample", "-o", "samples"),
    "serve": ("serve", "--port", "0", "--jobs", "jobs"),
}


@pytest.fixture
def folder(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A folder with a store and a folder of jobs that cannot be written; what stops root is a disk."""
    disk: Disk | None = request.getfixturevalue("disk") if os.geteuid() == 0 else None
    if disk:
        disk.change("size=4m")
    folder = disk.path if disk else tmp_path
    (folder / "jobs").mkdir()
    words = ("--depth", 1, "--limit", 2, "--quiet", "--engine", command())
    assert run("analyse", EVENT, "--store", folder / "store.db", *words).code == 0
    if disk:
        disk.change("ro")
        yield folder
    else:
        for path in (folder / "jobs", folder):
            path.chmod(0o555)
        yield folder
        folder.chmod(0o755)


def test_writers_say_that_it_is_read_only_and_readers_read(folder: Path) -> None:
    before = sorted(folder.rglob("*"))
    for name, words in WRITERS.items():
        sentence = run(*words, cwd=folder).sentence
        assert "Read-only file system" in sentence or "Permission denied" in sentence, name
    assert sorted(folder.rglob("*")) == before
    ended = run("analyses", "--store", "store.db", "--format", "csv", cwd=folder)
    assert ended.code == 0 and "Fake 1.0" in ended.out
