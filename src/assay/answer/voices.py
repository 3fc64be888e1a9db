"""What each witness says of each player: curves of results, moves and the learned model, for the same groups of games.

A unit is a player in a pool, or a part of his games there (an event, a year): ratings of two pools are two scales.

What points against opponents say is the likelihood of results. An opponent is as strong as the rating in the tags says,
give or take its error; one without a rating as strong as all results together say. White's advantage and the share of
draws are what is usual among players of that strength.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field, replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.answer.joining import CENTRE, EVALS, LEARNED, MOVES, RESULTS, honest, joint_of
from assay.curve import GRID, Curve, Estimate, Honesty
from assay.errors import AssayError, RatingError
from assay.games import Game, GameArrays
from assay.games.outcomes import score_of
from assay.learned.guess import game_curves, guess_parsed
from assay.moves.evals import GRID as INNER
from assay.moves.evals import EvalTurns, shipped_evals
from assay.moves.evals_rating import clocks_of, on_pool, own_line
from assay.moves.evidence import Evidence
from assay.moves.groups import PHASES, UNKNOWN, Groups, phases, tag_ratings
from assay.pools import has_line, line_of, scale_of, split_line
from assay.records import dataclass
from assay.results import rate
from assay.results.expectancy import LOGISTIC_SCALE, expectancy, slope, win_draw_loss
from assay.scales import apart, line_called, shipped_lines

Floats = NDArray[np.float64]

WHITE, DRAWS = 35.0, 0.4  # what is usual for White's advantage, and for the share of draws among equals
TAG_ERROR = 70.0  # of a rating in the tags: what it says, and how well people played that year
_NODES, _WEIGHTS = np.polynomial.hermite_e.hermegauss(5)
_PART = 20_000
_IMPOSSIBLE = 1e-300  # a chance that rounding takes to nothing: a win against somebody thousands of points away
_STEP = 0.02  # of shares of draws: games of like shares are worked out together


def result_curves(
    opponent: Floats,
    error: Floats,
    score: Floats,
    white: NDArray[np.bool_],
    *,
    advantage: Floats | float = WHITE,
    draws: Floats | float = DRAWS,
) -> Curve:
    """A row for each side of a game: the likelihood of its score against this opponent, whose rating has this error.

    `advantage` of White and the share of `draws` among equals are one for all games, or one for each. A game without a
    result, or against an opponent of whom nothing is known, says nothing.

    >>> curve = result_curves(np.array([2200.0]), np.array([70.0]), np.array([0.5]), np.array([True]))
    >>> curve.tops().tolist()  # a draw with White: a little less than the opponent
    [2164.0]
    """
    table = np.zeros((len(score), len(GRID)))
    known = np.isfinite(opponent) & np.isfinite(score)
    ahead = np.where(white, 1.0, -1.0) * advantage
    share = np.round(np.broadcast_to(draws, len(score)) / _STEP) * _STEP
    beta = slope(LOGISTIC_SCALE)
    for equal in np.unique(share[known]).tolist():
        alike = np.flatnonzero(known & (share == equal))
        for begin in range(0, len(alike), _PART):
            at = alike[begin : begin + _PART]
            against = opponent[at, None] + error[at, None] * _NODES
            p = expectancy(GRID[None, :, None] + ahead[at, None, None] - against[:, None, :], beta)
            chances = np.stack([one @ _WEIGHTS for one in reversed(win_draw_loss(p, equal))])  # loss, draw, win
            row = (2 * score[at]).astype(np.intp)
            table[at] = np.log(np.maximum(chances[row, np.arange(len(at))] / _WEIGHTS.sum(), _IMPOSSIBLE))
    return Curve(table, GRID)


def performance_error(games: int, draws: float = DRAWS) -> float:
    """The error of a performance rating over so many games against equals.

    >>> round(performance_error(9))
    90
    """
    beta = slope(LOGISTIC_SCALE)
    return float(np.sqrt((1 - draws) / 4 / games) / (beta / 4))


def worth_games(error: float, draws: float = DRAWS) -> float:
    """How many games against equals a performance rating needs for this error.

    >>> round(worth_games(performance_error(9)), 6)
    9.0
    """
    return float((performance_error(1, draws) / error) ** 2)


def names_known(names: Sequence[str], of: dict[str, tuple[float, float]]) -> tuple[Floats, Floats]:
    """Ratings and errors by name, nan where nobody knows."""
    pairs = [of.get(name, (np.nan, np.nan)) for name in names]
    return np.array([pair[0] for pair in pairs]), np.array([pair[1] for pair in pairs])


BY = ("event", "year", "month", "pool", "phase")
NO_LEVEL = "nobody has a rating in the tags, so results have no level"
NO_RESULT = "no game with a result"
NO_TURNS = "no turns to judge"
UNREAD = "no game can be read"
NO_PHASES = "only moves have phases"


@dataclass(frozen=True)
class Units:
    """The rows of an answer: `keys` are player, pool and part; `of` is the unit of each side of each game, or -1.

    `of` has a row for each game: White in the first column.
    """

    keys: tuple[tuple[str, str, str], ...]
    of: NDArray[np.intp]
    scores: Floats  # White's, nan without a result
    tags: Floats  # of both sides
    games: NDArray[np.intp]  # of each unit
    tag: Floats  # the mean rating in the tags of each unit, nan where none has one

    def __len__(self) -> int:
        return len(self.keys)


def units_of(games: pl.DataFrame, counted: NDArray[np.bool_], by: str | None = None) -> Units:
    """The units of games of which some count."""
    pools = [scale_of(pool) for pool in games["pool"]]
    part = _parts(games, by)
    number: dict[tuple[str, str, str], int] = {}
    of = np.full((games.height, 2), -1, np.intp)
    for side, column in enumerate(("white", "black")):
        for at, name in enumerate(games[column]):
            if counted[at]:
                of[at, side] = number.setdefault((name or UNKNOWN, pools[at], part[at]), len(number))
    scores = [score_of(result) for result in games["result"]]
    tags = tag_ratings(games).ratings
    known = (of >= 0) & np.isfinite(tags)
    total = np.bincount(of[known], tags[known], minlength=len(number))
    count = np.bincount(of[known], minlength=len(number))
    return Units(
        tuple(number),
        of,
        np.array([np.nan if score is None else score for score in scores], float),
        tags,
        np.bincount(of[of >= 0], minlength=len(number)),
        np.where(count > 0, total / np.maximum(count, 1), np.nan),
    )


def _parts(games: pl.DataFrame, by: str | None) -> list[str]:
    if by == "event":
        return [name or UNKNOWN for name in games["event"]]
    if by in ("year", "month"):
        size = 4 if by == "year" else 7
        return [(day or "")[:size] if (day or "")[:4].isdecimal() else UNKNOWN for day in games["date"]]
    return [""] * games.height


@dataclass(frozen=True)
class Voice:
    """What one witness says: of each unit an honest curve, its own estimate, and why there is none.

    `plain` are the curves without the error of the scale, each to its power; `honesty` has these errors, and `lines`
    names what the scale of each unit is: units of one line share a part of its error.
    """

    name: str
    curves: Floats  # units x grid
    estimates: Sequence[Estimate]
    note: str = ""  # why it says nothing of anybody
    kind: str = ""  # moves may be known from evaluations
    plain: Floats = field(default_factory=lambda: np.empty((0, len(GRID))), repr=False)
    honesty: Sequence[Honesty] = ()
    lines: Sequence[str] = ()

    def says(self, unit: int) -> bool:
        """Whether it says anything of a unit."""
        return bool(np.ptp(self.curves[unit]) > 1e-9)


def silent(name: str, units: Units, note: str) -> Voice:
    """A witness that says nothing."""
    flat, nothing = np.zeros((len(units), len(GRID))), [Estimate(note=note)] * len(units)
    return Voice(name, flat, nothing, note, name, flat, [Honesty()] * len(units), [""] * len(units))


def results_voice(games: pl.DataFrame, units: Units, level: float, apart: NDArray[np.bool_] | None = None) -> Voice:
    """Results against opponents of known strength; games that are told `apart` are left out."""
    white = [name or UNKNOWN for name in games["white"]]
    black = [name or UNKNOWN for name in games["black"]]
    tags, sides = units.tags, units.of >= 0
    unrated = (sides[:, :1] | sides[:, 1:]) & ~np.isfinite(tags)
    strength, usual = tags.copy(), _usual(units)
    error = usual.error
    if unrated.any():
        known = _standings(white, black, units, tags)
        if not known and not np.isfinite(tags[sides]).any():
            return silent(RESULTS, units, NO_LEVEL)
        for side, names in enumerate((white, black)):
            rating, its_error = names_known(names, known)
            strength[:, side] = np.where(unrated[:, side], rating, strength[:, side])
            error[:, side] = np.where(unrated[:, side], its_error, error[:, side])
    scores = np.stack([units.scores, 1 - units.scores], axis=1)
    who = sides & np.isfinite(scores)
    if apart is not None:
        who &= ~apart[:, None]
    if not who.any():
        return silent(RESULTS, units, NO_RESULT)
    at, own = np.nonzero(who)
    against = at, 1 - own
    each = result_curves(
        strength[against],
        error[against],
        scores[at, own],
        own == 0,
        advantage=usual.white[at],
        draws=usual.draws[against],
    )
    whole = each.sum(units.of[at, own], len(units))
    return _voice(RESULTS, RESULTS, whole, [Honesty()] * len(units), level, NO_RESULT)


@dataclass(frozen=True)
class _Expected:
    """Of each side of each game how far its tag may be off and the share of draws; of each game White's advantage."""

    error: Floats
    draws: Floats
    white: Floats


