"""One fit from beginning to end: who is comparable, ratings within each group, then the level of each group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.errors import RatingError
from assay.results.information import NO_LINKS, Links
from assay.results.place import RATED, Placement, place
from assay.results.solve import Problem, Solution, solve
from assay.results.table import Bools, Floats, Groups, PairTable, connect

# Elo (or a share of draws); beyond these nothing is known, or all.
_LEAST_ERROR, _MOST_ERROR = 1e-5, 1e7


@dataclass(frozen=True)
class Settings:
    """What a fit is told: what to estimate and what is known beforehand.

    One `anchor` sets the level of its pool; several are `held`, as are loose anchors without an error.
    """

    beta: float
    average: float
    white: float
    fit_white: bool
    white_precision: float
    equal: float
    fit_draws: bool
    draws_precision: float
    likelihood: bool
    anchor: int | None = None
    anchor_rating: float = 0.0
    held: Bools | None = None
    held_rating: Floats | None = None
    mean: Floats | None = None
    precision: Floats | None = None
    links: Links = NO_LINKS

    @property
    def level_known(self) -> Bools | None:
        """The players whose own level something tells."""
        if self.held is None:
            return None if self.precision is None else self.precision > 0
        known: Bools = self.held if self.precision is None else self.held | (self.precision > 0)
        return known


@dataclass(frozen=True)
class Fit:
    """What a fit found."""

    table: PairTable
    settings: Settings
    groups: Groups
    problem: Problem
    solution: Solution
    placement: Placement

    @property
    def ratings(self) -> Floats:
        """The rating of each player, nan where there is none."""
        return self.placement.ratings

    @property
    def bounded(self) -> Bools:
        """Whose rating the results of his own group bound on both sides."""
        bounded: Bools = (self.placement.status == RATED) & (self.problem.free[:-1] | self.problem.held)
        return bounded


def fit(table: PairTable, settings: Settings, start: Mapping[int, float] | Floats) -> Fit:
    """Rate all players of a table, starting from these ratings (of some players, or of all).

    Encounters of a player with himself count in his score and tell nothing else.
    """
    if not (table.white != table.black).any():
        raise RatingError("there are no games to rate.")
    known = settings.level_known
    groups = connect(table, known, settings.links.ends)
    label = groups.label
    held = np.zeros(table.players, np.bool_) if settings.held is None else settings.held
    level = None
    if known is not None and known.any():
        level = int(label[np.argmax(known)])
    inside = table.keep((label[table.white] == label[table.black]) & (table.white != table.black))
    first = start.copy() if isinstance(start, np.ndarray) else _first_guess(inside, settings, start)
    if settings.held_rating is not None:
        first[held] = settings.held_rating[held]
    problem = Problem(
        table=inside,
        beta=settings.beta,
        shift=_shiftable(groups, level),
        held=held,
        start=first,
        white=settings.white,
        fit_white=settings.fit_white,
        white_precision=settings.white_precision,
        equal=settings.equal,
        fit_draws=settings.fit_draws,
        draws_precision=settings.draws_precision,
        likelihood=settings.likelihood,
        mean=settings.mean,
        precision=settings.precision,
        links=settings.links,
    )
    solution = solve(problem)
    placement = place(
        table,
        groups,
        solution.ratings,
        beta=settings.beta,
        white=solution.white,
        equal=solution.equal,
        average=settings.average,
        level=level,
    )
    if settings.anchor is not None:
        ratings = placement.ratings
        pool = placement.pool == placement.pool[settings.anchor]
        ratings[pool] += settings.anchor_rating - ratings[settings.anchor]
    return Fit(table, settings, groups, problem, solution, placement)


def _first_guess(table: PairTable, settings: Settings, start: Mapping[int, float]) -> Floats:
    """Ratings as if everybody had met the average, with half a game added to wins and losses; or those given."""
    made, lost = table.points, table.played - table.points
    guess: Floats = settings.average + np.log((made + 0.5) / (lost + 0.5)) / settings.beta
    guess[list(start)] = list(start.values())
    return guess


def _shiftable(groups: Groups, level: int | None) -> NDArray[np.int32]:
    """Number the groups that nothing holds; -1 for players of the held one, for single players and for the absent."""
    loose = groups.sizes > 1
    if level is not None:
        loose[level] = False
    number = np.where(loose, np.cumsum(loose) - 1, -1).astype(np.int32)
    return np.append(number, np.int32(-1))[groups.label]


def known_beforehand(
    names: Sequence[str],
    table: PairTable,
    settings: Settings,
    *,
    anchors: Mapping[Any, float],
    priors: Mapping[Any, tuple[float, float]],
    relations: Sequence[tuple[Any, Any, float, float]],
    prior: float | None,
) -> Settings:
    """The settings with anchors, loose anchors, relations and the prior of all players looked up."""
    if not (anchors or priors or relations or prior is not None):
        return settings
    index = {name: i for i, name in enumerate(names)}

    def find(name: Any, what: str) -> int:
        player = index.get(str(name))
        if player is None or table.played[player] == 0:
            raise RatingError(f'{what} "{name}": no games of this player; check spelling, capitals and spaces.')
        return player

    n = len(names)
    exact = {find(name, "anchor"): float(value) for name, value in anchors.items()}
    mean = np.full(n, settings.average)
    precision = np.zeros(n)
    if prior is not None:
        if not prior > 0:
            raise RatingError(f"a prior of {prior:g} Elo is not above zero.")
        precision[table.played > 0] = precision_of(prior, "a prior")
    for name, (value, error) in priors.items():
        player = find(name, "loose anchor")
        if error < 0:
            raise RatingError(f'loose anchor "{name}": an uncertainty of {error:g} is below zero.')
        if error == 0:
            if exact.setdefault(player, value) != value:
                raise RatingError(f'"{name}" is anchored at {exact[player]:g} and at {value:g}: leave out one of them.')
        else:
            mean[player], precision[player] = value, precision_of(error, f'loose anchor "{name}": an uncertainty')
    links = _links([(find(a, "relation"), find(b, "relation"), delta, error) for a, b, delta, error in relations])
    soft = bool((precision > 0).any())
    settings = replace(
        settings,
        links=links,
        mean=mean if soft else None,
        precision=precision if soft else None,
        likelihood=settings.likelihood or soft or len(links.a) > 0,
    )
    if len(exact) == 1 and not soft:
        ((anchor, value),) = exact.items()
        return replace(settings, anchor=anchor, anchor_rating=value)
    if exact:
        held = np.zeros(n, np.bool_)
        held_rating = np.full(n, settings.average)
        for player, value in exact.items():
            held[player], held_rating[player] = True, value
        return replace(settings, held=held, held_rating=held_rating)
    return settings


def precision_of(error: float, what: str) -> float:
    """The weight of something known with this error, which must be one that can be weighed.

    >>> precision_of(0.5, "an error")
    4.0
    """
    if not _LEAST_ERROR <= error <= _MOST_ERROR:
        raise RatingError(f"{what} of {error:g} is not between {_LEAST_ERROR:g} and {_MOST_ERROR:g}.")
    return 1.0 / error**2


def _links(rows: Sequence[tuple[int, int, float, float]]) -> Links:
    for _, _, _, error in rows:
        if not error > 0:
            raise RatingError(f"a relation with an uncertainty of {error:g} cannot be weighed; give one above zero.")
        precision_of(error, "a relation with an uncertainty")
    ends = np.array([row[:2] for row in rows], np.intp).reshape(-1, 2)
    ties = np.array([row[2:] for row in rows], np.float64).reshape(-1, 2)
    return Links(ends[:, 0], ends[:, 1], ties[:, 0], 1.0 / ties[:, 1] ** 2)
