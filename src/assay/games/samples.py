"""The games that come with Assay, so that everybody can try everything at once."""

from __future__ import annotations

from importlib import resources
from pathlib import Path

from assay.errors import OutputError
from assay.paths import atomic

SAMPLES = {
    "kasparov-deep-blue-1997.pgn": "the six games of the match Kasparov - Deep Blue, New York 1997",
    "simulated-event.pgn": "15 games of six simulated players, one of whom was helped",
    "simulated-event.manifest.json": "the truth about them: strength of each player, moves with help",
}


def sample(name: str) -> bytes:
    """The content of a sample file.

    >>> sample("kasparov-deep-blue-1997.pgn").count(b"[White ")
    6
    """
    return (resources.files("assay.data") / name).read_bytes()


def write_samples(folder: str | Path = ".") -> list[Path]:
    """Write the sample files into a folder, made where it is missing; a file of the user's is never replaced."""
    target = Path(folder)
    try:
        target.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OutputError(f"cannot make the folder {target}: {error.strerror or error}.") from error
    contents = {target / name: sample(name) for name in SAMPLES}
    for path, content in contents.items():
        if path.exists() and path.read_bytes() != content:
            raise OutputError(f"{path} is there already, with other content: choose another folder with -o.")
    for path, content in contents.items():
        with atomic(path) as part:
            part.write_bytes(content)
    return list(contents)
