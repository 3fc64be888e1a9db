"""Performances of groups of turns: one row each, with a rating and its interval or the reason why there is none.

Beside it stands the performance by results, and what a reader must know of the games: ratings from elsewhere, another
pool's scale, a game that no rating explains.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.curve import LEVEL, Estimate
from assay.engine.choices import Choices, filled, pawns
from assay.engine.turns import Turns
from assay.errors import ModelError
from assay.games.outcomes import score_of
from assay.moves.calibration import Calibration
from assay.moves.choice.measures import Measures
from assay.moves.evidence import Evidence, GameSides, pools_of
from assay.moves.groups import Groups
from assay.moves.regan.fitting import DEPTHS, layered
from assay.moves.regan.ipr import FEW_TURNS, FEWEST_TO_RESAMPLE, FIT_METHODS, INTERVALS, Rating, rate_by_fit
from assay.moves.regan.spread import Floats
from assay.pools import POOLS, SLOW, has_line, is_online, words_of
from assay.records import dataclass

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


# A game so far below a player's rating was wrongly recorded or not played in earnest: see docs/validation.md. One
# blunder in a handful of turns is no more than that.
FAR_BELOW = -5.0
FEWEST_IN_A_GAME = 10
# The choice model, Regan's way by its name in the papers and here, and the other fits of s and c.
CHOICE = "choice"
ALIASES = {"regan": "percentile"}
METHOD_NAMES = (CHOICE, *FIT_METHODS, DEPTHS, "regan")
COLUMNS = (
    "group", "games", "turns", "elo", "performance", "ipr", "low", "high", "mm", "mm_expected", "top3", "top3_expected",
    "ad", "ad_expected", "s", "c", "method", "note",
)  # fmt: skip


def far_below(evidence: Evidence, sides: NDArray[np.intp], ratings: Floats) -> list[str]:
    """A note on the games in which a player falls far below the rating (nan: not known), if there are any."""
    own = sides[np.isfinite(ratings)]
    if not len(own) or evidence.judge is None:
        return []
    sums = side_measures(evidence, own, ratings[np.isfinite(ratings)])
    scatter = evidence.model.scatter
    z = np.where(sums.turns >= FEWEST_IN_A_GAME, scatter.z(sums) @ scatter.mix / evidence.wider[own], np.nan)
    low = z < FAR_BELOW
    if not low.any():
        return []
    lowest = int(np.nanargmin(z))
    worst = f"game {evidence.sides.game[own[lowest]] + 1}"
    games = len(np.unique(evidence.sides.game[own[low]]))
    which = (
        f"{worst} is far below the rating" if games == 1 else f"{games} games are far below the rating, {worst} most"
    )
    return [f"{which} (z {z[lowest]:.1f}): perhaps wrongly recorded, or not in earnest"]


def side_measures(evidence: Evidence, sides: NDArray[np.intp], ratings: Floats) -> Measures:
    """What each of these sides scored beside what is expected of the rating that goes with it."""
    place = np.full(len(evidence.sides.game), -1)
    place[sides] = np.arange(len(sides))
    code = place[evidence.sides.of]
    if np.array_equal(ratings, evidence.sides.rating[sides]):
        return evidence.by_tag.sum(code, len(sides))
    inside = code >= 0
    return evidence.only(inside).measures(ratings[code[inside]]).sum(code[inside], len(sides))


def taken_tags(evidence: Evidence, sides: NDArray[np.intp]) -> list[str]:
    """A note on the games without a rating tag, for which that of another game serves, if there are any."""
    every = evidence.sides
    taken = sides[every.taken[sides]]
    if not len(taken):
        return []
    games = ", ".join(str(game + 1) for game in np.unique(every.game[taken]))
    ratings = " and ".join(f"{rating:.0f}" for rating in np.unique(every.rating[taken]))
    return [f"no rating tag in game {games}: {ratings} taken from other games"]


def scale_note(tags: pl.DataFrame, games: NDArray[np.intp]) -> str:
    """On which scale games of pools are rated that have none of their own; nothing where they have."""
    others = {(tags["pool"][int(game)], tags["line"][int(game)]) for game in games}
    strange = sorted((pool, line) for pool, line in others if not has_line(pool))
    notes = [
        f"{POOLS[pool]}: no scale of its own, rated on that of {words_of(line)}, and wider for it"
        for pool, line in strange
    ]
    return "; ".join(dict.fromkeys(notes))


def strange_tags(pools: Sequence[str]) -> bool:
    """Whether the tags of these pools are ratings of a scale that no line leads to."""
    return any(is_online(pool) and not has_line(pool) for pool in pools)


def engine_note(calibration: Calibration) -> list[str]:
    """A note that another engine's calibration serves, and by how much that may be off, where it does."""
    return [str(calibration.stand_in)] if calibration.stand_in else []


