"""A checksum of a whole file inside the file itself, as text in a place that was left for it.

Parquet guards its pages if it is asked to, but not what it says about them; and polars does not look. One pass over
the bytes takes a hundredth of a second for half a million rows.
"""

from __future__ import annotations

import mmap
import zlib
from pathlib import Path

from assay.errors import InputError

NAME = "crc32"
EMPTY = "0" * 8  # the value of NAME in the file's manifest until it is stamped

_KEY = f'"{NAME}": "'.encode()
_MOST = 1 << 30  # bytes: whoever keeps more game text in an index than this does not want it all read for a question


def stamp(path: Path) -> None:
    """Put the checksum of a file into the place that its manifest has for it."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        at = data.rfind(_KEY) + len(_KEY)
        assert data[at : at + len(EMPTY)] == EMPTY.encode(), "the manifest has no place for a checksum"
        data[at : at + len(EMPTY)] = f"{zlib.crc32(data):08x}".encode()


def check(path: Path) -> None:
    """Refuse an index that is not what was written."""
    if not _is_whole(path):
        raise InputError(f"{path} is damaged: it is not what was written; index the games again.")


def _is_whole(path: Path) -> bool:
    """Whether a file is what was stamped; one without a stamp, or a very large one, is believed."""
    with path.open("rb") as file:
        if not 0 < path.stat().st_size <= _MOST:
            return True
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.rfind(_KEY) + len(_KEY)
            if at < len(_KEY):
                return True
            written = data[at : at + len(EMPTY)]
            with memoryview(data) as view, view[:at] as before, view[at + len(EMPTY) :] as after:
                return written == f"{zlib.crc32(after, zlib.crc32(EMPTY.encode(), zlib.crc32(before))):08x}".encode()
