"""Study 8: do weights over depths help? (RH11, section 8, announces them.)

python studies/model_8_depths.py REFERENCE [METHOD]
"""

from __future__ import annotations

import sys

import numpy as np
from spreads import load, show

from assay.moves.regan import fit_depth_weights, scaled_deltas

DEPTHS = (2, 4, 6, 8)


def main(folder: str, method: str = "likelihood") -> None:
    turns = load(folder, max(DEPTHS))
    values = turns.at_depths(DEPTHS)
    # The engine now and then has no exact value of a move at a shallow depth; such turns are left out here.
    whole = (np.isfinite(values) == np.isfinite(values[:, :, -1:])).all(axis=(1, 2))
    print(f"{(~whole).sum():,} turns left out")
    turns, deltas = turns.only(whole), scaled_deltas(values[whole])
    for name, chosen in (("under 2150", turns.rating < 2150), ("from 2150", turns.rating >= 2150)):
        found = fit_depth_weights(deltas[chosen], turns.played[chosen], games=turns.game[chosen], method=method)
        print(f"{name}: {found.turns:,} turns of {found.games} games, s {found.s:.3f}, c {found.c:.3f}")
        show([{"depth": d, "weight": w} for d, w in zip(DEPTHS, found.weights, strict=True)], weight=3)
        print(f"held out: ln p rises by {found.gain:.4f} +- {found.gain_error:.4f} per turn; helps: {found.helps}\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
