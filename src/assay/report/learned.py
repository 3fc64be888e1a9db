"""The learned rating of each player, or the reason why there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import polars as pl

from assay.games import Game
from assay.report.content import Estimate


@dataclass(frozen=True)
class Learned:
    """Ratings by player; `model` names what made them, `note` says why there are none."""

    ratings: Mapping[str, Estimate] = field(default_factory=dict)
    model: str = ""
    note: str = ""


def learned_ratings(games: Sequence[Game], tags: pl.DataFrame) -> Learned:
    """Ask the shipped model about the games of every player."""
    return Learned(note="no learned model is shipped")