@dataclass(frozen=True)
class How:
    """How to rate: method, interval (of a fit), level, and the fewest turns of a row."""

    method: str = CHOICE
    interval: str = "clustered"
    level: float = LEVEL
    min_turns: int = 1
    seed: int = 0

    def __post_init__(self) -> None:
        if self.method not in METHOD_NAMES:
            raise ModelError(f"unknown method {self.method!r}: choose one of {', '.join(METHOD_NAMES)}.")
        if self.interval not in INTERVALS:
            raise ModelError(f"unknown interval {self.interval!r}: choose one of {', '.join(INTERVALS)}.")
        if self.method == CHOICE and self.interval != "clustered":
            raise ModelError(f"an interval by {self.interval!r} belongs to a fit: give --method regan with it.")


@dataclass(frozen=True)
class Row:
    """The rating of one group. What is not known is None; `note` says why.

    `estimate` is nan where there is no rating, infinite where the evidence sets no bound; `s` and `c` belong to a fit.
    """

    group: str
    games: int
    turns: int
    elo: float | None
    performance: float | None
    estimate: Estimate
    actual: Floats
    expected: Floats | None
    method: str
    note: str
    s: float | None = None
    c: float | None = None
    pool: str | None = None  # None where several are mixed

    @property
    def rating(self) -> float | None:
        """The rating, None where there is none."""
        return self.estimate.value if math.isfinite(self.estimate.value) else None

    def values(self) -> dict[str, Any]:
        """The row as columns of a table; mm and top3 are shares of the turns, ad the average scaled error."""
        per_turn = self.actual / max(self.turns, 1)
        expected = [None] * 3 if self.expected is None else list(self.expected / max(self.turns, 1))
        return {
            "group": self.group,
            "games": self.games,
            "turns": self.turns,
            "elo": self.elo,
            "performance": self.performance,
            "ipr": self.rating,
            "low": _finite(self.estimate.low),
            "high": _finite(self.estimate.high),
            "mm": per_turn[0],
            "mm_expected": expected[0],
            "top3": per_turn[1],
            "top3_expected": expected[1],
            "ad": per_turn[2],
            "ad_expected": expected[2],
            "s": self.s,
            "c": self.c,
            "method": self.method,
            "note": self.note,
        }


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None


NONE = Estimate()


def rate_groups(evidence: Evidence, groups: Groups, how: How | None = None) -> list[Row]:
    """Rate every group, in their order; turns without a group (-1) are left out."""
    how = how or How()
    estimates = evidence.estimates(groups, how.level) if how.method == CHOICE else [NONE] * len(groups)
    rows = zip(groups.labels, groups.turns, estimates, strict=True)
    return [_row(evidence, label, turns, found, how) for label, turns, found in rows]


