"""What each group of features is worth beside a policy: python studies/choice_features.py REFERENCE DEPTH.

REFERENCE is the folder of the reference set. The choice model with the policy is fitted to turns of 2006-14 in folds
dealt by player, with all features and with a group of them left out; the held-out noise of a turn is compared, paired
by game: direct, and by what the curves promise. The model by the values alone that stands beside it has all features
throughout. `--every 2` takes every second game.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np
from choice_model import rated
from policy_noise import judged

from assay.held_out import noise_per_turn, noise_ratio
from assay.moves.choice.calibrate import calibrate
from assay.policy.chances import shipped
from assay.table import render


def groups(depth: int) -> dict[str, Callable[[str, str], bool]]:
    """What is kept, by the name of the group that is left out."""

    def at(name: str) -> int:
        found = re.search(r", depth (\d+)$", name)
        return int(found[1]) if found else 0

    return {
        "nothing": lambda name, kind: True,  # that which ships is without products
        "the move on the board": lambda name, kind: kind != "move",
        "measures x position": lambda name, kind: kind != "position",
        "products": lambda name, kind: kind != "product",
        "every second depth": lambda name, kind: at(name) == 0 or (depth - at(name)) % 2 == 0,
        "all depths but the last": lambda name, kind: at(name) in (0, depth),
        "position, products, every second depth": lambda name, kind: (
            kind not in ("position", "product") and (at(name) == 0 or (depth - at(name)) % 2 == 0)
        ),
        "all but the last depth's measures": lambda name, kind: kind == "policy" or at(name) == depth,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reference")
    parser.add_argument("depth", type=int)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--folds", type=int, default=4)
    given = parser.parse_args()
    whole = rated(given.reference, max(given.depth, 8), shipped())["2006-14"]
    games = np.unique(whole.game)
    own = whole.only(np.isin(whole.game, games[:: given.every]))
    plain = calibrate(replace(own, log_policy=None), given.depth, folds=given.folds)
    rows, base = [], None
    for left_out, keep in groups(given.depth).items():
        made = calibrate(own, given.depth, folds=given.folds, plain=plain, keep=keep)
        sides, game = judged(own, given.depth, made)
        base = base or sides
        noise, _ = noise_per_turn(
            sides.score, sides.information, sides.turns, sides.mark, sides.truth, sides.estimate, game
        )
        direct, curvature = noise_ratio(sides, base, game)
        row = {"left out": left_out, "features": len(made.model.names)}
        row |= {"ln p": f"{made.judgement.log_likelihood:.4f}", "noise": f"{noise.value:.0f} ±{noise.error:.0f}"}
        row |= {"ratio": f"{direct.value:.3f} ±{direct.error:.3f}", "by curvature": f"{curvature.value:.3f}"}
        rows.append(row)
        print(row, file=sys.stderr, flush=True)
    print(render(rows))


if __name__ == "__main__":
    main()
