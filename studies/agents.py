"""Agents of known strength rated by the model they play by: python studies/agents.py REFERENCE [DEPTH ...].

At every mark of the reference set the positions stay as they were and the moves are drawn anew, from the shipped model
at the mark; then the turns are rated as anybody's, by two models as far as each side of a game passes for a person. An
agent that does not come out at its own Elo would show an error.
"""

from __future__ import annotations

import math
import sys
from dataclasses import replace

import numpy as np
from two_models import two_models

from assay.engine.choices import pawns
from assay.moves import reference
from assay.moves.calibration import depths, load
from assay.moves.choice.calibrate import JUDGED
from assay.moves.choice.model import log_chances, strength

TURNS = 400_000


def main(folder: str, *given: str) -> None:
    for depth in map(int, given or map(str, depths())):
        found = reference.read(folder, depth)
        best = np.fmax.reduceat(pawns(found.choices.codes[:, -1]), found.choices.start[:-1])
        judged = (np.abs(best) <= JUDGED) & (found.choices.width > 1)
        choices, mark = found.choices.only(judged), found.turns["mark"].to_numpy()[judged]
        models = two_models(load(depth=depth), choices, choices.unit)
        inner = strength(mark.astype(float))[choices.turn]
        log_p = log_chances(models.g0 + inner * models.g1, choices.start, choices.turn)
        # The greatest of log p plus Gumbel noise is a draw from p.
        draws = math.ceil(TURNS / len(choices))
        marks, code = np.unique(mark, return_inverse=True)
        tops, human = np.empty((draws, len(marks))), np.empty(draws)
        for seed in range(draws):
            noise = np.random.default_rng(seed).gumbel(size=len(log_p))
            order = np.lexsort((-(log_p + noise), choices.turn))
            drawn = replace(choices, played=order[choices.start[:-1]] - choices.start[:-1])
            played = models.playing(drawn, choices.unit)
            tops[seed], human[seed] = played.curve(drawn).sum(code).tops(), played.human.mean()
        off = " ".join(f"{own}:{top - own:+.0f}" for own, top in zip(marks, tops.mean(axis=0), strict=True))
        print(f"depth {depth}, {draws} x {len(choices)} turns, human {human.mean():.2f}: {off}", flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
