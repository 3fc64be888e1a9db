"""Games that come in: those behind the link of a broadcast, and those that appear in folders."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from assay.errors import AssayError, FetchError
from assay.fetch import asking
from assay.fetch.address import is_address, parse
from assay.games.source import Games, read
from assay.games.stream import find_files
from assay.table import counted

Told = Callable[[str], None]


def watch(
    what: Sequence[str], every: int = 60, *, folders: bool = False, told: Told = lambda text: None
) -> Iterator[Games]:
    """Games that come in, again whenever something is new, as `--watch` and `--live` of the commands have them.

    Those behind the link of a broadcast, until its games have ended, or those in `folders`, for ever.

    >>> import assay
    >>> for games in assay.watch(["games.pgn"]):
    ...     print(assay.rate(games))
    Traceback (most recent call last):
        ...
    assay.errors.FetchError: --watch is for a broadcast: give the link of a tournament or a round on Lichess.
    """
    return map(read, in_folders(what, every, told)) if folders else broadcast(what, every, told)


def broadcast(files: Sequence[str], every: int, told: Told) -> Iterator[Games]:
    """The games behind a broadcast link, again whenever something is new.

    What goes wrong on the way (no network) is told, and the next time may be better. A single round ends when all its
    games have. Finished games cost nothing again: the store has them.
    """
    rounds = [parse(file) for file in files if is_address(file)]
    if not any(address.is_broadcast for address in rounds):
        raise FetchError("--watch is for a broadcast: give the link of a tournament or a round on Lichess.")
    last: Any = None
    while True:
        games = read(files)
        try:
            state = [source.sha256 for source in games.sources]
            running = sum(game.tags.get("Result", "*") == "*" for game in games)
            if state != last:
                last = state
                told(f"-- {time.strftime('%H:%M:%S')}, {counted(running, 'game')} under way")
                yield games
            if not running and all(address.kind == "round" for address in rounds):
                return
        except FetchError as error:
            told(f"assay: {error} Trying again in {every} s.")
        asking.wait(every)


def in_folders(files: Sequence[str], every: int, told: Told) -> Iterator[list[str]]:
    """The files of folders, again whenever one is new or has changed; what cannot be read yet may be there later.

    A folder without games is waited for, as before the first round; one that does not exist is an error.
    """
    last: Any = None
    while True:
        try:
            found = find_files(list(files))
            state = [(path, Path(path).stat().st_mtime_ns, Path(path).stat().st_size) for path in found]
        except (AssayError, OSError) as error:
            if last is None and not all(Path(file).exists() for file in files):
                raise
            told(f"assay: {error} Trying again in {every} s.")
        else:
            if state != last:
                last = state
                told(f"-- {time.strftime('%H:%M:%S')}, {counted(len(found), 'file')}")
                yield found
        asking.wait(every)
