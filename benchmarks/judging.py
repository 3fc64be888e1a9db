"""What judging stored turns costs: python benchmarks/judging.py GAMES.pgn STORE DEPTH.

CPU seconds of one core for each step, from games and a store to the rating of every player, and the peak of memory.
"""

from __future__ import annotations

import resource
import sys
import time

from assay.engine.store import Store
from assay.engine.turns import turns
from assay.games import read
from assay.moves.calibration import load
from assay.moves.evidence import weigh
from assay.moves.groups import group
from assay.moves.performance import rate_groups


def main(games: str, store: str, depth: str) -> None:
    begun = last = time.process_time()

    def told(what: str) -> None:
        nonlocal last
        now = time.process_time()
        print(f"{what:28} {now - last:6.1f} s")
        last = now

    calibration = load(depth=int(depth))
    with Store(store) as opened:
        found = turns(read(games), opened, depth=int(depth))
    told(f"loading {len(found):,} turns")
    evidence = weigh(found, calibration)
    told("exponents, with the policy")
    len(evidence.curve)
    told("curves")
    rows = rate_groups(evidence, group(found, "player"))
    told(f"rating {len(rows):,} players")
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6
    print(f"{'all':28} {last - begun:6.1f} s, {peak:.2f} GB")


if __name__ == "__main__":
    main(*sys.argv[1:])
