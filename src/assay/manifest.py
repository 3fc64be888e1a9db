"""What made an artefact: inputs with their hashes, settings, versions; written beside it and checked later."""

from __future__ import annotations

import hashlib
import json
import mmap
import platform
import warnings
import zlib
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay import __version__
from assay.errors import AssayWarning, InputError
from assay.paths import atomic, shown

_DEEPEST = 100
# A checksum of a whole file inside the file itself, in a place that its manifest has for it: Parquet guards its pages,
# if it is asked to, but not what it says about them. One pass takes a hundredth of a second for half a million rows.
STAMP, UNSTAMPED = "crc32", "0" * 8
_KEY = f'"{STAMP}": "'.encode()
_MOST = 1 << 30  # bytes: whoever keeps more game text in an index than this does not want it all read for a question


def parse(text: str | bytes) -> Any:
    """JSON from a file; nests that no file of ours has, which other code would fall over, are a ValueError too.

    >>> parse('{"depth": 8}')
    {'depth': 8}
    """
    try:
        found = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    nests = [found]
    for _ in range(_DEEPEST):
        nests = [nest for nest in nests if isinstance(nest, dict | list)]
        if not nests:
            return found
        nests = [inner for nest in nests for inner in (nest.values() if isinstance(nest, dict) else nest)]
    raise ValueError("it is nested too deeply")


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file, in hex."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def describe_inputs(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Name, size and hash of each input file."""
    return [
        {"name": shown(Path(path).name), "bytes": Path(path).stat().st_size, "sha256": file_hash(path)}
        for path in paths
    ]


def make(kind: str, *, inputs: Iterable[Mapping[str, Any]] = (), settings: Mapping[str, Any]) -> dict[str, Any]:
    """The manifest of an artefact made now by this version."""
    return {
        "kind": kind,
        "assay": __version__,
        "python": platform.python_version(),
        "made": datetime.now(UTC).isoformat(timespec="seconds"),
        "inputs": [dict(item) for item in inputs],
        "settings": dict(settings),
    }


def sealed(data: Mapping[str, Any]) -> dict[str, Any]:
    """The same with a checksum of itself, by which :func:`unsealed` tells that it is as it was written.

    >>> unsealed(sealed({"depth": 8}), "mine.json")
    {'depth': 8}
    """
    return {**data, "checksum": _checksum(data)}


def unsealed(data: Mapping[str, Any], path: str | Path) -> dict[str, Any]:
    """The same without its checksum, and a warning if that is missing or another's."""
    plain = {name: value for name, value in data.items() if name != "checksum"}
    if data.get("checksum") != _checksum(plain):
        sentence = f"{path} is not as Assay wrote it: it was edited, or it is damaged. If nobody did, make it again."
        warnings.warn(sentence, AssayWarning, stacklevel=2)
    return plain


def _checksum(data: Mapping[str, Any]) -> str:
    plain = json.loads(json.dumps(data))  # as it will be read: names are texts, and sort as such
    return hashlib.sha256(json.dumps(plain, sort_keys=True).encode()).hexdigest()[:16]


def write(path: str | Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest as JSON, whole or not at all."""
    text = json.dumps(sealed(manifest), indent=2, ensure_ascii=False) + "\n"
    with atomic(path) as part:
        # Names of files need not be UTF-8; what is none becomes an escape of JSON.
        part.write_text(text, encoding="utf-8", errors="backslashreplace")


def read(path: str | Path, kind: str) -> dict[str, Any]:
    """Read a manifest and check that it is of this kind."""
    try:
        manifest = parse(Path(path).read_bytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except ValueError as error:
        raise InputError(f"{path} is not a manifest: {error}.") from error
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        found = manifest.get("kind") if isinstance(manifest, dict) else None
        raise InputError(f"{path} is not the manifest of a {kind} (it says {found!r}).")
    if not isinstance(manifest.get("settings"), dict) or not isinstance(manifest.get("inputs"), list):
        raise InputError(f"{path} is damaged: it does not tell inputs and settings.")
    return unsealed(manifest, path)


def stamp(path: Path) -> None:
    """Put the checksum of a file into the place that its manifest has for it."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as data:
        at = data.rfind(_KEY) + len(_KEY)
        assert data[at : at + len(UNSTAMPED)] == UNSTAMPED.encode(), "the manifest has no place for a checksum"
        data[at : at + len(UNSTAMPED)] = f"{zlib.crc32(data):08x}".encode()


def check_stamp(path: Path, again: str = "index the games again") -> None:
    """Refuse an index, or another file with a stamp, that is not what was written; `again` says what to do."""
    if not _is_whole(path):
        raise InputError(f"{path} is damaged: it is not what was written; {again}.")


def _is_whole(path: Path) -> bool:
    """Whether a file is what was stamped; one without a stamp, or a very large one, is believed."""
    with path.open("rb") as file:
        if not 0 < path.stat().st_size <= _MOST:
            return True
        with mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            at = data.rfind(_KEY) + len(_KEY)
            if at < len(_KEY):
                return True
            written = data[at : at + len(UNSTAMPED)]
            with memoryview(data) as view, view[:at] as before, view[at + len(UNSTAMPED) :] as after:
                return (
                    written == f"{zlib.crc32(after, zlib.crc32(UNSTAMPED.encode(), zlib.crc32(before))):08x}".encode()
                )
