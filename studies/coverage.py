"""Study 3: does the 95 % interval hold the truth in 93-97 % of cases?

    python studies/coverage.py GAMES.pgn STORE.db [DEPTH] [REPETITIONS]

Two worlds. In the simulated one, agents of known rating choose the moves of all games; a calibration is made from
agents at the marks, and rates fresh agents. In the real one, games of a mark are drawn anew, and the truth is what all
games of that mark give.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from rated_sample import METHOD, held, read

from assay.errors import AssayError
from assay.intrinsic.calibrate import calibrate
from assay.intrinsic.line import Line
from assay.intrinsic.models import move_probabilities
from assay.intrinsic.rate import INTERVALS, rate, rate_by_fit
from assay.intrinsic.sample import Sample
from assay.intrinsic.scale import Scale
from assay.intrinsic.tally import tally
from assay.report.tables import render

SIZES = (150, 400, 1000, 4000)
pgn, store, depth, repetitions = sys.argv[1], sys.argv[2], int((*sys.argv, 10)[3]), int((*sys.argv, 10, 400)[4])
_, sample = read(pgn, store, depth)
rng = np.random.default_rng(3)
scale = calibrate(sample, method=METHOD).scale


def agents(one: Sample, elo: np.ndarray, scale: Scale) -> Sample:
    """The same turns with the moves of agents on the artery at these ratings (one per turn)."""
    played = np.empty(len(one), dtype=np.intp)
    for rating in np.unique(elo):
        rows = np.flatnonzero(elo == rating)
        chance = np.cumsum(move_probabilities(one.deltas[rows], *scale.artery.at(float(rating))), axis=1)
        played[rows] = (chance < rng.random(len(rows))[:, None]).sum(axis=1)
    return replace(one, played=played, elo=elo.astype(np.float64))


def exact(scale: Scale) -> Scale:
    """The scale without the error of its line: games of one world share it, so that it is no noise between them."""
    lines = {name: replace(line, covariance=np.zeros((2, 2))) for name, line in scale.lines.items()}
    return replace(scale, line=Line(scale.line.intercept, scale.line.slope, np.zeros((2, 2))), lines=lines)


def games_for(turns_of: list[np.ndarray], size: int) -> list[np.ndarray]:
    """Games drawn anew until they hold so many turns."""
    chosen: list[np.ndarray] = []
    while sum(map(len, chosen)) < size:
        chosen.append(turns_of[rng.integers(len(turns_of))])
    return chosen


def count(one: Sample, scale: Scale, truth_of: dict[int, float], turns_by: dict[int, list[np.ndarray]]) -> list[dict]:
    """Coverage at every size, for the default way with each interval and for Regan's way with his."""
    cells = tally(scale.artery, one.deltas, one.played, elsewhere=one.elsewhere, cells=one.side)
    table = []
    for size in SIZES:
        hits: dict[str, list[bool]] = {name: [] for name in (*INTERVALS, "regan's way")}
        for _ in range(repetitions if size < 4000 else repetitions // 2):
            mark = int(rng.choice(list(truth_of)))
            chosen = games_for(turns_by[mark], size)
            here = cells.of(np.array([one.side[rows[0]] for rows in chosen]))
            for name in INTERVALS:
                found = rate(here, scale, interval=name, samples=400)
                hits[name].append(found.low <= truth_of[mark] <= found.high)
            if size >= 400 and len(hits["regan's way"]) < repetitions // 4:
                rows = np.concatenate(chosen)
                game = np.repeat(np.arange(len(chosen)), [len(rows) for rows in chosen])
                spread = (one.deltas[rows], one.played[rows])
                try:
                    own = rate_by_fit(*spread, scale, games=game, elsewhere=one.elsewhere[rows], interval="regan")
                    hits["regan's way"].append(own.low <= truth_of[mark] <= own.high)
                except AssayError:
                    hits["regan's way"].append(False)
        table.append({"turns": size} | {name: float(np.mean(h)) if h else None for name, h in hits.items()})
    return table


def by_mark(one: Sample) -> dict[int, list[np.ndarray]]:
    return {
        int(mark): [np.flatnonzero(one.side == side) for side in np.unique(one.side[one.mark == mark])]
        for mark in np.unique(one.mark)
    }


print(f"Simulated agents (depth {depth}, calibrated on agents at the marks, rated afresh)")
world = calibrate(agents(sample, sample.mark.astype(np.float64), scale), method=METHOD).scale
fresh = agents(sample, sample.mark.astype(np.float64), scale)
truth = {int(mark): float(mark) for mark in np.unique(sample.mark)}
print(render(count(fresh, world, truth, by_mark(sample)), decimals=dict.fromkeys((*INTERVALS, "regan's way"), 3)))

print(f"Real games drawn anew (depth {depth}; the truth is the rating of the whole mark)")
still = exact(scale)
whole = held(still, sample, np.arange(len(sample)))
truth = {int(m): rate(whole.sides.of(whole.mark == m), still).rating for m in np.unique(sample.mark)}
print(render(count(sample, still, truth, by_mark(sample)), decimals=dict.fromkeys((*INTERVALS, "regan's way"), 3)))
