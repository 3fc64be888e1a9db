"""Fit the model of evaluations: python studies/evals_fit.py DATA OUT.npz [--sides 2000].

DATA has `lichess-rapid-2022`. Players are dealt: two thirds are learned from, one third is held out. Learned from are
at most so many sides of every hundred points; bands count alike. Every stage of the chain is a logistic regression with
a ridge (10, 100, 400 on the weights of 1, z, z^2), solved by L-BFGS. The common positions of the opening, with what
they were worth, come from the same games. Power and spread that make intervals hold come from held-out players with
several games. Printed are the figures on players held out: see studies/evals.py.
"""

from __future__ import annotations

import argparse
import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize
from scipy.sparse import csr_matrix

from assay.engine.parsed import read_plies
from assay.games import Game, read
from assay.moves.eval_units import Openings, opening_values
from assay.moves.evals import (
    CENTRE,
    EDGES,
    UNIT,
    WIDTH,
    EvalModel,
    bins,
    features,
    turns_in_plies,
)

Floats = NDArray[np.float64]
RIDGE = (10.0, 100.0, 400.0)
BAND = 100
A_BATCH = 4_000
FEWEST_SEEN = 60
LEAST_PAWNS = 0.25


def is_held_out(name: str) -> bool:
    """Whether a player is of the third that no fit sees; the same in every study."""
    return hashlib.blake2b(name.encode(), digest_size=2).digest()[0] % 3 == 0


def batches(games: Iterable[Game]) -> Iterable[list[Game]]:
    some: list[Game] = []
    for game in games:
        some.append(game)
        if len(some) == A_BATCH:
            yield some
            some = []
    if some:
        yield some


class Lessons:
    """Turns to learn from: entries of features, bins, z's and weights."""

    def __init__(self, most: int) -> None:
        self.most, self.taken = most, {}  # type: ignore[var-annotated]
        self.columns: list[Any] = []
        self.values: list[Any] = []
        self.bins: list[Any] = []
        self.elo: list[Any] = []

    def add(self, games: list[Game], opening: dict[int, list[float]], rng: np.random.Generator) -> None:
        plies = read_plies(games, 1)
        numbers, pawns, _ = opening_values(plies.arrays)
        for number, value in zip(numbers.tolist(), pawns.tolist(), strict=True):
            total = opening.setdefault(number, [0.0, 0.0])
            total[0] += 1
            total[1] += value
        turns = turns_in_plies(plies, 1.0)
        tags = turns.games
        chosen = np.zeros((tags.height, 2), np.bool_)
        for game in range(tags.height):
            names = [tags[side][game] or "?" for side in ("white", "black")]
            for side, name in enumerate(names):
                elo = tags["white_elo" if side == 0 else "black_elo"][game]
                if elo is None or is_held_out(name):
                    continue
                band = int(elo) // BAND
                if self.taken.get(band, 0) < self.most:
                    self.taken[band] = self.taken.get(band, 0) + 1
                    chosen[game, side] = True
        own = chosen[turns.game, (~turns.white).astype(int)]
        part = turns.only(own)
        columns, values = features(part)
        self.columns.append(columns.astype(np.int16))
        self.values.append(values.astype(np.float16))
        self.bins.append(bins(part.loss).astype(np.int8))
        elo = np.where(part.white, part.column("white_elo"), part.column("black_elo"))
        self.elo.append(elo.astype(np.float32))

    def whole(self) -> tuple[csr_matrix, NDArray[np.int8], Floats, Floats]:
        columns, values = np.concatenate(self.columns), np.concatenate(self.values).astype(np.float32)
        bin_of, elo = np.concatenate(self.bins), np.concatenate(self.elo).astype(np.float64)
        count, entries = columns.shape
        x = csr_matrix(
            (values.ravel(), columns.ravel().astype(np.int32), np.arange(0, count * entries + 1, entries)),
            shape=(count, WIDTH),
        )
        x.sum_duplicates()
        x.eliminate_zeros()
        band = (elo // BAND).astype(int)
        number = np.bincount(band)
        weight = np.minimum(len(band) / (number > 0).sum() / number[band], 4.0)
        return x, bin_of, (elo - CENTRE) / UNIT, weight


def fit(x: csr_matrix, bin_of: NDArray[np.int8], z: Floats, weight: Floats) -> NDArray[np.float32]:
    """The weights of all stages."""
    stages = []
    for stage in range(len(EDGES)):
        own = np.flatnonzero(bin_of >= stage)
        part, further = x[own], (bin_of[own] > stage).astype(np.float32)
        stages.append(logistic(part, further, z[own].astype(np.float32), weight[own].astype(np.float32)))
        print(f"stage {stage + 1} of {len(EDGES)}: {len(own)} turns, {further.mean():.3f} go on", flush=True)
    return np.stack(stages).astype(np.float32)


def logistic(x: csr_matrix, y: Any, z: Any, weight: Any) -> Floats:
    powers = np.stack([np.ones_like(z), z, z * z], axis=1)
    ridge = np.repeat(np.array(RIDGE)[:, None], x.shape[1], axis=1)
    across = x.T.tocsr()

    def value(flat: Floats) -> tuple[float, Floats]:
        theta = flat.reshape(3, -1)
        logit = ((x @ theta.T.astype(np.float32)) * powers).sum(axis=1)
        loss = float(weight @ (np.logaddexp(np.float32(0), logit) - y * logit)) + float((ridge * theta**2).sum()) / 2
        off = weight * (1 / (1 + np.exp(-logit)) - y)
        gradient = np.asarray(across @ (off[:, None] * powers)).T + ridge * theta
        return loss, gradient.ravel().astype(np.float64)

    found = minimize(
        value, np.zeros(3 * x.shape[1]), jac=True, method="L-BFGS-B", options={"maxiter": 120, "maxcor": 20}
    )
    return np.asarray(found.x.reshape(3, -1))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--sides", type=int, default=2_000)
    parser.add_argument("--power", type=float, default=0.65)
    parser.add_argument("--spread", type=float, default=200.0)
    args = parser.parse_args()
    rng, opening, table = np.random.default_rng(1), {}, Lessons(args.sides)  # type: ignore[var-annotated]
    for games in batches(read(args.data / "lichess-rapid-2022.pgn.zst")):
        table.add(games, opening, rng)
    x, bin_of, z, weight = table.whole()
    print(f"{x.shape[0]} turns of {sum(table.taken.values())} sides", flush=True)
    common = sorted(
        (number, total / seen)
        for number, (seen, total) in opening.items()
        if seen >= FEWEST_SEEN and abs(total / seen) >= LEAST_PAWNS
    )
    numbers, pawns = np.array([n for n, _ in common], np.uint64), np.array([p for _, p in common], np.float32)
    print(f"{len(common)} positions of openings", flush=True)
    model = EvalModel(fit(x, bin_of, z, weight), args.power, args.spread, Openings(numbers, pawns))
    model.save(args.out)
    print(f"{args.out}: {args.out.stat().st_size:,} bytes")


if __name__ == "__main__":
    main()
