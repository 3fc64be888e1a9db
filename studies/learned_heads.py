"""What the heads and losses of `assay train` are worth: small trainings side by side, same games, same seed.

    python studies/learned_heads.py GAMES.pgn.zst FOLDER [--games 8000] [--test 1500]

A third of the games is encoded into the folder. One option is changed at a time: how the plies of a game are pooled for
the head (--pool), plies weighted by their place (--ply-weight), the error of the mean beside the likelihood, squared or
absolute (--elo-loss). A second training with nothing changed but the seed tells what luck does. Judged at the end of
games of test players, each figure with its standard error over games, differences paired. What the folder has already
is not made again.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import replace
from pathlib import Path

import numpy as np

from assay.learned import Config, Selection, build_dataset, fit_run, open_dataset, open_run
from assay.learned.evaluate import Judged, judge, unseen_rows
from assay.learned.run import MANIFEST
from assay.pools import Bands
from assay.scoring import band_of
from assay.table import render

PLAIN = Config(
    d_model=64, layers=2, square_width=16, dropout=0.05, lr=1e-3, smoothing=0.7, epochs=1, max_plies=60, seed=1
)
SOME = Selection(Bands(600, 3000, 200), max_plies=60, share=0.35)
CHANGES: dict[str, dict[str, object]] = {
    "nothing": {},
    "--seed 2": {"seed": 2},
    "--pool mean": {"pool": "mean"},
    "--pool max": {"pool": "max"},
    "--pool cls": {"pool": "cls"},
    "--pool sum": {"pool": "sum"},
    "--ply-weight 1": {"ply_weight": 1.0},
    "--elo-weight .1": {"elo_weight": 0.1},
    "--elo-weight .1 --elo-loss mae": {"elo_weight": 0.1, "elo_loss": "mae"},
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--games", type=int, default=8000, help="training games")
    parser.add_argument("--test", type=int, default=1500, help="test games")
    given = parser.parse_args()
    given.folder.mkdir(exist_ok=True)
    if not (given.folder / "dataset").exists():
        build_dataset(given.file, given.folder / "dataset", SOME)
    dataset = open_dataset(given.folder / "dataset")
    rows = np.sort(np.random.default_rng(1).permutation(unseen_rows(dataset))[: given.test])
    table, first = [], None
    for name, change in CHANGES.items():
        folder = given.folder / name.replace("-", "").replace(" ", "_").replace(".", "")
        began = time.process_time()
        if not (folder / MANIFEST).is_file():
            fit_run(
                dataset,
                folder,
                replace(PLAIN, games=given.games, **change),  # type: ignore[arg-type]
                ("board", "ending"),
                resume=folder.exists(),
            )
        spent = time.process_time() - began
        judged = judge(open_run(folder), dataset, rows)
        found = _errors(judged)
        first = found if first is None else first
        played = (judged.weights > 0).any(axis=1)
        row: dict[str, object] = {"changed": name}
        for place, figure in enumerate(("nats", "off by")):
            own, away = found[played, place], found[played, place] - first[played, place]
            row |= {figure: own.mean(), f"+- {figure}": _error(own), f"than first: {figure}": away.mean()}
            row[f"+- than first: {figure}"] = _error(away)
        table.append(row | {"CPU s": spent})
        print(render(table[-1:], decimals={"CPU s": 0}), flush=True)
    score = judged.score()
    print(render(table, decimals={name: 3 if "nats" in name else 1 for name in table[0]}))
    print(f"{score.cases} sides of {len(rows)} games; the mean is off by {score.mean_mae:.0f}.")


def _errors(judged: Judged) -> np.ndarray:
    """Of each game the negative log of the true band's chance and the error of the mean, over its held-out players."""
    held = judged.weights > 0
    bands = np.clip(band_of(judged.ratings.reshape(-1), judged.edges), 0, len(judged.edges) - 2)
    chance = np.take_along_axis(judged.end, bands[:, None], axis=1).reshape(held.shape)
    both = np.stack([-np.log(chance), np.abs(judged.means() - judged.ratings)], axis=-1)
    return np.asarray((both * held[:, :, None]).sum(axis=1) / np.maximum(held.sum(axis=1), 1)[:, None])


def _error(values: np.ndarray) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values)))


if __name__ == "__main__":
    main()
