"""Turn a finished training into a model that ships with the package: half precision, tuned and judged on new players.

    python studies/learned_ship.py RUN DATASET src/assay/data/models/NAME [--games N]

The weights are rounded to float16. What brings the rounded model to the scale of ratings and makes its intervals hold
is fitted on the validation players of DATASET, with the evals of the games and without; then it is judged on the test
players, and its scores by ply go into the manifest, so that whoever uses the model knows what it can do.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import asdict
from pathlib import Path

import numpy as np

from assay import manifest
from assay.arrays import save_arrays
from assay.learned import open_dataset, open_run
from assay.learned.evaluate import by_ply, judge, tunings_of, unseen_rows
from assay.learned.run import KIND, MANIFEST, VERSION, WEIGHTS
from assay.table import render


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", type=int, help="take so many games of each set only")
    given = parser.parse_args()
    run, dataset = open_run(given.run), open_dataset(given.dataset)
    small = {
        name: array.astype(np.float16) if array.dtype == np.float32 else array for name, array in run.weights.items()
    }
    given.out.mkdir(parents=True, exist_ok=True)
    save_arrays(given.out / WEIGHTS, small, {"kind": KIND, "version": VERSION})
    about = run.manifest
    manifest.write(given.out / MANIFEST, about)
    tunings = {}
    for without in ((), ("evals",)) if "evals" in run.inputs else ((),):
        rows = _some(unseen_rows(dataset, "validation"), given.games)
        tunings |= tunings_of(judge(open_run(given.out), dataset, rows, without=without))
    about = about | {"settings": about["settings"] | {"tunings": {name: asdict(t) for name, t in tunings.items()}}}
    manifest.write(given.out / MANIFEST, about)
    tuned = open_run(given.out)
    rows = _some(unseen_rows(dataset), given.games)
    judged = by_ply(judge(tuned, dataset, rows, prior=tuned.population_of(None)))
    scores = {
        plies: {name: round(value, 4) for name, value in found.row().items() if math.isfinite(value)}
        for plies, found in judged.items()
    }
    manifest.write(given.out / MANIFEST, about | {"settings": about["settings"] | {"judged": {"by_ply": scores}}})
    print(render([{"pool": name or "any", **asdict(found)} for name, found in tunings.items()]))
    print(render([{"plies": plies, **found.row()} for plies, found in judged.items()], decimals={"nll": 3, "ece": 3}))
    print(f"{sum(file.stat().st_size for file in given.out.iterdir()):,} bytes in {given.out.name}")


def _some(rows: np.ndarray, games: int | None) -> np.ndarray:
    return np.sort(np.random.default_rng(1).permutation(rows)[:games])


if __name__ == "__main__":
    main()
