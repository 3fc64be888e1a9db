"""Bring analyses into a store, and find out who made them when they do not say."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from assay.engine.exchange import Entry, Imported, read
from assay.engine.find import find
from assay.engine.identity import ALL_LINES, Identity, Search
from assay.engine.pool import Result, identify, value_all
from assay.engine.store import LeftOut, Store
from assay.engine.uci import Valued
from assay.errors import EngineError, InputError
from assay.progress import Progress

SAMPLE = 8
# How long the comparison with an engine may take: some times as long as the rows say that their searches took, within
# these bounds. A file can claim searches that never end.
_COMPARING_FACTOR, _LEAST_COMPARING, _MOST_COMPARING = 10, 60.0, 600.0
_MOST_NODES = 1_000_000_000  # more cannot be searched in that time
_BATCH = 2_000


def import_file(
    path: str | Path, store: Store, *, search: Search, named: str | None = None, quiet: bool = False
) -> Imported:
    """Add the analyses of an exchange file to a store.

    Rows that name no engine belong to the engine called `named`, if given; else to the engine of `search`,
    provided that it gives the very values of a sample of the rows. A stored value is a pure function of position and
    identity, so agreement to the last centipawn is proof, and disagreement is refused.
    """
    found = Imported()
    batches: dict[Identity, list[Entry]] = {}
    unnamed: list[Entry] = []
    last: dict[tuple[Identity, str | bytes], Entry] = {}

    def keep(identity: Identity, entries: list[Entry]) -> None:
        number = store.number_of(identity)
        store.add(number, [entry.result for entry in entries])
        for entry in entries:
            if not isinstance(entry.result, Valued) or entry.repetition:
                continue
            if entry.ends_game:
                last[identity, entry.result.key] = entry
            elif entry.game is not None and entry.ply >= last.get((identity, entry.game), entry).ply:
                last[identity, entry.game] = entry
        found.valued += sum(isinstance(entry.result, Valued) for entry in entries)
        found.left_out += sum(isinstance(entry.result, LeftOut) for entry in entries)

    with Progress(f"Importing {Path(path).name}", unit="positions", quiet=quiet) as progress:
        for entry in read(path, found):
            progress.advance()
            if entry.identity is None:
                unnamed.append(entry)
                continue
            batch = batches.setdefault(entry.identity, [])
            batch.append(entry)
            if len(batch) >= _BATCH:
                keep(entry.identity, batch)
                batch.clear()
        for identity, batch in batches.items():
            keep(identity, batch)
    if unnamed:
        identity = _identity_of(unnamed, search, named, path)
        for start in range(0, len(unnamed), _BATCH):
            keep(identity, unnamed[start : start + _BATCH])
    for identity in {identity for identity, _ in last}:
        keys = [entry.result.key for (whose, _), entry in last.items() if whose == identity]
        store.add_games(store.number_of(identity), keys)
        found.games += len(keys)
    if not found.valued and not found.left_out:
        why = f" ({found.first_refused})" if found.first_refused else ""
        raise InputError(f"{path} holds no analysis that can be read{why}.")
    return found


def _identity_of(entries: Sequence[Entry], search: Search, named: str | None, path: str | Path) -> Identity:
    lines, nodes = _lines(entries), _nodes(entries)
    valued = [entry.result for entry in entries if isinstance(entry.result, Valued)]
    if named is not None:
        return Identity(named, "", (("Hash", "16"),), nodes, lines)
    advice = "Say who made it with --engine-name NAME."
    try:
        find(search.engine)
    except EngineError as error:
        raise InputError(
            f"{path} does not name its engine, and there is none here to compare with. {advice}"
        ) from error
    search = replace(
        search, lines=lines, nodes=nodes, depth=max((result.depth for result in valued), default=search.depth)
    )
    try:
        if nodes > _MOST_NODES:
            raise TimeoutError
        differ, sample = _disagreements(entries, search)
    except TimeoutError as error:
        raise InputError(
            f"{path} does not name its engine, and its searches take {search.engine} here too long to compare. {advice}"
        ) from error
    identity = asyncio.run(identify(search))
    if differ:
        raise InputError(
            f"{path} does not name its engine, and {identity.engine} here gives other values "
            f"({differ} of {sample} positions differ). {advice}"
        )
    return identity


def _lines(entries: Sequence[Entry]) -> int:
    """How many lines were asked for: as many as are listed wherever some legal moves are not."""
    cut = {
        len(entry.result.moves) // 2
        for entry in entries
        if isinstance(entry.result, Valued) and len(entry.result.moves) // 2 < entry.result.legal
    }
    if len(cut) > 1:
        raise InputError(f"analyses of {min(cut)} and of {max(cut)} lines are mixed, and their rows do not say which.")
    return cut.pop() if cut else ALL_LINES


def _nodes(entries: Sequence[Entry]) -> int:
    """The limit of nodes that all of them were searched with."""
    found = {entry.nodes for entry in entries}
    if len(found) > 1:
        raise InputError("analyses with different limits of nodes are mixed, and their rows do not name an engine.")
    return found.pop()


def _disagreements(entries: Sequence[Entry], search: Search) -> tuple[int, int]:
    """Analyse a sample again; how many differ, of how many."""
    valued = [entry.result for entry in entries if isinstance(entry.result, Valued)]
    cut = [result for result in valued if len(result.moves) // 2 < result.legal]
    sample = {result.key: result for few in (cut, valued) for result in few[:: max(1, 2 * len(few) // SAMPLE)]}
    differ = 0

    def compare(result: Result) -> None:
        nonlocal differ
        mine, other = result, sample[result.key]
        same = isinstance(mine, Valued) and (mine.moves, mine.scores) == (other.moves, other.scores)
        differ += not same

    took = sum(result.milliseconds for result in sample.values()) / 1000
    limit = min(max(_COMPARING_FACTOR * took, _LEAST_COMPARING), _MOST_COMPARING)

    async def again() -> None:
        async with asyncio.timeout(limit):
            await value_all(iter(sample), replace(search, look=False), workers=1, take=compare)

    asyncio.run(again())
    return differ, len(sample)
