"""Seeds from the project's own games and calculations, and a place for the files of one case."""

from __future__ import annotations

import os
import tempfile
from importlib import resources
from pathlib import Path

_DATA = resources.files("assay.data")
# In memory where there is such a place: a hundred thousand cases write a hundred thousand files.
FOLDER = Path(tempfile.mkdtemp(prefix="assay-fuzz-", dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None))


def _games() -> tuple[bytes, ...]:
    """The games of the simulated event that ships with Assay, shortened: seeds should be small."""
    text = (_DATA / "simulated-event.pgn").read_bytes()
    whole = [b"[Event " + part.strip() for part in text.split(b"[Event ")[1:]]
    return tuple(game.partition(b" 9. ")[0] + b" *\n\n" for game in whole)


GAMES = _games()


def scratch(name: str, data: bytes) -> str:
    """Write a file for this case; the one before of this name is gone."""
    path = FOLDER / name
    path.write_bytes(data)
    return str(path)
