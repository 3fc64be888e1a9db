"""Turns in groups: by player, event, game, colour, phase, year, period and the like; and the ratings in their tags."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import date
from typing import Any, Protocol

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine.turns import Turns
from assay.errors import InputError
from assay.games.parse import STANDARD
from assay.games.where import compile_where
from assay.moves.regan.spread import Floats
from assay.pools import POOLS, line_of, period_years, scale_of
from assay.records import dataclass
from assay.table import counted

PHASES = ("opening", "middlegame", "endgame")
UNKNOWN = "?"
# Lichess's divider calls it an endgame when at most six pieces (no pawns, no kings) are left; the opening lasts at most
# to move 15 here, of which the model sees moves 9 to 15.
ENDGAME_PIECES = 6
OPENING_MOVES = 15
PERIOD_YEARS = 5
PERIOD = "period"  # the column of games that says to which period they belong, where periods are asked for
_IN_TIME = ("year", "period")


@dataclass(frozen=True)
class Groups:
    """`keys` of the groups, a value for each thing grouped by, and for each turn the number of its group (-1: none)."""

    keys: tuple[tuple[str, ...], ...]
    code: NDArray[np.intp]

    def __len__(self) -> int:
        return len(self.keys)

    @property
    def labels(self) -> tuple[str, ...]:
        """The name of each group."""
        return tuple(" / ".join(key) for key in self.keys)

    @property
    def turns(self) -> list[NDArray[np.intp]]:
        """The turns of each group."""
        order = np.argsort(self.code, kind="stable")
        bounds = np.searchsorted(self.code[order], np.arange(len(self) + 1))
        return [order[bounds[at] : bounds[at + 1]] for at in range(len(self))]


class Moved(Protocol):
    """Turns of games, as grouping needs them: with values of all moves, or with evaluations alone."""

    @property
    def games(self) -> pl.DataFrame: ...
    @property
    def game(self) -> NDArray[np.int64]: ...
    @property
    def white(self) -> NDArray[np.bool_]: ...
    @property
    def move(self) -> NDArray[np.int64]: ...
    @property
    def keys(self) -> NDArray[np.uint8]: ...
    @property
    def player(self) -> NDArray[Any]: ...
    @property
    def opponent(self) -> NDArray[Any]: ...

    def __len__(self) -> int: ...
    def column(self, name: str) -> NDArray[Any]: ...


def phases(turns: Moved) -> NDArray[np.intp]:
    """The phase of each turn: 0 opening, 1 middlegame, 2 endgame."""
    board = np.concatenate([turns.keys[:, :32] & 15, turns.keys[:, :32] >> 4], axis=1)
    kind = np.where(board > 6, board - 6, board)
    pieces = ((kind >= 2) & (kind <= 5)).sum(axis=1)
    return np.where(pieces <= ENDGAME_PIECES, 2, np.where(turns.move <= OPENING_MOVES, 0, 1)).astype(np.intp)


def _texts(values: Iterable[Any]) -> list[str | None]:
    return [None if value is None or value != value else str(value) for value in values]


def _period(year: Any) -> str | None:
    if year is None or year != year:
        return None
    start = int(year) // PERIOD_YEARS * PERIOD_YEARS
    return f"{start}-{start + PERIOD_YEARS - 1}"


def _bands(turns: Moved) -> list[str | None]:
    """The century of each mover's rating in the tags."""
    own = np.where(turns.white, turns.column("white_elo"), turns.column("black_elo"))
    return [
        None if value is None else f"{int(value) // 100 * 100}-{int(value) // 100 * 100 + 99}" for value in _whole(own)
    ]


def _periods(turns: Moved) -> list[str | None]:
    """The periods that were asked for, or else spans of five years."""
    if PERIOD in turns.games.columns:
        return _texts(turns.column(PERIOD))
    return [_period(value) for value in turns.column("year")]


def in_periods(turns: Turns, periods: Sequence[str]) -> Turns:
    """The turns of these periods alone, such as `1976-1979`; `period` groups them by it, in order of time."""
    spans = [period_years(period) for period in periods]
    years = turns.games["year"].to_list()
    names = [
        next((f"{first}-{last}" for first, last in sorted(spans) if year is not None and first <= year <= last), None)
        for year in years
    ]
    games = turns.games.with_columns(pl.Series(PERIOD, names, dtype=pl.String))
    kept = replace(turns, games=games).only(np.array([name is not None for name in names])[turns.game])
    if not len(kept):
        raise InputError(f"no turn is of {', '.join(periods)}: see the Date tags of the games.")
    return kept


