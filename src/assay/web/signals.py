"""Signals to the processes that the server started."""

from __future__ import annotations

import os
from asyncio.subprocess import Process
from contextlib import suppress


def send(process: Process, number: int, *, group: bool = False) -> None:
    """Send a signal to a process that is still there, or to all that it started too.

    Not process.kill: it looks first whether the process is dead, and takes the news from whom asyncio set to wait.
    """
    if process.returncode is None:
        with suppress(ProcessLookupError):
            (os.killpg if group and hasattr(os, "killpg") else os.kill)(process.pid, number)
