"""Turns of games whose analyses are stored already: for fits, listings and surveys, which start no engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypedDict

from assay.engine.store import Store
from assay.engine.turns import Turns, turns
from assay.errors import InputError
from assay.games.selection import GameSelection
from assay.games.source import Games, read
from assay.games.stream import Paths
from assay.paths import File, store_place
from assay.presets import DEFAULT_DEPTH
from assay.table import counted, reasons, there_are, told_copies


class Reading(TypedDict, total=False):
    """Which games and which of their turns: the options of all commands that start no engine."""

    store: File | None  # default: in the user's data folder
    depth: int | None
    engine: Sequence[str] | str | None
    from_move: int
    limit: float
    lines: int | None
    where: str | None
    keep_duplicates: bool
    selection: GameSelection | None


@dataclass(frozen=True)
class Stored:
    """Turns, what was wrong with their games by reason, and what is to be said of them."""

    turns: Turns
    problems: Counter[str]
    remarks: tuple[str, ...]


def stored_turns(
    what: Paths | Games,
    *,
    store: File | None = None,
    depth: int | None = None,
    engine: Sequence[str] | str | None = None,
    from_move: int = 9,
    limit: float = 3.0,
    lines: int | None = None,
    where: str | None = None,
    keep_duplicates: bool = False,
    selection: GameSelection | None = None,
    game: int | None = None,
) -> Stored:
    """The turns of games by the analyses in the store; `game` takes one game alone, by its number."""
    given = read(what, where=where)
    remarks = []
    if game is not None:
        every = given.all()
        if game > len(every):
            raise InputError(f"{there_are(len(every), 'game')} in these files, and no game {game}.")
        games = every[game - 1 : game]
    else:
        chosen = given.counted(keep_duplicates=keep_duplicates)
        games = chosen.once
        remarks += told_copies(chosen.duplicates)
    if selection:
        games, why = selection.of(games)
        remarks += told_selection(why)
        if not games:
            raise InputError(f"no game of {given.named} is left: {reasons(why)}.")
    depth = depth or DEFAULT_DEPTH
    names = [engine] if isinstance(engine, str) else list(engine or ()) or None
    with Store(store_place(store)) as opened:
        found = turns(games, opened, depth=depth, engine=names, from_move=from_move, limit=limit, lines=lines)
    problems = given.problems + found.problems
    who = " and ".join(str(identity) for identity in found.identities)
    remarks += [f"Games left out or damaged: {reasons(problems)}."] if problems else []
    remarks += [
        f"{counted(found.games.height, 'game')}, {counted(len(found), 'turn')} counted; "
        f"left out: {reasons(found.excluded) or 'none'}.",
        f"Analysed by {who}, depth {depth}.",
    ]
    return Stored(found, problems, tuple(remarks))


def told_selection(why: Counter[str]) -> list[str]:
    """What an answer says of games that were not selected."""
    parts = [(count, *reason.partition(" of ")) for reason, count in why.items()]
    return [f"Left out: {counted(count, noun)}{of}{rest}." for count, noun, of, rest in parts]


def refuse_one_line(turns: Turns) -> None:
    """A spread needs more than one move."""
    if any(identity.lines == 1 for identity in turns.identities):
        raise InputError(
            "these analyses hold one line per position, and the model needs the other moves too: analyse again without "
            "'--lines 1' (the average difference, 'assay difference', needs no more)."
        )