def _game_label(turns: Moved) -> list[str | None]:
    games = turns.games
    names = [
        f"{number + 1}. {white or '?'} - {black or '?'}"
        for number, (white, black) in enumerate(zip(games["white"], games["black"], strict=True))
    ]
    return [names[game] for game in turns.game]


KEYS: dict[str, Callable[[Moved], Sequence[str | None]]] = {
    "all": lambda turns: ["all"] * len(turns),
    "player": lambda turns: _texts(turns.player),
    "opponent": lambda turns: _texts(turns.opponent),
    "band": lambda turns: _bands(turns),
    "event": lambda turns: _texts(turns.column("event")),
    "round": lambda turns: _texts(turns.column("round")),
    "game": _game_label,
    "year": lambda turns: [None if value is None else str(int(value)) for value in _whole(turns.column("year"))],
    "period": lambda turns: _periods(turns),
    "speed": lambda turns: _texts(turns.column("speed")),
    "pool": lambda turns: [scale_of(pool) for pool in turns.column("pool")],
    "color": lambda turns: ["white" if white else "black" for white in turns.white],
    "phase": lambda turns: [PHASES[phase] for phase in phases(turns)],
}


def _whole(values: NDArray[np.object_]) -> list[float | None]:
    return [None if value is None or value != value else float(value) for value in values]


def group(turns: Moved, *by: str) -> Groups:
    """Group turns by one key or by several together, in the order of their first appearance; phases in theirs, bands
    of rating from the lowest, years and periods in order of time.

    Turns whose tag is missing make a group of their own, called `?`.
    """
    columns = []
    for key in by:
        if key not in KEYS:
            raise InputError(f"cannot group by {key!r}: choose one of {', '.join(KEYS)}.")
        columns.append([UNKNOWN if value is None else value for value in KEYS[key](turns)])
    number: dict[tuple[str, ...], int] = {}
    code = np.array([number.setdefault(parts, len(number)) for parts in zip(*columns, strict=True)], dtype=np.intp)
    keys = list(number)
    order = sorted(range(len(keys)), key=lambda i: (tuple(map(_place, by, keys[i])), i))
    place = np.empty(len(keys), dtype=np.intp)
    place[list(order)] = np.arange(len(keys))
    return Groups(tuple(keys[i] for i in order), place[code])


def _place(key: str, value: str) -> tuple[int, str]:
    """Where a value stands among those of its key; all alike where they come as they appear."""
    if key == "phase":
        return PHASES.index(value), ""
    if key == "band":
        return (10**6 if value == UNKNOWN else int(value.partition("-")[0])), ""
    return (int(value == UNKNOWN), value) if key in _IN_TIME else (0, "")


def by_pool(turns: Moved, *by: str) -> Groups:
    """Group turns, and where they come from several pools by pool as well: ratings of two pools are two scales."""
    pools = set(KEYS["pool"](turns))
    return group(turns, *by, "pool") if len(pools) > 1 else group(turns, *by)


def in_pool(turns: Turns, pool: str | None, scale_year: int | None = None) -> Turns:
    """Turns whose games all count as this pool's and year's, whatever their tags say; None leaves them alone."""
    return replace(turns, games=games_in_pool(turns.games, pool, scale_year)) if pool or scale_year else turns


def games_in_pool(games: pl.DataFrame, pool: str | None, scale_year: int | None) -> pl.DataFrame:
    """The tags of games that all count as this pool's and this year's."""
    if pool is not None and pool not in POOLS:
        raise InputError(f"there is no pool {pool!r}: choose one of {', '.join(POOLS)}.")
    if scale_year is not None and not 1000 <= scale_year <= 9999:
        raise InputError(f"a scale of the year {scale_year} there is not: give a year such as 2024.")
    games = games if pool is None else games.with_columns(pool=pl.lit(pool))
    days = games["date"] if scale_year is None else [str(scale_year)] * games.height
    controls = games["time_control"] if pool is None else [None] * games.height
    lines = [line_of(*each) for each in zip(games["pool"], days, controls, strict=True)]
    return games.with_columns(line=pl.Series(lines, dtype=pl.String))


def rename(turns: Turns, aliases: Mapping[str, str]) -> Turns:
    """Turns whose players go by the names that the aliases give them."""
    return replace(turns, games=renamed(turns.games, aliases))


def renamed(games: pl.DataFrame, aliases: Mapping[str, str]) -> pl.DataFrame:
    """The tags of games whose players go by the names that the aliases give them."""

    def known(name: str | None) -> str | None:
        return None if name is None else aliases.get(name, name)

    return games.with_columns(
        pl.Series(side, [known(name) for name in games[side]], dtype=pl.String) for side in ("white", "black")
    )


