"""Turn a finished training into a model that ships with the package: half precision, and its judgement beside it.

    python studies/learned_ship.py RUN DATASET src/assay/data/models/NAME [--balanced]

The weights are rounded to float16, the rounded model is judged on the test games, and its scores by ply go into the
manifest, so that whoever uses the model knows what it can do.
"""

from __future__ import annotations

import argparse
import math
from pathlib import Path

import numpy as np

from assay import manifest
from assay.arrays import save_arrays
from assay.learned import open_dataset, open_run
from assay.learned.evaluate import by_ply, judge, unseen_rows
from assay.learned.run import KIND, MANIFEST, VERSION, WEIGHTS
from assay.table import render


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--balanced", action="store_true", help="judge with every band counting the same")
    given = parser.parse_args()
    run, dataset = open_run(given.run), open_dataset(given.dataset)
    small = {
        name: array.astype(np.float16) if array.dtype == np.float32 else array for name, array in run.weights.items()
    }
    given.out.mkdir(parents=True, exist_ok=True)
    save_arrays(given.out / WEIGHTS, small, {"kind": KIND, "version": VERSION})
    manifest.write(given.out / MANIFEST, run.manifest)
    judged = by_ply(judge(open_run(given.out), dataset, unseen_rows(dataset), balanced=given.balanced))
    scores = {
        plies: {name: round(value, 4) for name, value in found.row().items() if math.isfinite(value)}
        for plies, found in judged.items()
    }
    about = run.manifest | {
        "settings": run.manifest["settings"] | {"judged": {"balanced": given.balanced, "by_ply": scores}}
    }
    manifest.write(given.out / MANIFEST, about)
    print(render([{"plies": plies, **found.row()} for plies, found in judged.items()], decimals={"nll": 3, "ece": 3}))
    print(f"{sum(file.stat().st_size for file in given.out.iterdir()):,} bytes in {given.out.name}")


if __name__ == "__main__":
    main()
