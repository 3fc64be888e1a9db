"""A lock that dies with its process: one writer for each store, whatever happens to it."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from assay.errors import StoreError


class TakenError(StoreError):
    """Another process has the lock."""


@contextmanager
def only_writer(path: Path) -> Iterator[None]:
    """Be the only writer of the store at `path`; TakenError if another process is.

    The system drops the lock when the process ends, by kill -9 too, so that no stale lock is ever left. The file stays:
    removing it would let two processes lock two files of the same name.
    """
    beside = path.with_name(path.name + ".lock")
    try:
        beside.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise StoreError(f"cannot make the folder {path.parent}: {error.strerror or error}.") from error
    try:
        file = beside.open("a+")
    except OSError as error:
        raise StoreError(f"cannot write beside {path}: {error.strerror or error}.") from error
    with file:
        try:
            _lock(file.fileno())
        except OSError:
            file.seek(0)
            who = file.read().strip()
            raise TakenError(
                f"another run{f' (process {who})' if who else ''} is writing to {path}. "
                "Wait for it, or give this run a store of its own with --store."
            ) from None
        # Who it is helps the one who waits; a disk too full for five digits must not stop us.
        with suppress(OSError):
            os.truncate(file.fileno(), 0)
            os.write(file.fileno(), str(os.getpid()).encode())
        yield


if sys.platform == "win32":
    import msvcrt

    def _lock(descriptor: int) -> None:
        # Byte 1,000 stands for the file: locking the first bytes would hide the process number from readers.
        os.lseek(descriptor, 1000, os.SEEK_SET)
        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _lock(descriptor: int) -> None:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
