"""White's advantage by the kind of game: what each kind adds to the common one.

Ratings and the common advantage are found with what the kinds add held; then each kind's own is found with the ratings
held, and so on in turns. Both steps climb the same function and hardly know of each other: a few turns are enough.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from assay.records import dataclass
from assay.results.encounters import Codes, Floats, PairTable
from assay.results.expectancy import score_variance
from assay.results.solve import Equations, Solution, expected, likelihood_gain, likelihood_weight

_TURNS = 40
_STEPS = 50
# Elo; what changes less is found.
_SMALL = 1e-4
# Elo; a kind of game of which little is known is taken to be so near to the others.
_WITHIN = 300.0


@dataclass(frozen=True)
class Advantage:
    """White's advantage in one kind of games, and its standard error (the ratings being what they are)."""

    kind: str
    games: int
    value: float
    error: float


def solve_by_kind(problem: Equations, solver: Callable[[Equations], Solution]) -> tuple[Solution, Floats]:
    """The solution, and what each kind of game adds to its advantage of White (on average over the games nothing)."""
    table, kind = problem.table, _kind(problem.table)
    games = np.bincount(kind, table.games)
    more = np.zeros(len(games))
    for _ in range(_TURNS):
        held = replace(problem, table=with_kinds(table, more))
        solution = solver(held)
        step = _step(held, solution, more)
        more = more + step
        more -= float(games @ more) / float(games.sum())
        # Each turn starts where the last one ended.
        problem = replace(problem, start=solution.ratings)
        if float(np.max(np.abs(step))) < _SMALL:
            break
    return solution, more


def with_kinds(table: PairTable, more: Floats) -> PairTable:
    """The table with what each kind of game adds; kinds of which nothing is known add nothing."""
    kind = _kind(table)
    known = np.zeros(int(kind.max(initial=-1)) + 1)
    known[: len(more)] = more[: len(known)]
    return replace(table, ahead=known[kind])


def _kind(table: PairTable) -> Codes:
    return np.zeros(len(table.white), np.intp) if table.kind is None else table.kind


def advantages(problem: Equations, solution: Solution, kinds: tuple[str, ...]) -> list[Advantage]:
    """The advantage of White in each kind of game, the most frequent kind first."""
    table, kind = problem.table, problem.table.kind
    if kind is None or table.ahead is None:
        return []
    p = expected(problem, solution.ratings, solution.white)
    bread, filling = (np.bincount(kind, part, len(kinds)) for part in _parts(problem, p, solution.equal))
    games = np.bincount(kind, table.games, len(kinds)).astype(np.int64)
    more = np.zeros(len(kinds))
    more[kind] = table.ahead
    error = np.sqrt(filling) / (bread + _WITHIN**-2)
    return [
        Advantage(kinds[at], int(games[at]), solution.white + float(more[at]), float(error[at]))
        for at in np.argsort(-games, kind="stable").tolist()
        if games[at]
    ]


def _parts(problem: Equations, p: Floats, equal: float) -> tuple[Floats, Floats]:
    """What each encounter tells of a difference, and the variance of that score."""
    table, beta = problem.table, problem.beta
    if problem.likelihood:
        weight = likelihood_weight(table, p, equal, beta, problem.model)
        return weight, weight
    return beta**2 * table.games * p * (1.0 - p), beta**2 * table.games * score_variance(p, equal)


def _step(problem: Equations, solution: Solution, more: Floats) -> Floats:
    """By how much the advantage of each kind is to change, the ratings being held (Newton's method for each kind)."""
    table, kind = problem.table, _kind(problem.table)
    total = np.zeros(len(more))
    for _ in range(_STEPS):
        moved = replace(problem, table=with_kinds(table, more + total))
        p = expected(moved, solution.ratings, solution.white)
        if problem.likelihood:
            gain = likelihood_gain(table, p, solution.equal, problem.beta, problem.model)
        else:
            gain = problem.beta * (table.white_points - table.games * p)
        slope = np.bincount(kind, gain, len(more)) - (more + total) / _WITHIN**2
        bend = np.bincount(kind, _parts(problem, p, solution.equal)[0], len(more)) + _WITHIN**-2
        step = np.clip(slope / bend, -_WITHIN, _WITHIN)
        total += step
        if float(np.max(np.abs(step))) < _SMALL / 10.0:
            break
    return total
