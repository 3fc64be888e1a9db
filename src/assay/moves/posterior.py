"""The posterior of both players of a game, move by move."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from assay.engine.turns import Turns
from assay.moves.analysed import spreads_of
from assay.moves.calibration import Calibration
from assay.moves.regan.posterior import Posterior, posterior
from assay.moves.regan.tally import tally


@dataclass(frozen=True)
class PlayerPosterior:
    """One side's posterior: before the first counted turn (row 0) and after each; `move` and `ply` are the turns'."""

    player: str
    white: bool
    rating: float | None
    move: NDArray[np.int64]
    ply: NDArray[np.int64]
    posterior: Posterior


def game_posteriors(
    turns: Turns, game: int, calibration: Calibration, *, prior: tuple[float, float] | str | None = None
) -> list[PlayerPosterior]:
    """Follow both players of a game (its number in `turns`, from 0).

    `prior` is a mean and a standard deviation, "tag" for the rating in the tags with a standard deviation of 200 (flat
    where there is none), or None for all ratings alike.
    """
    scale = calibration.usable()
    out = []
    for white in (True, False):
        own = turns.only((turns.game == game) & (turns.white == white))
        side = "white" if white else "black"
        tag = turns.games[f"{side}_elo"][game]
        chosen = ((float(tag), 200.0) if tag is not None else None) if isinstance(prior, str) else prior
        spreads = spreads_of(own, calibration)
        counted = tally(scale.artery, spreads.deltas, spreads.played, elsewhere=spreads.elsewhere)
        out.append(
            PlayerPosterior(
                player=turns.games[side][game] or "?",
                white=white,
                rating=None if tag is None else float(tag),
                move=own.move,
                ply=own.ply,
                posterior=posterior(counted, scale, prior=chosen),
            )
        )
    return out
