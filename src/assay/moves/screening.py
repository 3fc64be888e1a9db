"""Screening of players over events: rows of z's, likelihood ratios and rates of false alarms, sorted by z."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.curve import Estimate
from assay.errors import ModelError
from assay.games.outcomes import score_of
from assay.moves.choice.measures import Measures
from assay.moves.deepchoice import DeepEvidence, DeepFinding
from assay.moves.evidence import Evidence, GameSides, pools_of
from assay.moves.field import FEWEST_FOR_NULL, Assistance, assistance, null_by_group, p_values, q_values, shipped_null
from assay.moves.groups import UNKNOWN, Groups
from assay.moves.performance import engine_note, far_below, scale_note, strange_tags, taken_tags
from assay.pools import STANDARD
from assay.records import dataclass

FEWEST_TURNS = 20
SCORED = {1.0: "1", 0.5: "1/2", 0.0: "0"}
COLUMNS = (
    "player",
    "part",
    "opponent",
    "result",
    "games",
    "turns",
    "rating",
    "mm",
    "mm_expected",
    "top3",
    "top3_expected",
    "ad",
    "ad_expected",
    "z_mm",
    "z_t3",
    "z_ae",
    "deep",
    "deep_expected",
    "z",
    "roi",
    "ipr",
    "ipr_low",
    "ipr_high",
    "likelihood_ratio",
    "share",
    "share_low",
    "share_high",
    "p_value",
    "q_value",
    "expected_beyond",
    "note",
)


@dataclass(frozen=True)
class Screened:
    """Actual and expected totals of match, top3 and error, their z's, and the combined z.

    `shift` is by how much a rating that is off by its error would move the combined z; it is allowed for.
    """

    turns: int
    actual: NDArray[np.float64]
    expected: NDArray[np.float64]
    z: NDArray[np.float64]
    combined: float
    shift: float = 0.0


@dataclass(frozen=True)
class ScreenRow:
    """One player in one event (or part of the games).

    `z` is against honest player-events of the same years and band, or the field; the three single z's are against the
    calibration, with the error of the rating allowed for. Where deep choices are known (`deep`), z is theirs.
    """

    player: str
    part: str
    opponent: str | None  # None where there are several, as with the result
    result: str | None
    games: int
    turns: int
    rating: float | None
    screened: Screened | None
    z: float | None
    ipr: Estimate | None
    assisted: Assistance | None
    p_value: float | None
    q_value: float | None
    expected_beyond: float | None
    pool: str | None  # None where several are mixed
    note: str
    deep: DeepFinding | None = None

    @property
    def likelihood_ratio(self) -> float | None:
        """Of the best mixture with engine-like play against none."""
        return float(np.exp(min(self.assisted.log_ratio, 700.0))) if self.assisted else None

    def values(self) -> dict[str, Any]:
        """The row as columns of a table."""
        found = self.screened
        actual = found.actual / found.turns if found else np.full(3, np.nan)
        expected = found.expected / found.turns if found else np.full(3, np.nan)
        z = found.z if found else np.full(3, np.nan)
        return {
            "player": self.player,
            "part": self.part,
            "opponent": self.opponent,
            "result": self.result,
            "games": self.games,
            "turns": self.turns,
            "rating": self.rating,
            "mm": actual[0],
            "mm_expected": expected[0],
            "top3": actual[1],
            "top3_expected": expected[1],
            "ad": actual[2],
            "ad_expected": expected[2],
            "z_mm": z[0],
            "z_t3": z[1],
            "z_ae": z[2],
            "deep": self.deep.played / self.deep.turns if self.deep else None,
            "deep_expected": self.deep.expected / self.deep.turns if self.deep else None,
            "z": self.z,
            "roi": None if self.z is None else 50 + 5 * self.z,
            "ipr": self.ipr.value if self.ipr else None,
            "ipr_low": self.ipr.low if self.ipr else None,
            "ipr_high": self.ipr.high if self.ipr else None,
            "likelihood_ratio": self.likelihood_ratio,
            "share": self.assisted.share if self.assisted else None,
            "share_low": self.assisted.low if self.assisted else None,
            "share_high": self.assisted.high if self.assisted else None,
            "p_value": self.p_value,
            "q_value": self.q_value,
            "expected_beyond": self.expected_beyond,
            "note": self.note,
        }


def screen_groups(
    evidence: Evidence,
    groups: Groups,
    *,
    ratings: Mapping[str, float] | None = None,
    null: str = "calibrated",
    rating_error: float | Mapping[str, float] = 0.0,
    min_turns: int = FEWEST_TURNS,
    deep: DeepEvidence | None = None,
    shares: bool = True,
) -> list[ScreenRow]:
    """Screen every group; the turns are grouped by player and part (an event, a round, a phase).

    `ratings` by player take the place of the tags; `rating_error`, which may be one by player, counts where it is more
    than ratings are off in honest player-events of this level. With `null="field"` the
    z's are measured against the centre and spread of the field itself (those of the same pool, by rating band where
    ten players share one). With the `deep` choices of the same turns z is the test of these. Without `shares` the best
    mixture with engine-like play is not looked for: that costs more than all the rest.
    """
    own = null == "field"
    estimates = evidence.estimates(groups)
    rows = [
        _row(evidence, key, turns, found, ratings, own, _error(rating_error, key[0]), min_turns, deep, shares)
        for key, turns, found in zip(groups.keys, groups.turns, estimates, strict=True)
    ]
    rows = _against_field(rows) if own else rows
    found = [row for row in rows if row.z is not None]
    p = p_values(np.array([row.z for row in found], dtype=np.float64))
    q = q_values(p)
    judged_rows = [
        replace(row, p_value=float(a), q_value=float(b), expected_beyond=float(a) * len(found))
        for row, a, b in zip(found, p, q, strict=True)
    ]
    judged_rows.sort(key=lambda row: -(row.z or 0.0))
    return judged_rows + [row for row in rows if row.z is None]


def _error(given: float | Mapping[str, float], player: str) -> float:
    return given.get(player, 0.0) if isinstance(given, Mapping) else given


def _row(
    evidence: Evidence,
    key: tuple[str, ...],
    turns: NDArray[np.intp],
    ipr: Estimate,
    given: Mapping[str, float] | None,
    own_null: bool,
    rating_error: float,
    min_turns: int,
    deep: DeepEvidence | None,
    shares: bool,
) -> ScreenRow:
    player, part = key[:2]
    every = evidence.sides
    sides = every.in_group(turns)
    asked = (given or {}).get(player)
    rating = every.rating[sides] if asked is None else np.full(len(sides), asked)
    pools = pools_of(evidence.turns, np.unique(every.game[sides]))
    elsewhere = strange_tags(pools)
    opponent, result = _met(evidence.turns.games, every, sides)
    blank = ScreenRow(
        player=player,
        part=part,
        opponent=opponent,
        result=result,
        games=len(np.unique(every.game[sides])),
        turns=len(turns),
        rating=None,
        screened=None,
        z=None,
        ipr=None,
        assisted=None,
        p_value=None,
        q_value=None,
        expected_beyond=None,
        pool=pools[0] if len(pools) == 1 else None,
        note="",
    )
    if player == UNKNOWN:
        return replace(blank, note="sides without a name may be of many people: nobody to compare")
    odd = [
        *filter(None, [scale_note(evidence.turns.games, every.game[sides])]),
        *engine_note(evidence.calibration),
        *([] if asked is not None else taken_tags(evidence, sides)),
    ]
    odd += [] if elsewhere else far_below(evidence, sides, rating)
    if len(turns) < min_turns:
        return replace(blank, note="; ".join([f"{len(turns)} turns are too few; it takes {min_turns}", *odd]))
    shown = ipr if ipr.known else None
    if not np.isfinite(rating).all():
        lacking = "no rating in the tags: nothing to compare with (give one with --rating)"
        return replace(blank, ipr=shown, note="; ".join([lacking, *odd]))
    if elsewhere and not own_null and asked is None:
        lacking = "a rating of another scale says nothing of what to expect (use --null field, or --rating)"
        return replace(blank, ipr=shown, note="; ".join([*odd, lacking]))
    place = np.zeros(len(every.game), np.intp)
    place[sides] = np.arange(len(sides))
    own = rating[place[every.of[turns]]]
    mine = evidence.only(turns)
    null, level = shipped_null(), float(own.mean())
    found = screen(mine, own, rating_error=max(rating_error, null.rating_error(level)))
    if not np.isfinite(found.combined):
        lacking = f"there was too little to get wrong in these {len(turns)} turns"
        return replace(blank, ipr=shown, note="; ".join([lacking, *odd]))
    further = deep.judge(turns, own, rating_error) if deep else None
    if deep and further is None:
        lacking = f"the choice was obvious in all of these {len(turns)} turns"
        return replace(blank, ipr=shown, note="; ".join([lacking, *odd]))
    line = mine.lines[int(np.bincount(mine.line).argmax())].name
    return replace(
        blank,
        rating=level,
        screened=found,
        z=further.z if further else null.centred(found.combined, line, level, len(turns), found.shift),
        deep=further,
        ipr=shown,
        assisted=_assisted(mine, own) if shares else None,
        note="; ".join(odd),
    )


def _met(games: pl.DataFrame, every: GameSides, sides: NDArray[np.intp]) -> tuple[str | None, str | None]:
    """Who the opponent was and what was scored, where it is one game."""
    if len(sides) != 1:
        return None, None
    game, white = int(every.game[sides[0]]), bool(every.white[sides[0]])
    score = score_of(games["result"][game])
    if score is None:
        return games["black" if white else "white"][game], games["result"][game]
    return games["black" if white else "white"][game], SCORED[score if white else 1 - score]


def screen(evidence: Evidence, ratings: NDArray[np.float64], *, rating_error: float = 0.0) -> Screened:
    """Compare turns with what is expected of the rating that goes with each.

    z_k = (actual - expected) / (k x sigma), signed so that strong play is positive (RMH11, section 4); the combined z
    mixes the three by weight and divides by the standard deviation that their measured correlation gives the mixture.
    `rating_error` is how far the rating may be off (a standard deviation in Elo); it widens every sigma.
    """
    scatter, mix = evidence.model.scatter, evidence.model.scatter.mix
    sums = _total(evidence.measures(ratings))
    wider = float(np.mean([line.z for line in evidence.lines]))
    z = scatter.z(sums)[0] / wider
    combined, moved = float(z @ mix), 0.0
    if rating_error > 0:
        higher = _total(evidence.measures(ratings + rating_error)).expected
        shift = scatter.z(replace(sums, actual=higher))[0] / wider
        moved = float(shift @ mix)
        z, combined = z / np.sqrt(1 + shift**2), combined / float(np.hypot(1, moved))
    return Screened(len(ratings), sums.actual[0], sums.expected[0], z, combined, moved)


def _total(measures: Measures) -> Measures:
    return measures.sum(np.zeros(len(measures.turns), np.intp), 1)


def _assisted(evidence: Evidence, ratings: NDArray[np.float64]) -> Assistance:
    """The best mixture with engine-like play."""
    chosen = evidence.turns.choices.chosen
    log_own, log_engine = (np.log(of(ratings)[chosen]) for of in (evidence.chances, evidence.engine_chances))
    power = evidence.honesty(np.arange(len(ratings)), float(ratings.mean())).power
    return assistance(log_own, log_engine, power)


def _against_field(rows: list[ScreenRow]) -> list[ScreenRow]:
    """The rows against centre and spread of their own field: the rows of the same pool."""
    pools = dict.fromkeys(row.pool for row in rows)
    if len(pools) == 1:
        return _against(rows)
    moved: dict[int, ScreenRow] = {}
    for pool in pools:
        own = [row for row in rows if row.pool == pool]
        try:
            new = _against(own)
        except ModelError as error:
            note = str(error).partition(".")[0]
            new = [replace(row, z=None, note="; ".join(filter(None, [row.note, note]))) for row in own]
        moved |= {id(row): changed for row, changed in zip(own, new, strict=True)}
    return [moved[id(row)] for row in rows]


def _against(rows: list[ScreenRow]) -> list[ScreenRow]:
    known = [row for row in rows if row.z is not None]
    if len(known) < FEWEST_FOR_NULL:
        raise ModelError(
            f"a field of {len(known)} players cannot be its own null; it takes {FEWEST_FOR_NULL}. "
            "Use --null calibrated, or give more games."
        )
    band = [STANDARD.of(row.rating or 0) or 0 for row in known]
    centre, spread = null_by_group(np.array([row.z for row in known], dtype=np.float64), band)
    moved = {
        id(row): replace(row, z=(float(row.z or 0.0) - float(c)) / float(s))
        for row, c, s in zip(known, centre, spread, strict=True)
    }
    return [moved.get(id(row), row) for row in rows]
