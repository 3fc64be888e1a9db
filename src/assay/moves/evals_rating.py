"""Groups of turns rated from the evaluations in games: no engine, no store."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID, LEVEL, Curve, Estimate, Honesty
from assay.errors import InputError
from assay.games import Game
from assay.moves.clock_curves import TurnClocks, clock_curves
from assay.moves.evals import GRID as INNER
from assay.moves.evals import EvalTurns, eval_turns, shipped_evals
from assay.moves.evidence import GameSides, sides_of
from assay.moves.groups import Groups
from assay.moves.performance import Row, ends_note, result_performance, scale_note
from assay.pools import BEFORE, LAST, has_line, split_line, words_of
from assay.scales import PoolLine, apart, from_json, shipped_lines

EVALS = "evals"
NO_EVALS = "these games carry no evaluations ([%eval ...]): have them analysed on Lichess, or rate with an engine."
FEWEST = 4  # turns: fewer say nothing


@lru_cache(maxsize=1)
def eval_lines() -> dict[str, PoolLine]:
    """The fitted lines from the scale of evaluations to pools."""
    text = (resources.files("assay.data") / "evals-lines.json").read_text(encoding="utf-8")
    return from_json(json.loads(text))


@lru_cache(maxsize=100)
def own_line(name: str) -> PoolLine:
    """The line of a pool and its years; where evaluations have none, that of other years by way of the moves' scale.

    What ratings of two times lie apart, the lines of moves tell; their errors come in.
    """
    known = eval_lines()
    if name in known:
        return known[name]
    base = name + BEFORE if name + BEFORE in known else LAST
    there, here, line = shipped_lines()[base], shipped_lines()[name], known[base]
    times = line.slope / there.slope
    error = [
        one + times**2 * (two + three)
        for one, two, three in zip(line.covariance, there.covariance, here.covariance, strict=True)
    ]
    return replace(
        line,
        name=name,
        middle=here.middle,
        inner=float(line.inside(there.rating(here.inner))),
        slope=times * here.slope,
        covariance=(error[0], error[1], error[2]),
        low=max(here.low, float(here.rating(there.inside(line.low)))),
        high=min(here.high, float(here.rating(there.inside(line.high)))),
    )


def on_pool(curve: Curve, name: str) -> Curve:
    """Curves of the inner scale over the ratings of a pool."""
    inner = np.clip(own_line(name).inside(GRID), INNER[0], INNER[-1])
    from scipy.interpolate import CubicSpline

    return Curve(np.asarray(CubicSpline(INNER, curve.table, axis=1)(inner)), GRID)


def turns_with_evals(games: Sequence[Game], counted: NDArray[np.bool_]) -> EvalTurns:
    """The turns of some games, or a sentence where none has a value."""
    found = eval_turns(games, counted)
    if not len(found):
        raise InputError(NO_EVALS)
    return found


def rate_evals(turns: EvalTurns, groups: Groups, *, level: float = LEVEL, min_turns: int = 1) -> list[Row]:
    """Rate every group from the evaluations, in their order."""
    model, sides = shipped_evals(), sides_of(turns)
    curve, clocks = model.curve(turns), clocks_of(turns)
    honesty = Honesty(model.power, model.spread)
    # Evaluations have no line of their own for quicker and slower games of a pool.
    lines = np.array([split_line(name)[0] for name in turns.column("line")], object)
    rows = []
    for label, own in zip(groups.labels, groups.turns, strict=True):
        rows.append(_row(turns, sides, curve[own], clocks, label, own, lines, honesty, level, min_turns))
    return rows


def clocks_of(turns: EvalTurns) -> TurnClocks:
    """What the clocks tell of the sides of these turns."""
    return clock_curves(turns.plies.arrays, turns.games).of_turns(turns.game, turns.white)


def _row(
    turns: EvalTurns,
    sides: GameSides,
    curve: Curve,
    clocks: TurnClocks,
    label: str,
    own: NDArray[np.intp],
    of_turn: NDArray[np.object_],
    honesty: Honesty,
    level: float,
    min_turns: int,
) -> Row:
    mine = sides.in_group(own)
    games = np.unique(sides.game[mine])
    names = Counter(of_turn[own].tolist())
    whole = np.zeros((1, len(GRID)))
    for name in names:
        here = of_turn[own] == name
        whole += on_pool(Curve(curve.table[here].sum(axis=0, keepdims=True), INNER), name).table
    total, notes = Curve(whole + clocks.together(own), GRID), []
    line = own_line(names.most_common(1)[0][0])
    top = float(total.tops()[0])
    pools = list(dict.fromkeys(turns.games["pool"][int(game)] for game in games))
    strange = not all(has_line(pool) for pool in pools)
    if note := scale_note(turns.games, games):
        notes.append(note)
    if timed := clocks.games(own):
        notes.append("clocks count, too" + (f", in {timed} of {len(games)} games" if timed < len(games) else ""))
    found = Estimate(level=level)
    if len(own) < max(min_turns, FEWEST):
        notes.append(f"too few turns for a rating: {len(own)}, and it takes {max(min_turns, FEWEST)}")
    else:
        off = apart(shipped_lines()[names.most_common(1)[0][0]], top) if strange else 0.0
        (found,) = total.estimates(line.honesty(top, honesty, off), level)
        notes += ends_note(found)
        if found.bounded and not line.low - 100 <= found.value <= line.high + 100:
            notes.append("extrapolated beyond the ratings of the games that the scale stands on")
    ratings = sides.rating[mine]
    known = np.isfinite(ratings)
    count = np.bincount(sides.of[own], minlength=len(sides.game))[mine]
    return Row(
        group=label,
        games=len(games),
        turns=len(own),
        elo=float(np.average(ratings[known], weights=count[known])) if known.any() else None,
        performance=result_performance(turns.games, sides, mine),
        estimate=found,
        actual=np.array([turns.centipawns[own].sum(), turns.loss[own].sum(), np.nan]),
        expected=None,
        method=EVALS,
        note="; ".join(notes),
        pool=pools[0] if len(pools) == 1 else None,
    )


def told_units(turns: EvalTurns) -> str:
    """The factors that the values were multiplied with, of small and large ones, by year."""
    games = np.unique(turns.game).tolist()
    found = sorted({(str(turns.games["year"][game] or ""), *turns.unit[game].tolist()) for game in games})
    parts = [
        f"{small:.2f}{f' to {large:.2f}' if large != small else ''}{f' in {year}' if year else ''}"
        for year, small, large in found
    ]
    return ", ".join(parts[:6]) + (" ..." if len(parts) > 6 else "")


def scales_told(turns: EvalTurns) -> str:
    """The scales of the games."""
    lines = Counter(words_of(turns.games["line"][int(game)]) for game in np.unique(turns.game))
    return "; ".join(words for words, _ in lines.most_common())