def _usual(units: Units) -> _Expected:
    """What is usual in the pool of each game."""
    error, draws = np.full(units.tags.shape, TAG_ERROR), np.full(units.tags.shape, DRAWS)
    white = np.full(len(units.tags), WHITE)
    pools = np.array([units.keys[at][1] if at >= 0 else "" for at in units.of.max(axis=1).tolist()])
    for pool in np.unique(pools[pools != ""]).tolist():
        here, joint = pools == pool, joint_of(pool)
        tags = np.nan_to_num(units.tags[here], nan=CENTRE)
        error[here], draws[here], white[here] = joint.tag(tags), joint.usual.drawn(tags), joint.usual.white
    return _Expected(error, draws, white)


def _standings(
    white: Sequence[str], black: Sequence[str], units: Units, tags: Floats
) -> dict[str, tuple[float, float]]:
    """What all results together say of everybody, as a rating with its error; nothing where nobody has a rating."""
    counts = (units.of >= 0).all(axis=1) & np.isfinite(units.scores)
    rated: dict[str, list[float]] = {}
    for side, names in enumerate((white, black)):
        for at in np.flatnonzero(counts & np.isfinite(tags[:, side])).tolist():
            rated.setdefault(names[at], []).append(float(tags[at, side]))
    if not rated or not counts.any():
        return {}
    chosen = np.flatnonzero(counts).tolist()
    try:
        found = rate(
            [white[at] for at in chosen],
            [black[at] for at in chosen],
            units.scores[chosen],
            average=float(np.mean([np.mean(all_) for all_ in rated.values()])),
            white_advantage=WHITE,
            draw_rate=DRAWS,
            priors={name: (float(np.mean(all_)), TAG_ERROR) for name, all_ in rated.items()},
            prior=4 * TAG_ERROR,
        )
    except RatingError:
        return {}
    deviation = found.deviation
    return {
        name: (float(rating), float(max(own, TAG_ERROR)))
        for name, rating, own in zip(found.players, found.ratings, deviation, strict=True)
        if np.isfinite(rating) and np.isfinite(own)
    }