def mileposts(turns: Turns, marks: Sequence[int], within: float) -> NDArray[np.intp]:
    """The century mark of each turn, 0 for none: both players within so many points of the same mark (RH11)."""
    own, other = turns.rating, turns.opponent_rating
    found = np.zeros(len(turns), dtype=np.intp)
    for mark in marks:
        found[(np.abs(own - mark) <= within) & (np.abs(other - mark) <= within)] = mark
    return found


_DATE = re.compile(r"(\d{4})(?:\.(\d\d|\?\?))?(?:\.(\d\d|\?\?))?")
_SIDES = ("white", "black")


@dataclass(frozen=True)
class TagRatings:
    """The ratings of both sides of games: White in the first column, nan where nobody knows.

    `taken` tells which were not in the tags of the game itself but in those of another of the player's.
    """

    ratings: Floats
    taken: NDArray[np.bool_]


def is_standard(games: pl.DataFrame) -> list[bool]:
    """Whether each game is chess by the usual rules; ratings and results of variants are another matter."""
    return [(name or "").lower() in STANDARD for name in games["variant"]]


def tag_ratings(games: pl.DataFrame) -> TagRatings:
    """The ratings in the tags; a missing one is that of the player's game of the same pool that is nearest in date.

    Of games equally near, or where no date tells, the earlier one in the file counts. Variants lend no ratings.
    """
    ratings = np.array([games[f"{side}_elo"].to_numpy() for side in _SIDES], dtype=np.float64).T
    taken = np.zeros(ratings.shape, dtype=np.bool_)
    if np.isfinite(ratings).all():
        return TagRatings(ratings, taken)
    days = [_day(text) for text in games["date"]]
    standard, pools = is_standard(games), [scale_of(pool) for pool in games["pool"]]
    known: dict[tuple[str, str], list[tuple[int, float]]] = {}
    lacking = []
    for side, column in enumerate(_SIDES):
        for at, name in enumerate(games[column]):
            if name is None or not standard[at]:
                continue
            if np.isfinite(ratings[at, side]):
                known.setdefault((name, pools[at]), []).append((at, float(ratings[at, side])))
            else:
                lacking.append((at, side, (name, pools[at])))
    for at, side, who in lacking:
        if others := known.get(who):
            ratings[at, side] = min(others, key=lambda other: (_apart(days[at], days[other[0]]), other[0]))[1]
            taken[at, side] = True
    return TagRatings(ratings, taken)


def _day(text: str | None) -> int | None:
    """A Date tag as a number of days; an unknown month or day is the middle of what is known.

    >>> _day("2020.03.01") - _day("2020.02.28"), _day("????.??.??")
    (2, None)
    """
    match = _DATE.fullmatch(text or "")
    if not match:
        return None
    year, month, day = match.groups()
    rough = 7 if not month or "?" in month else int(month), 15 if not day or "?" in day else int(day)
    try:
        return date(int(year), *rough).toordinal()
    except ValueError:
        return None


def _apart(one: int | None, other: int | None) -> float:
    return float("inf") if one is None or other is None else abs(one - other)


def situations(turns: Turns) -> pl.DataFrame:
    """A row per turn: the tags of its game, and move, color, phase and evaluation (of the best move, in pawns)."""
    games = turns.games.select(pl.all().gather(turns.game))
    return games.with_columns(
        pl.Series("move", turns.move, dtype=pl.Int64),
        pl.Series("color", np.where(turns.white, "white", "black").tolist(), dtype=pl.String),
        pl.Series("phase", [PHASES[phase] for phase in phases(turns)], dtype=pl.String),
        pl.Series("evaluation", turns.values[:, 0], dtype=pl.Float64),
    )


def weights_of(turns: Turns, texts: Sequence[str]) -> tuple[Floats, list[str]]:
    """The weight of each turn by conditions such as `speed == "rapid": .5`, and what is to be said of them.

    Where several hold, their weights multiply. A condition is written like --where, over tags and what
    :func:`situations` adds to them.
    """
    frame, found, said = situations(turns), np.ones(len(turns)), []
    for text in texts:
        condition, colon, number = text.rpartition(":")
        try:
            weight = float(number)
        except ValueError:
            weight = np.nan
        if not colon or not 0 <= weight <= 1:
            raise InputError(
                f"{text!r:.80} is no weight: write a condition and a number from 0 to 1, such as 'move < 15: 0.5'."
            )
        holds = frame.select(compile_where(condition, frame.schema)).to_series().fill_null(False).to_numpy()
        found[holds] *= weight
        said.append(f"Weight {weight:g} for {condition.strip()}: {counted(int(holds.sum()), 'turn')}.")
    return found, said
