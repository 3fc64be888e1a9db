"""The turns for paired transfers, drawn from the reference set: what `src/assay/data/transfer` was made by.

    python studies/transfer_turns.py REFERENCE OUT

Of each mark twelve games of 2006-14, of each game thirty turns, in rounds of a game for each mark.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np

from assay.moves.calibrating import SAMPLE
from assay.moves.reference import read, write

DEPTH, ROUNDS, TURNS = 8, 12, 30


def main() -> None:
    """Draw the turns and write them as a reference set of one part."""
    found = read(sys.argv[1], DEPTH)
    own = (found.turns["set"] == SAMPLE).to_numpy()
    game, mark = found.turns["game"].to_numpy(), found.turns["mark"].to_numpy()
    rng = np.random.default_rng(1)
    order = {}
    for one in np.unique(mark[own]):
        games, count = np.unique(game[own & (mark == one)], return_counts=True)
        order[one] = rng.permutation(games[count >= TURNS])[:ROUNDS]
    rows = [
        np.sort(rng.choice(np.flatnonzero(own & (game == order[one][number])), TURNS, replace=False))
        for number in range(ROUNDS)
        for one in order
    ]
    chosen = np.concatenate(rows)
    out = Path(sys.argv[2])
    out.mkdir(exist_ok=True)
    write(out, "transfer", found.choices.only(chosen), found.turns[chosen], found.identity)
    print(f"{len(chosen):,} turns of {len(np.unique(game[chosen]))} games")


if __name__ == "__main__":
    main()
