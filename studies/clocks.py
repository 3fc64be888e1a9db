"""Do clocks sharpen ratings? python studies/clocks.py DATA.

On sides of games that carry evaluations and clocks (`lichess-45-45`, `otb-2024-26-clocks`, `lichess-2026-06`): the
rating from the evaluations alone (the top of the side's curve), and the same with what the clocks tell. Both go through
a regression on the tags that is fitted on other players (five folds), so that the clocks can do no more than help; the
noise is that of `assay.held_out.slope_and_noise`, bands alike. What the clocks tell, of the moves 6 to 40: the mean of
the logarithm of the share of the base time used, its spread, the share of moves made in less than 1 % of it, the share
of time left after the last of them, and how much longer the mover thought where much was lost.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.games import read
from assay.games.clocks import time_shares
from assay.held_out import slope_and_noise
from assay.moves.evals import EvalTurns, eval_turns, shipped_evals
from assay.moves.evidence import sides_of

Floats = NDArray[np.float64]
FILES = {"lichess-45-45": "lichess", "otb-2024-26-clocks": "otb-slow", "lichess-2026-06": "lichess"}
FIRST, LAST = 6, 40
FEWEST = 12
FOLDS = 5


def table(turns: EvalTurns) -> tuple[Floats, Floats, Floats, NDArray[np.object_]]:
    """Of each side: the rating from evaluations, what the clocks tell, the tag, and the player."""
    sides = sides_of(turns)
    count = len(sides.game)
    tops = shipped_evals().curve(turns).sum(sides.of, count).tops()
    used, left = (share[turns.at] for share in time_shares(turns.plies.arrays, turns.games))
    told = np.isfinite(used) & np.isfinite(left) & (turns.move >= FIRST) & (turns.move <= LAST)
    code = sides.of[told]
    number = np.maximum(np.bincount(code, minlength=count), 1).astype(float)

    def mean(values: Floats) -> Floats:
        return np.bincount(code, values, minlength=count) / number

    log = np.log(used[told])
    average = mean(log)
    spread = np.sqrt(np.maximum(mean(log**2) - average**2, 0))
    lost = np.minimum(np.maximum(turns.loss[told], 0), 20)
    care = mean(log * lost) - average * mean(lost)
    clocks = np.stack([average, spread, mean((used[told] < 0.01).astype(float)), mean(left[told]), care], axis=1)
    tags = [turns.games[side].to_numpy()[sides.game] for side in ("white", "black")]
    names = np.where(sides.white, *tags)
    good = np.isfinite(sides.rating) & (np.bincount(code, minlength=count) >= FEWEST)
    return tops[good], clocks[good], sides.rating[good], names[good]


def foretold(x: Floats, tag: Floats, player: NDArray[np.object_]) -> Floats:
    """What a regression on other players makes of each side."""
    fold = np.unique(player, return_inverse=True)[1].reshape(-1) % FOLDS
    x = (x - x.mean(axis=0)) / x.std(axis=0)
    whole = np.column_stack([np.ones(len(x)), x])
    out = np.empty(len(tag))
    for one in range(FOLDS):
        rest = fold != one
        gram = whole[rest].T @ whole[rest] + np.diag([0.0] + [5.0] * x.shape[1])
        out[fold == one] = whole[fold == one] @ np.linalg.solve(gram, whole[rest].T @ tag[rest])
    return out


def main(data: str) -> None:
    for name, pool in FILES.items():
        turns = eval_turns(read(Path(data) / f"{name}.pgn.zst", where="has_eval and has_clock"))
        mine = np.array([str(own).startswith(pool) for own in turns.column("pool")])
        tops, clocks, tag, player = table(turns.only(mine))
        print(f"{name}: {len(tag)} sides, tags {tag.mean():.0f} ± {tag.std():.0f}")
        ways = {"evaluations": tops[:, None], "clocks alone": clocks, "both": np.column_stack([tops, clocks])}
        for words, x in ways.items():
            slope, noise, _ = slope_and_noise(foretold(x, tag, player), tag, clusters=player)
            print(f"  {words:13} noise {noise.value:5.0f} ± {noise.error:.0f}, slope {slope.value:.2f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
