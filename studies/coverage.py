"""Study 3: does the 95 % interval hold the truth in 93-97 % of cases?

    python studies/coverage.py GAMES.pgn STORE.db [DEPTH] [REPETITIONS]

Two worlds, both on the positions of real games. In the simulated one, agents on the artery at the marks choose the
moves, afresh for every repetition; the truth is their rating. In the real one, games of a mark are drawn anew, and the
truth is what all games of that mark give. Shown are the default way with each interval, and Regan's way with his.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
from rated_sample import METHOD, held, read

from assay.errors import AssayError
from assay.moves.regan.artery import Line
from assay.moves.regan.calibrate import calibrate
from assay.moves.regan.ipr import INTERVALS, rate, rate_by_fit
from assay.moves.regan.models import move_probabilities
from assay.moves.regan.scale import Scale, Trend
from assay.moves.regan.tally import Tally
from assay.table import render

SIZES = (150, 400, 1000, 4000)
FITS = 60
pgn, store, depth, repetitions = sys.argv[1], sys.argv[2], int((*sys.argv, 10)[3]), int((*sys.argv, 10, 400)[4])
_, sample = read(pgn, store, depth)
rng = np.random.default_rng(3)
measured = calibrate(sample, method=METHOD).scale
marks = np.unique(sample.mark)
turns_of = {
    int(m): [np.flatnonzero(sample.side == side) for side in np.unique(sample.side[sample.mark == m])] for m in marks
}


def exact(scale: Scale) -> Scale:
    """The scale without the error of its lines: what is drawn from one world shares it."""
    still = np.zeros((2, 2))
    lines = {name: replace(line, covariance=still) for name, line in scale.lines.items()}
    return replace(scale, line=Line(scale.line.intercept, scale.line.slope, still), lines=lines)


# Agents: their world is calibrated on agents, and they are rated on the artery that they live on.
chance = np.zeros(sample.deltas.shape, dtype=np.float32)
for mark in marks:
    rows = sample.mark == mark
    chance[rows] = np.cumsum(move_probabilities(sample.deltas[rows], *measured.artery.at(float(mark))), axis=1)


def moves(rows: np.ndarray) -> np.ndarray:
    """Moves that agents choose at these turns."""
    last = np.isfinite(sample.deltas[rows]).sum(axis=1) - 1
    return np.minimum((chance[rows] < rng.random((len(rows), 1))).sum(axis=1), last)


def counted(sides: Tally, chosen: list[np.ndarray], played: np.ndarray) -> Tally:
    """The expectations of these sides with other moves."""
    rows = np.concatenate(chosen)
    error = sample.deltas[rows, played]
    each = np.stack([played == 0, played < 3, error], axis=1)
    cell = np.repeat(np.arange(len(chosen)), [len(own) for own in chosen])
    actual = np.stack([np.bincount(cell, weights=column) for column in each.T.astype(float)], axis=1)
    return replace(sides, actual=actual)


def table(scale: Scale, sides: Tally, truth: dict[int, float], *, agents: bool) -> str:
    out = []
    for size in SIZES:
        hits: dict[str, list[bool]] = {name: [] for name in (*INTERVALS, "regan's way")}
        for repetition in range(repetitions):
            mark = int(rng.choice(marks))
            chosen: list[np.ndarray] = []
            while sum(map(len, chosen)) < size:
                chosen.append(turns_of[mark][rng.integers(len(turns_of[mark]))])
            rows = np.concatenate(chosen)
            played = moves(rows) if agents else sample.played[rows]
            own = sides.of(np.array([sample.side[turns[0]] for turns in chosen]))
            own = counted(own, chosen, played) if agents else own
            for name in INTERVALS:
                found = rate(own, scale, interval=name, samples=300)
                hits[name].append(found.low <= truth[mark] <= found.high)
            if size >= 400 and repetition < FITS:
                game = np.repeat(np.arange(len(chosen)), [len(turns) for turns in chosen])
                try:
                    found = rate_by_fit(
                        sample.deltas[rows],
                        played,
                        scale,
                        games=game,
                        elsewhere=sample.elsewhere[rows],
                        interval="regan",
                    )
                    hits["regan's way"].append(found.low <= truth[mark] <= found.high)
                except AssayError:
                    hits["regan's way"].append(False)
        out.append({"turns": size} | {name: float(np.mean(hit)) if hit else None for name, hit in hits.items()})
    return render(out, decimals=dict.fromkeys((*INTERVALS, "regan's way"), 3))


print(f"Simulated agents (depth {depth}, {repetitions} repetitions a row, {FITS} for Regan's way)")
simulated = replace(sample, played=moves(np.arange(len(sample))), elo=sample.mark.astype(np.float64))
even = Trend(1.0, 0.0, *measured.range)
world = exact(calibrate(simulated, method=METHOD).scale)
world = replace(world, artery=measured.artery, line=exact(measured).line, ratios=(even, even, even))
base = held(world, sample, np.arange(len(sample)))
print(table(world, base.sides, {int(mark): float(mark) for mark in marks}, agents=True), flush=True)

print("Real games drawn anew; the truth is the rating of the whole mark")
still = exact(measured)
whole = held(still, sample, np.arange(len(sample)))
truth = {int(m): rate(whole.sides.of(whole.mark == m), still).rating for m in marks}
print(table(still, whole.sides, truth, agents=False))
