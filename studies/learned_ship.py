"""Turn a finished training into a model that ships with the package: half precision, tuned and judged on new players.

    python studies/learned_ship.py RUN DATASET src/assay/data/models/NAME [--later MORE] [--not-of CHECK] [--games N]

The weights are rounded to float16. What brings the rounded model to the scale of ratings and makes its intervals hold
is fitted on the validation players of DATASET (made by learned_held.py), with the evals of the games and without; then
it is judged on test players, and its scores by ply go into the manifest, so that whoever uses the model knows what it
can do. MORE has games of later years, histories of single people: each player there counts once in a speed, if both
are within 200 Elo and neither plays in CHECK.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict, replace
from pathlib import Path

import numpy as np

from assay import manifest
from assay.arrays import save_arrays
from assay.learned import open_dataset, open_run
from assay.learned.dataset import Dataset
from assay.learned.evaluate import Judged, by_ply, judge, tunings_of, unseen_rows
from assay.learned.run import KIND, MANIFEST, VERSION, WEIGHTS
from assay.table import render

NEAR = 200.0  # Elo: farther apart, the moves of one tell wrong things of the other


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--later", type=Path, help="a dataset of later years' games, all of whose players count")
    parser.add_argument("--not-of", type=Path, action="append", default=[], help="datasets whose players do not")
    parser.add_argument("--games", type=int, help="judge on so many games of the test players")
    given = parser.parse_args()
    run, dataset = open_run(given.run), open_dataset(given.dataset)
    small = {
        name: array.astype(np.float16) if array.dtype == np.float32 else array for name, array in run.weights.items()
    }
    given.out.mkdir(parents=True, exist_ok=True)
    save_arrays(given.out / WEIGHTS, small, {"kind": KIND, "version": VERSION})
    about = run.manifest
    manifest.write(given.out / MANIFEST, about)
    rounded = open_run(given.out)
    tunings = {}
    reads = "evals" in run.inputs
    for without in ((), ("evals",)) if reads else ((),):
        rows = _valued(dataset, unseen_rows(dataset, "validation"), reads and not without)
        judged = [judge(rounded, dataset, rows, without=without)]
        if given.later:
            more = open_dataset(given.later)
            rows = _valued(more, np.arange(len(more)), reads and not without)
            judged.append(later(judge(rounded, more, rows, without=without), given.not_of))
        tunings |= tunings_of(*judged)
    about = about | {"settings": about["settings"] | {"tunings": {name: asdict(t) for name, t in tunings.items()}}}
    manifest.write(given.out / MANIFEST, about)
    tuned = open_run(given.out)
    rows = _some(unseen_rows(dataset), given.games)
    by_plies = by_ply(judge(tuned, dataset, rows, prior=tuned.population_of(None)))
    scores = {
        plies: {name: round(value, 4) for name, value in found.row().items() if math.isfinite(value)}
        for plies, found in by_plies.items()
    }
    manifest.write(given.out / MANIFEST, about | {"settings": about["settings"] | {"judged": {"by_ply": scores}}})
    print(render([{"pool": name or "any", **asdict(found)} for name, found in tunings.items()]))
    print(render([{"plies": plies, **found.row()} for plies, found in by_plies.items()], decimals={"nll": 3, "ece": 3}))
    print(f"{sum(file.stat().st_size for file in given.out.iterdir()):,} bytes in {given.out.name}")


def later(judged: Judged, not_of: list[Path]) -> Judged:
    """The games of a few people and those whom they met: each player once in every speed."""
    out = {name for check in not_of for name in _names(open_dataset(check)).reshape(-1).tolist()}
    seen: set[tuple[int, str]] = set()
    weights = np.zeros_like(judged.weights)
    near = np.abs(judged.ratings[:, 0] - judged.ratings[:, 1]) <= NEAR
    for game, (pair, speed) in enumerate(zip(judged.players.tolist(), judged.speed.tolist(), strict=True)):
        for side, name in enumerate(pair):
            if near[game] and (name, speed) not in seen and out.isdisjoint(pair):
                seen.add((name, speed))
                weights[game, side] = 1
    return replace(judged, weights=weights)


def _valued(dataset: Dataset, rows: np.ndarray, only: bool) -> np.ndarray:
    """The games, or those alone that came with evals."""
    return rows[dataset.column("valued")[rows].astype(bool)] if only else rows


def _names(dataset: Dataset) -> np.ndarray:
    return np.stack([dataset.table[name].fill_null(0).to_numpy() for name in ("white_id", "black_id")], axis=1)


def _some(rows: np.ndarray, games: int | None) -> np.ndarray:
    return np.sort(np.random.default_rng(1).permutation(rows)[:games])


if __name__ == "__main__":
    main()
