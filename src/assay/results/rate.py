"""Ratings from results: arrays of players and scores in, a frozen result out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import RatingError
from assay.results.fit import Settings, fit, known_beforehand, precision_of
from assay.results.gamepairs import Pentanomial, count_pairs
from assay.results.model import SCALE, slope
from assay.results.ratings import Ratings
from assay.results.table import DRAW, LOSS, WIN, PairTable, tabulate

SELF_PLAY = "a player against himself"
NO_SCORE = "no score"
NO_NAME = "a player without a name"
# Beyond this no rating means anything.
_MOST = 1e7
Codes = NDArray[np.int32]


def rate(
    white: ArrayLike,
    black: ArrayLike,
    score: ArrayLike,
    *,
    players: Sequence[str] | None = None,
    average: float = 2300.0,
    white_advantage: float | Literal["fit"] = "fit",
    draw_rate: float | Literal["fit"] = "fit",
    anchors: Mapping[Any, float] | None = None,
    priors: Mapping[Any, tuple[float, float]] | None = None,
    opening: ArrayLike | None = None,
    **how: Any,
) -> Ratings:
    """Rate players from the results of their games.

    `white` and `black` hold names, or codes into `players`; `score` is White's: 1, 0.5 or 0 (nan: not counted). Games
    without a name (None, nan, "") are left out and counted in `skipped`.

    The average of the pool is `average`, unless `anchors` {player: rating} or `priors` {player: (rating, error)} set
    the level. White advantage and draw rate between equals (0 to 1) are fitted or given. With `opening` (a code or
    name for each game) errors come from pairs of games with the same opening and the colours reversed.

    More may be told by name (see :func:`rate_table`): `relations` [(a, b, delta, error)] say that a is delta points
    above b; `prior` is an error for every player about the average; `white_advantage_error` and `draw_rate_error`
    make the values given priors too. Any of these, and `likelihood`, replaces the fit of points by that of the
    likelihood (:mod:`assay.results.solve`). `scale` is the difference that scores 76 %, `start` {player: rating} are
    ratings to start from, `errors_from` is "anchor" or "pool".

    >>> result = rate(["Anna", "Ben", "Anna"], ["Ben", "Anna", "Ben"], [1, 0.5, 0.5], white_advantage=0.0)
    >>> [(row["player"], round(row["rating"], 1)) for row in result.table()]
    [('Anna', 2360.7), ('Ben', 2239.3)]
    """
    names, white_codes, black_codes = _encode(white, black, players)
    outcome = np.asarray(score, np.float64) * 2.0
    if len(outcome) != len(white_codes):
        raise RatingError(f"{len(white_codes):,} games have {len(outcome):,} scores: give one score for each game.")
    known = np.isfinite(outcome)
    if not np.isin(outcome[known], (LOSS, DRAW, WIN)).all():
        raise RatingError("a score is 1, 0.5 or 0 (nan where there is none).")
    named = (white_codes >= 0) & (black_codes >= 0)
    if not named.any():
        raise RatingError("there are no games to rate: no game has the names of both players.")
    apart = white_codes != black_codes
    use = known & apart & named
    skipped = {
        NO_NAME: int((~named).sum()),
        NO_SCORE: int((named & ~known).sum()),
        SELF_PLAY: int((named & known & ~apart).sum()),
    }
    table = tabulate(white_codes[use], black_codes[use], outcome[use].astype(np.int8), len(names))
    pairs = None
    if opening is not None:
        codes = np.unique(np.asarray(opening), return_inverse=True)[1].astype(np.int64)
        pairs = count_pairs(white_codes[use], black_codes[use], outcome[use] / 2.0, codes[use])
    return rate_table(
        names,
        table,
        average=average,
        white_advantage=white_advantage,
        draw_rate=draw_rate,
        anchors=anchors,
        priors=priors,
        pairs=pairs,
        skipped={why: n for why, n in skipped.items() if n},
        **how,
    )


def rate_table(
    players: Sequence[str],
    table: PairTable,
    *,
    average: float = 2300.0,
    white_advantage: float | Literal["fit"] = "fit",
    draw_rate: float | Literal["fit"] = "fit",
    anchors: Mapping[Any, float] | None = None,
    priors: Mapping[Any, tuple[float, float]] | None = None,
    relations: Sequence[tuple[Any, Any, float, float]] = (),
    white_advantage_error: float = 0.0,
    draw_rate_error: float = 0.0,
    prior: float | None = None,
    likelihood: bool = False,
    scale: float = SCALE,
    start: Mapping[Any, float] | None = None,
    errors_from: Literal["anchor", "pool"] = "anchor",
    pairs: Pentanomial | None = None,
    skipped: Mapping[str, int] | None = None,
) -> Ratings:
    """Rate players from a table of encounters (:func:`assay.results.table.tabulate`); see :func:`rate`.

    >>> from assay.results.table import DRAW, WIN, tabulate
    >>> table = tabulate(np.array([0, 1]), np.array([1, 0]), np.array([WIN, DRAW], np.int8), 2)
    >>> rate_table(["Anna", "Ben"], table, white_advantage=0.0).points.tolist()
    [1.5, 0.5]
    """
    levels = {"the average": average, "the white advantage": 0.0 if white_advantage == "fit" else white_advantage}
    levels |= {f'the anchor "{name}"': value for name, value in (anchors or {}).items()}
    levels |= {f'the loose anchor "{name}"': value for name, (value, _) in (priors or {}).items()}
    levels |= {f'the relation of "{a}" and "{b}"': value for a, b, value, _ in relations}
    levels |= {f'the start of "{name}"': value for name, value in (start or {}).items()}
    for what, value in levels.items():
        if not abs(float(value)) <= _MOST:
            raise RatingError(f"{what} is {value:g}; a number between {-_MOST:.0f} and {_MOST:.0f} is needed.")
    settings = known_beforehand(
        players,
        table,
        Settings(
            beta=slope(_positive(scale, "the scale")),
            average=average,
            white=0.0 if white_advantage == "fit" else float(white_advantage),
            fit_white=white_advantage == "fit" or white_advantage_error > 0,
            white_precision=_precision(white_advantage_error),
            equal=0.5 if draw_rate == "fit" else _share(draw_rate),
            fit_draws=draw_rate == "fit" or draw_rate_error > 0,
            draws_precision=_precision(draw_rate_error),
            likelihood=likelihood or white_advantage_error > 0 or draw_rate_error > 0,
        ),
        anchors=anchors or {},
        priors=priors or {},
        relations=relations,
        prior=prior,
    )
    if settings.likelihood and settings.equal == 0.0 and table.draws.any():
        raise RatingError("there are draws, but a draw rate of zero makes them impossible: give another rate.")
    if settings.likelihood and pairs is not None:
        raise RatingError("errors from game pairs belong to the fit of points: leave out what needs the likelihood.")
    index = {name: i for i, name in enumerate(players)} if start else {}
    known = {index[str(name)]: value for name, value in (start or {}).items() if str(name) in index}
    return Ratings(tuple(players), fit(table, settings, known), dict(skipped or {}), pairs, errors_from)


def _encode(white: ArrayLike, black: ArrayLike, players: Sequence[str] | None) -> tuple[tuple[str, ...], Codes, Codes]:
    """Codes of the players in the order of their first appearance, White before Black."""
    a, b = _column(white), _column(black)
    if a.shape != b.shape or a.ndim != 1:
        raise RatingError("white and black are two lists of the same length.")
    if not len(a):
        raise RatingError("there are no games to rate.")
    if players is not None:
        if a.dtype.kind not in "iu" or b.dtype.kind not in "iu":
            raise RatingError("with `players`, white and black are codes: whole numbers.")
        if min(a.min(), b.min()) < 0 or max(a.max(), b.max()) >= len(players):
            raise RatingError(f"codes of players run from 0 to {len(players) - 1}.")
        return tuple(players), a.astype(np.int32), b.astype(np.int32)
    both = np.stack((a, b), axis=1).ravel().tolist()
    index: dict[Any, int] = {}
    codes = np.fromiter(
        (-1 if _is_missing(name) else index.setdefault(name, len(index)) for name in both), np.int32, len(both)
    ).reshape(-1, 2)
    return tuple(str(name) for name in index), codes[:, 0].copy(), codes[:, 1].copy()


def _column(values: ArrayLike) -> NDArray[Any]:
    """The values as they are: numpy would write "None" and "nan" for what is missing among names."""
    column = np.asarray(values)
    if column.dtype.kind in "US" and not isinstance(values, np.ndarray):
        return np.asarray(values, dtype=object)
    return column


def _is_missing(name: Any) -> bool:
    # What is not equal to itself is nan, or says like pandas' NA that it does not know.
    return name is None or (isinstance(name, str) and not name.strip()) or (name == name) is not True


def _precision(error: float) -> float:
    if error < 0:
        raise RatingError(f"an error of {error:g} is below zero.")
    return precision_of(error, "an error") if error else 0.0


def _positive(value: float, what: str) -> float:
    if not 0 < value <= _MOST:
        raise RatingError(f"{what} is {value:g}; it has to be above zero and at most {_MOST:.0f}.")
    return float(value)


def _share(value: float) -> float:
    if not 0.0 <= value <= 1.0:
        raise RatingError(f"a draw rate of {value:g} is not between 0 and 1.")
    # Squared, what is smaller is nothing.
    return float(value) if value >= 1e-9 else 0.0
