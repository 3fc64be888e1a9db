"""What results, moves and the learned model say of each player of a report, and their one answer."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import field

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.answer.rating import Material, Said, said_of
from assay.errors import AssayError
from assay.games import Game, GameArrays
from assay.learned.run import model_of
from assay.moves.evals import EvalTurns
from assay.moves.evidence import Evidence
from assay.records import dataclass
from assay.reports.content import LEVEL


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
