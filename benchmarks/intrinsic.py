"""The intrinsic model against a plain Python loop over turns: python benchmarks/intrinsic.py [TURNS [MILLIONS]].

Makes its own spreads: 25,000 turns of 50 moves, all inside the cap, and the moves of a player of known s and c. Times
are the best of several, in CPU seconds of one core. The loop has the same objective and tolerance; it is timed on a
part of the turns and a single evaluation, since nobody wants to wait for the rest: a fit costs it as many evaluations
as Nelder and Mead need.
"""

from __future__ import annotations

import math
import resource
import sys
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

from assay.intrinsic import Agent, fit, move_probabilities, project

MOVES, S, C = 50, 0.12, 0.5
LOOP_TURNS = 400


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


def cpu(function: Callable[[], object], repeat: int = 5) -> float:
    """The least CPU time of several runs."""
    best = math.inf
    for _ in range(repeat):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return best


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
) -> tuple[float, int]:
    """CPU seconds per turn of one evaluation, and how many evaluations a fit by Nelder and Mead takes."""
    turns, moves = deltas[:LOOP_TURNS].tolist(), played[:LOOP_TURNS].tolist()
    once = cpu(lambda: objective(turns, moves, S, C), repeat=3) / LOOP_TURNS
    few, few_played = turns[:60], moves[:60]
    found = minimize(
        lambda x: objective(few, few_played, *np.exp(np.clip(x, np.log([0.002, 0.1]), np.log([5.0, 2.0])))),
        np.log([0.15, 0.5]),
        method="Nelder-Mead",
        options={"xatol": 1e-6, "fatol": 1e-12},
    )
    return once, int(found.nfev)


def main(turns: int = 25_000, millions: float = 1.0) -> None:
    deltas, played = make(turns)
    print(f"{turns:,} turns x {MOVES} moves, one core, best of several runs, CPU seconds")
    for model in ("power", "shares", "third"):
        print(f"probabilities, {model:<24}{cpu(lambda m=model: move_probabilities(deltas, S, C, model=m)):>9.3f} s")
    print(f"{'projection with gradient':<39}{cpu(lambda: project(deltas, S, C, gradient=True)):>9.3f} s")
    loops = {"percentile": loop_percentile, "equations": loop_equations}
    for method in ("percentile", "equations", "ranks", "likelihood"):
        ours = cpu(lambda m=method: fit(deltas, played, method=m), repeat=3)
        line = f"fit, {method:<34}{ours:>9.3f} s"
        if method in loops:
            once, evaluations = loop_cost(loops[method], deltas, played)
            loop = once * turns * evaluations
            line += (
                f"   loop: {once * turns:.2f} s x {evaluations} evaluations = {loop:,.0f} s, {loop / ours:,.0f} times"
            )
        print(line)
    count = int(millions * 1e6)
    if count:
        del deltas, played
        large, moves = make(count, dtype=np.float32)
        start = time.process_time()
        found = fit(large, moves, method="percentile")
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        print(
            f"{count:,} turns: percentile fit {time.process_time() - start:.1f} s, s {found.s:.4f}, c {found.c:.4f};",
            end=" ",
        )
        print(f"peak memory of the whole run {peak:.2f} GB")


if __name__ == "__main__":
    main(*(kind(arg) for kind, arg in zip((int, float), sys.argv[1:], strict=False)))
