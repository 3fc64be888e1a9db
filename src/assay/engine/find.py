"""Find a chess engine: a path, a name, or a command with arguments."""

from __future__ import annotations

import os
import shlex
import shutil
import sys
from pathlib import Path

from assay.errors import EngineError

DEFAULT = "stockfish"

# Debian puts games where PATH often does not look; `make demo` puts an engine it had to fetch into .tools/bin.
USUAL_PLACES = (
    "/usr/games",
    "/usr/local/games",
    "/usr/local/bin",
    "/opt/homebrew/bin",
    "/home/linuxbrew/.linuxbrew/bin",
    "/snap/bin",
    "~/.local/bin",
    ".tools/bin",
)


def find(engine: str = DEFAULT) -> tuple[str, ...]:
    """The command that starts an engine, its program as a full path.

    `engine` is a path (`./my-engine`), a name on PATH or in the usual places (`stockfish`), or a command with
    arguments (`node path/to/stockfish.js`).

    >>> find("no-such-engine --fast")
    Traceback (most recent call last):
    assay.errors.EngineError: no chess engine 'no-such-engine' found: give a path, or a name on PATH.
    """
    try:
        words = [engine] if Path(engine).expanduser().is_file() else shlex.split(engine, posix=os.name != "nt")
    except ValueError as error:
        raise EngineError(f"{engine!r} is no command ({error}): give a path, or a name on PATH.") from error
    if not words:
        raise EngineError("the name of the engine is empty: give a path, a name on PATH, or a command.")
    if program := _program(words[0]):
        return program, *words[1:]
    if words[0] != DEFAULT:
        raise EngineError(f"no chess engine {words[0]!r} found: give a path, or a name on PATH.")
    raise EngineError(f"Stockfish was not found. {_how_to_install()} Or name another engine with --engine.")


def _program(name: str) -> str | None:
    path = Path(name).expanduser()
    if path.name != name:
        if path.is_file() and not os.access(path, os.X_OK):
            raise EngineError(f"{path} is not executable: chmod +x it, or give the command that runs it.")
        return str(path.absolute()) if path.is_file() else None
    places = [str(Path(place).expanduser()) for place in USUAL_PLACES]
    found = shutil.which(name) or shutil.which(name, path=os.pathsep.join(places))
    return str(Path(found).absolute()) if found else None


def _how_to_install() -> str:
    if sys.platform == "darwin":
        return "Install it with: brew install stockfish."
    if sys.platform == "win32":
        return "Install it from stockfishchess.org and give its path."
    return "Install it with: sudo apt install stockfish (or your system's way; 'make demo' does it too)."
