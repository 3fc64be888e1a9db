"""How small an ECE can a test set show? The calibration error of a run, and that of a run calibrated perfectly.

    python studies/learned_floor.py RUN DATASET [--balanced] [--draws 200]

True bands are drawn from the run's own posteriors, the two players of a game with one random number, because their
ratings go together; whatever calibration error is found then is chance.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

from assay.learned import open_dataset, open_run
from assay.learned.evaluate import judge, unseen_rows
from assay.scoring import calibration_error


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("run", type=Path)
    parser.add_argument("dataset", type=Path)
    parser.add_argument("--balanced", action="store_true", help="judge with every band counting the same")
    parser.add_argument("--draws", type=int, default=200)
    given = parser.parse_args()
    dataset = open_dataset(given.dataset)
    judged = judge(open_run(given.run), dataset, unseen_rows(dataset), balanced=given.balanced)
    posterior, random = judged.end, np.random.default_rng(0)
    cumulated, best, confidence = posterior.cumsum(axis=1), posterior.argmax(axis=1), posterior.max(axis=1)
    found = []
    for _ in range(given.draws):
        luck = random.random(len(judged.ratings)).repeat(2)
        band = (cumulated < luck[:, None]).sum(axis=1).clip(0, posterior.shape[1] - 1)
        found.append(calibration_error(confidence, best == band, weights=judged.weights.reshape(-1)))
    low, high = np.quantile(found, (0.05, 0.95))
    print(f"ECE {judged.score().ece:.3f}; calibrated perfectly {np.mean(found):.3f}, 90 % within {low:.3f}-{high:.3f}")


if __name__ == "__main__":
    main()
