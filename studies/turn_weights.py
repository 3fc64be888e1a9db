"""What more could be had from the errors: turns weighed by what they tell, and difficulty learned by trees.

    python studies/turn_weights.py GAMES.pgn STORE.db DEPTH...

Three folds; each is judged by what the other two teach. `even` is the error as it ships, every turn counting the same.
`weighed` gives a turn the weight of the best linear estimate: how much its expected error changes with the rating, over
the variance of what was seen at such turns. `trees` puts boosted trees (scikit-learn) on traits and expectations in the
place of the calibration's allowance, `both` does both. Elo per turn, root mean square over the marks.
"""

from __future__ import annotations

import sys

import numpy as np
from rated_sample import METHOD, read
from sklearn.ensemble import HistGradientBoostingRegressor

from assay.moves.regan.artery import Artery
from assay.moves.regan.calibrate import calibrate
from assay.moves.regan.marks import Sample, dealt
from assay.moves.regan.scale import Scale
from assay.moves.regan.tally import tally
from assay.table import render

FOLDS = 3
STEP = 100.0
# Weights are those of an average rating, so that a statistic does not change along the scale.
AVERAGE = 2200.0
BINS = 20
TREES = {"max_iter": 120, "max_leaf_nodes": 16, "learning_rate": 0.04, "min_samples_leaf": 200, "l2_regularization": 50}


class Errors:
    """Errors of single turns under a scale: what is left of them, how they fall with the rating, what trees may see."""

    def __init__(self, scale: Scale, sample: Sample) -> None:
        grid = np.arange(sample.mark.min() - STEP, sample.mark.max() + 1.5 * STEP, STEP)
        each = tally(Artery(grid, *scale.artery.points(grid)), sample.deltas, sample.played, elsewhere=sample.elsewhere)
        expected = each.expected * scale.ratio(grid)
        turns, at = np.arange(len(sample)), np.searchsorted(grid, sample.mark)
        average = int(np.searchsorted(grid, AVERAGE))
        self.left = each.actual[:, 2] - expected[turns, at, 2]
        self.fall = (expected[turns, at - 1, 2] - expected[turns, at + 1, 2]) / (2 * STEP)
        self.average_fall = (expected[:, average - 1, 2] - expected[:, average + 1, 2]) / (2 * STEP)
        self.variance = each.covariance[:, average, 2, 2]
        self.allowance = scale.difficulty.allowance(sample.traits)[:, 2]
        self.seen = np.column_stack([sample.traits, expected[:, average], self.average_fall, self.variance])


def weights(own: Errors, others: Errors, left: np.ndarray) -> np.ndarray:
    """Fall over variance; the variance is that of the others' turns of which the model expects as much of it."""
    edges = np.quantile(others.variance, np.linspace(0, 1, BINS + 1)[1:-1])
    of = np.searchsorted(edges, others.variance)
    seen = np.bincount(of, left**2, minlength=BINS) / np.bincount(of, minlength=BINS)
    return np.asarray(own.average_fall / seen[np.searchsorted(edges, own.variance)])


def noise(sample: Sample, left: np.ndarray, fall: np.ndarray, weight: np.ndarray) -> float:
    """Elo per turn from the scatter of games about their mark's own mean."""
    found = []
    for mark in np.unique(sample.mark):
        own = sample.mark == mark
        game = np.unique(sample.game[own], return_inverse=True)[1]
        total, slope = (np.bincount(game, (weight * values)[own]) for values in (left, fall))
        scatter = total - slope * total.sum() / slope.sum()
        found.append(np.sqrt(np.sum(scatter**2) * own.sum()) / slope.sum())
    return float(np.sqrt(np.mean(np.square(found))))


def main() -> None:
    table = []
    for depth in map(int, sys.argv[3:]):
        _, sample = read(sys.argv[1], sys.argv[2], depth)
        fold = dealt(sample.game, FOLDS, seed=1)
        kept: dict[str, list[np.ndarray]] = {name: [] for name in ("turns", "fall", "plain", "grown", "weight", "both")}
        for k in range(FOLDS):
            rest, part = sample.of(fold != k), np.flatnonzero(fold == k)
            scale = calibrate(rest, method=METHOD).scale
            others, own = Errors(scale, rest), Errors(scale, sample.of(part))
            trees = HistGradientBoostingRegressor(early_stopping=False, **TREES).fit(others.seen, others.left)
            plain, grown = own.left - own.allowance, own.left - trees.predict(own.seen)
            by_plain = weights(own, others, others.left - others.allowance)
            by_grown = weights(own, others, others.left - trees.predict(others.seen))
            for name, values in zip(kept, (part, own.fall, plain, grown, by_plain, by_grown), strict=True):
                kept[name].append(values)
        turns, fall, plain, grown, by_plain, by_grown = (np.concatenate(values) for values in kept.values())
        held, even = sample.of(turns), np.ones(len(turns))
        table.append(
            {
                "depth": depth,
                "turns": len(held),
                "even": noise(held, plain, fall, even),
                "weighed": noise(held, plain, fall, by_plain),
                "trees": noise(held, grown, fall, even),
                "both": noise(held, grown, fall, by_grown),
            }
        )
    print(render(table, decimals=dict.fromkeys(("even", "weighed", "trees", "both"), 0)))


if __name__ == "__main__":
    main()
