"""Where things live on the user's machine, and how files are written so that none is ever half there."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from glob import escape
from os import PathLike
from pathlib import Path
from stat import S_ISREG
from typing import TypeAlias

from assay.errors import OutputError, StoreError, TakenError

File: TypeAlias = str | PathLike[str]
SAMPLE = Path(__file__).with_name("data") / "kasparov-deep-blue-1997.pgn"  # six games to try everything with


def data_folder() -> Path:
    """The user's data folder for Assay; the environment variable ASSAY_HOME overrides it."""
    if home := os.environ.get("ASSAY_HOME"):
        return Path(home).expanduser()
    import platformdirs

    return platformdirs.user_data_path("assay", appauthor=False)


def shown(path: str | Path) -> str:
    """A path as text that can be printed and stored: bytes of its name that are no UTF-8 are written as escapes.

    >>> shown("games.pgn"), shown(os.fsdecode(b"Gr\\xfcnfeld.pgn"))
    ('games.pgn', 'Gr\\\\xfcnfeld.pgn')
    """
    return os.fsencode(path).decode("utf-8", "backslashreplace")


def store_place(store: File | None = None) -> Path:
    """Where the store of analyses is: the one that is named, else the user's own."""
    return Path(store) if store else data_folder() / "analyses.db"


def own_calibrations() -> Path:
    """The folder of the calibrations that were made on this machine and are to be found without being named."""
    return data_folder() / "calibrations"


_inputs: ContextVar[Counter[tuple[int, int]] | None] = ContextVar("inputs", default=None)


@contextmanager
def guarding_inputs(named: Iterable[str | Path] = ()) -> Iterator[None]:
    """While the block runs, no file that it reads can be written over; `named` are all files that its user named.

    A file that was named twice is an input too, if one of the two is to be written. Files are told by what the system
    knows them by, so that links and other ways to the same file are no way round.
    """
    token = _inputs.set(Counter(known for path in named if (known := _identity(path))))
    try:
        yield
    finally:
        _inputs.reset(token)


def note_input(path: str | Path | int) -> None:
    """Remember that this file is read: :func:`atomic` will not write over it as long as the inputs are guarded.

    It may be an open file, by its number: what stdin comes from.
    """
    inputs = _inputs.get()
    if inputs is not None and (known := _identity(path)):
        inputs[known] += 2


def _identity(path: str | Path | int) -> tuple[int, int] | None:
    """What the system knows a file by; None if there is none, or if it is no plain file."""
    try:
        found = os.stat(path)  # noqa: PTH116 - an open file as well
    except (OSError, ValueError):
        return None
    return (found.st_dev, found.st_ino) if S_ISREG(found.st_mode) else None


def spare_inputs(outputs: Iterable[str | Path], named: Iterable[str | Path]) -> None:
    """Refuse outputs that are among other names given, before any work is done.

    Names that end like a store's are looked at though there is no such file yet.
    """
    others = {Path(path).resolve() for path in named if _identity(path) or str(path).endswith(".db")}
    for path in outputs:
        if Path(path).resolve() in others:
            raise _both(path)


def _spare_inputs(final: Path) -> None:
    inputs, known = _inputs.get(), _identity(final)
    if inputs and known and inputs[known] > 1:
        raise _both(final)


def _both(path: str | Path) -> OutputError:
    return OutputError(f"{path} is one of the files that are read here; choose another name for what is written.")


@contextmanager
def atomic(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside `path`; it takes the final name only if the block ends well.

    The block may make a file there, or a folder. A crash, a full disk or Ctrl-C leaves whatever was there before. A
    file that the running command reads is never replaced (:func:`guarding_inputs`). A device or a pipe, such as
    /dev/null, is written to and stays what it is.
    """
    final = Path(path)
    if final.exists() and not final.is_file() and not final.is_dir():
        with _poured(final) as part:
            yield part
        return
    part = final.with_name(f".{final.name}.{os.getpid()}.part")
    if not final.absolute().parent.is_dir():
        raise OutputError(f"cannot write {final}: the folder {final.parent} does not exist.")
    _spare_inputs(final)
    _sweep(final)
    try:
        yield part
        _spare_inputs(final)  # some inputs are known only when they have been read
        part.replace(final)
    except OSError as error:
        raise OutputError(f"cannot write {final}: {error.strerror or error}.") from error
    finally:
        _remove(part)


@contextmanager
def _poured(device: Path) -> Iterator[Path]:
    """Give a temporary path elsewhere, and pour what was written there into the device."""
    import shutil
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        part = Path(folder) / device.name
        yield part
        try:
            with part.open("rb") as whole, device.open("wb") as out:
                shutil.copyfileobj(whole, out)
        except OSError as error:
            raise OutputError(f"cannot write {device}: {error.strerror or error}.") from error


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
        import shutil

        shutil.rmtree(part, ignore_errors=True)
    else:
        with suppress(OSError):
            part.unlink(missing_ok=True)


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Be the only writer of the store (or whatever it is) at `path`; TakenError if another process is.

    The system drops the lock when the process ends, by kill -9 too, so that no stale lock is ever left.
    """
    import filelock

    beside = path.with_name(path.name + ".lock")
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path.parent}: {error.strerror or error}.") from error
    lock = filelock.FileLock(beside, blocking=False)
    try:
        lock.acquire()
    except filelock.Timeout:
        who = _who(beside)
        raise TakenError(
            f"another run{f' (process {who})' if who.isdecimal() else ''} is writing to {path}. "
            "Wait for it, or give this run a store of its own with --store."
        ) from None
    except OSError as error:
        raise StoreError(f"cannot write beside {path}: {error.strerror or error}.") from error
    try:
        # Who it is helps the one who waits; a disk too full for five digits must not stop us.
        with suppress(OSError), beside.open("r+b", buffering=0) as file:
            file.seek(_WHO)
            file.write(b"%-10d" % os.getpid())
        yield
    finally:
        lock.release()


def _who(beside: Path) -> str:
    with suppress(OSError), beside.open("rb", buffering=0) as file:
        file.seek(_WHO)
        return file.read(10).decode("ascii", "replace").strip()
    return ""


_WHO = 1  # where the number of the process stands: Windows lets nobody read the first byte, which is the lock


BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


def find_browser() -> str | None:
    """The program of a Chromium on this machine."""
    from shutil import which

    return next((path for name in (*BROWSERS, MAC) if (path := which(name))), None)


def need_browser() -> str:
    """The program of a Chromium; OutputError where there is none."""
    browser = find_browser()
    if browser is None:
        raise OutputError(
            "a PDF needs Chromium or Chrome, and none was found: install one, or write html and print it."
        )
    return browser


def check_place(path: Path, format: str = "") -> None:
    """Refuse at once what could not be written after an hour of analysis."""
    if not path.parent.is_dir():
        raise OutputError(f"cannot write {path}: the folder {path.parent} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"cannot write {path}: the folder {path.parent} is read-only.")
    if format == "pdf":
        need_browser()
