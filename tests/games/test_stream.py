"""Bytes come out as they went in, whatever the packing; damage is named, and what is before it is not lost."""

from __future__ import annotations

import bz2
import gzip
import io
import os
import sys
from pathlib import Path

import pytest
import xxhash
import zstandard

from assay.errors import InputError
from assay.games.stream import Stream, find_files

TEXT = b"".join(b'[Event "%d"]\n\n1. e4 e5 *\n\n' % i for i in range(20_000))


def frames(data: bytes, size: int) -> bytes:
    """Zstandard in many frames, with skippable ones between, as pzstd writes it."""
    pack = zstandard.ZstdCompressor().compress
    skippable = b"\x50\x2a\x4d\x18\x04\x00\x00\x00abcd"
    return b"".join(skippable + pack(data[i : i + size]) for i in range(0, len(data), size))


PACKED = {
    "plain.pgn": TEXT,
    "one.pgn.zst": zstandard.ZstdCompressor().compress(TEXT),
    "many.pgn.zst": frames(TEXT, 100_000),
    "games.pgn.gz": gzip.compress(TEXT),
    "members.pgn.gz": gzip.compress(TEXT[:99]) + gzip.compress(TEXT[99:]) + bytes(512),
    "games.pgn.bz2": bz2.compress(TEXT),
    "streams.pgn.bz2": bz2.compress(TEXT[:99]) + bz2.compress(TEXT[99:]),
    "zst-by-content.pgn": zstandard.ZstdCompressor().compress(TEXT),
}


@pytest.mark.parametrize("name", PACKED)
@pytest.mark.parametrize("block", [1000, 1 << 20])
def test_every_packing_gives_the_same_bytes(tmp_path: Path, name: str, block: int) -> None:
    file = tmp_path / name
    file.write_bytes(PACKED[name])
    with Stream(file, hashed=True) as stream:
        assert b"".join(stream.blocks(block)) == TEXT
    assert stream.problem is None
    assert (stream.size, stream.xxh128) == (len(PACKED[name]), xxhash.xxh3_128(PACKED[name]).hexdigest())


@pytest.mark.parametrize("name", ["one.pgn.zst", "many.pgn.zst", "games.pgn.gz", "games.pgn.bz2"])
@pytest.mark.parametrize("share", [0.3, 0.9])
def test_a_truncated_file_says_so_after_what_can_be_read(tmp_path: Path, name: str, share: float) -> None:
    file = tmp_path / name
    file.write_bytes(PACKED[name][: int(share * len(PACKED[name]))])
    with Stream(file, hashed=True) as stream:
        data = b"".join(stream.blocks(1000))
    assert stream.problem is not None and stream.problem.startswith("truncated")
    assert TEXT.startswith(data) and len(data) < len(TEXT)
    assert stream.xxh128 == xxhash.xxh3_128(file.read_bytes()).hexdigest()


@pytest.mark.parametrize("name", ["many.pgn.zst", "members.pgn.gz", "streams.pgn.bz2"])
def test_damage_in_the_middle_keeps_what_is_before_it(tmp_path: Path, name: str) -> None:
    broken = bytearray(PACKED[name])
    middle = len(broken) // 2
    broken[middle : middle + 64] = bytes(64)
    file = tmp_path / name
    file.write_bytes(broken)
    with Stream(file) as stream:
        data = b"".join(stream.blocks(1000))
    assert stream.problem is not None
    assert TEXT.startswith(data[:99])


def test_stdin_is_a_dash(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(PACKED["one.pgn.zst"])))
    with Stream("-") as stream:
        assert b"".join(stream.blocks()) == TEXT


def test_the_hash_must_be_asked_for(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_bytes(TEXT)
    with Stream(tmp_path / "a.pgn") as stream, pytest.raises(ValueError, match="hashed"):
        _ = stream.xxh128


def test_folders_are_searched_for_pgn(tmp_path: Path) -> None:
    for name in ("b/two.pgn.zst", "a.PGN", "notes.txt", "b/three.pgn.bz2"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    names = [Path(file).name for file in find_files([tmp_path, "-"])]
    assert names == ["a.PGN", "three.pgn.bz2", "two.pgn.zst", "-"]


def test_what_is_not_there_is_said(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no PGN file in the folder"):
        find_files([tmp_path])
    with pytest.raises(InputError, match=r"there is no file .*none\.pgn"):
        find_files([tmp_path / "none.pgn"])
    with pytest.raises(InputError, match="cannot read"):
        Stream(tmp_path / "none.pgn")


def test_only_files_are_read_in_a_folder(tmp_path: Path) -> None:
    """A pipe would be waited for; a folder called like a file is looked into; a dangling link is left alone."""
    (tmp_path / "sub.pgn").mkdir()
    (tmp_path / "sub.pgn" / "a.pgn").write_text("1. e4 *")
    (tmp_path / "gone.pgn").symlink_to(tmp_path / "nowhere.pgn")
    os.mkfifo(tmp_path / "pipe.pgn")
    assert find_files([tmp_path]) == [str(tmp_path / "sub.pgn" / "a.pgn")]


def test_a_window_beyond_measure_is_refused(tmp_path: Path) -> None:
    """A frame of 22 bytes may ask for 2 GB; what comes before it is read."""
    good = zstandard.ZstdCompressor().compress(b"1. e4 *\n")
    wide = b"\x28\xb5\x2f\xfd\x00" + bytes([(31 - 10) << 3]) + b"\x01\x00\x00"
    (tmp_path / "wide.pgn.zst").write_bytes(good + wide)
    with Stream(tmp_path / "wide.pgn.zst") as stream:
        assert b"".join(stream.parts(100)) == b"1. e4 *\n"
        assert stream.problem is not None and "more than 128 MB" in stream.problem
