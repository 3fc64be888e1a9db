"""From games to turns, analysing on the way what the store lacks."""

from __future__ import annotations

import asyncio
import warnings
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.engine.find import DEFAULT
from assay.engine.headers import headers
from assay.engine.identity import ALL_LINES, Identity, Job
from assay.engine.plan import Plan, plan
from assay.engine.pool import identify
from assay.engine.run import analyse
from assay.engine.store import Store, writing
from assay.engine.turns import Turns, turns
from assay.errors import AssayWarning, InputError
from assay.games import Game, read
from assay.games.stream import Paths
from assay.moves.calibration import Calibration
from assay.progress import Progress


def read_all(files: Paths, problems: Counter[str] | None = None, where: str | None = None) -> list[Game]:
    """All games of some files that the filter lets through, in order; damage is counted by reason."""
    found = read(files, where=where)
    games = found.all()
    if problems is not None:
        problems.update(found.problems)
    return games


def as_in(found: Turns, games: Sequence[Game], places: Sequence[int]) -> Turns:
    """The turns of some games of a list, numbered as in the whole list, whose places these are."""
    return replace(found, game=np.asarray(places, np.int64)[found.game], games=headers(games))


def analysed_turns(
    games: Sequence[Game],
    store: Path,
    calibration: Calibration,
    *,
    engine: str = DEFAULT,
    any_engine: bool = False,
    analyse_missing: bool = True,
    workers: int | None = None,
    quiet: bool = False,
    progress: Progress | None = None,
) -> Turns:
    """The turns of some games at the calibration's depth and width; positions that the store lacks are analysed first.

    Analyses by another engine than the calibration's are refused before any time is spent on them. `progress` takes the
    place of the line on the terminal.
    """
    depth, from_move = calibration.depth, int(calibration.settings["from_move"])
    limit = float(calibration.settings["limit"])
    identity = stored_identity(store, calibration)
    work = plan(games, from_move=from_move)
    if not work.keys:
        raise InputError(f"these games have no turns to judge: all their moves are before move {from_move}.")
    missing = identity is None or not _all_stored(work, store, identity, depth)
    if analyse_missing and missing:
        identity = _analyse(work, store, calibration, engine, any_engine, workers, quiet, progress)
    with Store(store) as opened:
        name, lines = (identity.engine, identity.lines) if identity else (None, None)
        found = turns(
            games,
            opened,
            depth=depth,
            from_move=from_move,
            limit=limit,
            engine=name,
            lines=lines,
        )
    if not (analyse_missing and missing):
        calibration.check(found.identities, depth, any_engine=any_engine)
    return found


def stored_identity(store: Path, calibration: Calibration) -> Identity | None:
    """The analysis in the store that the calibration is for, if it is there."""
    if not store.exists():
        return None
    with Store(store) as opened:
        kept = [entry for entry in opened.kept() if entry.positions]
    fitting = [entry for entry in kept if not calibration.refusal(entry.identity, calibration.depth)]
    return max(fitting, key=lambda entry: entry.positions).identity if fitting else None


def _all_stored(work: Plan, store: Path, identity: Identity, depth: int) -> bool:
    with Store(store) as opened:
        known, out = opened.known(identity, depth), opened.out(identity)
    return all(key in known or key in out for key in work.keys)


def _analyse(
    work: Plan,
    store: Path,
    calibration: Calibration,
    engine: str,
    any_engine: bool,
    workers: int | None,
    quiet: bool,
    progress: Progress | None,
) -> Identity:
    lines = ALL_LINES if calibration.lines >= ALL_LINES else calibration.lines
    job = Job(engine, depth=calibration.depth, lines=lines)
    calibration.check([asyncio.run(identify(job))], calibration.depth, any_engine=any_engine)
    with writing(store) as opened:
        outcome = analyse(work, opened, job, workers=workers, quiet=quiet, progress=progress)
    for position in outcome.set_aside:
        warnings.warn(f"set aside after three tries ({position.why}): {position.fen}", AssayWarning, stacklevel=2)
    return outcome.identity
