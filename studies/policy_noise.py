"""How much noise a rating from moves loses by a policy: python studies/policy_noise.py REFERENCE DEPTH [DEPTH ...].

REFERENCE is the folder of the reference set. The choice model is fitted to its turns of 2006-14 in four folds dealt by
player, without a policy and with each network of `--policy` (FILE, or `shipped`); the held-out noise of a turn is
compared, paired by game: direct (the scatter of scores over sides of games) and by curvature (what the curves promise).
`--level 2000:board` asks the policies at another level; `--bounded` has no model by the values alone beside the
policy's, which is bounded instead.
"""

from __future__ import annotations

import argparse
import sys

import numpy as np
from choice_model import sides

from assay.held_out import Sides, noise_per_turn, noise_ratio
from assay.moves import reference
from assay.moves.choice.calibrate import Calibrated, Rated, calibrate
from assay.moves.evidence import LEVEL, POOL, log_policy
from assay.policy.chances import open_network, shipped
from assay.table import render


def judged(rated: Rated, depth: int, made: Calibrated) -> tuple[Sides, np.ndarray]:
    """Held-out sides of games by a model of this depth, and their games."""
    kept = rated.to_depth(depth)
    mine = made.judged
    curve, turns, (elo, mark, game) = sides(
        made.curve[mine], kept.choices.unit[mine], kept.elo[mine], kept.mark[mine], kept.game[mine]
    )
    marks = np.unique(mark)
    at = curve.sum(np.searchsorted(marks, mark), len(marks)).tops()[np.searchsorted(marks, mark)]
    score, bend = curve.slopes(at)
    return Sides(score, -bend, turns.astype(float), mark, elo, at), game


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reference")
    parser.add_argument("depths", nargs="+", type=int)
    parser.add_argument("--policy", nargs="+", default=["shipped"], metavar="FILE")
    parser.add_argument("--level", default=f"{LEVEL:.0f}:{POOL}")
    parser.add_argument("--bounded", action="store_true", help="the policy's model stands alone, bounded")
    given = parser.parse_args()
    elo, _, pool = given.level.partition(":")
    found = reference.read(given.reference, max(*given.depths, 8))
    turns = found.turns
    early = (turns["set"] == "2006-14").to_numpy()
    columns = {name: turns[name].to_numpy()[early] for name in ("elo", "mark", "player", "game")}
    choices = found.choices.only(early)
    networks = {name: shipped() if name == "shipped" else open_network(name) for name in given.policy}
    logs = {name: log_policy(choices, network, level=float(elo), pool=pool) for name, network in networks.items()}
    rows = []
    for depth in given.depths:
        base = plain = None
        for name, log in ({"none": None} | logs).items():
            rated = Rated(
                choices,
                columns["elo"].astype(np.float64),
                *(columns[one].astype(np.int64) for one in ("mark", "player", "game")),
                log,
            )
            made = calibrate(rated, depth, plain=plain, told=lambda text: print(f"  {text}", file=sys.stderr))
            own, game = judged(rated, depth, made)
            noise, slope = noise_per_turn(
                own.score, own.information, own.turns, own.mark, own.truth, own.estimate, game
            )
            row = {
                "depth": depth,
                "policy": name.rpartition("/")[2],
                "turns": int(own.turns.sum()),
                "ln p": f"{made.judgement.log_likelihood:.4f}",
                "first": f"{made.judgement.top1:.3f}",
                "noise": f"{noise.value:.0f} ±{noise.error:.0f}",
                "slope": f"{slope.value:.3f}",
            }
            if base is None:
                base, plain = own, None if given.bounded else made
                row |= {"ratio": "", "by curvature": ""}  # the first row names the columns
            else:
                direct, curvature = noise_ratio(own, base, game)
                row["ratio"] = f"{direct.value:.3f} ±{direct.error:.3f}"
                row["by curvature"] = f"{curvature.value:.3f} ±{curvature.error:.3f}"
            rows.append(row)
    print(render(rows))


if __name__ == "__main__":
    main()
