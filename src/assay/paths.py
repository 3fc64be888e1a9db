"""Where things live on the user's machine, and how files are written so that none is ever half there."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from glob import escape
from pathlib import Path

from assay.errors import OutputError


def data_folder() -> Path:
    """The user's data folder for Assay; the environment variable ASSAY_HOME overrides it."""
    if home := os.environ.get("ASSAY_HOME"):
        return Path(home).expanduser()
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "assay"
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Application Support" / "assay"
    return Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "assay"


def shown(path: str | Path) -> str:
    """A path as text that can be printed and stored: bytes of its name that are no UTF-8 are written as escapes.

    >>> shown("games.pgn"), shown(os.fsdecode(b"Gr\\xfcnfeld.pgn"))
    ('games.pgn', 'Gr\\\\xfcnfeld.pgn')
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def default_store() -> Path:
    """The analysis store that serves when `--store` is not given."""
    return data_folder() / "analyses.db"


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; it takes the final name only if the block ends well.

    The block may make a file there, or a folder. A crash, a full disk or Ctrl-C leaves whatever was there before.
    """
    final = Path(path)
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    if not final.absolute().parent.is_dir():
        raise OutputError(f"cannot write {final}: the folder {final.parent} does not exist.")
    _sweep(final)
    try:
        yield part
        part.replace(final)
    except OSError as error:
        raise OutputError(f"cannot write {final}: {error.strerror or error}.") from error
    finally:
        _remove(part)


def _sweep(final: Path) -> None:
    """Remove what runs that were killed while they wrote `final` left beside it."""
    for part in final.parent.glob(f".{escape(final.name)}.*.part"):
        number = part.name.removeprefix(f".{final.name}.").removesuffix(".part")
        if number.isdecimal() and not _is_running(int(number)):
            _remove(part)


def _is_running(process: int) -> bool:
    if os.name == "nt":  # there os.kill(process, 0) is no question
        return True
    try:
        os.kill(process, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except PermissionError:
        return True  # another user's
    return True


def _remove(part: Path) -> None:
    if part.is_dir():
        shutil.rmtree(part, ignore_errors=True)
    else:
        with suppress(OSError):
            part.unlink(missing_ok=True)
