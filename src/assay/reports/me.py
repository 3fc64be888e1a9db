"""One player's games: strength over time, where the points go, and the most instructive mistakes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.answer.joining import MOVES, RESULTS
from assay.answer.rating import Material, Said, said_of
from assay.curve import NOTHING, Estimate
from assay.errors import InputError
from assay.games import Game, GameArrays
from assay.games.outcomes import score_of
from assay.moves.evals import EvalTurns
from assay.moves.evals_rating import rate_evals
from assay.moves.evidence import Evidence
from assay.moves.groups import PHASES, Groups
from assay.players import did_you_mean, nearest
from assay.pools import POOLS, clock_of, scale_of
from assay.records import dataclass
from assay.reports.charts import percent
from assay.reports.content import GameSection, Me, Mistake, Move, Slice
from assay.reports.judged import accuracy_of
from assay.reports.openings import family_of
from assay.results.expectancy import LOGISTIC_SCALE, slope

MISTAKES = 5
CASUAL = "a casual game"
_CASUAL_EVENT = re.compile(r"casual\b", re.IGNORECASE)
_CLOCKS = ((0.5, "more than half of the time left"), (0.2, "20 to 50 %"), (0.05, "5 to 20 %"), (0.0, "less than 5 %"))
_LEAST_MOVES = 20  # of a slice of which anything is said in a sentence
_LEAST_COST = 5.0  # Elo a game
_Z95 = 1.96
MOST_MONTHS = 36


def spelled(asked: str, names: Collection[str]) -> str:
    """The name in the file that is meant, in whatever spelling: order, case, dots and blanks do not matter.

    >>> spelled("garry kasparov", ["Kasparov, Garry", "Deep Blue"]), spelled("kasparov", ["Kasparov, Garry", "Elm"])
    ('Kasparov, Garry', 'Kasparov, Garry')
    """
    if asked in names:
        return asked
    wanted = _words(asked)
    same = [name for name in names if _words(name) == wanted or _letters(name) == _letters(asked) != ""]
    within = same or [name for name in names if wanted and wanted < _words(name)]
    if len(within) == 1:
        return within[0]
    near = did_you_mean(nearest(asked, names))
    several = f" It may be {' or '.join(sorted(within)[:3])}." if within else near
    raise InputError(f"nobody called {asked!r} plays in these games.{several}")


def _words(name: str) -> frozenset[str]:
    return frozenset(re.findall(r"[^\W_]+", name.casefold()))


def _letters(name: str) -> str:
    return re.sub(r"[\W_]+", "", name.casefold())


def casual(games: Iterable[Game]) -> frozenset[int]:
    """The numbers of casual games: nobody's rating was at stake."""
    return frozenset(n for n, game in enumerate(games, 1) if _CASUAL_EVENT.match(game.tags.get("Event", "").strip()))


@dataclass(frozen=True)
class Mine:
    """What is known of a player's games: sections, tags, arrays, evidence of all turns that count."""

    name: str
    you: bool
    games: Sequence[Game]
    sections: Sequence[GameSection]
    frame: pl.DataFrame  # names as in the tags
    arrays: GameArrays
    counted: NDArray[np.bool_]
    evidence: Evidence | EvalTurns | None


@dataclass(frozen=True)
class _Own:
    """A move of the player: which game and ply, where it belongs, what it lost beside what is usual."""

    game: int
    at: int
    move: Move
    pool: str
    phase: str
    opening: str
    month: str
    clock: str


def me_of(mine: Mine) -> Me:
    """Everything about one player's games."""
    own = list(_moves(mine))
    fair = _fair(own)
    played = [at for at in np.flatnonzero(mine.counted).tolist() if mine.name in _names(mine.frame, at)]
    openings = {at: _opening(mine, at) for at in played}
    strength = _strength(mine, openings)
    months = {at: _month(mine.frame, at) for at in played}
    pools = {at: scale_of(mine.frame["pool"][at]) for at in played}

    def by(key: Callable[[_Own], str], of_game: Mapping[int, str] | None = None) -> tuple[Slice, ...]:
        return tuple(_slices(mine, own, key, of_game, len(played), fair))

    by_opening = [replace(one, rating=strength.get(one.label, NOTHING)) for one in by(lambda m: m.opening, openings)]
    return Me(
        name=mine.name,
        you=mine.you,
        over_time=_over_time(mine),
        by_pool=_most_first(by(lambda m: POOLS[m.pool], {at: POOLS[pool] for at, pool in pools.items()})),
        by_phase=_ordered(by(lambda m: m.phase), PHASES),
        by_opening=_most_first(by_opening)[:12],
        by_clock=_ordered(by(lambda m: m.clock), [label for _, label in _CLOCKS]),
        by_month=tuple(sorted(by(lambda m: m.month, months), key=lambda one: one.label)),
        mistakes=_mistakes(mine, own),
    )


