"""What is asked of an analysis: the keywords of the front door, and the one frozen object that goes on from there."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TypeAlias, TypedDict

import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import Analysis
from assay.engine.identity import DEFAULT
from assay.errors import CalibrationError, InputError
from assay.games import Game, Games, read
from assay.games.split import players_of
from assay.games.stream import Paths
from assay.lists.filling import Filled, filled
from assay.moves.analysed import analysed
from assay.moves.calibration import Calibration, for_engine, load
from assay.paths import File, store_place
from assay.players import read_aliases
from assay.policy.chances import Network, open_network
from assay.presets import DEEP, QUICK
from assay.progress import Progress

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
