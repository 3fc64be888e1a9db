"""How far a published rating is off, as a standard deviation in Elo, by what the list says of the player.

Measured on two sets of games by studies/rating_error.py, which tells how, and prints this table at its end. Of K, games
and age it is K that counts: it is 40 for the young and for those with fewer than 30 games. How many games somebody has
played in the last year makes no difference that can be seen; age serves where a list tells no K.
"""

from __future__ import annotations

# K: (rated below, error), ...; the last one has no bound.
ERRORS: dict[int, tuple[tuple[float, float], ...]] = {
    10: ((float("inf"), 33.0),),
    20: ((2000.0, 76.0), (2200.0, 59.0), (float("inf"), 49.0)),
    40: ((2000.0, 108.0), (float("inf"), 76.0)),
}
_ADULT = 18


def k_of(rating: float, *, k: int | None, age: int | None = None) -> int:
    """K as it is today: that of the list (30, 25 and 15 were 40 and 20 once), else what age and rating tell.

    >>> k_of(2450, k=None), k_of(1800, k=None, age=14), k_of(1800, k=15), k_of(1800, k=30)
    (10, 40, 20, 40)
    """
    if k is not None and k > 0:
        return 10 if k <= 10 else 20 if k <= 20 else 40
    if rating >= 2400:
        return 10
    return 40 if age is not None and age <= _ADULT and rating < 2300 else 20


def rating_error(rating: float, *, k: int | None, age: int | None = None) -> float:
    """The error of a rating.

    >>> rating_error(1700, k=40), rating_error(1700, k=20), rating_error(2500, k=10)
    (108.0, 76.0, 33.0)
    """
    return next(error for below, error in ERRORS[k_of(rating, k=k, age=age)] if rating < below)