def moves_voice(evidence: Evidence | None, units: Units, by: str | None, level: float) -> tuple[Voice, Units]:
    """What the moves say; with `by` phase the units become those of phases, which only moves have."""
    if evidence is None or not len(evidence.turns):
        return silent(MOVES, units, NO_TURNS), units
    turns = evidence.turns
    code = units.of[turns.game, np.where(turns.white, 0, 1)]
    if by == "phase":
        units, code = _by_phase(units, code, phases(turns))
    groups = Groups(units.keys, code)
    whole = evidence.curve.sum(code, len(units))
    tops = whole.tops().tolist() if len(whole) else []
    honesty = [evidence.honesty(own, top) for own, top in zip(groups.turns, tops, strict=True)]
    lines = ["+".join(sorted({split_line(line.name)[0] for line in evidence.lines_of(own)})) for own in groups.turns]
    return _voice(MOVES, MOVES, whole, honesty, level, NO_TURNS, lines), units


def evals_voice(turns: EvalTurns | None, units: Units, by: str | None, level: float) -> tuple[Voice, Units]:
    """What the moves say by the evaluations in the games, with `by` phase as there."""
    if turns is None or not len(turns):
        return silent(MOVES, units, NO_TURNS), units
    model = shipped_evals()
    # Evaluations have no line of their own for quicker and slower games of a pool.
    lines = np.array([split_line(name)[0] for name in turns.column("line")], object)
    curve, each = model.curve(turns), np.zeros((len(turns), len(GRID)))
    for name in dict.fromkeys(lines.tolist()):
        here = lines == name
        each[here] = on_pool(Curve(curve.table[here], INNER), name).table
    code = units.of[turns.game, np.where(turns.white, 0, 1)]
    if by == "phase":
        units, code = _by_phase(units, code, phases(turns))
    groups, clocks, honesty = Groups(units.keys, code).turns, clocks_of(turns), list[Honesty]()
    named = ["+".join(sorted(set(lines[own].tolist()))) for own in groups]
    whole = Curve(each, GRID).sum(code, len(units))
    whole = Curve(whole.table + np.array([clocks.together(own) for own in groups]), GRID)
    for own, top in zip(groups, whole.tops().tolist(), strict=True):
        name = lines[own[0]] if len(own) else lines[0]
        strange = not all(has_line(turns.games["pool"][int(game)]) for game in np.unique(turns.game[own]))
        off = apart(shipped_lines()[name], top) if strange else 0.0
        honesty.append(own_line(name).honesty(top, Honesty(model.power, model.spread), off))
    return _voice(MOVES, EVALS, whole, honesty, level, NO_TURNS, named), units