def _most_first(parts: Iterable[Slice]) -> tuple[Slice, ...]:
    """The parts with the most games first."""
    return tuple(sorted(parts, key=lambda one: -one.games))


def _names(frame: pl.DataFrame, at: int) -> tuple[str, str]:
    return frame["white"][at] or "", frame["black"][at] or ""


def _opening(mine: Mine, at: int) -> str:
    section = next((one for one in mine.sections if one.number == at + 1), None)
    moves = [move.san for move in section.moves[:12]] if section else []
    return family_of(mine.games[at].tags, moves) or "other"


def _moves(mine: Mine) -> Iterable[_Own]:
    arrays, frame = mine.arrays, mine.frame
    for section in mine.sections:
        game = section.number - 1
        if not mine.counted[game] or mine.name not in (section.white, section.black):
            continue
        first, black = int(arrays.offsets[game]), section.white != mine.name
        opening, pool = _opening(mine, game), scale_of(frame["pool"][game])
        base, _, _ = clock_of(*(frame[name][game] or "" for name in ("site", "event", "time_control")))
        for at, move in enumerate(section.moves):
            if bool(arrays.turn[first + at]) == black or move.loss is None:
                continue
            yield _Own(
                game,
                at,
                move,
                pool,
                _phase(arrays, first + at),
                opening,
                _month(frame, game),
                _clock(float(arrays.clock[first + at - 2]) if at > 1 else float("nan"), base),
            )


def _month(frame: pl.DataFrame, at: int) -> str:
    """The month of a game as a number; a question mark where it is not told."""
    day = (frame["date"][at] or "????")[:7]
    return day.replace(".", "-") if day[:4].isdecimal() else "?"


def _phase(arrays: GameArrays, ply: int) -> str:
    board = arrays.boards[ply]
    kinds = np.where(board > 6, board - 6, board)
    pieces = int(((kinds >= 2) & (kinds <= 5)).sum())
    return PHASES[2 if pieces <= 6 else 0 if arrays.fullmove[ply] <= 15 else 1]


def _clock(left: float, base: float | None) -> str:
    """Which part of the time is left before a move; nothing where clocks do not tell."""
    if base is None or not base or not np.isfinite(left):
        return ""
    return next(label for least, label in _CLOCKS if left / base >= least)


def _slices(
    mine: Mine,
    own: Sequence[_Own],
    key: Callable[[_Own], str],
    of_game: Mapping[int, str] | None,
    played: int,
    fair: float,
) -> Iterable[Slice]:
    parts: dict[str, list[_Own]] = {}
    for one in own:
        if label := key(one):
            parts.setdefault(label, []).append(one)
    for label, moves in parts.items():
        games = sorted({one.game for one in moves})
        inside = [at for at, name in of_game.items() if name == label] if of_game else games
        scores = [score for at in inside if (score := _score(mine, at)) is not None] if of_game else []
        lost = np.array([one.move.loss for one in moves], float)
        usual = np.array([np.nan if one.move.expected is None else one.move.expected for one in moves])
        known = np.isfinite(usual)
        excess = np.bincount([one.game for one in moves], np.where(known, lost - fair * usual, 0.0) / 100)
        spread = float(np.sqrt(max((excess**2).sum() - excess.sum() ** 2 / max(played, 1), 0.0)))
        yield Slice(
            label=label,
            games=len(inside),
            moves=len(moves),
            accuracy=float(accuracy_of(lost).mean()),
            usual=float(np.mean([one.move.usual or 0.0 for one, there in zip(moves, known, strict=True) if there]))
            if known.any()
            else None,
            cost=_elo(float(excess.sum()) / max(played, 1)) if known.any() else None,
            margin=_Z95 * _elo(spread / max(played, 1)) if known.any() and played > 1 else None,
            points=sum(scores) if scores else None,
            results=len(scores),
        )


def _fair(own: Sequence[_Own]) -> float:
    """How much of what is usual the player loses in all moves together: parts are measured against this."""
    known = [(one.move.loss or 0.0, one.move.expected) for one in own if one.move.expected is not None]
    usual = sum(expected for _, expected in known)
    return sum(loss for loss, _ in known) / usual if usual > 0 else 1.0


def _elo(points: float) -> float:
    """What so many points a game are worth in rating, near an even score."""
    return points / (slope(LOGISTIC_SCALE) / 4)


def _score(mine: Mine, at: int) -> float | None:
    score = score_of(mine.frame["result"][at])
    return score if score is None or mine.frame["white"][at] == mine.name else 1 - score


def _ordered(slices: Sequence[Slice], order: Sequence[str]) -> tuple[Slice, ...]:
    return tuple(sorted(slices, key=lambda one: order.index(one.label)))


