"""The learned posterior beside the intrinsic one, on games that an engine has analysed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.errors import LearnedError
from assay.learned.guess import guess_games
from assay.learned.run import Run
from assay.moves.analysed import analysed_turns, read_all
from assay.moves.calibration import load
from assay.moves.review import game_posteriors
from assay.scoring import Score, band_of, posterior_mean, score

Floats = npt.NDArray[np.float64]


@dataclass(frozen=True)
class Beside:
    """Both kinds of posterior judged on the same players."""

    learned: Score
    intrinsic: Score


def judge_beside(run: Run, path: Path, store: Path, calibration: str | None = None) -> Beside:
    """Judge a run and the intrinsic model on the analysed games of a file, both under the run's prior.

    The intrinsic posterior takes a normal prior of the same mean and spread; its fine grid is summed into the bands.
    """
    games = read_all([path])
    scale = load(calibration)
    turns = analysed_turns(games, store, scale, analyse_missing=False, quiet=True)
    middle = (run.edges[1:] + run.edges[:-1]) / 2
    mean = float(posterior_mean(run.prior[None], run.edges, run.within)[0])
    prior = (mean, float(np.sqrt(run.prior @ (middle - mean) ** 2)))
    guesses = {guess.number - 1: guess for guess in guess_games(path, model=str(run.path))[0]}
    learned, intrinsic, ratings = [], [], []
    for game in np.unique(turns.game).tolist():
        for side, found in enumerate(game_posteriors(turns, game, scale, prior=prior)):
            if game in guesses and found.rating is not None and run.edges[0] <= found.rating < run.edges[-1]:
                learned.append(guesses[game].posteriors[-1, side])
                grid = found.posterior
                intrinsic.append(into_bands(grid.ratings, grid.probability[-1], run.edges))
                ratings.append(found.rating)
    if not ratings:
        raise LearnedError(f"no game of {path} has both ratings inside the bands and analyses in {store}.")
    return Beside(_score(learned, ratings, run, mean), _score(intrinsic, ratings, run, mean))


def into_bands(grid: Floats, probability: Floats, edges: Floats) -> Floats:
    """Probabilities on a grid of ratings summed into bands; what lies outside goes to the nearest.

    >>> into_bands(np.array([900.0, 1100.0, 1150.0, 1300.0]), np.full(4, 0.25), np.array([1000.0, 1200.0, 1400.0]))
    array([0.75, 0.25])
    """
    bands = len(edges) - 1
    inside = np.clip(band_of(grid, edges), 0, bands - 1)
    return np.bincount(inside, weights=probability, minlength=bands).astype(np.float64)


def _score(posteriors: Sequence[Floats], ratings: Sequence[float], run: Run, centre: float) -> Score:
    return score(np.array(posteriors), run.edges, np.array(ratings), centre=centre, within=run.within)
