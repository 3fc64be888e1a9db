"""Performances of groups of turns: one row each, with a rating and its interval or the reason why there is none.

Beside it stands the performance by results, and what a reader must know of the games: ratings from elsewhere, another
pool's scale, a game that no rating explains.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import ModelError
from assay.games.outcomes import score_of
from assay.moves.evidence import Evidence
from assay.moves.regan.ipr import (
    FEW_TURNS,
    FEWEST_TO_RESAMPLE,
    FEWEST_TURNS,
    INTERVALS,
    METHODS,
    Rating,
    rate,
    rate_by_fit,
)
from assay.moves.regan.scale import ARTERY_METHODS, expectation
from assay.moves.regan.spread import Floats
from assay.moves.regan.zscores import FAR_BELOW, single_z
from assay.pools import POOLS, SLOW, is_online

# FIDE's table ends at 800 points above or below the opposition.
MOST = 800.0


def performance_rating(opponents: Sequence[float] | Floats, points: float) -> float:
    """The rating at which the expected score against these opponents equals the points, by the logistic curve.

    Perfect scores have none; they are placed 800 points beyond the average opponent, as FIDE's table does.

    >>> performance_rating([2400.0, 2400.0], 1.0), performance_rating([2000.0, 2200.0], 2.0)
    (2400.0, 2900.0)
    """
    ratings = np.asarray(opponents, dtype=np.float64)
    mean = float(ratings.mean())
    low, high = mean - MOST, mean + MOST
    if points <= 0:
        return low
    if points >= len(ratings):
        return high
    for _ in range(60):
        middle = (low + high) / 2
        if np.sum(1 / (1 + 10 ** ((ratings - middle) / 400))) < points:
            low = middle
        else:
            high = middle
    return round((low + high) / 2, 6)


def far_below(judged: Evidence, cells: NDArray[np.intp], ratings: Floats) -> list[str]:
    """A note on the games in which a player falls far below the rating (nan: not known), if there are any."""
    known = np.isfinite(ratings)
    rated = cells[known]
    z = single_z(judged.tally.of(rated), ratings[known], judged.scale)
    low = z < FAR_BELOW
    if not low.any():
        return []
    lowest = int(np.nanargmin(z))
    worst = f"game {judged.game[rated[lowest]] + 1}"
    games = len(np.unique(judged.game[rated[low]]))
    which = (
        f"{worst} is far below the rating" if games == 1 else f"{games} games are far below the rating, {worst} most"
    )
    return [f"{which} (z {z[lowest]:.1f}): perhaps wrongly recorded, or not in earnest"]


def taken_tags(judged: Evidence, cells: NDArray[np.intp]) -> list[str]:
    """A note on the games without a rating tag, for which that of another game serves, if there are any."""
    taken = cells[judged.taken[cells]]
    if not len(taken):
        return []
    games = ", ".join(str(game + 1) for game in np.unique(judged.game[taken]))
    ratings = " and ".join(f"{rating:.0f}" for rating in np.unique(judged.rating[taken]))
    return [f"no rating tag in game {games}: {ratings} taken from other games"]


def pool_note(judged: Evidence, group: int) -> str:
    """Why the scale of slow games over the board does not fit a group's games; nothing where it does."""
    others = [pool for pool in judged.pools(group) if pool != SLOW]
    if not others:
        return ""
    where = " and ".join(POOLS[pool] for pool in others)
    scale = "the scale is that of slow games over the board"
    return f"{where}: {scale}, so no Elo" if any(map(is_online, others)) else f"{where}: {scale}"


def is_elsewhere(judged: Evidence, group: int) -> bool:
    """Whether any game of a group was played on a server, whose ratings are a scale that no calibration has."""
    return any(map(is_online, judged.pools(group)))


# Regan's way by name.
ALIASES = {"regan": "percentile"}
METHOD_NAMES = (*METHODS, "regan")
COLUMNS = (
    "group",
    "games",
    "turns",
    "elo",
    "performance",
    "ipr",
    "low",
    "high",
    "mm",
    "mm_expected",
    "top3",
    "top3_expected",
    "ad",
    "ad_expected",
    "s",
    "c",
    "method",
    "note",
)


@dataclass(frozen=True)
class How:
    """How to rate: method, interval, level, and whether few turns lean on the player's rating."""

    method: str = "combined"
    interval: str = "clustered"
    level: float = 0.95
    prior: bool = True
    min_turns: int = FEWEST_TURNS
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHOD_NAMES:
            raise ModelError(f"unknown method {self.method!r}: choose one of {', '.join(METHOD_NAMES)}.")
        if self.interval not in INTERVALS:
            raise ModelError(f"unknown interval {self.interval!r}: choose one of {', '.join(INTERVALS)}.")


