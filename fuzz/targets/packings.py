"""Packed games and games in UTF-16: the games or what is wrong; the first byte says what the file is called."""

from __future__ import annotations

import bz2
import gzip
import io
import zipfile

from fuzz.made import GAMES, scratch

from assay.errors import AssayError
from assay.games import read
from assay.games.outcomes import read_outcomes

SUFFIXES = (".pgn", ".pgn.gz", ".pgn.bz2", ".pgn.zst", ".zip", ".pgn.xz", "")
_TEXT = GAMES[0] + GAMES[1]


def _zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(zipfile.ZipInfo(name.replace("_", ".")), data)
    return out.getvalue()


def _packed(text: bytes) -> bytes:
    """The text as a frame of Zstandard."""
    import zstandard

    return bytes(zstandard.ZstdCompressor().compress(text))


SEEDS = (
    b"\x00" + _TEXT.decode().encode("utf-16"),
    b"\x00" + b"\xfe\xff" + _TEXT.decode().encode("utf-16-be"),
    b"\x01" + gzip.compress(_TEXT, mtime=0),
    b"\x02" + bz2.compress(_TEXT),
    b"\x03" + _packed(_TEXT),
    b"\x04" + _zipped(a_pgn=GAMES[0], b_txt=b"no games", c_pgn=GAMES[1]),
    b"\x04" + _zipped(a_zip=_zipped(a_pgn=GAMES[0])),
    b"\x06" + gzip.compress(_TEXT.decode().encode("utf-16"), mtime=0),
)
WORDS = (
    "PK\x03\x04",
    "PK\x01\x02",
    "PK\x05\x06",
    "\x1f\ufffd\x08",
    "BZh9",
    "\ufeff",
    "\x00[",
    "[\x00",
    "(\ufffd/\ufffd",
    "../a.pgn",
)


def check(data: bytes) -> None:
    kind, rest = data[0] % len(SUFFIXES) if data else 0, data[1:]
    file = scratch(f"packed{SUFFIXES[kind]}", rest)
    try:
        games = list(given := read(file))
    except AssayError as error:
        assert str(error).strip(), "an error without a sentence"
        return
    assert all(game.data.strip() for game in games), "a game of nothing"
    assert all(count > 0 and reason for reason, count in given.problems.items())
    assert [game.data for game in read(file)] == [game.data for game in games], "not the same when it is read again"
    try:
        found = read_outcomes([file])
    except AssayError:
        return
    assert len(found.outcome) <= len(games), "more results than games"
