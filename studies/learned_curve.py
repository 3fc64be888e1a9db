"""What more games would buy: the same model trained on growing parts of a dataset, judged on the same test games.

    python studies/learned_curve.py DATASET OUT [--games 1000 2500 6000 15000] [--config F.toml] [--balanced]

Every size sees the same number of games in all (few games are seen more often), so that the curve shows data, not
computing time. Trainings that are there already are not repeated; one that was interrupted goes on.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from assay.learned import fit_run, open_dataset, open_run
from assay.learned.config import Config, read_config
from assay.learned.evaluate import judge, unseen_rows
from assay.learned.run import MANIFEST, SETTINGS
from assay.report.tables import render


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", type=int, nargs="+", default=[1000, 2500, 6000, 15000])
    parser.add_argument("--seen", type=int, default=30000, help="games seen in all, with repetitions")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--balanced", action="store_true", help="judge on as many games of each band")
    given = parser.parse_args()
    dataset = open_dataset(given.dataset)
    start = read_config(given.config) if given.config else Config(d_model=64, layers=2, square_width=32, lr=1.2e-3)
    given.out.mkdir(exist_ok=True)
    table = []
    for games in given.games:
        folder = given.out / f"games-{games}"
        epochs = max(1, round(given.seen / games))
        config = replace(start, games=games, epochs=epochs, patience=epochs)
        if not (folder / MANIFEST).is_file():
            fit_run(dataset, folder, config, resume=(folder / SETTINGS).is_file(), quiet=False)
        judged = judge(open_run(folder), dataset, unseen_rows(dataset, balanced=given.balanced)).score()
        table.append({"games": games, "epochs": epochs} | judged.row())
        shown = ("games", "epochs", "cases", "top1", "mae", "mean_mae", "noise", "nll", "ece", "cover95")
        print(
            render(table, shown, decimals={"mae": 1, "mean_mae": 1, "noise": 0, "nll": 3, "ece": 3, "top1": 3}),
            flush=True,
        )


if __name__ == "__main__":
    main()
