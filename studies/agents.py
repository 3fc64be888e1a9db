"""Agents of known strength rated by the model they play by: python studies/agents.py REFERENCE [DEPTH ...].

At every mark of the reference set the positions stay as they were and the moves are drawn anew, from the shipped model
at the mark; then the turns are rated as anybody's. An agent that does not come out at its own Elo would show an error.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np

from assay.moves import reference
from assay.moves.calibration import depths, load
from assay.moves.choice.logit import log_chances
from assay.moves.choice.model import curve_of, strength
from assay.moves.evidence import log_policy
from assay.policy.chances import shipped

TURNS = 400_000


def main(folder: str, *given: str) -> None:
    for depth in map(int, given or map(str, depths())):
        found = reference.read(folder, depth)
        mark = found.turns["mark"].to_numpy()
        model, choices = load(depth=depth).model(), found.choices
        g0, g1 = model.exponents(choices, log_policy(choices, shipped()))
        log_p = log_chances(g0 + strength(mark.astype(float))[choices.turn] * g1, choices.start, choices.turn)
        # The greatest of log p plus Gumbel noise is a draw from p.
        draws = math.ceil(TURNS / len(choices))
        marks, code = np.unique(mark, return_inverse=True)
        tops = np.empty((draws, len(marks)))
        for seed in range(draws):
            noise = np.random.default_rng(seed).gumbel(size=len(log_p))
            order = np.lexsort((-(log_p + noise), choices.turn))
            drawn = replace(choices, played=order[choices.start[:-1]] - choices.start[:-1])
            tops[seed] = curve_of(g0, g1, drawn).sum(code).tops()
        off = " ".join(f"{own}:{top - own:+.0f}" for own, top in zip(marks, tops.mean(axis=0), strict=True))
        print(f"depth {depth}, {draws} x {len(choices)} turns: {off}")


if __name__ == "__main__":
    main(*sys.argv[1:])
