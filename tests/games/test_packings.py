"""Games come out the same however they are packed and encoded: zip, UTF-16, byte order marks, stdin."""

from __future__ import annotations

import io
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from assay.games import index, read

GAME = '[White "Grünfeld"]\n[Black "Łódź"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n'
TWO = GAME + "\n" + GAME.replace("Grünfeld", "Elm")


def names(path: Path) -> list[str]:
    return [game.tags["White"] for game in read(path)]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "utf-16-be"])
def test_encodings(tmp_path: Path, encoding: str) -> None:
    (tmp_path / "a.pgn").write_bytes(TWO.encode(encoding))
    found = list(read(tmp_path / "a.pgn"))
    assert [game.tags["White"] for game in found] == ["Grünfeld", "Elm"]
    assert found[0].tags["Black"] == "Łódź"


def test_latin_1_still_reads(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_bytes(TWO.replace("Łódź", "Oak").encode("latin-1"))
    assert names(tmp_path / "a.pgn") == ["Grünfeld", "Elm"]


def test_a_zip_with_several_files(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "twic.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("readme.txt", "not a game")
        archive.writestr("one.pgn", TWO)
        archive.writestr("folder/two.PGN", GAME.replace("Grünfeld", "Oak").encode("utf-16"))
    assert names(tmp_path / "twic.zip") == ["Grünfeld", "Elm", "Oak"]
    (tmp_path / "other").mkdir()
    (tmp_path / "twic.zip").rename(tmp_path / "other" / "odd.bin")
    assert names(tmp_path / "other" / "odd.bin") == ["Grünfeld", "Elm", "Oak"]


def test_zips_are_found_in_folders_and_indexed(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "twic.zip", "w") as archive:
        archive.writestr("one.pgn", TWO)
    index([str(tmp_path)], tmp_path / "i.parquet", quiet=True)
    assert [game.tags["White"] for game in read([tmp_path / "i.parquet"], where='white == "Elm"')] == ["Elm"]


def test_a_zip_through_a_pipe() -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as archive:
        archive.writestr("one.pgn", TWO)
    code = "from assay.games import read; print([g.tags['White'] for g in read('-')])"
    run = subprocess.run([sys.executable, "-c", code], input=packed.getvalue(), capture_output=True, check=True)
    assert run.stdout.decode().strip() == "['Grünfeld', 'Elm']"


def test_damaged_and_empty_archives_are_counted(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("one.pgn", TWO * 200)
    data = whole.getvalue()
    cases = {"cut": data[: len(data) // 2], "flipped": data[:60] + bytes([data[60] ^ 255]) + data[61:]}
    for name, some in cases.items():
        (tmp_path / f"{name}.zip").write_bytes(some)
        games = read(tmp_path / f"{name}.zip")
        assert len(list(games)) < 400
        assert any("zip data" in reason for reason in games.problems)
    with zipfile.ZipFile(tmp_path / "none.zip", "w") as archive:
        archive.writestr("a.txt", "x")
        archive.writestr("b.txt", "y")
    none = read(tmp_path / "none.zip")
    assert not list(none)
    assert none.problems["zip archive without a PGN file (2 other files)"] == 1


def test_a_zip_of_a_later_kind_is_told(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("one.pgn", TWO)
    data = bytearray(whole.getvalue())
    data[data.index(b"PK\x01\x02") + 6] = 240  # the version that is needed to unpack it
    (tmp_path / "later.zip").write_bytes(data)
    games = read(tmp_path / "later.zip")
    assert not list(games) and "damaged zip data (zip file version 24.0)" in games.problems


def test_a_member_without_a_name_is_no_bug(tmp_path: Path) -> None:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w") as archive:
        archive.writestr("ZZ", TWO)
    # A name ends at its first zero.
    (tmp_path / "odd.zip").write_bytes(whole.getvalue().replace(b"ZZ", b"\0\0"))
    assert names(tmp_path / "odd.zip") == ["Grünfeld", "Elm"]


@pytest.mark.parametrize("method", [zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA])
def test_every_damaged_byte_of_an_archive_is_told(tmp_path: Path, method: int) -> None:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", method) as archive:
        archive.writestr("é.pgn", TWO)  # the name is marked as UTF-8
    data = packed.getvalue()
    for at in range(len(data)):
        (tmp_path / "a.zip").write_bytes(data[:at] + bytes([data[at] ^ 0xF6]) + data[at + 1 :])
        games = read(tmp_path / "a.zip")
        assert [game.tags["White"] for game in games] == ["Grünfeld", "Elm"] or games.problems
