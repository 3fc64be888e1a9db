"""The games that come with Assay: written where one wants, over nothing of the user's."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.cli.main import main
from assay.errors import OutputError
from assay.games import read
from assay.games.archives import SAMPLES, write_samples


def test_the_samples_are_written_and_can_be_read(tmp_path: Path) -> None:
    paths = write_samples(tmp_path / "new" / "folder")
    assert [path.name for path in paths] == list(SAMPLES)
    assert [len(list(read(path))) for path in paths if path.suffix == ".pgn"] == [6, 15]


def test_writing_them_again_changes_nothing(tmp_path: Path) -> None:
    assert write_samples(tmp_path) == write_samples(tmp_path)


def test_a_file_of_the_user_is_never_replaced(tmp_path: Path) -> None:
    own = tmp_path / "simulated-event.pgn"
    own.write_text("mine")
    with pytest.raises(OutputError, match="is there already, with other content"):
        write_samples(tmp_path)
    assert own.read_text() == "mine"
    assert list(tmp_path.iterdir()) == [own]


def test_a_folder_that_cannot_be_made_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(OutputError, match="cannot make the folder"):
        write_samples(tmp_path / "file" / "folder")


def test_the_command_says_what_the_files_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ending:
        main(["sample", "-o", str(tmp_path), "--format", "csv"])
    assert ending.value.code == 0
    printed = capsys.readouterr().out
    assert printed.startswith("file,bytes,what\n")
    assert all(what in printed for what in SAMPLES.values())
