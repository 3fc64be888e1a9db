"""What do engine numbers add to moves alone? The same trees with and without them, on the analysed games of a file.

    python studies/learned_engine.py GAMES.pgn STORE [--depth 10] [--folds 8] [--repeats 3]

Analysed games are few, so every game is judged once by cross-validation: the players are dealt into folds by a hash of
their names, and trees that judge a game have seen no game of either of its players. Engine numbers exist from move 9
on, where analyses begin; the shipped over-the-board model stands beside (it may have met some of these games or players
in its training).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import numpy.typing as npt
from sklearn.ensemble import HistGradientBoostingRegressor

from assay.engine.store import Store
from assay.games import read, to_arrays
from assay.games.columns import rating
from assay.learned import encode_games
from assay.learned.baselines import ply_features
from assay.learned.build import analyst
from assay.learned.forward import posteriors
from assay.learned.inputs import Inputs
from assay.learned.run import shipped
from assay.players import hash64
from assay.scoring import implied_noise, posterior_mean
from assay.table import render

Floats = npt.NDArray[np.float64]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--depth", type=int, default=10)
    parser.add_argument("--folds", type=int, default=8)
    parser.add_argument("--repeats", type=int, default=3, help="how often the trees are grown, with other seeds")
    given = parser.parse_args()
    games = [game for game in read(given.games) if _ratings(game.tags) is not None]
    arrays = to_arrays(games)
    encoded = encode_games(arrays)
    with Store(given.store) as store:
        engine = analyst(store, given.depth)(games, arrays)
    run = shipped("otb")
    plain, with_engine, engine_alone, learned, ratings, folds = [], [], [], [], [], []
    for number, game in enumerate(games):
        part = slice(arrays.offsets[number], arrays.offsets[number + 1])
        if not arrays.valid[number] or np.isfinite(engine[part, 0]).sum() < 10:
            continue
        clock = np.full((part.stop - part.start, 2), np.nan, dtype=np.float32)
        plies = Inputs(encoded.planes[part], encoded.scalars[part], clock, engine[part], ended=True)
        plain.append(ply_features(plies, ("board",))[-1])
        with_engine.append(np.concatenate((plain[-1], _engine_means(plies)), axis=1))
        engine_alone.append(_engine_means(plies))
        learned.append(posterior_mean(posteriors(run, plies)[-1], run.edges, run.within))
        ratings.append(_ratings(game.tags))
        folds.append([hash64(game.tags[side]) % given.folds for side in ("White", "Black")])
    truth, fold = np.array(ratings, dtype=float), np.array(folds)
    print(f"{len(truth)} games, {2 * len(truth)} players; ratings {truth.mean():.0f} +- {truth.std():.0f}")
    rows = [_row("the mean", np.full(truth.shape, truth.mean()), truth)]
    for name, table in (
        ("trees, moves alone", plain),
        ("trees, engine alone", engine_alone),
        ("trees, moves and engine", with_engine),
    ):
        rows.append(_row(name, _cross_validated(np.array(table), truth, fold, given.folds, given.repeats), truth))
    rows.append(_row("shipped model, moves alone", np.array(learned), truth))
    print(render(rows, decimals={"mae": 0, "se": 0, "below_mean": 3, "rmse": 0, "noise": 0, "correlation": 2}))


def _ratings(tags: dict[str, str]) -> tuple[int, int] | None:
    white, black = rating(tags.get("WhiteElo", "")), rating(tags.get("BlackElo", ""))
    return None if white is None or black is None else (white, black)


def _engine_means(plies: Inputs) -> Floats:
    """Means of the engine scalars over the plies that have them, the player's own and the opponent's, (2, 8)."""
    sides = []
    for own in (plies.white, ~plies.white):
        values = plies.engine[own].astype(np.float64)
        values = values[np.isfinite(values[:, 0])]
        sides.append(values.mean(axis=0) if len(values) else np.full(values.shape[1], np.nan))
    return np.array([np.concatenate((sides[0], sides[1])), np.concatenate((sides[1], sides[0]))])


def _cross_validated(table: Floats, truth: Floats, fold: npt.NDArray[np.int64], folds: int, repeats: int) -> Floats:
    """Each game's players judged by trees that have seen neither of them."""
    found = np.zeros_like(truth)
    for one in range(folds):
        for other in range(one, folds):
            held = np.sort(fold, axis=1) == (one, other)
            held = held.all(axis=1)
            seen = ~np.isin(fold, (one, other)).any(axis=1)
            if not held.any():
                continue
            for seed in range(repeats):
                trees = HistGradientBoostingRegressor(
                    max_iter=120,
                    learning_rate=0.05,
                    max_leaf_nodes=8,
                    min_samples_leaf=15,
                    max_features=0.3,
                    random_state=seed,
                ).fit(table[seen].reshape(-1, table.shape[2]), truth[seen].reshape(-1))
                found[held] += trees.predict(table[held].reshape(-1, table.shape[2])).reshape(-1, 2) / repeats
    return found


def _row(name: str, guess: Floats, truth: Floats) -> dict[str, object]:
    error = np.abs(guess - truth)
    rmse = float(np.sqrt((error**2).mean()))
    mean = float(np.abs(truth - truth.mean()).mean())
    return {
        "model": name,
        "mae": float(error.mean()),
        "se": float(error.mean(axis=1).std() / np.sqrt(len(truth))),
        "below_mean": 1 - float(error.mean()) / mean,
        "rmse": rmse,
        "noise": implied_noise(rmse, float(truth.std())),
        "correlation": float(np.corrcoef(guess.reshape(-1), truth.reshape(-1))[0, 1]) if np.ptp(guess) else 0.0,
    }


if __name__ == "__main__":
    main()
