"""Files are written whole or not at all, and artefacts say what made them."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from assay import __version__, manifest
from assay.errors import InputError, OutputError
from assay.paths import atomic, data_folder, store_place


def test_atomic_gives_the_final_name_only_at_the_end(tmp_path: Path) -> None:
    target = tmp_path / "table.csv"
    with atomic(target) as part:
        part.write_text("new")
        assert not target.exists()
    assert target.read_text() == "new"
    assert list(tmp_path.iterdir()) == [target]


@pytest.mark.parametrize("failure", [RuntimeError, KeyboardInterrupt])
def test_atomic_keeps_what_was_there_when_the_block_fails(tmp_path: Path, failure: type[BaseException]) -> None:
    target = tmp_path / "table.csv"
    target.write_text("old")
    with pytest.raises(failure), atomic(target) as part:
        part.write_text("half")
        raise failure
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_atomic_says_which_folder_is_missing(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="nowhere does not exist"), atomic(tmp_path / "nowhere" / "table.csv"):
        pytest.fail("the block must not run")


def test_a_full_disk_is_an_output_error(tmp_path: Path) -> None:
    with pytest.raises(OutputError, match="No space left"), atomic(tmp_path / "table.csv"):
        raise OSError(28, "No space left on device")


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere the system's own folder is asked for")
def test_the_data_folder_is_where_the_system_keeps_such_things(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("ASSAY_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    assert data_folder() == tmp_path / ".local" / "share" / "assay"
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    assert data_folder() == tmp_path / "data" / "assay"


def test_the_data_folder_can_be_moved(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    assert data_folder() == tmp_path
    assert store_place() == tmp_path / "analyses.db"


def test_a_manifest_comes_back_and_knows_its_kind(tmp_path: Path) -> None:
    games = tmp_path / "games.pgn"
    games.write_bytes(b"[White 'A']\n")
    made = manifest.make("sample", inputs=manifest.describe_inputs([games]), settings={"seed": 3})
    path = tmp_path / "sample.json"
    manifest.write(path, made)

    assert manifest.read(path, "sample") == made
    assert made["assay"] == __version__
    assert made["inputs"] == [{"name": "games.pgn", "bytes": 12, "sha256": manifest.file_hash(games)}]
    with pytest.raises(InputError, match="not the manifest of a calibration"):
        manifest.read(path, "calibration")


@pytest.mark.parametrize("content", ["", "{", json.dumps([1])])
def test_what_is_no_manifest_is_refused(tmp_path: Path, content: str) -> None:
    path = tmp_path / "wrong.json"
    path.write_text(content)
    with pytest.raises(InputError, match="manifest"):
        manifest.read(path, "sample")


def test_a_missing_file_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        manifest.read(tmp_path / "none.json", "sample")
    with pytest.raises(InputError, match=r"cannot read .*: No such file"):
        manifest.file_hash(tmp_path / "none.pgn")


def test_a_pipe_is_written_to_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
    with atomic(pipe) as part:
        part.write_text("all of it")
    assert os.read(reader, 100) == b"all of it"
    os.close(reader)
    assert pipe.is_fifo() and [file.name for file in tmp_path.iterdir()] == ["pipe"]
