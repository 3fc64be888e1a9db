"""Ratings from results: what `rate` takes, and what it gives back."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from assay.errors import RatingError
from assay.records import dataclass
from assay.results.advantages import Advantage, advantages
from assay.results.encounters import DRAW, LOSS, WIN, Bools, Floats, PairTable, results_by_player, tabulate
from assay.results.expectancy import DRAW_MODELS, SCALE, DrawModel, slope
from assay.results.information import MOST_IN_MATRIX, check_matrix, covariance, difference_variances, variances
from assay.results.levels import ABOVE, BELOW, RATED, UNPLAYED, Fitted, Settings, fit, known_beforehand, precision_of
from assay.results.solve import draw_rate_deviation, score_filling

if TYPE_CHECKING:
    from assay.results.dice import Simulation
    from assay.results.gamepairs import Pentanomial

SELF_PLAY = "a player against himself"
NO_SCORE = "no score"
NO_NAME = "a player without a name"
# Standard deviations on each side of 95 %.
_USUAL = 1.959963984540054
# Beyond this no rating means anything.
_MOST = 1e7

Codes = NDArray[np.int32]

SYMBOL = {RATED: "", ABOVE: ">", BELOW: "<", UNPLAYED: "*"}
REASON = {
    ABOVE: "only wins (against the rest): a lower bound",
    BELOW: "only losses (against the rest): an upper bound",
    UNPLAYED: "no games",
}


@dataclass(frozen=True)
class Standings:
    """Ratings with all that the tables need; arrays run over the players in the order of their first appearance.

    `status` tells how a player was rated (see :mod:`assay.results.levels`), `pool` which ratings compare with which,
    `group` the strongly connected component. Errors are those of the difference to the average of the pool, or to
    the anchor if there is just one and `errors_from` says so.
    """

    players: tuple[str, ...]
    fit: Fitted = field(repr=False)
    skipped: dict[str, int]
    pairs: Pentanomial | None = None
    errors_from: Literal["anchor", "pool"] = "anchor"
    kinds: tuple[str, ...] = ()

    @cached_property
    def advantages(self) -> list[Advantage]:
        """White's advantage in each kind of game, where they are told apart; the most frequent kind first."""
        return advantages(self.fit.problem, self.fit.solution, self.kinds)

    @property
    def ratings(self) -> Floats:
        """The rating of each player, nan where there is none."""
        return self.fit.ratings

    @property
    def white_advantage(self) -> float:
        """What the white pieces are worth, in Elo."""
        return self.fit.solution.white

    @property
    def draw_rate(self) -> float:
        """The share of draws between equals."""
        return self.fit.solution.equal

    @property
    def encounters(self) -> PairTable:
        """The table of encounters that was rated."""
        return self.fit.table

    @property
    def status(self) -> NDArray[np.int8]:
        """How each player was placed: rated, above or below what bounds the rating, or unplayed."""
        return self.fit.placement.status

    @property
    def pool(self) -> NDArray[np.int32]:
        """The pool of each player; ratings compare within a pool alone."""
        return self.fit.placement.pool

    @property
    def group(self) -> NDArray[np.int32]:
        """The group of each player that wins and losses connect both ways."""
        return self.fit.groups.label

    @property
    def played(self) -> Floats:
        """Games of each player."""
        return self.encounters.played

    @property
    def points(self) -> Floats:
        """Points of each player."""
        return self.encounters.points

    @cached_property
    def order(self) -> NDArray[np.intp]:
        """The rated players, pool by pool, from the best down; equals in the order of their first appearance."""
        # Ratings are exact to 1e-5 or better; equals must not be parted by rounding.
        rounded = np.round(self.ratings, 6)
        rated = np.flatnonzero(np.isfinite(rounded))
        return rated[np.lexsort((-rounded[rated], self.pool[rated]))]

    @cached_property
    def pools(self) -> NDArray[np.int32]:
        """The numbers of the pools; nothing compares players of two of them."""
        # np.unique would load masked arrays, which takes longer than a small list does.
        return np.flatnonzero(np.bincount(self.pool[self.pool >= 0])).astype(np.int32)

    def level(self, pool: int) -> str:
        """What sets the level of a pool, in words."""
        settings = self.fit.settings
        inside = self.pool == pool
        if settings.anchor is not None and inside[settings.anchor]:
            return f"{self.players[settings.anchor]} at {settings.anchor_rating:.1f}"
        known = settings.level_known
        if known is not None and (known & inside).any():
            return "as the anchors say"
        return f"average {settings.average:.1f}"

    @cached_property
    def _filling(self) -> Any:
        settings, solution = self.fit.settings, self.fit.solution
        if settings.likelihood:
            return None
        if self.pairs is not None:
            from assay.results.gamepairs import pair_filling

            return pair_filling(self.fit.problem, solution, self.pairs)
        return score_filling(self.fit.problem, solution)

    @cached_property
    def _variance(self) -> Floats:
        return variances(self.fit.solution.information, self._filling)

    @cached_property
    def _matrix(self) -> Floats:
        return covariance(self.fit.solution.information, self._filling)

    @property
    def _reference(self) -> int | None:
        return self.fit.settings.anchor if self.errors_from == "anchor" else None

    @cached_property
    def deviation(self) -> Floats:
        """Standard error of each rating; nan where the results do not bound the rating."""
        variance = self._variance[:-1].copy()
        reference = self._reference
        if reference is not None:
            bread = self.fit.solution.information
            unit = np.zeros(bread.size)
            unit[reference] = 1.0
            column = bread.solve(unit)
            if self._filling is not None:
                column = bread.solve(self._filling.multiply(column))
            # Players of other pools have no difference to the anchor: theirs is to the average of their own.
            same = self.pool == self.pool[reference]
            variance[same] += (variance[reference] - 2.0 * column[:-1])[same]
            variance[reference] = 0.0
        return np.where(self.bounded, np.sqrt(np.maximum(variance, 0.0)), np.nan)

    @property
    def bounded(self) -> Bools:
        """Whose rating the results bound on both sides."""
        return self.fit.bounded

    @property
    def white_deviation(self) -> float:
        """Standard error of the white advantage; zero where it was given."""
        return float(np.sqrt(max(self._variance[-1], 0.0)))

    @property
    def draws_deviation(self) -> float:
        """Standard error of the draw rate: that of the number of draws, by what the rate adds to it."""
        if not self.fit.settings.fit_draws:
            return 0.0
        return draw_rate_deviation(self.fit.problem, self.fit.solution)

    def errors(self, confidence: float = 0.95) -> Floats:
        """Half-widths of the intervals of this confidence."""
        return self.deviation * confidence_factor(confidence)

    def covariance(self) -> Floats:
        """Covariance of the ratings (players x players); zero for players without a bounded rating."""
        return self._matrix[:-1, :-1].copy()

    def difference_deviation(self, i: ArrayLike, j: ArrayLike) -> Floats:
        """Standard errors of the differences between these pairs of players; nan if they are of two pools."""
        a, b = np.atleast_1d(np.asarray(i, np.intp)), np.atleast_1d(np.asarray(j, np.intp))
        bread = self.fit.solution.information
        if bread.size - 1 <= MOST_IN_MATRIX:
            matrix = self._matrix
            variance = difference_variances(np.diagonal(matrix), matrix, bread, a, b)
        else:
            variance = difference_variances(self._variance, None, bread, a, b)
        deviation = np.sqrt(np.maximum(variance, 0.0))
        return np.where(self.bounded[a] & self.bounded[b] & (self.pool[a] == self.pool[b]), deviation, np.nan)

    def superiority(self) -> Floats:
        """Likelihood that the player of the row is stronger than that of the column.

        It is nan on the diagonal and across pools.

        >>> from assay.results import rate
        >>> r = rate(["A", "B", "A", "B"], ["B", "A", "B", "A"], [1, 0, 0.5, 0.5])
        >>> r.superiority().round(2).tolist()
        [[nan, 0.95], [0.05, nan]]
        """
        n = len(self.players)
        check_matrix(n)
        i, j = np.divmod(np.arange(n * n), n)
        chance = likelihood_of_superiority(self.ratings[i] - self.ratings[j], self.difference_deviation(i, j))
        chance[:: n + 1] = np.nan
        return chance.reshape(n, n)

    def simulate(self, runs: int, seed: int | None = None, **how: Any) -> Simulation:
        """Errors from simulated results; without a seed, from the random numbers of Ordo and in its order."""
        from assay.results.dice import simulate

        return simulate(self.fit, runs, seed, relative_to=self._reference, **how)

    def table(self) -> list[dict[str, Any]]:
        """One row for each player, pool by pool from the best down; those without a rating follow, with the reason.

        Ranks are those within the pool.
        """
        sides = results_by_player(self.encounters)
        error = self.errors()
        rest = np.flatnonzero(~np.isfinite(self.ratings))
        rows = []
        ranks = dict(zip(self.order.tolist(), ranks_within(self.pool[self.order]), strict=True))
        for player in [*self.order.tolist(), *rest.tolist()]:
            played = int(self.played[player])
            rated = player in ranks
            rows.append(
                {
                    "rank": ranks.get(player),
                    "player": self.players[player],
                    "rating": float(self.ratings[player]) if rated else None,
                    "error": float(error[player]) if np.isfinite(error[player]) else None,
                    "points": float(self.points[player]),
                    "played": played,
                    "percent": 100.0 * float(self.points[player]) / played if played else None,
                    "wins": int(sides.wins[player]),
                    "draws": int(sides.draws[player]),
                    "losses": int(sides.losses[player]),
                    "symbol": SYMBOL[int(self.status[player])],
                    "pool": int(self.pool[player]) + 1 if rated else None,
                    "reason": REASON.get(int(self.status[player])),
                }
            )
        return rows