@dataclass(frozen=True)
class Row:
    """The rating of one group. What is not known is None; `note` says why, and what the rating leans on."""

    group: str
    games: int
    turns: int
    elo: float | None
    performance: float | None
    rating: Rating | None
    actual: Floats
    expected: Floats | None
    note: str
    pool: str | None = None  # None where several are mixed

    def values(self) -> dict[str, Any]:
        """The row as columns of a table; mm and top3 are shares of the turns, ad the average scaled error."""
        rating, per_turn = self.rating, self.actual / max(self.turns, 1)
        expected = [None] * 3 if self.expected is None else list(self.expected / max(self.turns, 1))
        return {
            "group": self.group,
            "games": self.games,
            "turns": self.turns,
            "elo": self.elo,
            "performance": self.performance,
            "ipr": rating.rating if rating else None,
            "low": rating.low if rating else None,
            "high": rating.high if rating else None,
            "mm": per_turn[0],
            "mm_expected": expected[0],
            "top3": per_turn[1],
            "top3_expected": expected[1],
            "ad": per_turn[2],
            "ad_expected": expected[2],
            "s": rating.s if rating else None,
            "c": rating.c if rating else None,
            "method": rating.method if rating else None,
            "note": self.note,
        }


def rate_groups(judged: Evidence, how: How) -> list[Row]:
    """Rate every group, in their order."""
    return [rate_group(judged, group, how) for group in range(len(judged.groups))]


def rate_group(judged: Evidence, group: int, how: How) -> Row:
    """Rate one group of turns."""
    cells = judged.cells(group)
    tally = judged.tally.of(cells)
    ratings = judged.rating[cells]
    known = np.isfinite(ratings)
    elo = float(np.average(ratings[known], weights=tally.turns[known])) if known.any() else None
    elsewhere = is_elsewhere(judged, group)
    expected = None
    if known.all() and len(cells) and not elsewhere:
        expected = expectation(tally, ratings, judged.scale).sum(axis=0)
    turns = int(tally.turns.sum())
    prior = elo if how.prior and turns < FEW_TURNS and how.interval == "clustered" else None
    notes = [note for note in (pool_note(judged, group), *taken_tags(judged, cells)) if note]
    rating = None
    if not elsewhere:
        try:
            rating = _rate(judged, group, how, turns, prior)
            notes += _notes(rating, judged, how, elo)
        except ModelError as error:
            notes.append(str(error).rstrip("."))
        notes += far_below(judged, cells, ratings if rating is None else np.where(known, ratings, rating.rating))
    return Row(
        group=judged.groups.labels[group],
        games=len(np.unique(judged.game[cells])),
        turns=turns,
        elo=elo,
        performance=_performance(judged, cells),
        rating=rating,
        actual=tally.actual.sum(axis=0),
        expected=expected,
        note="; ".join(notes),
        pool=judged.pools(group)[0] if len(judged.pools(group)) == 1 else None,
    )


def _rate(judged: Evidence, group: int, how: How, turns: int, prior: float | None) -> Rating:
    method = ALIASES.get(how.method, how.method)
    if method in ARTERY_METHODS:
        return rate(
            judged.by_game(group),
            judged.scale,
            method=method,
            interval=how.interval,
            level=how.level,
            prior=prior,
            seed=how.seed,
            fewest=how.min_turns,
        )
    if turns < max(how.min_turns, FEW_TURNS):
        raise ModelError(f"{turns} turns are too few for a fit of s and c; it takes {max(how.min_turns, FEW_TURNS)}")
    rows = judged.turns_of(group)
    return rate_by_fit(
        judged.spreads.deltas[rows],
        judged.spreads.played[rows],
        judged.scale,
        games=judged.turns.game[rows],
        elsewhere=judged.spreads.elsewhere[rows],
        method=method,  # type: ignore[arg-type]
        interval=how.interval,
        level=how.level,
        seed=how.seed,
    )


def _notes(rating: Rating, judged: Evidence, how: How, elo: float | None) -> list[str]:
    notes = []
    low, high = judged.scale.range
    if rating.beyond:
        side = "above" if rating.beyond > 0 else "below"
        notes.append(f"{side} all that the calibration can tell apart: trust the interval, not the rating")
    elif not low - 100 <= rating.rating <= high + 100:
        notes.append("extrapolated beyond the calibrated marks")
    if rating.shrunk:
        notes.append(f"few turns: drawn towards the rating {elo:.0f} of the tags")
    elif rating.turns < FEW_TURNS:
        notes.append("few turns")
    if how.interval == "bootstrap" and rating.interval != "bootstrap":
        notes.append(f"a bootstrap takes {FEWEST_TO_RESAMPLE} games: this interval is clustered")
    return notes


def _performance(judged: Evidence, cells: NDArray[np.intp]) -> float | None:
    """The result performance of the sides in these cells, where opponents are rated and games have results."""
    sides = {(int(judged.game[cell]), bool(judged.white[cell])) for cell in cells}
    games = judged.turns.games
    opponents, points = [], 0.0
    for game, white in sorted(sides):
        score = score_of(games["result"][game])
        opponent = games["black_elo" if white else "white_elo"][game]
        if score is not None and opponent is not None:
            opponents.append(float(opponent))
            points += score if white else 1 - score
    return performance_rating(opponents, points) if opponents else None


def sort_rows(rows: Sequence[Row]) -> list[Row]:
    """The best first; groups without a rating at the end."""
    return sorted(rows, key=lambda row: -row.rating.rating if row.rating else float("inf"))
