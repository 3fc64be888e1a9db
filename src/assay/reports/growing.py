"""From files to a report: read, analyse what the store lacks, assemble; and publish it while it grows."""

from __future__ import annotations

import threading
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from assay.engine.find import DEFAULT
from assay.engine.plies import read_plies
from assay.engine.position import as_bytes
from assay.engine.store import Store
from assay.games import Game, read
from assay.games.duplicates import Duplicates
from assay.games.stream import Paths
from assay.moves.analysed import analysed_turns, stored_identity
from assay.moves.calibration import Calibration, depth_of, load
from assay.progress import Progress
from assay.reports.assemble import Input, assemble
from assay.reports.content import Report

# A growing report is made anew at most so often, and never takes more than a fifth of the time.
LEAST_PAUSE = 2.0
PAUSE_FACTOR = 4.0


@dataclass(frozen=True)
class Making:
    """With what a report is made: the store, the engine for what it lacks, the calibration (None: the preset's).

    A game that occurs twice counts once, unless duplicates are kept. `pool` takes the place of what the tags tell.
    """

    store: Path
    engine: str = DEFAULT
    workers: int | None = None
    calibration: str | None = None
    any_engine: bool = False
    analyse_missing: bool = True
    keep_duplicates: bool = False
    pool: str | None = None


def make(
    files: Paths,
    making: Making,
    *,
    preset: str = "default",
    name: str = "",
    where: str | None = None,
    quiet: bool = False,
    progress: Progress | None = None,
    publish: Callable[[Report], None] | None = None,
) -> Report:
    """Make the report of some files; `publish` gets it as it grows, and at the end.

    `name` takes the place of the name of a single file.
    """
    calibration = load(making.calibration, depth=depth_of(preset))
    given = replace(read_input(files, name, where=where, keep_duplicates=making.keep_duplicates), pool=making.pool)
    with _growing(given, making, calibration, publish):
        turns = analysed_turns(
            [given.games[at] for at in given.counted],
            making.store,
            calibration,
            engine=making.engine,
            any_engine=making.any_engine,
            analyse_missing=making.analyse_missing,
            workers=making.workers,
            quiet=quiet,
            progress=progress,
        )
    with Store(making.store) as store:
        report = assemble(given, turns, store, calibration)
    if publish:
        publish(report)
    return report


def read_input(files: Paths, name: str = "", *, where: str | None = None, keep_duplicates: bool = False) -> Input:
    """Read the games, and note where they come from and which occur again."""
    read_from = read(files, where=where)
    found = read_from.counted(keep_duplicates=keep_duplicates)
    sources = read_from.sources
    if name and len(sources) == 1:
        sources = (replace(sources[0], name=name),)
    title = sources[0].name if len(sources) == 1 else f"{len(sources)} files"
    return Input(found.games, name or title, sources, read_from.problems, len(found.games), found.duplicates)


@contextmanager
def _growing(
    given: Input, making: Making, calibration: Calibration, publish: Callable[[Report], None] | None
) -> Iterator[None]:
    """While the block runs, publish a report of the games that are analysed whole, as often as is cheap."""
    if publish is None:
        yield
        return
    done = threading.Event()
    thread = threading.Thread(target=_grow, args=(given, making, calibration, publish, done), name="growing")
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join()


def _grow(
    given: Input, making: Making, calibration: Calibration, publish: Callable[[Report], None], done: threading.Event
) -> None:
    needed = _needed(given.games, int(calibration.settings["from_move"]))
    shown, pause = 0, LEAST_PAUSE
    while not done.wait(pause):
        begun = time.monotonic()
        try:
            ready = _ready(needed, making.store, calibration)
            if ready > shown:
                publish(_part(given, ready, making, calibration))
                shown = ready
        except Exception:
            # The whole report says what is wrong, if anything is; a part is only a courtesy.
            traceback.print_exc()
            return
        pause = max(LEAST_PAUSE, PAUSE_FACTOR * (time.monotonic() - begun))


def _needed(games: Sequence[Game], from_move: int) -> list[set[bytes]]:
    """The positions of each game that have to be analysed."""
    plies = read_plies(games, from_move)
    keys = as_bytes(plies.keys)
    needed: list[set[bytes]] = [set() for _ in games]
    for row in np.flatnonzero(~plies.repeated).tolist():
        needed[int(plies.game[row])].add(keys[row])
    return needed


def _ready(needed: Sequence[set[bytes]], path: Path, calibration: Calibration) -> int:
    """How many games, from the first on, are analysed whole."""
    identity = stored_identity(path, calibration)
    if identity is None:
        return 0
    with Store(path) as store:
        stored = {*store.known(identity, calibration.depth), *store.out(identity)}
    return next((at for at, keys in enumerate(needed) if not keys <= stored), len(needed))


def _part(given: Input, games: int, making: Making, calibration: Calibration) -> Report:
    part = replace(
        given,
        games=given.games[:games],
        duplicates=Duplicates([each for each in given.duplicates.found if each.number <= games]),
    )
    turns = analysed_turns(
        [part.games[at] for at in part.counted],
        making.store,
        calibration,
        any_engine=making.any_engine,
        analyse_missing=False,
        quiet=True,
    )
    with Store(making.store) as store:
        return assemble(part, turns, store, calibration)