def ranks_within(pools: NDArray[np.int32]) -> list[int]:
    """Ranks of lines that run pool by pool: each pool begins at one.

    >>> ranks_within(np.array([0, 0, 1, 1, 1], np.int32))
    [1, 2, 1, 2, 3]
    """
    place = np.arange(len(pools))
    first = np.concatenate(([True], pools[1:] != pools[:-1]))[: len(pools)]
    ranks: list[int] = (place - np.maximum.accumulate(np.where(first, place, 0)) + 1).tolist()
    return ranks


def confidence_factor(confidence: float) -> float:
    """Standard deviations on each side of an interval.

    >>> round(confidence_factor(0.95), 5)
    1.95996
    """
    if confidence == 0.95:
        return _USUAL
    from statistics import NormalDist  # which loads fractions and decimals: longer than a small list takes

    return NormalDist().inv_cdf(0.5 + confidence / 2.0)


def likelihood_of_superiority(difference: ArrayLike, deviation: ArrayLike) -> Floats:
    """Chance that a normal difference of this mean and deviation is above zero (Abramowitz & Stegun 7.1.1).

    >>> likelihood_of_superiority([0.0, 20.0], [10.0, 10.0]).round(4).tolist()
    [0.5, 0.9772]
    """
    difference, deviation = np.asarray(difference, np.float64), np.asarray(deviation, np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        z = np.where(difference == 0.0, 0.0, difference / deviation)
    z = np.where(np.isnan(deviation), np.nan, z)
    return _normal_distribution(np.asarray(z))


def _normal_distribution(z: Floats) -> Floats:
    """The normal distribution function on arrays, to seven digits (Abramowitz & Stegun 26.2.17)."""
    t = 1.0 / (1.0 + 0.2316419 * np.abs(z))
    powers = t * (0.319381530 + t * (-0.356563782 + t * (1.781477937 + t * (-1.821255978 + t * 1.330274429))))
    tail = np.exp(-0.5 * z**2) / np.sqrt(2.0 * np.pi) * powers
    return np.asarray(np.where(z >= 0, 1.0 - tail, tail))


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
) -> Standings:
    """Rate players from the results of their games.

    `white` and `black` hold names, or codes into `players`; `score` is White's: 1, 0.5 or 0 (nan: not counted). Games
    without a name (None, nan, "") are left out and counted in `skipped`.

    The average of the pool is `average`, unless `anchors` {player: rating} or `priors` {player: (rating, error)} set
    the level. White advantage and draw rate between equals (0 to 1) are fitted or given. With `opening` (a code or
    name for each game) errors come from pairs of games with the same opening and the colours reversed.

    More may be told by name (see :func:`rate_table`): `relations` [(a, b, delta, error)] say that a is delta points
    above b; `prior` is an error for every player about the average; `white_advantage_error` and `draw_rate_error`
    make the values given priors too; `draw_model` is ordo, davidson or rao-kupper. Any of these, and `likelihood`,
    replaces the fit of points by that of the likelihood (:mod:`assay.results.solve`). `scale` is the difference that
    scores 76 %, `start` {player: rating} are ratings to start from, `errors_from` is "anchor" or "pool".

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
        from assay.results.gamepairs import count_pairs

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
    draw_model: DrawModel = "ordo",
    perfect: Literal["program", "manual"] = "program",
    scale: float = SCALE,
    start: Mapping[Any, float] | None = None,
    errors_from: Literal["anchor", "pool"] = "anchor",
    pairs: Pentanomial | None = None,
    skipped: Mapping[str, int] | None = None,
    kinds: Sequence[str] = (),
) -> Standings:
    """Rate players from a table of encounters (:func:`assay.results.encounters.tabulate`); see :func:`rate`.

    Where the table tells kinds of games apart, `kinds` are their names: each has an advantage of White of its own.

    >>> from assay.results.encounters import DRAW, WIN, tabulate
    >>> table = tabulate(np.array([0, 1]), np.array([1, 0]), np.array([WIN, DRAW], np.int8), 2)
    >>> rate_table(["Anna", "Ben"], table, white_advantage=0.0).points.tolist()
    [1.5, 0.5]
    """
    if perfect not in ("program", "manual"):
        raise RatingError(f"perfect scores are placed as by Ordo's program or its manual, not {perfect!r}.")
    if draw_model not in DRAW_MODELS:
        raise RatingError(f"a draw model is {', '.join(DRAW_MODELS)}, not {draw_model!r}.")
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
            likelihood=likelihood or white_advantage_error > 0 or draw_rate_error > 0 or draw_model != "ordo",
            model=draw_model,
            one_draw=perfect == "manual",
        ),
        anchors=anchors or {},
        priors=priors or {},
        relations=relations,
        prior=prior,
    )
    if settings.likelihood and settings.equal == 0.0 and table.draws.any():
        raise RatingError("there are draws, but a draw rate of zero makes them impossible: give another rate.")
    if table.kind is not None and pairs is not None:
        raise RatingError("errors from game pairs know one white advantage: leave out --pairs, or --white-by.")
    if settings.likelihood and pairs is not None:
        raise RatingError("errors from game pairs belong to the fit of points: leave out what needs the likelihood.")
    index = {name: i for i, name in enumerate(players)} if start else {}
    known = {index[str(name)]: value for name, value in (start or {}).items() if str(name) in index}
    found = fit(table, settings, known)
    return Standings(tuple(players), found, dict(skipped or {}), pairs, errors_from, tuple(kinds))


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
