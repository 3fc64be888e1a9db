"""Average the weights of several trainings of one model into a run of its own (Wortsman et al. 2022).

    python studies/learned_average.py DATASET OUT RUN RUN ...

Trainings that went on from one another lie in one valley of the loss, where the mean of their weights is often better
than each. The temperature and the power of pooled games are fitted anew on validation games, as a training does.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.learned import Run, open_dataset, open_run, posteriors
from assay.learned.forward import one_thread
from assay.learned.lessons import fit_temperature, validation_rows
from assay.learned.run import save_run
from assay.learned.train import with_power
from assay.table import render


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("runs", type=Path, nargs="+")
    given = parser.parse_args()
    dataset, runs = open_dataset(given.dataset), [open_run(path) for path in given.runs]
    first = runs[0]
    given.out.mkdir()
    mixed = replace(first, path=given.out, weights=_mean(runs), temperature=1.0)
    rows = validation_rows(dataset, balanced=first.config.balanced)
    with one_thread():
        found = [np.log(posteriors(mixed, dataset.game(row))[1:]) for row in rows.tolist()]
    bands = np.concatenate([np.tile(dataset.bands[row], (len(logs), 1)) for row, logs in zip(rows, found, strict=True)])
    temperature = fit_temperature(np.concatenate(found).reshape(-1, len(first.prior)), bands.reshape(-1))
    mixed, judged = with_power(replace(mixed, temperature=temperature), dataset)
    settings = first.manifest["settings"]
    results = settings["results"] | {"averaged": [run.name for run in runs]}
    run = save_run(mixed, dataset=settings["dataset"], results=results)
    print(render([{"run": run.name, "temperature": temperature, "power": run.power, **judged.score().row()}]))


def _mean(runs: list[Run]) -> dict[str, np.ndarray]:
    """The mean of all weights; books and scales are the same in all runs on the same games."""
    weights = dict(runs[0].weights)
    for name, array in weights.items():
        if array.dtype == np.float32 and not name.startswith("book"):
            weights[name] = np.mean([run.weights[name] for run in runs], axis=0, dtype=np.float64).astype(np.float32)
    return weights


if __name__ == "__main__":
    main()
