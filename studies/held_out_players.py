"""Study 2, player by player: is the standard error of a single player's rating what it is said to be?

    python studies/held_out_players.py GAMES.pgn STORE.db DEPTH LEAST [--shipped]

Every player with at least LEAST turns is rated by a calibration that has seen none of his or her games: the one that
ships, for games that it was not made from (`--shipped`), or else one from the other games at the century marks (five
groups of players, each rated without the games of all of them). `z` is rating minus Elo over the stated standard error.
"""

from __future__ import annotations

import argparse

import numpy as np
from rated_sample import METHOD, held, read, read_all

from assay.moves.calibration import load
from assay.moves.regan.calibrate import calibrate
from assay.moves.regan.ipr import rate
from assay.table import render

GROUPS = 5


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games")
    parser.add_argument("store")
    parser.add_argument("depth", type=int)
    parser.add_argument("least", type=int)
    parser.add_argument("--shipped", action="store_true")
    given = parser.parse_args()
    turns, sample = (read_all if given.shipped else read)(given.games, given.store, given.depth)
    _, codes, counts = np.unique(turns.player.astype(str), return_inverse=True, return_counts=True)
    chosen = np.random.default_rng(1).permutation(np.flatnonzero(counts >= given.least))
    if not len(chosen):
        parser.error(f"no player has {given.least} turns in {given.games}; give a smaller number.")
    table = []
    shipped = load(depth=given.depth).usable() if given.shipped else None
    for part in np.array_split(chosen, min(GROUPS, len(chosen))):
        scale = shipped
        if scale is None:
            theirs = np.isin(sample.game, np.unique(sample.game[np.isin(codes, part)]))
            scale = calibrate(sample.of(~theirs), method=METHOD).scale
        for player in part:
            own = held(scale, sample, np.flatnonzero(codes == player))
            found = rate(own.sides, scale, level=0.6827)
            elo = float(np.average(own.elo, weights=own.sides.turns))
            row = {"elo": elo, "games": found.games, "turns": found.turns, "ipr": found.rating}
            off = found.rating - elo
            table.append(row | {"error": off, "stated": found.half_width, "z": off / found.half_width})
    whole = dict.fromkeys(("elo", "ipr", "error", "stated"), 0)
    print(render(sorted(table, key=lambda row: row["elo"]), decimals=whole | {"z": 2}))
    error, stated, z = (np.array([row[name] for row in table]) for name in ("error", "stated", "z"))
    print(
        f"depth {given.depth}, {len(table)} players with {given.least} turns or more: mean error {error.mean():+.0f}, "
        f"SD {error.std(ddof=1):.0f}, stated {np.sqrt(np.mean(stated**2)):.0f}; "
        f"z has mean {z.mean():+.2f} and SD {z.std(ddof=1):.2f}; {np.mean(abs(z) <= 1.96):.0%} within 1.96"
    )


if __name__ == "__main__":
    main()
