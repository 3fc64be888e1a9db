"""Two rows of the answer compared: their difference with its interval, and the chance that the first is stronger.

A row's interval holds errors that another row shares: that of the line from moves to ratings for all who play in one
pool, and all that is a player's own (his style, which shows more or less than his results) for the parts of his games.
What both share is not in their difference. Games of two players with each other tell of nothing but the difference,
whatever their tags say. The curve of a difference is the most that both curves give for it (a profile), and its
interval is where that lies within half a chi-square quantile of its top, as that of a rating.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from itertools import combinations
from statistics import NormalDist
from typing import Any, Literal, Unpack

import numpy as np
from numpy.typing import NDArray

from assay.answer.joining import RESULTS, WITNESSES, honest, joint_of
from assay.answer.rating import Material, check_names, gather, said_by, voices_of
from assay.answer.voices import BY, Units, Voice, results_voice, units_of
from assay.curve import GRID, Curve, Estimate, Floats, Honesty, spline_matrix
from assay.errors import InputError
from assay.moves.asked import Analysing, Asked, What
from assay.moves.groups import PHASES, UNKNOWN
from assay.pools import POOLS
from assay.records import dataclass
from assay.results.expectancy import LOGISTIC_SCALE, expectancy, slope, win_draw_loss
from assay.table import Answer, Column, Table, counted, said_chance

REST = "the rest"
# Powers of witnesses were fitted where the errors that a player's games share are in their curves. Without these, in
# parts of one player's games, their sum is too sure of itself: its power in differences (studies/compare.py halves).
TOGETHER = 0.6
_STEP = 10.0
_FINE = np.arange(GRID[0], GRID[-1] + 1, _STEP)
_GAPS: Floats = np.arange(-(len(_FINE) - 1), len(_FINE), dtype=np.float64) * _STEP
_TO_FINE = spline_matrix(GRID, _FINE)


@dataclass(frozen=True)
class Difference:
    """The first less the second: both as the answer has them, their difference, and the chance that it is positive.

    `p` is the chance of so great a difference between equals, either way; `corrected` for all that were compared.
    """

    first: str
    second: str
    pool: str
    games: tuple[int, int]
    ratings: tuple[Estimate, Estimate]
    gap: Estimate
    stronger: float
    corrected: float = math.nan

    @property
    def p(self) -> float:
        """Two-sided, alone."""
        return min(2 * min(self.stronger, 1 - self.stronger), 1.0)

    @property
    def name(self) -> str:
        """By which its estimate is found in the answer."""
        return self.first if self.second == REST else f"{self.first} - {self.second}"

    def values(self) -> dict[str, Any]:
        """The row as named values."""
        found: dict[str, Any] = {"first": self.first, "second": self.second, "pool": self.pool}
        for side, one, games in zip(("", "second_"), self.ratings, self.games, strict=True):
            found |= {f"{side}games": games, f"{side}rating": one.value if math.isfinite(one.value) else None}
        bounds = {"difference": self.gap.value, "low": self.gap.low, "high": self.gap.high}
        found |= {name: value if math.isfinite(value) else None for name, value in bounds.items()}
        return found | {"stronger": self.stronger, "p": self.p, "p_corrected": self.corrected}


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared(Answer):
    """Differences between rows of the answer; `differences` has them with all that is known of both sides."""

    differences: Sequence[Difference]


@dataclass(frozen=True)
class Opposed:
    """What is compared: the units of each side (a side may be several), and what the errors of both have in common."""

    first: tuple[int, ...]
    second: tuple[int, ...]
    common: Literal["player", "line", "nothing"]


def compare(
    what: What,
    *,
    players: tuple[str, str] | None = None,
    player: str | None = None,
    by: str | None = None,
    pairwise: bool = False,
    witness: Sequence[str] | None = None,
    level: float = 0.95,
    without: Sequence[int] = (),
    evals: bool = False,
    **analysing: Unpack[Analysing],
) -> Compared:
    """The difference between two players, or between parts of one player's games, as `assay compare` tells it.

    `players` are two of those in the games (needless where there are only two). Of one `player` the parts `by` phase,
    year, month, event or pool are compared: two with each other, more each with all his others together, or
    `pairwise`. `[name]` is a difference: of "A - B", or of the part. docs/answer.md says what cancels and what stays.

    >>> import assay
    >>> found = assay.compare(assay.SAMPLE, witness=["results"])
    >>> found["Deep Blue - Kasparov, Garry"].bounded, len(found)
    (True, 1)
    """
    asked, heard = Asked(**analysing), tuple(witness or WITNESSES)
    if by is not None and by not in BY:
        raise InputError(f"cannot compare by {by!r}: choose one of {', '.join(BY)}.")
    if (player is None) != (by is None) or (player is not None and players is not None):
        raise InputError("compare two players (players), or the parts of one (player and by).")
    if wrong := [name for name in heard if name not in WITNESSES]:
        raise InputError(f"there is no witness {wrong[0]!r}: choose among {', '.join(WITNESSES)}.")
    called = players or ([] if player is None else [player])
    found = gather(what, asked, "moves" in heard, without=without, evals=evals, players=called)
    units = units_of(found.frame, found.counted, by)
    check_names(called, {name for name, _, _ in units.keys})
    if player is None:
        return _of_players(found, units, players, heard, level)
    return _of_parts(found, units, player, str(by), pairwise, heard, level)


def _of_players(
    found: Material, units: Units, players: tuple[str, str] | None, witness: Sequence[str], level: float
) -> Compared:
    names = list(dict.fromkeys(name for name, _, _ in units.keys if name != UNKNOWN))
    if players is None and len(names) != 2:
        raise InputError(f"there are {counted(len(names), 'player')} in these games: name the two (--players).")
    first, second = players or (names[0], names[1])
    if first == second:
        raise InputError("two players are compared: give two names.")
    pools = [pool for name, pool, _ in units.keys if name == first]
    pools = [pool for pool in pools if (second, pool, "") in units.keys]
    if not pools:
        raise InputError(f"{first} and {second} have no pool in common: their ratings are on two scales.")
    units, voices = voices_of(found, units, None, witness, level)
    rows = []
    for pool in pools:
        one, other = (units.keys.index((name, pool, "")) for name in (first, second))
        met = (units.of == one).any(axis=1) & (units.of == other).any(axis=1) & np.isfinite(units.scores)
        own, more = voices, np.zeros(len(_GAPS))
        if RESULTS in witness and met.any():
            apart = results_voice(found.frame, units, level, met)
            own = [apart if voice.kind == RESULTS else voice for voice in voices]
            more = told_by_games(units, one, met)
        rows.append(difference_of(units, voices, own, Opposed((one,), (other,), "line"), level, more, (first, second)))
    if rows[0].gap.known and rows[0].gap.value < 0 and players is None:  # the stronger first, where nobody is named
        rows = [_turned(row) for row in rows]
    return _answer(rows, found, f"{rows[0].first} and {rows[0].second}", level, voices)


def _turned(row: Difference) -> Difference:
    gap = replace(row.gap, value=-row.gap.value, low=-row.gap.high, high=-row.gap.low)
    return replace(
        row,
        first=row.second,
        second=row.first,
        games=row.games[::-1],
        ratings=row.ratings[::-1],
        gap=gap,
        stronger=1 - row.stronger,
    )


def _of_parts(
    found: Material, units: Units, player: str, by: str, pairwise: bool, witness: Sequence[str], level: float
) -> Compared:
    units, voices = voices_of(found, units, by, witness, level)
    parts: dict[str, list[int]] = {}
    unnamed = 0
    for at, (name, pool, part) in enumerate(units.keys):
        if name == player and part == UNKNOWN:
            unnamed += int(units.games[at])
        elif name == player:
            parts.setdefault("" if by == "pool" else pool, []).append(at)
    chosen: list[tuple[Opposed, tuple[str, str]]] = []
    common: Literal["player", "nothing"] = "nothing" if by == "pool" else "player"
    for own in parts.values():
        own.sort(key=lambda at: (PHASES.index(part) if (part := units.keys[at][2]) in PHASES else -1, part))
        pools = {at: units.keys[at][1] for at in own}
        labels = {at: POOLS.get(pools[at], pools[at]) if by == "pool" else units.keys[at][2] for at in own}
        if len(own) == 2 or pairwise:
            # Later years against earlier ones.
            pairs = combinations(own if by == "phase" else own[::-1], 2)
            chosen += [(Opposed((one,), (other,), common), (labels[one], labels[other])) for one, other in pairs]
        elif len(own) > 2:
            each = [(one, tuple(at for at in own if at != one)) for one in own]
            chosen += [(Opposed((one,), rest, common), (labels[one], REST)) for one, rest in each]
    if not chosen:
        raise InputError(f"the games of {player} have one part by {by}: there is nothing to compare.")
    nothing = np.zeros(len(_GAPS))
    rows = [difference_of(units, voices, voices, sides, level, nothing, names) for sides, names in chosen]
    told = [f"{counted(unnamed, 'game')} without a {by} left out."] if unnamed else []
    if by == "pool":
        told.append("Ratings of two pools are on two scales: none of their errors cancels, and points are not alike.")
    return _answer(rows, found, f"{player} by {by}", level, voices, told)


def told_by_games(units: Units, first: int, met: NDArray[np.bool_]) -> Floats:
    """What the games of two players with each other say of their difference."""
    usual, beta = joint_of(units.keys[first][1]).usual, slope(LOGISTIC_SCALE)
    log = np.zeros(len(_GAPS))
    for game in np.flatnonzero(met).tolist():
        white = units.of[game, 0] == first
        score = units.scores[game] if white else 1 - units.scores[game]
        tags = units.tags[game]
        level = float(np.nanmean(tags)) if np.isfinite(tags).any() else 2200.0
        ahead = _GAPS + (usual.white if white else -usual.white)
        chances = win_draw_loss(expectancy(ahead, beta), float(usual.drawn(level)))
        log += np.log(np.maximum(chances[round(2 * (1 - score))], 1e-300))
    return log


def left_of(voice: Voice, sides: Opposed, mine: tuple[int, ...], away: float) -> float:
    """What of the scale's error stays in a difference: what is a player's own, and lines that are not shared."""
    own = max((voice.honesty[at] for at in mine), key=lambda one: one.scale_error)
    lines = [{line for at in side for line in voice.lines[at].split("+")} for side in (sides.first, sides.second)]
    if sides.common == "nothing":
        return own.scale_error
    if lines[0] != lines[1]:
        return own.scale_error if sides.common == "line" else own.shared
    personal = 0.0 if sides.common == "player" else math.sqrt(max(own.scale_error**2 - own.shared**2, 0.0))
    return math.hypot(personal, own.tilt * away / math.sqrt(2))  # half of the tilt on each side


def difference_of(
    units: Units,
    voices: Sequence[Voice],
    apart: Sequence[Voice],
    sides: Opposed,
    level: float,
    more: Floats,
    names: tuple[str, str],
    together: float = TOGETHER,
) -> Difference:
    """The difference of two sides; `apart` are the voices without what `more` says of the difference itself."""
    both = sides.first, sides.second
    said = [said_by(units, side, voices, level) for side in both]
    away = abs(said[0].joint.value - said[1].joint.value) if all(one.joint.bounded for one in said) else 0.0
    heard = [voice for voice in voices if any(voice.says(at) for side in both for at in side)]
    count = np.max if units.of.max(initial=-1) < 0 else np.sum  # phases are parts of the same games
    games = tuple(int(count(units.games[list(side)])) for side in both)
    joints = [joint_of(units.keys[side[0]][1], many) for side, many in zip(both, games, strict=True)]
    totals = []
    for side, joint in zip(both, joints, strict=True):
        total = np.zeros(len(GRID))
        for voice in apart:
            row = voice.plain[list(side)].sum(axis=0)
            if np.ptp(row) > 1e-9:
                power = joint.power(voice.kind) if len(heard) > 1 else 1.0
                error = left_of(voice, sides, side, away)
                total += power * honest(row, Honesty(1.0, error))
        totals.append(total @ _TO_FINE)
    power = joints[0].power(RESULTS) if len(heard) > 1 else 1.0
    whole = together if len(heard) > 1 and sides.common == "player" else 1.0
    gap, stronger = _profile(whole * totals[0], whole * totals[1], whole * power * more, level)
    pool = units.keys[sides.first[0]][1]
    ratings = (said[0].joint, said[1].joint)
    return Difference(names[0], names[1], pool, (games[0], games[1]), ratings, gap, stronger)


def _profile(first: Floats, second: Floats, more: Floats, level: float) -> tuple[Estimate, float]:
    """The difference of two ratings by their curves and by what is known of it alone, and the chance that it is
    positive.

    >>> bell = lambda at, error: -0.5 * ((_FINE - at) / error) ** 2
    >>> gap, chance = _profile(bell(2300, 30), bell(2200, 40), np.zeros(len(_GAPS)), 0.95)
    >>> print(gap, round(chance, 3))
    100 (2-198) 0.978
    """
    table = first[:, None] + second[None, :]
    # Along a diagonal of the table both ratings rise together: their difference is one.
    log: Floats = np.array([table.diagonal(-at).max() for at in range(1 - len(_FINE), len(_FINE))]) + more
    curve, ends = Curve(log[None], _GAPS), {_end(first), -_end(second)}
    (gap,) = curve.estimates(level=level)
    if not gap.known or {1, -1} <= ends:
        return Estimate(level=level), 0.5
    if ends - {0}:  # a side of whom no more than a bound is known
        gap = replace(gap, value=math.inf, high=math.inf) if 1 in ends else replace(gap, value=-math.inf, low=-math.inf)
    fine, values = curve.fine()
    root = math.sqrt(max(2 * float(values.max() - np.interp(0.0, fine, values[0])), 0.0))
    return gap, NormalDist().cdf(math.copysign(root, fine[int(np.argmax(values))]))


def _end(row: Floats) -> int:
    """1 where a curve still rises at the upper end of the scale, -1 at the lower, 0 where it has a top or is flat."""
    if np.ptp(row) < 1e-9:
        return 0
    at = int(np.argmax(row))
    return 1 if at == len(row) - 1 else -1 if at == 0 else 0


def holm(p: Sequence[float]) -> list[float]:
    """Chances corrected for how many were compared (Holm 1979).

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    found, least = [0.0] * len(p), 0.0
    for rank, at in enumerate(sorted(range(len(p)), key=lambda at: p[at])):
        least = max(least, min((len(p) - rank) * p[at], 1.0))
        found[at] = least
    return found


