"""Look at an upload in a process of its own: how many games it has, or why it cannot be taken.

``python -m assay.web.check`` reads requests on its standard input, each a line of JSON and so many bytes, and answers
each with a line of JSON. Whatever an upload makes it do (run for ever, take all memory), the server ends it.
"""

from __future__ import annotations

import hashlib
import json
import sys
from typing import Any

from assay.errors import InputError
from assay.games.split import split

PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"BZh", b"PK\x03\x04")
READY = b"ready\n"
_MOST_MEMORY = 2 << 30  # besides what is in proportion to the largest upload
_TIMES_UPLOAD = 16


def check(data: bytes, most_games: int) -> tuple[int, str]:
    """The number of games in an upload and its hash; InputError if it cannot be taken."""
    if not data.strip():
        raise InputError("There is nothing in the upload: choose a PGN file or paste some games.")
    if data.startswith(PACKED):
        raise InputError(
            "The file is compressed: unpack it first, or use 'assay report', which reads .zst, .gz and .bz2."
        )
    games = len(split(data))
    if not games:
        raise InputError("No game was found in the upload: is it a PGN file?")
    if games > most_games:
        raise InputError(
            f"The upload has {games:,} games, and this page takes at most {most_games:,}: send fewer, use "
            "'assay report', or start the server with --max-games."
        )
    return games, hashlib.sha256(data).hexdigest()


def _answer(data: bytes, most_games: int) -> dict[str, Any]:
    try:
        games, sha256 = check(data, most_games)
    except InputError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "The upload takes more memory than this page has for it: send fewer games."}
    return {"games": games, "sha256": sha256}


def _bound_memory(largest: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _MOST_MEMORY + _TIMES_UPLOAD * largest
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> None:
    """Answer until the server closes the pipe."""
    asked, told = sys.stdin.buffer, sys.stdout.buffer
    _bound_memory(int(sys.argv[1]))
    told.write(READY)
    told.flush()
    while line := asked.readline():
        size, most_games = json.loads(line)
        told.write(json.dumps(_answer(asked.read(size), most_games)).encode() + b"\n")
        told.flush()


if __name__ == "__main__":
    main()
