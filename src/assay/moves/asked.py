"""What is asked of an analysis: the keywords of the front door, and the one frozen object that goes on from there.

Commands that start no engine read turns of games whose analyses are stored already: for fits, listings and surveys.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import fields
from pathlib import Path
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import Analysis
from assay.engine.identity import DEFAULT
from assay.engine.store import Store
from assay.engine.turns import Turns, turns
from assay.errors import CalibrationError, InputError
from assay.games import Game, Games, read
from assay.games.selection import GameSelection
from assay.games.split import players_of
from assay.games.stream import Paths
from assay.lists.inforce import Filled, filled
from assay.moves.analysed import analysed
from assay.moves.calibration import Calibration, for_engine, load
from assay.paths import File, store_place
from assay.players import read_aliases
from assay.policy.chances import Network, open_network
from assay.presets import DEEP, DEFAULT_DEPTH, QUICK
from assay.progress import Progress
from assay.records import dataclass
from assay.table import counted, reasons, there_are, told_copies

What: TypeAlias = Paths | Games | Analysis


class Analysing(TypedDict, total=False):
    """How games are analysed, and which of them count: the options of all commands that rate moves."""

    store: File | None  # default: in the user's data folder
    calibration: str | None  # default: that of the depth
    depth: int | None
    quick: bool
    deep: bool
    engine: str
    policy: Network | bool | str
    no_analysis: bool
    workers: int | None
    aliases: File | None
    pool: str | None
    scale_year: int | None
    keep_duplicates: bool
    where: str | None
    quiet: bool
    rating: str | None  # "fide": the ratings that were in force, by FIDE's lists


@dataclass(frozen=True, kw_only=True)
class Asked:
    """The same as one object, with its defaults, and what follows from it alone.

    >>> Asked(quick=True).calibrated().name
    'stockfish-15.1-d6'
    """

    store: File | None = None
    calibration: str | None = None
    depth: int | None = None
    quick: bool = False
    deep: bool = False
    engine: str = DEFAULT
    policy: Network | bool | str = True
    no_analysis: bool = False
    workers: int | None = None
    aliases: File | None = None
    pool: str | None = None
    scale_year: int | None = None
    keep_duplicates: bool = False
    where: str | None = None
    quiet: bool = True
    rating: str | None = None

    @property
    def place(self) -> Path:
        """Where the analyses are."""
        return store_place(self.store)

    @property
    def network(self) -> Network | bool:
        """What people would play: the network that is named, True for the shipped one, False for none."""
        return open_network(self.policy) if isinstance(self.policy, str) else self.policy

    def given(self, *names: str) -> list[str]:
        """Which of these keywords are other than their defaults."""
        usual = {field.name: field.default for field in fields(self)}
        return [name for name in names if getattr(self, name) != usual[name]]

    def calibrated(self, analysed_to: int | None = None, *, choice: bool = True) -> Calibration:
        """The calibration that is named, or that of the depth; with a choice model, unless that is not asked for."""
        if sum(map(bool, (self.quick, self.deep, self.depth))) > 1:
            raise InputError("quick, deep and depth exclude each other.")
        preset = QUICK if self.quick else DEEP if self.deep else None
        wanted = preset or self.depth or analysed_to
        chosen = load(self.calibration, depth=wanted)
        if choice:
            chosen.usable()
        if self.calibration and wanted and chosen.depth != wanted:
            raise CalibrationError(f"the calibration {chosen.name} is for depth {chosen.depth}, not {wanted}.")
        return chosen

    def judge(self, analysis: Analysis, chosen: Calibration) -> Calibration:
        """By what the analyses of an engine are judged: its own calibration, unless one was named."""
        return for_engine(analysis.identity, chosen.depth, chosen if self.calibration else None)

    def read(self, what: Paths | Games) -> Filled:
        """The games for which the filter holds, with the ratings that are asked for."""
        if self.rating not in (None, "tag", "fide"):
            raise InputError(f"there are no ratings {self.rating!r:.40}: tag or fide.")
        games = read(what, where=self.where)
        return filled(games) if self.rating == "fide" else Filled(games)

    def names(self, games: Sequence[Game]) -> dict[str, str]:
        """The main name of every other name."""
        return dict(read_aliases(self.aliases, players_of(games))) if self.aliases else {}

    def analysed(
        self,
        games: Sequence[Game],
        chosen: Calibration,
        counted: NDArray[np.bool_] | None = None,
        *,
        named: bool | None = None,
        strict: bool = False,
        from_move: int | None = None,
        progress: Progress | None = None,
        each: Callable[[Analysis, int], None] | None = None,
    ) -> Analysis:
        """The games with their analyses, as the calibration asks for them; see :mod:`assay.moves.analysed`."""
        return analysed(
            games,
            self.place,
            chosen,
            counted=counted,
            engine=self.engine,
            named=self.calibration is not None if named is None else named,
            strict=strict,
            no_analysis=self.no_analysis,
            workers=self.workers,
            quiet=self.quiet,
            from_move=from_move,
            progress=progress,
            each=each,
        )


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