def _row(evidence: Evidence, label: str, turns: NDArray[np.intp], found: Estimate, how: How) -> Row:
    every = evidence.sides
    sides = every.in_group(turns)
    count = np.bincount(every.of[turns], minlength=len(every.game))[sides]
    ratings = every.rating[sides]
    known = np.isfinite(ratings)
    elo = float(np.average(ratings[known], weights=count[known])) if known.any() else None
    pools = pools_of(evidence.turns, np.unique(every.game[sides]))
    rated = bool(known.all()) and not strange_tags(pools)
    totals = evidence.by_tag if evidence.judge else None
    played = evidence.turns.choices.chosen[turns]
    notes = [
        note for note in (scale_note(evidence.turns.games, every.game[sides]), *taken_tags(evidence, sides)) if note
    ]
    fitted: Rating | None = None
    if how.method != CHOICE and pools != [SLOW]:
        found = NONE
        notes.append("fits of s and c are on the scale of slow games over the board: no rating")
    elif len(turns) < how.min_turns:
        found = NONE
        notes.append(f"{len(turns)} turns are too few for a rating; it takes at least {how.min_turns}")
    elif how.method != CHOICE:
        try:
            fitted = _fitted(evidence.turns.only(turns), evidence.calibration, how)
            found = Estimate(fitted.rating, fitted.low, fitted.high, how.level)
            notes += _fit_notes(fitted, how)
        except ModelError as error:
            notes.append(str(error).rstrip("."))
    notes += engine_note(evidence.calibration)
    notes += _scale_notes(evidence, turns, found)
    middle = found.value if math.isfinite(found.value) else math.nan
    notes += far_below(evidence, sides, np.where(known & rated, ratings, middle))
    return Row(
        group=label,
        games=len(np.unique(every.game[sides])),
        turns=len(turns),
        elo=elo,
        performance=result_performance(evidence.turns.games, every, sides),
        estimate=found,
        actual=evidence.scored[played].sum(axis=0, dtype=np.float64),
        expected=totals.expected[turns].sum(axis=0) if rated and totals else None,
        method=how.method,
        note="; ".join(notes),
        s=fitted.s if fitted else None,
        c=fitted.c if fitted else None,
        pool=pools[0] if len(pools) == 1 else None,
    )


def _fitted(turns: Turns, calibration: Calibration, how: How) -> Rating:
    if len(turns) < FEW_TURNS:
        raise ModelError(f"{len(turns)} turns are too few for a fit of s and c; it takes {FEW_TURNS}")
    scale, values = calibration.regan(), turns.values
    if how.method == DEPTHS and scale.layers:
        values = layered(turns.at_depths(scale.layers.depths), scale.layers.depths)
    deltas, played, elsewhere = calibration.fitting.spread(values, turns.played)
    return rate_by_fit(
        deltas,
        played,
        scale,
        games=turns.game,
        elsewhere=elsewhere,
        method=ALIASES.get(how.method, how.method),  # type: ignore[arg-type]
        interval=how.interval,
        level=how.level,
        seed=how.seed,
    )


def _fit_notes(fitted: Rating, how: How) -> list[str]:
    notes = []
    if fitted.beyond:
        side = "above" if fitted.beyond > 0 else "below"
        notes.append(f"{side} all that the calibration can tell apart: trust the interval, not the rating")
    if how.interval == "bootstrap" and fitted.interval != "bootstrap":
        notes.append(f"a bootstrap takes {FEWEST_TO_RESAMPLE} games: this interval is clustered")
    return notes


def _scale_notes(evidence: Evidence, turns: NDArray[np.intp], found: Estimate) -> list[str]:
    """What the ends of the scale and its marks have to say of an estimate."""
    lines = [evidence.lines[number] for number in np.unique(evidence.line[turns]).tolist()]
    if not found.bounded:
        return ends_note(found)
    if not min(line.low for line in lines) - 100 <= found.value <= max(line.high for line in lines) + 100:
        return ["extrapolated beyond the calibrated marks"]
    return []