def _answer(
    rows: Sequence[Difference],
    found: Material,
    whom: str,
    level: float,
    voices: Sequence[Voice],
    told: Sequence[str] = (),
) -> Compared:
    rows = [replace(row, corrected=p) for row, p in zip(rows, holm([row.p for row in rows]), strict=True)]
    several = len({row.pool for row in rows}) > 1
    columns = [
        Column("first"),
        Column("second"),
        *([Column("pool")] if several else []),
        Column("games", wide=True),
        Column("second_games", wide=True),
        Column("rating", decimals=0),
        Column("second_rating", "beside", decimals=0),
        Column("difference", decimals=0, said=_signed),
        Column("low", decimals=0, said=_signed),
        Column("high", decimals=0, said=_signed),
        Column("stronger", said=said_chance),
        Column("p", decimals=4, wide=True),
        Column("p_corrected", "p", decimals=3, wide=len(rows) == 1),
    ]
    head = f"{whom}: differences with {level:.0%} intervals; what both sides share is not in them."
    if len(rows) > 1:
        head += f" p is corrected for {len(rows)} comparisons."
    values = [row.values() for row in rows]
    return Compared(
        differences=rows,
        head=head,
        shown=Table(values, columns),
        estimates={row.name: row.gap for row in reversed(rows)},
        problems=found.problems,
        remarks=[*found.told(voices), *told],
    )


def _signed(value: float) -> str:
    return f"{value:+.0f}"
