"""FIDE's arithmetic: expected scores, performances and changes of ratings by the tables of the Handbook, B.02, 8.1."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence

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
