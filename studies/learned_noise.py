"""The noise of a learned rating on players it has not seen: one game, three and nine games of one player, by speed.

    python studies/learned_noise.py RUN DATASET [--without evals] [--range 900:2600] [--split test] [--games N]

One row per speed, years and number of games: the slope of the top of the curve on the tag, the noise (scatter about
that line divided by the slope), the mean error, how often intervals of 50, 80 and 95 % hold the tag, every band of 100
Elo counting the same; for one game the noise of the posterior mean under an even prior too, and the mean absolute error
under the training players' prior, beside that of predicting the mean. Bands with fewer than --least sides do not count,
a player counts with at most eight single games. DATASET may also be a file of games that no model was trained on.
"""

from __future__ import annotations

import argparse
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

from assay.held_out import even_weights, slope_and_noise
from assay.learned import Selection, build_dataset, open_dataset, open_run
from assay.learned.curves import believed, on_grid, opened
from assay.learned.dataset import Dataset
from assay.learned.evaluate import judge, unseen_rows
from assay.learned.run import LATER_FROM, Run
from assay.pools import Bands
from assay.table import render

MOST = 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--without", action="append", default=[], help="inputs to keep from the model, such as evals")
    parser.add_argument("--range", default="900:2600", help="ratings that count")
    parser.add_argument("--split", default="test", help="or all, of a file that no model was trained on")
    parser.add_argument("--games", type=int, help="take about so many games, all of each player")
    parser.add_argument("--least", type=int, default=40, help="sides that a band must have")
    given = parser.parse_args()
    low, high = map(float, given.range.split(":"))
    run = open_run(given.run)
    if given.dataset.is_dir():
        report(run, open_dataset(given.dataset), given, low, high)
        return
    with TemporaryDirectory() as folder:
        bands = Bands(int(run.edges[0]), int(run.edges[-1]), int(run.edges[1] - run.edges[0]))
        build_dataset(given.dataset, Path(folder) / "made", Selection(bands, run.config.max_plies))
        report(run, open_dataset(Path(folder) / "made"), given, low, high)


def report(run: Run, dataset: Dataset, given: argparse.Namespace, low: float, high: float) -> None:
    """Print the table."""
    every = np.arange(len(dataset)) if given.split == "all" else unseen_rows(dataset, given.split)
    judged = judge(run, dataset, _whole(dataset, every, given.games), without=given.without, quiet=False)
    held = (judged.weights > 0).reshape(-1)
    evidence = judged.evidence.reshape(len(held), -1)
    ratings, players, speeds = judged.ratings.reshape(-1), judged.players.reshape(-1), np.repeat(judged.speed, 2)
    valued = np.repeat(judged.valued, 2)
    games, years = np.repeat(np.arange(len(judged.plies)), 2), np.repeat(judged.years, 2)
    table = []
    for name, want, later in product(sorted({str(name) for name in speeds}), (False, True), (False, True)):
        speed = None if name == "None" else name
        chosen = (
            held
            & (valued == want)
            & ((years >= LATER_FROM) == later)
            & (speeds == speed)
            & (ratings >= low)
            & (ratings <= high)
        )
        for size in (1, 3, 9):
            units = _units(np.flatnonzero(chosen), players, games, size)
            units = _common(units, ratings, given.least if size == 1 else 5)
            if len(units) < 40:
                continue
            truth = np.array([ratings[some].mean() for some in units])
            tuning = run.tuning_of(speed, evals=want, year=LATER_FROM if later else None)
            code = np.repeat(np.arange(len(units)), size)
            curve = on_grid(evidence[np.concatenate(units)], run.edges, tuning).sum(code)
            clusters = np.array([players[some[0]] or games[some[0]] for some in units])
            slope, noise, off = slope_and_noise(curve.tops(), truth, clusters)
            row = {
                "speed": name,
                "years": f"{LATER_FROM}-" if later else f"-{LATER_FROM - 1}",
                "evals": want,
                "games": size,
                "sides": len(units),
                "slope": slope,
                "noise": noise,
                "off": off,
            }
            weight = even_weights(truth)
            for level in (0.5, 0.8, 0.95):
                found = [opened(one, run.edges) for one in curve.estimates(tuning.honesty, level)]
                inside = [one.low <= true <= one.high for one, true in zip(found, truth, strict=True)]
                row[f"{level:.0%}"] = round(float(np.average(inside, weights=weight)), 3)
            if size == 1:
                even = np.full_like(run.prior, 1 / len(run.prior))
                mean = np.array([one.value for one in believed(curve, even, run.edges, tuning.honesty)])
                row["mean's noise"] = slope_and_noise(mean, truth, clusters)[1]
                prior = run.population_of(speed)
                mean = np.array([one.value for one in believed(curve, prior, run.edges, tuning.honesty)])
                row["mae"], row["of the mean"] = np.abs(mean - truth).mean(), np.abs(truth - truth.mean()).mean()
            table.append({name: str(value) if hasattr(value, "error") else value for name, value in row.items()})
    print(render(table, decimals={"mae": 0, "of the mean": 0}))


def _whole(dataset: Dataset, rows: np.ndarray, games: int | None) -> np.ndarray:
    """So many of the games, with all those of a player that is drawn."""
    columns = [dataset.table[name].take(rows).fill_null(0).to_numpy() for name in ("white_id", "black_id")]
    ids = np.stack(columns, axis=1)
    names, code = np.unique(ids, return_inverse=True)
    turn = np.random.default_rng(1).permutation(len(names))[code.reshape(ids.shape)]
    first = np.where(dataset.held[rows], turn, len(names)).min(axis=1)
    return np.sort(rows[np.argsort(first, kind="stable")[:games]])


def _units(rows: np.ndarray, players: np.ndarray, games: np.ndarray, size: int) -> list[np.ndarray]:
    """Sides alone, at most MOST of a player, or so many of one player together, at most once for every size."""
    if size == 1:
        number: dict[int, int] = {}
        alone = []
        for row in rows.tolist():
            number[players[row]] = number.get(players[row], 0) + 1
            if players[row] == 0 or number[players[row]] <= MOST:
                alone.append(np.array([row]))
        return alone
    found = []
    for player in np.unique(players[rows]):
        mine = rows[players[rows] == player] if player else rows[:0]
        found += [mine[at : at + size] for at in range(0, min(len(mine), 4 * size) - size + 1, size)]
    return found


def _common(units: list[np.ndarray], ratings: np.ndarray, least: int) -> list[np.ndarray]:
    """Those whose band of 100 Elo has enough of them."""
    band = np.array([round(ratings[some].mean() / 100) for some in units])
    count = np.bincount(band) if len(band) else band
    return [some for some, at in zip(units, band.tolist(), strict=True) if count[at] >= least]


if __name__ == "__main__":
    main()