def ends_note(found: Estimate) -> list[str]:
    """A note on a rating whose interval lacks an end, or both; nothing where there is no rating.

    >>> ends_note(Estimate(2700, low=2650)), ends_note(Estimate(1730)), ends_note(Estimate(1730, 1600, 1900))
    (['at least 2650'], ['too little to bound the rating'], [])
    """
    if not found.known or found.bounded:
        return []
    return [str(found) if math.isfinite(found.low) or math.isfinite(found.high) else "too little to bound the rating"]


def result_performance(games: pl.DataFrame, every: GameSides, sides: NDArray[np.intp]) -> float | None:
    """The result performance of these sides, where opponents are rated and games have results."""
    opponents, points = [], 0.0
    for side in sides:
        game, white = int(every.game[side]), bool(every.white[side])
        score = score_of(games["result"][game])
        opponent = games["black_elo" if white else "white_elo"][game]
        if score is not None and opponent is not None:
            opponents.append(float(opponent))
            points += score if white else 1 - score
    return performance_rating(opponents, points) if opponents else None


def sort_rows(rows: Sequence[Row]) -> list[Row]:
    """The best first; groups without a rating at the end."""
    return sorted(rows, key=lambda row: -row.rating if row.rating is not None else float("inf"))


THRESHOLDS = (0.5, 1.0, 2.0)  # pawns
BLUNDER_NAMES = tuple(f"beyond_{100 * threshold:.0f}" for threshold in THRESHOLDS)
BLUNDER_COLUMNS = tuple(name for each in BLUNDER_NAMES for name in (each, f"{each}_expected"))


def move_losses(choices: Choices) -> Floats:
    """How many pawns every listed move loses against the best of its turn; one without a value as much as the worst."""
    values = pawns(filled(choices.codes[:, -1:], choices.start))[:, 0].astype(np.float64)
    best = np.maximum.reduceat(values, choices.start[:-1]) if len(choices) else np.zeros(0)
    return np.asarray(best[choices.turn] - values)


def blunder_shares(evidence: Evidence, groups: Groups, ratings: Floats | None) -> list[dict[str, float | None]]:
    """Of each group the share of moves that lose more than each threshold, and the share that is expected.

    `ratings` are what is expected of, one for each turn; without them, or where one is not known, nothing is.
    """
    choices = evidence.turns.choices
    loss = move_losses(choices)
    # A hair of slack: centipawns are not exact in binary.
    beyond = np.stack([loss > threshold + 1e-6 for threshold in THRESHOLDS], axis=1)
    actual = beyond[choices.chosen].astype(np.float64)
    expected = np.full(actual.shape, np.nan)
    if ratings is not None and evidence.judge is not None and len(actual):
        known = np.isfinite(ratings)
        chances = evidence.chances(np.where(known, ratings, 2000.0))
        expected = np.add.reduceat(beyond * chances[:, None], choices.start[:-1], axis=0)
        expected[~known] = np.nan
    return [_shares(actual[turns], expected[turns]) for turns in groups.turns]


def _shares(actual: Floats, expected: Floats) -> dict[str, float | None]:
    row: dict[str, float | None] = {}
    for at, name in enumerate(BLUNDER_NAMES):
        row[name] = float(actual[:, at].mean()) if len(actual) else None
        mean = float(expected[:, at].mean()) if len(expected) else float("nan")
        row[f"{name}_expected"] = mean if np.isfinite(mean) else None
    return row


def with_blunders(columns: Sequence[str]) -> list[str]:
    """The columns of a table with the shares of blunders behind the average error."""
    at = columns.index("ad_expected") + 1
    return [*columns[:at], *BLUNDER_COLUMNS, *columns[at:]]


def of_groups(groups: Groups, ratings: Sequence[float | None]) -> Floats:
    """For each turn the rating of its group (nan: none)."""
    each = np.array([np.nan if rating is None else rating for rating in (*ratings, None)], np.float64)
    return np.asarray(each[groups.code])
