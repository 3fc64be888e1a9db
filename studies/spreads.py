"""What the studies of the intrinsic model share: turns of the reference set, and rows printed as a table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import polars as pl

from assay.engine import score
from assay.engine.turns import Turns
from assay.moves import reference
from assay.moves.calibrating import SAMPLE
from assay.moves.choice.calibrate import JUDGED
from assay.table import render


def load(folder: str, depth: int) -> Turns:
    """The turns of 2006-14 at a depth, as those of games: within three pawns of equality, players by number."""
    found = reference.read(folder, depth)
    best = score.pawns(np.maximum.reduceat(found.choices.codes[:, -1], found.choices.start[:-1]))
    keep = (found.turns["set"] == SAMPLE).to_numpy() & (np.abs(best) <= JUDGED) & (found.choices.width > 1)
    choices, rows = found.choices.only(keep), found.turns.filter(keep).with_columns(white=pl.col("ply") % 2 == 0)
    games = rows.unique("game", keep="first").sort("game")
    games = games.select(
        "year",
        white=pl.when("white").then("player").otherwise("opponent").cast(pl.String),
        black=pl.when("white").then("opponent").otherwise("player").cast(pl.String),
        white_elo=pl.when("white").then("elo").otherwise("opponent_elo").cast(pl.Float64),
        black_elo=pl.when("white").then("opponent_elo").otherwise("elo").cast(pl.Float64),
    )
    turns = Turns(
        choices=choices,
        worth=score.pawns(choices.codes[choices.chosen, -1]),
        game=np.unique(rows["game"].to_numpy(), return_inverse=True)[1],
        move=choices.ply // 2 + 1,
        white=rows["white"].to_numpy(),
        games=games,
        excluded=Counter(),
        problems=Counter(),
        identities=(found.identity,),
        depth=depth,
    )
    print(f"{games.height:,} games, {len(turns):,} turns at depth {depth}")
    return turns


def show(rows: Sequence[Mapping[str, Any]], **decimals: int) -> None:
    """Print rows."""
    print(render(rows, decimals=decimals), flush=True)
