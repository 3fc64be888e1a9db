"""Ratings from the results of the event itself, on the level that the tags set."""

from __future__ import annotations

from typing import Literal

import numpy as np
import polars as pl

from assay.errors import RatingError
from assay.performance.groups import UNKNOWN
from assay.performance.points import POINTS
from assay.report.content import LEVEL, Estimate
from assay.results import rate

# Few games tell little of the white advantage; this many fit it, fewer take the usual one.
GAMES_FOR_WHITE = 100
USUAL_WHITE = 35.0


def result_ratings(games: pl.DataFrame) -> dict[str, Estimate]:
    """Rate the players of some games by their results.

    Results tell differences only. The level of each group of players who met is set by the mean of those of them who
    have a rating in their tags; a group without any has no level, and says so.
    """
    white = [name or UNKNOWN for name in games["white"]]
    black = [name or UNKNOWN for name in games["black"]]
    score = [POINTS.get(result or "", np.nan) for result in games["result"]]
    advantage: float | Literal["fit"] = "fit" if len(score) >= GAMES_FOR_WHITE else USUAL_WHITE
    try:
        found = rate(white, black, score, white_advantage=advantage)
    except RatingError as error:
        note = str(error).rstrip(".")
        return {name: Estimate(note=note) for name in {*white, *black}}
    tags = _tags(games, white, black)
    level = {}
    for pool in set(found.pool.tolist()):
        own = [
            (tags[name], rating)
            for name, rating, where, bounded in zip(
                found.players, found.ratings, found.pool, found.bounded, strict=True
            )
            if where == pool and bounded and name in tags
        ]
        if own:
            level[pool] = float(np.mean([tag - rating for tag, rating in own]))
    estimates = {}
    errors = found.errors(LEVEL / 100)
    rows = {row["player"]: row for row in found.table()}
    for at, name in enumerate(found.players):
        pool, rating = int(found.pool[at]), float(found.ratings[at])
        if not found.bounded[at] or not np.isfinite(rating):
            estimates[name] = Estimate(note=rows[name]["reason"] or "results do not bound it")
        elif pool not in level:
            estimates[name] = Estimate(note="nobody in this group has a rating in the tags")
        else:
            middle = rating + level[pool]
            estimates[name] = Estimate(middle, middle - float(errors[at]), middle + float(errors[at]))
    return estimates


def _tags(games: pl.DataFrame, white: list[str], black: list[str]) -> dict[str, float]:
    """The mean rating in the tags of each player who has one."""
    known: dict[str, list[float]] = {}
    for names, elos in ((white, games["white_elo"]), (black, games["black_elo"])):
        for name, elo in zip(names, elos, strict=True):
            if elo is not None:
                known.setdefault(name, []).append(float(elo))
    return {name: float(np.mean(elos)) for name, elos in known.items()}
