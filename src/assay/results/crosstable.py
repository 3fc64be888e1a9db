"""The table of an event as an arbiter looks at it: points, expected points, performances, changes, round by round.

By FIDE's arithmetic: expected scores, performances and changes of ratings by the tables of the Handbook, B.02, 8.1.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from html import escape
from typing import Any, ClassVar

from assay.errors import InputError
from assay.records import dataclass
from assay.table import FORMATS, WIDTH, Answer, Column, Table, columns_of

# B.02, 8.1.1: what a fractional score of .50, .51, ... 1.00 is above the opposition.
ABOVE = (
    *(0, 7, 14, 21, 29, 36, 43, 50, 57, 65, 72, 80, 87, 95, 102, 110, 117, 125, 133, 141, 149, 158, 166, 175, 184, 193),
    *(202, 211, 220, 230, 240, 251, 262, 273, 284, 296, 309, 322, 336, 351, 366, 383, 401, 422, 444, 470, 501, 538),
    *(589, 677, 800),
)
# B.02, 8.1.2: the largest difference at which the stronger one is expected to score .50, .51, ... .99.
UP_TO = (
    *(3, 10, 17, 25, 32, 39, 46, 53, 61, 68, 76, 83, 91, 98, 106, 113, 121, 129, 137, 145, 153, 162, 170, 179, 188),
    *(197, 206, 215, 225, 235, 245, 256, 267, 278, 290, 302, 315, 328, 344, 357, 374, 391, 411, 432, 456, 484, 517),
    *(559, 619, 735),
)
MOST_APART = 400
# Since October 2025 the differences of those who are rated so high count in full.
IN_FULL_FROM, IN_FULL_SINCE = 2650, "2025.10.01"
_MOST_K_TIMES_GAMES = 700


def expected(own: float, other: float, *, date: str = "") -> float:
    """What is expected of a game against somebody, by table 8.1.2; differences count up to 400.

    >>> expected(2000, 1900), expected(1900, 2000), expected(2000, 1200)
    (0.64, 0.36, 0.92)
    >>> expected(2700, 2200, date="2026.01.05"), expected(2700, 2200, date="2024.01.05")
    (0.96, 0.92)
    """
    apart = abs(own - other)
    if not (own >= IN_FULL_FROM and date >= IN_FULL_SINCE):
        apart = min(apart, MOST_APART)
    score = round(0.5 + 0.01 * bisect_left(UP_TO, round(apart)), 2)
    return score if own >= other else round(1.0 - score, 2)


def performance(points: float, opponents: Sequence[float]) -> float | None:
    """The performance: the average of the opponents and what the score is above it, by table 8.1.1.

    >>> performance(5.5, [2400] * 9), performance(2, [2300, 2500]), performance(0, [2000])
    (2480.0, 3200.0, 1200.0)
    """
    if not opponents:
        return None
    share = int(100 * points / len(opponents) + 0.5)
    above = ABOVE[abs(share - 50)]
    return float(int(sum(opponents) / len(opponents) + 0.5) + (above if share >= 50 else -above))


def usual_k(rating: float, *, age: int | None = None) -> int:
    """K where no list tells it: 10 from 2400 on, 40 for those under 18 below 2300, else 20 (B.02, 8.3.3).

    >>> usual_k(2450), usual_k(2100), usual_k(2100, age=15)
    (10, 20, 40)
    """
    if rating >= 2400:
        return 10
    return 40 if age is not None and age <= 18 and rating < 2300 else 20


def change(k: int, points: float, expected: float, games: int) -> float:
    """The change of a rating; K is lowered where K times the games is more than 700.

    >>> change(20, 5.5, 4.25, 9), change(40, 10, 8, 20)
    (25.0, 70.0)
    """
    if games and k * games > _MOST_K_TIMES_GAMES:
        k = _MOST_K_TIMES_GAMES // games
    return round(float(k * (points - expected)), 2)


EVENT_FORMATS = (*FORMATS, "html")
COLUMNS = (
    *("rank", "number", "player", "title", "federation", "fide_id", "birth", "rating", "k", "points", "games"),
    *("scored", "expected", "change", "performance", "opponents"),
)
_SHOWN = ("rank", "player", "rating", "points", "games", "expected", "change", "performance", "opponents")
_TITLES = {"performance": "perf", "opponents": "opp", "expected": "exp"}
_DECIMALS = {"points": 1, "scored": 1, "performance": 0, "opponents": 0, "change": 1}
_PLAYED = {"1": 1.0, "=": 0.5, "0": 0.0}
_UNPLAYED = {"+": 1.0, "-": 0.0, "H": 0.5, "F": 1.0, "U": 1.0, "Z": 0.0, "W": 1.0, "D": 0.5, "L": 0.0}


@dataclass(frozen=True)
class Met:
    """What a player did in a round: the opponent's place in the list (None: nobody), the colour, and the result.

    The result is 1, = or 0 where a game was played; +, - a forfeit, H, F, U, Z a bye, W, D, L shorter than a move.
    """

    round: int
    opponent: int | None
    white: bool | None
    result: str

    @property
    def is_game(self) -> bool:
        """Whether it was played."""
        return self.result in _PLAYED

    @property
    def points(self) -> float:
        """What it was worth."""
        return _PLAYED.get(self.result, _UNPLAYED.get(self.result, 0.0))


@dataclass(frozen=True)
class Contestant:
    """Somebody in an event, and all that is known about the rating; K is the usual one if no list tells it."""

    name: str
    rounds: tuple[Met, ...]
    number: int | None = None
    rating: int | None = None
    k: int | None = None
    title: str | None = None
    federation: str | None = None
    fide_id: int | None = None
    birth: int | None = None
    place: int | None = None  # in the standings, if they are known
    points: float | None = None  # there


@dataclass(frozen=True, eq=False, kw_only=True)
class EventTable(Answer):
    """The standings of an event, with the cross table below them."""

    formats: ClassVar[Sequence[str]] = EVENT_FORMATS

    cross: Table
    title: str

    def text(self, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The standings, then the rounds."""
        return f"{super().text(width, wide=wide)}\n\n{self.cross.text(width, wide=wide)}"

    def to(self, format: str, width: int | None = WIDTH, *, wide: bool = False) -> str:
        """The answer in one of the formats; as HTML a page."""
        return self.html() if format == "html" else super().to(format, width, wide=wide)

    def html(self) -> str:
        """One page, with both tables and nothing from elsewhere."""
        title = escape(self.title or "Event")
        parts = [_html_table(self.shown), _html_table(self.cross)]
        return (
            f'<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
            "<style>body{font:15px/1.4 system-ui,sans-serif;margin:2em auto;max-width:70em;padding:0 1em}"
            "table{border-collapse:collapse;margin:1.5em 0}th,td{padding:.2em .6em;text-align:right;"
            "border-bottom:1px solid #ddd}th.t,td.t{text-align:left}</style></head>\n"
            f"<body><h1>{title}</h1>\n<p>{escape(self.head)}</p>\n" + "\n".join(parts) + "\n</body></html>"
        )


