"""Weights by situation: turns that count less, or not at all, such as those of fast games or of endgames."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import polars as pl

from assay.engine.turns import Turns
from assay.errors import InputError
from assay.games.where import compile_where
from assay.moves.groups import PHASES, phases
from assay.moves.regan.spread import Floats
from assay.table import counted


def situations(turns: Turns) -> pl.DataFrame:
    """A row per turn: the tags of its game, and move, color, phase and evaluation (of the best move, in pawns)."""
    games = turns.games.select(pl.all().gather(turns.game))
    return games.with_columns(
        pl.Series("move", turns.move, dtype=pl.Int64),
        pl.Series("color", np.where(turns.white, "white", "black").tolist(), dtype=pl.String),
        pl.Series("phase", [PHASES[phase] for phase in phases(turns)], dtype=pl.String),
        pl.Series("evaluation", turns.values[:, 0], dtype=pl.Float64),
    )


def weights_of(turns: Turns, texts: Sequence[str]) -> tuple[Floats, list[str]]:
    """The weight of each turn by conditions such as `speed == "rapid": .5`, and what is to be said of them.

    Where several hold, their weights multiply. A condition is written like --where, over tags and what
    :func:`situations` adds to them.
    """
    frame, found, said = situations(turns), np.ones(len(turns)), []
    for text in texts:
        condition, colon, number = text.rpartition(":")
        try:
            weight = float(number)
        except ValueError:
            weight = np.nan
        if not colon or not 0 <= weight <= 1:
            raise InputError(
                f"{text!r:.80} is no weight: write a condition and a number from 0 to 1, such as 'move < 15: 0.5'."
            )
        holds = frame.select(compile_where(condition, frame.schema)).to_series().fill_null(False).to_numpy()
        found[holds] *= weight
        said.append(f"Weight {weight:g} for {condition.strip()}: {counted(int(holds.sum()), 'turn')}.")
    return found, said
