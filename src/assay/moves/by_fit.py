"""What a rating by a fit of s and c needs before any game is read: the scale of the calibration, with the settings that
are asked for, or one fitted on rated games that the user supplies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, field, replace
from os import PathLike
from pathlib import Path
from typing import Any

from assay.engine.identity import Identity, jury
from assay.engine.store import Store
from assay.engine.turns import turns
from assay.errors import CalibrationError, InputError
from assay.games import Games, read
from assay.games.selection import GameSelection
from assay.games.stream import Paths
from assay.manifest import describe_inputs
from assay.moves import reference
from assay.moves.asked import told_selection
from assay.moves.calibrating import rated_turns, reference_turns, regan_sample, told_of_reference
from assay.moves.calibration import Calibration, load
from assay.moves.choice.calibrate import LEARNED, Rated
from assay.moves.performance import ALIASES
from assay.moves.regan.fitting import Fitting
from assay.moves.regan.ipr import Line, Scale
from assay.moves.regan.marks import fit_scale, reference_rows
from assay.moves.regan.spread import Floats
from assay.paths import File
from assay.records import dataclass
from assay.table import counted, told_copies

MARKS, WITHIN = range(1600, 2701, 100), 20.0


@dataclass(frozen=True)
class RatedGames:
    """Rated, analysed games: their turns, who analysed them, what was left out, and what is to be said of them."""

    turns: Rated
    identity: Identity
    engines: int
    settings: Mapping[str, Any]
    excluded: Mapping[str, int]
    inputs: Sequence[Mapping[str, Any]]
    remarks: Sequence[str]


def rated_games(
    what: Paths | Games,
    depth: int,
    store: Path,
    *,
    engine: Sequence[str] | str | None = None,
    marks: Sequence[int] = MARKS,
    within: float = WITHIN,
    from_move: int = 9,
    keep_duplicates: bool = False,
    where: str | None = None,
    selection: GameSelection | None = None,
) -> RatedGames:
    """The turns of rated games whose analyses are in the store, or of the folder of a reference set."""
    only = what[0] if isinstance(what, list | tuple) and len(what) == 1 else what
    folder = Path(only) if isinstance(only, str | PathLike) else None
    if folder is not None and reference.is_reference(folder):
        if selection:
            raise InputError("the games of a reference set are selected already: leave out teams and Swisses of games.")
        found = reference.read(folder, depth)
        inputs = list(describe_inputs(sorted(folder.glob("*.parquet"))))
        settings = {"reference": folder.resolve().name, "selection": told_of_reference(found)}
        return RatedGames(reference_turns(found), found.identity, 1, settings, {}, inputs, [])
    games = read(what, where=where)
    chosen = games.counted(keep_duplicates=keep_duplicates)
    remarks = told_copies(chosen.duplicates)
    once = chosen.once
    if selection:
        once, why = selection.of(once)
        remarks += told_selection(why)
    with Store(store) as opened:
        every = turns(once, opened, depth=depth, from_move=from_move, limit=LEARNED, engine=engine or None)
    try:
        rated = rated_turns(every, marks, within)
    except CalibrationError as error:  # which games count is part of why there are too few
        raise CalibrationError(" ".join([str(error), *remarks])) from None
    several = len(every.identities) > 1
    return RatedGames(
        rated,
        jury(every.identities),
        len(every.identities),
        {"within": within, "mileposts": list(marks), "selection": str(selection or GameSelection())}
        | ({"engines": len(every.identities)} if several else {}),
        {**every.excluded, "not at a mark": len(every) - len(rated)},
        list(map(asdict, games.sources)),
        remarks,
    )


@dataclass(frozen=True)
class ByFit:
    """A rating by a fit: the method, settings that are asked for, a reference set, and the engines of a jury."""

    method: str
    settings: Mapping[str, Any] = field(default_factory=dict)
    reference: File | None = None
    jury: Sequence[str] = ()

    @property
    def way(self) -> str:
        """The method by the name of its fit."""
        return ALIASES.get(self.method, self.method)

    def calibrated(self, chosen: Calibration, store: Path) -> tuple[Calibration, list[str]]:
        """The calibration whose scale is for this fit, and what is to be said of it."""
        if chosen.settings.get("engines", 1) > 1 and not self.jury:
            raise CalibrationError(
                f"the calibration {chosen.name} is for a jury, {chosen.engine}: give --engine for each of them."
            )
        differing = {
            name: value
            for name, value in self.settings.items()
            if value is not None and value != getattr(chosen.fitting, name)
        }
        if differing and (self.reference is None or chosen.published):
            raise CalibrationError(_other_settings(chosen, differing))
        if self.reference is None:
            chosen.regan().check(self.way)
            return chosen, []
        if Path(self.reference).suffix == ".json":
            return self._from_file(chosen)
        how = Fitting(**{**asdict(chosen.fitting), "method": self.way, **differing})
        return self._fitted(chosen, how, store)

    def _fitted(self, chosen: Calibration, how: Fitting, store: Path) -> tuple[Calibration, list[str]]:
        """The scale on rated games: the line of these games, or a published one on their positions."""
        assert self.reference is not None
        with Store(store) as opened:
            stored = {entry.identity.engine for entry in opened.kept()}
        # Where the store has several, the calibration's own; its line may also be fitted for the only one there is.
        engine = list(self.jury) or ([chosen.engine] if chosen.engine in stored else None)
        found = rated_games(str(self.reference), chosen.depth, store, engine=engine)
        if chosen.published:
            chosen.check([found.identity], chosen.depth)
            sample, _ = regan_sample(found.turns, chosen.depth, replace(how, method="percentile"))
            positions = sample.deltas[reference_rows(sample)]
            return self._published(chosen, positions)
        sample, _ = regan_sample(found.turns, chosen.depth, how)
        scale = fit_scale(sample, method=how.method, model=how.model, curve=how.curve)
        identity = found.identity
        own = not chosen.refusal(identity, chosen.depth)
        made = replace(
            chosen,
            name=f"{chosen.name} with the line of {Path(self.reference).name}",
            engine=identity.engine,
            net=identity.net,
            options=identity.options,
            lines=identity.lines,
            settings={**chosen.settings, **asdict(how)},
            models=chosen.models if own else {},
            network=chosen.network if own else "",
            scale=scale,
        )
        games = len(set(found.turns.game.tolist()))
        told = (
            f"Regan's line is fitted to {counted(len(sample), 'turn')} of {counted(games, 'game')} of {self.reference}."
        )
        return made, [*found.remarks, told]

    def _from_file(self, chosen: Calibration) -> tuple[Calibration, list[str]]:
        """A published line on the reference positions of a calibration of the same engine."""
        other = load(self.reference)  # type: ignore[arg-type]
        if not chosen.published:
            raise CalibrationError(
                f"{self.reference} is a calibration: give it with --calibration. --reference takes rated games whose "
                "analyses are in the store, or the folder of a reference set."
            )
        chosen.check([Identity(other.engine, other.net, other.options, 0, other.lines)], other.depth)
        names = ("k", "cap", "tie", "scale")
        differing = {name: getattr(other.fitting, name) for name in names}
        if differing != {name: getattr(chosen.fitting, name) for name in names}:
            raise CalibrationError(_other_settings(chosen, differing))
        return self._published(chosen, other.regan().reference)

    def _published(self, chosen: Calibration, positions: Floats) -> tuple[Calibration, list[str]]:
        assert chosen.line is not None
        elos = [float(mark["elo"]) for mark in chosen.marks]
        lines: dict[str, Line] = {chosen.fitting.method: chosen.line}
        scale = Scale(positions, chosen.line, lines, (min(elos), max(elos)))
        scale.check(self.way)
        told = (
            f"The published line of {chosen.name} on {len(scale.reference):,} reference positions of {self.reference}: "
            "the papers' own positions may be easier or harder, and their error of the line is not known."
        )
        return replace(chosen, scale=scale), [told]


def _other_settings(chosen: Calibration, differing: Mapping[str, Any]) -> str:
    asked = " ".join(f"--{name} {value}" for name, value in differing.items())
    its = " ".join(f"--{name} {getattr(chosen.fitting, name)}" for name in differing)
    if chosen.published:
        return f"the published line of {chosen.name} is for {its}, not for {asked}."
    return (
        f"the calibration {chosen.name} was made with {its}, not with {asked}: give rated games that are analysed, or "
        f"the folder of a reference set, with --reference, or make a calibration with 'assay calibrate {asked}'."
    )