def _by_phase(units: Units, code: NDArray[np.intp], phase: NDArray[np.intp]) -> tuple[Units, NDArray[np.intp]]:
    keys = tuple((name, pool, word) for name, pool, _ in units.keys for word in PHASES)
    inner = np.where(code >= 0, code * len(PHASES) + phase, -1)
    there = np.unique(inner[inner >= 0])
    place = np.full(len(keys) + 1, -1, np.intp)
    place[there] = np.arange(len(there))
    whole = there // len(PHASES)
    parts = replace(
        units,
        keys=tuple(keys[at] for at in there.tolist()),
        of=np.full(units.of.shape, -1, np.intp),
        games=units.games[whole],
        tag=units.tag[whole],
    )
    return parts, place[inner]


def learned_voice(games: Sequence[Game], arrays: GameArrays, units: Units, level: float) -> Voice:
    """What the learned model of each unit's pool says of the games, added up.

    Games of a pool that has no line of its own may be off by as much as lines lie apart, as their moves may be.
    """
    whose = units.of.max(axis=1)
    counted = np.flatnonzero(whose >= 0).tolist()
    pools = {at: units.keys[whose[at]][1] for at in counted}
    try:
        guesses = guess_parsed([(at, games[at]) for at in counted], arrays, pools=pools)
    except AssayError as error:
        return silent(LEARNED, units, str(error).rstrip("."))
    if not guesses:
        return silent(LEARNED, units, UNREAD)
    found = game_curves(guesses)
    code = units.of[np.array(found.number, np.intp), np.where(found.white, 0, 1)]
    whole = found.curve.sum(code, len(units))
    honesty, tops = [Honesty()] * len(units), whole.tops()
    for own, one in zip(code.tolist(), found.honesty, strict=True):
        if own >= 0:
            honesty[own] = one
    for own, (_, pool, _) in enumerate(units.keys):
        if not has_line(pool):
            off = apart(line_called(line_of(pool, None)), float(tops[own]))
            honesty[own] = replace(honesty[own], scale_error=float(np.hypot(honesty[own].scale_error, off)))
    return _voice(LEARNED, LEARNED, whole, honesty, level, UNREAD)


def _voice(
    name: str,
    kind: str,
    whole: Curve,
    honesty: Sequence[Honesty],
    level: float,
    lacking: str,
    lines: Sequence[str] | None = None,
) -> Voice:
    estimates = [one if one.known else replace(one, note=lacking) for one in whole.estimates(list(honesty), level)]
    curves = np.stack([honest(row, own) for row, own in zip(whole.table, honesty, strict=True)])
    plain = whole.table * np.array([own.power for own in honesty])[:, None]
    return Voice(name, curves, estimates, "", kind, plain, honesty, lines or [""] * len(honesty))
