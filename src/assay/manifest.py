"""What made an artefact: inputs with their hashes, settings, versions; written beside it and checked later."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from assay import __version__
from assay.errors import InputError
from assay.paths import atomic


def file_hash(path: str | Path) -> str:
    """SHA-256 of a file, in hex."""
    try:
        with Path(path).open("rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error


def describe_inputs(paths: Iterable[str | Path]) -> list[dict[str, Any]]:
    """Name, size and hash of each input file."""
    return [{"name": Path(path).name, "bytes": Path(path).stat().st_size, "sha256": file_hash(path)} for path in paths]


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


def write(path: str | Path, manifest: Mapping[str, Any]) -> None:
    """Write a manifest as JSON, whole or not at all."""
    with atomic(path) as part:
        part.write_text(json.dumps(manifest, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read(path: str | Path, kind: str) -> dict[str, Any]:
    """Read a manifest and check that it is of this kind."""
    try:
        manifest = json.loads(Path(path).read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except ValueError as error:
        raise InputError(f"{path} is not a manifest: {error}.") from error
    if not isinstance(manifest, dict) or manifest.get("kind") != kind:
        found = manifest.get("kind") if isinstance(manifest, dict) else None
        raise InputError(f"{path} is not the manifest of a {kind} (it says {found!r}).")
    return manifest
