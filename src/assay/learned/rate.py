"""A run applied to games: posteriors over bands after every ply, for White and for Black."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.errors import LearnedError
from assay.learned import boosting, forward
from assay.learned.book import read_scalars, stored_book
from assay.learned.calibrate import log_softmax
from assay.learned.inputs import Inputs
from assay.learned.run import Run

Floats = npt.NDArray[np.float64]


def posteriors(run: Run, plies: Inputs, prior: Floats | None = None) -> Floats:
    """The posterior after each ply, (plies + 1, 2, bands); row 0 is the prior, before any move.

    With `prior` the posteriors are moved from the run's own prior to this one: p'(y) ~ p(y) prior'(y) / prior(y)
    (Saerens et al. 2002). Plies beyond the longest that the model reads repeat the last posterior that it gave.
    """
    logs = np.empty((len(plies) + 1, 2, len(run.prior)))
    logs[0] = np.log(run.prior)
    try:
        logs[1:] = _log_posteriors(run, plies)
    except (KeyError, ValueError, IndexError) as error:
        why = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise LearnedError(f"the weights of {run.path} do not fit its settings ({why}): train it again.") from error
    if not np.isfinite(logs).all():
        raise LearnedError(f"the weights of {run.path} are no good: what they give are no numbers. Train it again.")
    if prior is not None:
        logs += np.log(np.maximum(prior, 1e-12)) - np.log(run.prior)
    return np.asarray(np.exp(log_softmax(logs)))


def _log_posteriors(run: Run, plies: Inputs) -> Floats:
    if not len(plies):
        return np.empty((0, 2, len(run.prior)))
    if run.config.model == "mean":
        return np.broadcast_to(np.log(run.prior), (len(plies), 2, len(run.prior)))
    if run.config.model == "tags":
        raise LearnedError(
            f"{run.path} reads no moves but opening, length and result; it is for 'assay evaluate' alone."
        )
    if run.config.model == "boosting":
        each = boosting.features(plies, run.inputs, stored_book(run.weights))
        found = boosting.logits(run.weights, each.reshape(2 * len(plies), -1)).reshape(len(plies), 2, -1)
    else:
        found = _read(run, plies)
    return log_softmax(found / run.temperature)


def _read(run: Run, plies: Inputs) -> Floats:
    """Logits of the sequence models, turned from mover and opponent to White and Black."""
    seen = plies.first(run.config.max_plies)
    scalars = read_scalars(seen, run.inputs, stored_book(run.weights))
    if scalars.shape[1] != run.weights["encode.mean"].shape[0]:
        raise LearnedError(f"{run.path} reads {run.weights['encode.mean'].shape[0]} scalars, not {scalars.shape[1]}.")
    out = forward.logits(run.weights, run.config, seen.planes, scalars, seen.white).astype(np.float64)
    turned = np.where(seen.white[:, None, None], out, out[:, ::-1])
    return np.concatenate((turned, np.repeat(turned[-1:], len(plies) - len(seen), axis=0)))