def _strength(mine: Mine, openings: Mapping[int, str]) -> dict[str, Estimate]:
    """What the moves of the games of each opening say of the player's strength."""
    evidence = mine.evidence
    if evidence is None or not len(turns := evidence if isinstance(evidence, EvalTurns) else evidence.turns):
        return {}
    names = list(dict.fromkeys(openings.values()))
    white = np.array([name == mine.name for name in mine.frame["white"]])
    code = np.array([names.index(openings[game]) if game in openings else -1 for game in turns.game.tolist()], np.intp)
    code = np.where(turns.white == white[turns.game], code, -1)
    groups = Groups(tuple((name,) for name in names), code)
    if isinstance(evidence, EvalTurns):
        found = [row.estimate for row in rate_evals(evidence, groups)]
    else:
        found = evidence.estimates(groups)
    return {name: one for name, one in zip(names, found, strict=True) if one.known}


def _over_time(mine: Mine) -> dict[str, tuple[tuple[str, Estimate], ...]]:
    """By pool the rating of each month, or each year where these are too many: from results and moves."""
    days = {(day or "")[:7] for day in mine.frame["date"].filter(pl.Series(mine.counted))}
    by = "month" if len(days) <= MOST_MONTHS else "year"
    if not any(day[:4].isdecimal() for day in days) or len(days) < 2:
        return {}
    pairs = zip(mine.frame["white"], mine.frame["black"], strict=True)
    own = mine.counted & np.array([mine.name in pair for pair in pairs])
    found = Material(mine.games, mine.frame, mine.arrays, own, mine.evidence, Counter(), [])
    said: list[Said] = [one for one in said_of(found, by=by, witness=(RESULTS, MOVES)) if one.player == mine.name]
    pools: dict[str, list[tuple[str, Estimate]]] = {}
    for one in sorted(said, key=lambda one: one.part):
        if one.part[:4].isdecimal() and one.joint.known:
            pools.setdefault(POOLS[one.pool], []).append((one.part, one.joint))
    games = Counter(POOLS[scale_of(pool)] for pool in mine.frame["pool"].filter(pl.Series(own)))
    ordered = sorted(pools.items(), key=lambda one: -games[one[0]])
    return {pool: tuple(points) for pool, points in ordered if len(points) > 1}


def _mistakes(mine: Mine, own: Sequence[_Own]) -> tuple[Mistake, ...]:
    """The mistakes that most players of the rating would not have made: lost chances times how many find the best.

    Where nobody knows the best move, what was lost beyond what players of the rating lose in that position.
    """

    def weight(one: _Own) -> float:
        if not one.move.better:
            return one.move.lost - one.move.expected if one.move.expected is not None else 0.0
        return one.move.lost * (_finding(one.move) or 0.0)

    chosen, seen = list[_Own](), set[int]()
    for one in sorted((one for one in own if one.move.mark), key=weight, reverse=True):
        if one.game not in seen and weight(one) > 0:
            seen.add(one.game)
            chosen.append(one)
    return tuple(_told(mine, one) for one in chosen[:MISTAKES])


def _told(mine: Mine, one: _Own) -> Mistake:
    section = next(each for each in mine.sections if each.number == one.game + 1)
    ply = one.at + section.first_ply
    name = f"{ply // 2 + 1}{'...' if ply % 2 else '.'}{one.move.san}{one.move.mark}"
    rating = section.black_rating if ply % 2 else section.white_rating
    found = ""
    if (finding := _finding(one.move)) is not None and rating is not None:
        found = f"; {percent(finding)} of players rated {rating:.0f} find {one.move.better}"
    elif one.move.expected is not None and rating is not None:
        found = f"; players rated {rating:.0f} lose {one.move.expected:.0f} % here on average"
    text = f"{name} lost {one.move.lost:.0f} % of winning chances{found}."
    return Mistake(section.number, one.at + 1, name, text, section.title)


def _finding(move: Move) -> float | None:
    """How many players of the mover's rating find what was better."""
    return next((one.probability for one in move.candidates if one.san == move.better), None)


def costly(me: Me) -> str:
    """The phase in which most points are lost beyond what is usual, as a sentence; nothing if it may be chance."""
    told = [one for one in me.by_phase if one.cost is not None and one.moves >= _LEAST_MOVES]
    worst = max(told, key=lambda one: one.cost or 0.0, default=None)
    if worst is None or worst.cost is None or worst.cost < max(_LEAST_COST, worst.margin or 0.0):
        return "No phase of the game costs clearly more than the others." if len(told) > 1 else ""
    return f"{worst.label.capitalize()}s cost {'you ' if me.you else ''}most: {worst.cost:.0f} Elo a game."
