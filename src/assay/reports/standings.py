"""Ratings from the results of the event itself, on the level that the tags set."""

from __future__ import annotations

import numpy as np
import polars as pl

from assay.errors import RatingError
from assay.moves.groups import UNKNOWN
from assay.moves.points import POINTS
from assay.reports.content import LEVEL, Estimate
from assay.results import rate
from assay.results.ratings import confidence_factor

# An event has few games: a wide prior about the rating in the tags keeps perfect scores and players who met nobody
# comparable within reason. Nine games outweigh it five to one.
PRIOR = 250.0
# What is usual for the white advantage and for draws among equals, with how far it may be off: where an event has few
# games this counts, where it has many their results do.
WHITE, WHITE_ERROR = 35.0, 25.0
DRAWS, DRAWS_ERROR = 0.4, 0.2
NO_RESULT = "no game with a result"
NO_LEVEL = "nobody has a rating in the tags, so results have no level"


def result_ratings(games: pl.DataFrame) -> dict[str, Estimate]:
    """Rate the players of some games by their results.

    Results tell differences only: the level is that of the tags, and the intervals are those of the difference to the
    average player.
    """
    names = dict.fromkeys(name or UNKNOWN for pair in zip(games["white"], games["black"], strict=True) for name in pair)
    blank = dict.fromkeys(names, Estimate(note=NO_RESULT))
    scored = games.filter(pl.col("result").is_in(list(POINTS)))
    if not scored.height:
        return blank
    return blank | _rate(scored)


def _rate(games: pl.DataFrame) -> dict[str, Estimate]:
    """Rate the players of games that all have a result."""
    white = [name or UNKNOWN for name in games["white"]]
    black = [name or UNKNOWN for name in games["black"]]
    score = [POINTS[result] for result in games["result"]]
    tags = _tags(games, white, black)
    try:
        if not tags:
            raise RatingError(NO_LEVEL)
        found = rate(
            white,
            black,
            score,
            average=float(np.mean(list(tags.values()))),
            white_advantage=WHITE,
            white_advantage_error=WHITE_ERROR,
            draw_rate=DRAWS,
            draw_rate_error=DRAWS_ERROR,
            priors={name: (tag, PRIOR) for name, tag in tags.items()},
            prior=PRIOR,
        )
    except RatingError as error:
        return dict.fromkeys([*white, *black], Estimate(note=str(error).rstrip(".")))
    # Every rating less the mean of all, C -> D C D' with D = 1 - 1/n: the level is given, not estimated.
    centred = found.covariance()
    centred = centred - centred.mean(axis=0)
    centred = centred - centred.mean(axis=1, keepdims=True)
    half = confidence_factor(LEVEL / 100) * np.sqrt(np.maximum(np.diagonal(centred), 0.0))
    return {
        name: Estimate(float(rating), float(rating - width), float(rating + width))
        for name, rating, width in zip(found.players, found.ratings, half, strict=True)
    }


def _tags(games: pl.DataFrame, white: list[str], black: list[str]) -> dict[str, float]:
    """The mean rating in the tags of each player who has one."""
    known: dict[str, list[float]] = {}
    for names, elos in ((white, games["white_elo"]), (black, games["black_elo"])):
        for name, elo in zip(names, elos, strict=True):
            if elo is not None:
                known.setdefault(name, []).append(float(elo))
    return {name: float(np.mean(elos)) for name, elos in known.items()}
