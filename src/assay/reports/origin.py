"""What a report is made from, who speaks in it of each player, and what it says of its own making."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field
from datetime import UTC, datetime

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay import __version__
from assay.answer.rating import Material, Said, said_of
from assay.engine.turns import Turns
from assay.errors import AssayError
from assay.games import Game, GameArrays
from assay.games.duplicates import Duplicates
from assay.games.source import Source
from assay.learned.guess import AGAIN
from assay.learned.run import model_of
from assay.moves.calibration import Calibration
from assay.moves.evals import EvalTurns
from assay.moves.evals_rating import scales_told
from assay.moves.evidence import Evidence
from assay.pools import words_of
from assay.records import dataclass
from assay.reports.content import LEVEL, GameSection, Provenance
from assay.reports.second_look import looking_depth
from assay.table import counted


@dataclass(frozen=True)
class Heard:
    """What is said of each player, by name; `model` is the learned one, `note` says why it is not heard."""

    said: Mapping[str, Said] = field(default_factory=dict)
    model: str = ""
    note: str = ""


def hear(
    games: Sequence[Game],
    frame: pl.DataFrame,
    arrays: GameArrays,
    counted: NDArray[np.bool_],
    evidence: Evidence | EvalTurns | None,
) -> Heard:
    """Ask all witnesses about games that are parsed and valued; a player of two pools goes by two names in `frame`."""
    if not counted.any():
        return Heard()
    found = Material(games, frame, arrays, counted, evidence, Counter(), [])
    said = {one.player: one for one in said_of(found, LEVEL / 100)}
    model, note = _model(frame["pool"].filter(counted).unique(maintain_order=True).to_list())
    return Heard(said, model, note)


def _model(pools: Sequence[str | None]) -> tuple[str, str]:
    """The names of the learned models that games of these pools need, or why there is none."""
    try:
        return ", ".join(dict.fromkeys(model_of(None, pool).path.name for pool in pools)), ""
    except AssayError as error:
        return "", str(error).rstrip(".")


BY_EVALS = "the evaluations in the games"
NOTE_EVALS = (
    "Moves were judged by the evaluations that the games carry. They say nothing of the moves that were not played: "
    "there is no screening and no better move, and ratings are rougher than with an engine."
)


@dataclass(frozen=True)
class Input:
    """The games of a report, where they come from, which of them occur again, pool and aliases if any.

    `without` are the numbers of games to leave out; `player` is the only one to be shown: `you`, if it is the reader.
    """

    games: Sequence[Game]
    name: str
    sources: tuple[Source, ...]
    problems: Mapping[str, int] = field(default_factory=dict)
    expected: int = 0
    duplicates: Duplicates = field(default_factory=Duplicates)
    pool: str | None = None
    scale_year: int | None = None
    aliases: Mapping[str, str] = field(default_factory=dict)
    without: frozenset[int] = frozenset()
    player: str | None = None
    you: bool = False

    @property
    def again(self) -> dict[int, int]:
        """By the place of a game that occurs again the number of the game that it is."""
        return {each.number - 1: each.first for each in self.duplicates.found}

    @property
    def counted(self) -> NDArray[np.bool_]:
        """Which games count: each game once, and none that is left out."""
        again = self.again
        left = self.without
        return np.array([at not in again and at + 1 not in left for at in range(len(self.games))], np.bool_)


def only_one(values: pl.Series) -> str:
    """The value that all share, else nothing."""
    known = values.drop_nulls().unique()
    return str(known[0]) if len(known) == 1 else ""


def title_of(games: pl.DataFrame, name: str) -> str:
    return only_one(games["event"]) or name


def dates_of(values: pl.Series) -> str:
    """First and last day that the tags know."""
    days = sorted(str(value) for value in values.drop_nulls() if not str(value).startswith("?"))
    if not days:
        return ""
    first, last = (day.replace(".??", "").replace(".", "-") for day in (days[0], days[-1]))
    return first if first == last else f"{first} to {last}"


def _settings(calibration: Calibration, turns: Turns) -> dict[str, str]:
    """The settings that decide which moves count and how, in words."""
    lines = dict.fromkeys(words_of(turns.games["line"][int(game)]) for game in np.unique(turns.game))
    own = calibration.settings
    return {
        "Moves that count": f"from move {own['from_move']}, while neither side is {own['limit']:g} pawns ahead",
        "Scale": "; ".join(lines) or "none",
        "Intervals": f"{LEVEL} %",
    }


def told_marks(games: Sequence[GameSection], depth: int) -> str:
    """By what moves are marked as inaccuracies, mistakes and blunders; nothing if none is."""
    marked = [move for game in games for move in game.moves if move.mark or move.lost_again is not None]
    if not marked:
        return ""
    told = f"what seems to lose much at depth {depth}, and does so again at depth {looking_depth(depth)}"
    alone = sum(move.lost_again is None for move in marked)
    return told + (f"; {counted(alone, 'marked move')} not looked at again: many would not stand" if alone else "")


def made_by_engine(given: Input, turns: Turns, calibration: Calibration, heard: Heard) -> Provenance:
    identity = turns.identities[0]
    problems: Counter[str] = Counter(given.problems)
    problems.update(turns.problems)
    problems.update({AGAIN: len(given.duplicates)} if given.duplicates else {})
    judged = calibration.judging(identity)
    notes = (judged.stand_in.remedy,) if judged.stand_in else ()
    return Provenance(
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        sources=given.sources,
        engine=str(identity),
        depth=turns.depth,
        calibration=calibration.name,
        calibration_line=f"choice model, {calibration.games:,} games, {calibration.turns:,} moves",
        learned_model=heard.model,
        turns=len(turns),
        left_out=dict(turns.excluded.most_common()),
        problems=dict(problems.most_common()),
        settings=_settings(calibration, turns),
        notes=(*notes, *((heard.note,) if heard.note else ())),
        duplicates=str(given.duplicates),
    )


def made_by_evals(given: Input, turns: EvalTurns, heard: Heard) -> Provenance:
    problems: Counter[str] = Counter(given.problems)
    problems.update(turns.plies.problems)
    problems.update({AGAIN: len(given.duplicates)} if given.duplicates else {})
    return Provenance(
        version=__version__,
        made=datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        sources=given.sources,
        calibration=BY_EVALS,
        learned_model=heard.model,
        turns=len(turns),
        left_out=dict(turns.excluded.most_common()),
        problems=dict(problems.most_common()),
        settings={"Scale": scales_told(turns) or "none", "Intervals": f"{LEVEL} %"},
        notes=(NOTE_EVALS, *((heard.note,) if heard.note else ())),
        duplicates=str(given.duplicates),
    )
