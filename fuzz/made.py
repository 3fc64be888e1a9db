"""Seeds from the project's own games and calculations, and a place for the files of one case."""

from __future__ import annotations

import atexit
import shutil
import tempfile
from importlib import resources
from pathlib import Path

_DATA = resources.files("assay.data")
FOLDER = Path(tempfile.mkdtemp(prefix="assay-fuzz-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)


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