def _html_table(table: Table) -> str:
    rows = table.records()
    shown = [column for column in table.columns if any(row[column.name] is not None for row in rows)]
    text = {column.name: any(isinstance(row[column.name], str) for row in rows) for column in shown}

    def cell(tag: str, column: Column, value: str) -> str:
        kind = ' class="t"' if text[column.name] else ""
        return f"<{tag}{kind}>{escape(value)}</{tag}>"

    lines = ["".join(cell("th", column, column.head) for column in shown)]
    lines += ["".join(cell("td", column, column.cell(row[column.name])) for column in shown) for row in rows]
    return "<table>\n" + "\n".join(f"<tr>{line}</tr>" for line in lines) + "\n</table>"


def event_table(contestants: Sequence[Contestant], *, title: str = "", date: str = "", head: str = "") -> EventTable:
    """The table of an event; opponents are named by their places in the list.

    >>> games = [Met(1, 1, True, "1")], [Met(1, 0, False, "0")]
    >>> two = [Contestant(name, tuple(met), rating=2400) for name, met in zip(("Elm", "Oak"), games)]
    >>> event_table(two).table.select("player", "points", "expected", "change", "performance").rows()
    [('Elm', 1.0, 0.5, 5.0, 3200.0), ('Oak', 0.0, 0.5, -5.0, 1600.0)]
    """
    if not contestants:
        raise InputError("there is nobody in this event.")
    year = int(date[:4]) if date[:4].isdecimal() else None
    points = [_points(each) for each in contestants]
    order = sorted(range(len(contestants)), key=lambda at: _standing(contestants, points, at))
    rank = {at: place for place, at in enumerate(order, 1)}
    rounds = max((met.round for each in contestants for met in each.rounds), default=0)
    rows: list[dict[str, Any]] = []
    crossed: list[dict[str, Any]] = []
    for at in order:
        row = _row(contestants, at, points[at], year, date)
        cells = {met.round: _cell(met, rank) for met in contestants[at].rounds}
        by_round = {f"r{round}": cells.get(round) for round in range(1, rounds + 1)}
        rows.append({"rank": rank[at]} | row | by_round)
        crossed.append({"rank": rank[at], "player": contestants[at].name} | by_round | {"points": points[at]})
    names = [f"r{round}" for round in range(1, rounds + 1)]
    columns = columns_of(
        (*COLUMNS, *names),
        titles=_TITLES,
        decimals=_DECIMALS,
        wide=[name for name in (*COLUMNS, *names) if name not in _SHOWN],
    )
    cross = columns_of(
        ("rank", "player", *names, "points"), titles={name: name[1:] for name in names}, decimals={"points": 1}
    )
    return EventTable(shown=Table(rows, columns), cross=Table(crossed, cross), title=title, head=head or title)


