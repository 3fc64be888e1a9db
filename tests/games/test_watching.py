"""A folder in which games appear: waited for while it is empty, and looked at again whenever something is new."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError
from assay.fetch import asking
from assay.games.archives import in_folders


def test_an_empty_folder_is_waited_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rounds, said, waited = tmp_path / "rounds", list[str](), list[float]()
    rounds.mkdir()

    def wait(seconds: float) -> None:
        waited.append(seconds)
        (rounds / f"round{len(waited)}.pgn").write_text("1. e4 *")

    monkeypatch.setattr(asking, "wait", wait)
    coming = in_folders([str(rounds)], 60, said.append)
    assert [Path(file).name for file in next(coming)] == ["round1.pgn"]
    assert "no PGN file in the folder" in said[0] and "Trying again in 60 s." in said[0]
    assert len(next(coming)) == 2
    for file in rounds.iterdir():
        file.unlink()
    rounds.rmdir()
    monkeypatch.setattr(asking, "wait", lambda _: (rounds.mkdir(exist_ok=True), (rounds / "again.pgn").write_text("*")))
    assert [Path(file).name for file in next(coming)] == ["again.pgn"], "a folder that went away may come back"


def test_a_folder_that_does_not_exist_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="there is no file"):
        next(in_folders([str(tmp_path / "nowhere")], 60, print))
