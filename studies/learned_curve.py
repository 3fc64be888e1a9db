"""What more games would buy: the same model trained on growing parts of a dataset, judged on the same test games.

    python studies/learned_curve.py DATASET OUT [--games 1200 2500 5000 10000 0] [--config F.toml] [--balanced]

Every size sees the same number of games in all (few games are seen more often), so that the curve shows data, not
computing time; 0 stands for all games. Trainings that are there already are not repeated; one that was interrupted goes
on. The curve is drawn into OUT/curve.svg.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from assay.learned import fit_run, open_dataset, open_run
from assay.learned.evaluate import judge, standard_error, unseen_rows
from assay.learned.lessons import drawn, training_rows
from assay.learned.run import MANIFEST, SETTINGS, Config, read_config
from assay.reports.plots_learned import save_figure
from assay.table import render


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--games", type=int, nargs="+", default=[1200, 2500, 5000, 10000, 0])
    parser.add_argument("--seen", type=int, default=30000, help="games seen in all, with repetitions")
    parser.add_argument("--config", type=Path)
    parser.add_argument("--balanced", action="store_true", help="judge with every band counting the same")
    parser.add_argument("--ending", action="store_true", help="as of assay train")
    given = parser.parse_args()
    dataset = open_dataset(given.dataset)
    start = read_config(given.config) if given.config else Config(d_model=64, layers=2, lr=1e-3)
    inputs = ("board", "ending") if given.ending else ("board",)
    given.out.mkdir(exist_ok=True)
    held = unseen_rows(dataset)
    table = []
    for games in given.games:
        config = replace(start, games=games)
        rows = training_rows(dataset, config)
        epochs = max(1, round(given.seen / len(drawn(dataset, rows, config))))
        folder = given.out / f"games-{len(rows)}"
        if not (folder / MANIFEST).is_file():
            config = replace(config, epochs=epochs, patience=epochs)
            fit_run(dataset, folder, config, inputs, resume=(folder / SETTINGS).is_file(), quiet=False)
        judged = judge(open_run(folder), dataset, held, balanced=given.balanced)
        row = judged.score().row() | {"mae_se": standard_error(judged)}
        table.append({"games": len(rows), "epochs": epochs} | row)
        shown = ("games", "epochs", "cases", "top1", "mae", "mae_se", "mean_mae", "noise", "nll", "ece", "cover95")
        digits = {"mae": 1, "mae_se": 1, "mean_mae": 1, "noise": 0, "nll": 3, "ece": 3, "top1": 3}
        print(render(table, shown, decimals=digits), flush=True)
    save_figure(curve_figure(table), given.out / "curve.svg")


def curve_figure(table: list[dict[str, float]]) -> Figure:
    """Error and likelihood at the end of the game by the number of training games."""
    figure = Figure(figsize=(8, 3.2))
    games = [row["games"] for row in table]
    error, likelihood = figure.subplots(1, 2)
    error.errorbar(games, [row["mae"] for row in table], [row["mae_se"] for row in table], fmt="o-", color="#2166ac")
    error.axhline(table[-1]["mean_mae"], linestyle="--", color="#999999", linewidth=1)
    error.annotate("the mean", (games[0], table[-1]["mean_mae"]), (0, -12), textcoords="offset points", fontsize=9)
    likelihood.plot(games, [row["nll"] for row in table], "s-", color="#2166ac")
    for axes, title in ((error, "MAE, Elo (bars: one standard error)"), (likelihood, "NLL, nats")):
        axes.set_xscale("log")
        axes.set_xticks(games, [f"{number:,.0f}" for number in games], minor=False)
        axes.set_xticks([], minor=True)
        axes.set_xlabel("training games")
        axes.set_title(title, fontsize=10)
        axes.spines[["top", "right"]].set_visible(False)
    figure.tight_layout()
    return figure


if __name__ == "__main__":
    main()
