"""The intrinsic model against a plain Python loop over turns.

    python benchmarks/intrinsic.py [TURNS [MILLIONS]] [--json FILE]

Makes its own spreads: 25,000 turns of 50 moves, all inside the cap, and the moves of a player of known s and c. Times
are the best of several, in CPU seconds of one core. The loop has the same objective and tolerance; it is timed on a
part of the turns and a single evaluation, since nobody wants to wait for the rest: a fit costs it as many evaluations
as Nelder and Mead need.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from assay.moves.regan import Agent, fit, move_probabilities, project
from measure import Cost, Measurement, alone, best, show

MOVES, S, C = 50, 0.12, 0.5
LOOP_TURNS = 400
DIFFERENT = 100_000
LOOP = "plain loop"


def make(turns: int, seed: int = 1, dtype: type = np.float64) -> tuple[NDArray[np.floating], NDArray[np.intp]]:
    """Spreads as wide as they come, and what a player did."""
    random = np.random.default_rng(seed)
    deltas = np.empty((turns, MOVES), dtype=dtype)
    played = np.empty(turns, dtype=np.intp)
    agent = Agent(S, C, seed=seed)
    for start in range(0, turns, 50_000):
        part = np.sort(random.gamma(1.0, 0.5, (min(50_000, turns - start), MOVES)), axis=1)
        part[:, 0] = 0.0
        deltas[start : start + len(part)] = part
        played[start : start + len(part)] = agent.choose_all(part)
    return deltas, played


def spreads(turns: int) -> tuple[NDArray[np.floating], NDArray[np.intp]]:
    """As many turns as wanted, in half the memory: beyond a hundred thousand they repeat."""
    deltas, played = make(min(turns, DIFFERENT), dtype=np.float32)
    times = -(-turns // len(deltas))
    return np.tile(deltas, (times, 1))[:turns], np.tile(played, times)[:turns]


def loop_turn(deltas: list[float], s: float, c: float) -> list[float]:
    """One turn in plain Python: p_i = exp(-L a_i), L by Newton's method."""
    powers = [math.exp(min((d / s) ** c, 700.0)) for d in deltas]
    L = 0.3
    for _ in range(100):
        total = slope = 0.0
        for a in powers:
            e = math.exp(-L * a)
            total += e
            slope += a * e
        step = math.log(total) * total / slope
        L += step
        if abs(step) <= 1e-9 * L:
            break
    return [math.exp(-L * a) for a in powers]


def loop_percentile(turns: list[list[float]], played: list[int], s: float, c: float) -> float:
    """The percentile objective, turn by turn (RH11, section 6)."""
    sums = [0.0] * 19
    for deltas, k in zip(turns, played, strict=True):
        p = loop_turn(deltas, s, c)
        start, width = sum(p[:k]), p[k]
        for i in range(19):
            sums[i] += min(max(((i + 1) / 20 - start) / width, 0.0), 1.0)
    return sum((sums[i] / len(turns) - (i + 1) / 20) ** 2 for i in range(19))


def loop_equations(turns: list[list[float]], played: list[int], s: float, c: float) -> float:
    """The two equations as one sum of squares, turn by turn."""
    match = error = 0.0
    for deltas, k in zip(turns, played, strict=True):
        p = loop_turn(deltas, s, c)
        match += p[0] - (k == 0)
        error += sum(x * d for x, d in zip(p, deltas, strict=True)) - deltas[k]
    return (match / len(turns)) ** 2 + (error / len(turns)) ** 2


def loop_cost(
    objective: Callable[[list[list[float]], list[int], float, float], float],
    deltas: NDArray[np.floating],
    played: NDArray[np.intp],
) -> float:
    """CPU seconds of a fit by the loop: one evaluation, and as many as Nelder and Mead take."""
    turns, moves = deltas[:LOOP_TURNS].tolist(), played[:LOOP_TURNS].tolist()
    once = best(lambda: objective(turns, moves, S, C)) / len(turns)
    few, few_played = turns[:60], moves[:60]
    found = minimize(
        lambda x: objective(few, few_played, *np.exp(np.clip(x, np.log([0.002, 0.1]), np.log([5.0, 2.0])))),
        np.log([0.15, 0.5]),
        method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-12},
    )
    return once * len(deltas) * int(found.nfev)


def measure(turns: int = 25_000, millions: float = 1.0) -> list[Measurement]:
    """Probabilities, projection and fits, and one large fit in a fresh process."""
    deltas, played = make(turns)
    once = best(lambda: [loop_turn(turn, S, C) for turn in deltas[:LOOP_TURNS].tolist()]) / min(LOOP_TURNS, turns)
    size = f"{turns:,} turns"
    power = best(lambda: move_probabilities(deltas, S, C), repeat=5)
    found = [
        Measurement(f"probabilities, power, {size}", power, "s", LOOP, once * turns, target=0.05, less=True),
    ]
    for model in ("shares", "third"):
        took = best(lambda m=model: move_probabilities(deltas, S, C, model=m))
        found.append(Measurement(f"probabilities, {model}, {size}", took, "s", less=True))
    took = best(lambda: project(deltas, S, C, gradient=True))
    found.append(Measurement(f"projection with gradient, {size}", took, "s", less=True))
    loops = {"percentile": (loop_percentile, 1.5), "equations": (loop_equations, 0.7)}
    for method in ("percentile", "equations", "ranks", "likelihood"):
        took = best(lambda m=method: fit(deltas, played, method=m))
        job = f"fit, {method}, {size}"
        if method in loops:
            objective, target = loops[method]
            loop = loop_cost(objective, deltas, played)
            found.append(Measurement(job, took, "s", LOOP, loop, target=target, wanted=300, less=True))
        else:
            found.append(Measurement(job, took, "s", less=True))
    if millions:
        del deltas, played
        count = int(millions * 1e6)
        found += large(count, alone("percentile fit", count, 1000, Path()))
    return found


def large(turns: int, cost: Cost) -> list[Measurement]:
    """One large fit, whose cost was measured in a fresh process."""
    job = f"fit, percentile, {turns:,} turns"
    return [
        Measurement(job, cost.cpu, "s", less=True),
        Measurement(f"{job}, memory", cost.memory, "MB", target=2000, less=True),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("turns", type=int, nargs="?", default=25_000)
    parser.add_argument("millions", type=float, nargs="?", default=1.0, help="turns of the large fit; 0 for none")
    parser.add_argument("--json", type=Path, help="write the measurements there too")
    args = parser.parse_args()
    show(measure(args.turns, args.millions), f"Turns of {MOVES} moves, CPU seconds", args.json)


if __name__ == "__main__":
    main()
