"""Uploads are looked at in processes of their own: how many games they have, or why they cannot be taken.

``python -m assay.web.checker`` reads requests on its standard input, each a line of JSON and so many bytes, and answers
each with a line of JSON. Whatever an upload makes it do (run for ever, take all memory), the server ends it; else it is
kept for the next upload.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import os
import re
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from typing import Any

from assay.errors import InputError
from assay.games.split import split
from assay.web.jobs import Limits
from assay.web.runner import send

_AT_ONCE = 2
# Threads that nothing here uses would count as memory.
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")
_BLANK_LINES = re.compile(rb"\n{3,}")  # a repeated group would be remembered round by round


class NoCheckError(Exception):
    """Nobody can look at an upload now: the server is about to end, or the system has no more processes."""


class Checker:
    """Has uploads looked at in processes of their own, not more than two at a time."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._idle: list[Process] = []
        self._all: set[Process] = set()
        self._ending = False

    async def check(self, data: bytes) -> tuple[int, str]:
        """The number of games in an upload and its hash; InputError if it cannot be taken or takes too long."""
        seconds = self._limits.check_seconds
        async with self._turns:
            process = self._idle.pop() if self._idle else await self._start()
            try:
                async with asyncio.timeout(seconds):
                    answer = await _ask(process, data, self._limits.games)
            except TimeoutError:
                raise InputError(f"The upload could not be read within {seconds:g} s: is it a PGN file?") from None
            except (OSError, ValueError):  # it died over it, or before
                if self._ending:
                    raise NoCheckError from None
                raise InputError(
                    "The upload could not be read: is it a PGN file? Try again with fewer games."
                ) from None
            else:
                self._idle.append(process)
            finally:
                if process not in self._idle:
                    self._end(process)
        if "error" in answer:
            raise InputError(answer["error"])
        return answer["games"], answer["sha256"]

    def end(self) -> None:
        """End all of it at once; whoever waits gets a NoCheckError."""
        self._ending = True
        for process in self._all:
            send(process, signal.SIGKILL)

    async def close(self) -> None:
        """End all of it and wait until it is gone."""
        self.end()
        for process in tuple(self._all):
            await process.wait()

    async def _start(self) -> Process:
        command = (sys.executable, "-m", "assay.web.checker", str(self._limits.bytes))
        try:
            # In a session of its own: Ctrl-C is for the server, which ends it.
            process = await asyncio.create_subprocess_exec(
                *command, stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True,
                env=os.environ | _ONE_THREAD,
            )  # fmt: skip
        except OSError:
            raise NoCheckError from None
        self._all.add(process)
        if self._ending:
            send(process, signal.SIGKILL)
        assert process.stdout is not None
        if await process.stdout.readline() != READY:
            self._end(process)
            raise NoCheckError
        return process

    def _end(self, process: Process) -> None:
        send(process, signal.SIGKILL)
        if not self._ending:  # else `close` waits for it
            self._all.discard(process)


async def _ask(process: Process, data: bytes, most_games: int) -> dict[str, Any]:
    assert process.stdin is not None and process.stdout is not None
    process.stdin.write(json.dumps([len(data), most_games]).encode() + b"\n")
    process.stdin.write(data)
    await process.stdin.drain()
    answer: dict[str, Any] = json.loads(await process.stdout.readline())
    return answer


PACKED = (b"\x28\xb5\x2f\xfd", b"\x1f\x8b", b"BZh", b"PK\x03\x04")
READY = b"ready\n"
_MOST_MEMORY = 2 << 30  # besides what is in proportion to the largest upload
_TIMES_UPLOAD = 16


def check(data: bytes, most_games: int) -> tuple[int, str]:
    """The number of games in an upload and its hash; InputError if it cannot be taken."""
    if not data.strip():
        raise InputError("There is nothing in the upload: choose a PGN file or paste some games.")
    if data.startswith(PACKED):
        raise InputError(
            "The file is compressed: unpack it first, or use 'assay report', which reads .zst, .gz and .bz2."
        )
    # Of many blank lines two are as good, and what is known of each line takes twenty times its room.
    games = len(split(_BLANK_LINES.sub(b"\n\n", data)))
    if not games:
        raise InputError("No game was found in the upload: is it a PGN file?")
    if games > most_games:
        raise InputError(
            f"The upload has {games:,} games, and this page takes at most {most_games:,}: send fewer, use "
            "'assay report', or start the server with --max-games."
        )
    return games, hashlib.sha256(data).hexdigest()


def _answer(data: bytes, most_games: int) -> dict[str, Any]:
    try:
        games, sha256 = check(data, most_games)
    except InputError as error:
        return {"error": str(error)}
    except MemoryError:
        return {"error": "The upload takes more memory than this page has for it: send fewer games."}
    return {"games": games, "sha256": sha256}


def _bound_memory(largest: int) -> None:
    try:
        import resource
    except ImportError:  # Windows
        return
    _, hard = resource.getrlimit(resource.RLIMIT_AS)
    most = _MOST_MEMORY + _TIMES_UPLOAD * largest
    resource.setrlimit(resource.RLIMIT_AS, (most if hard == resource.RLIM_INFINITY else min(most, hard), hard))


def main() -> None:
    """Answer until the server closes the pipe."""
    asked, told = sys.stdin.buffer, sys.stdout.buffer
    _bound_memory(int(sys.argv[1]))
    told.write(READY)
    told.flush()
    while line := asked.readline():
        size, most_games = json.loads(line)
        told.write(json.dumps(_answer(asked.read(size), most_games)).encode() + b"\n")
        told.flush()


if __name__ == "__main__":
    main()