def _points(each: Contestant) -> float:
    return sum(met.points for met in each.rounds) if each.points is None else each.points


def _standing(contestants: Sequence[Contestant], points: Sequence[float], at: int) -> tuple[float, ...]:
    """By points; then as the report has it, else by the points of the opponents and the rating."""
    each = contestants[at]
    met = sum(points[game.opponent] for game in each.rounds if game.opponent is not None and game.is_game)
    return (-points[at], each.place or 10_000, -met, -(each.rating or 0), at)


def _row(contestants: Sequence[Contestant], at: int, points: float, year: int | None, date: str) -> dict[str, Any]:
    each = contestants[at]
    played = [met for met in each.rounds if met.is_game and met.opponent is not None]
    rated = [(met, contestants[met.opponent].rating) for met in played if met.opponent is not None]
    against = [(met.points, rating) for met, rating in rated if rating is not None]
    scored = sum(score for score, _ in against)
    opponents = [float(rating) for _, rating in against]
    age = year - each.birth if year is not None and each.birth is not None else None
    k = each.k or (None if each.rating is None else usual_k(each.rating, age=age))
    hoped = None
    if each.rating is not None and opponents:
        hoped = round(sum(expected(each.rating, other, date=date) for other in opponents), 2)
    return {
        "number": each.number,
        "player": each.name,
        "title": each.title,
        "federation": each.federation,
        "fide_id": each.fide_id,
        "birth": each.birth,
        "rating": each.rating,
        "k": k,
        "points": points,
        "games": len(played),
        "scored": scored if opponents else None,
        "expected": hoped,
        "change": None if hoped is None or k is None else change(k, scored, hoped, len(opponents)),
        "performance": performance(scored, opponents),
        "opponents": sum(opponents) / len(opponents) if opponents else None,
    }


def _cell(met: Met, rank: dict[int, int]) -> str:
    if met.opponent is None:
        return met.result
    colour = "" if met.white is None else "w" if met.white else "b"
    return f"{rank[met.opponent]}{colour}{met.result}"
