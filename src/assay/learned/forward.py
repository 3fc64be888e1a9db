"""A run applied to games, without torch: posteriors over bands after every ply, for White and for Black.

The sequence models are a few matrix products in numpy, with the same weights and the same numbers as in torch; so torch
stays an extra that only training needs. `tests/learned/test_net.py` holds the two together.
"""

from __future__ import annotations

from contextlib import AbstractContextManager

import numpy as np
import numpy.typing as npt
from threadpoolctl import threadpool_limits

from assay.arrays import Arrays
from assay.errors import LearnedError
from assay.learned.baselines import ply_features, tree_logits
from assay.learned.book import read_scalars, stored_book
from assay.learned.inputs import Floats, Inputs, mover_bits
from assay.learned.lessons import log_softmax
from assay.learned.run import SUM_UNIT, Config, Run

Doubles = npt.NDArray[np.float64]


def evidence(run: Run, plies: Inputs) -> Doubles:
    """What the plies so far say of the bands, (plies + 1, 2, bands): log-likelihoods, 0 before any move.

    They are the model's log posteriors with the prior that it was trained under divided out, up to a constant.
    Plies beyond the longest that the model reads repeat the last answer that it gave.
    """
    logs = np.zeros((len(plies) + 1, 2, len(run.prior)))
    try:
        logs[1:] = _log_posteriors(run, plies) - np.log(run.prior)
    except (KeyError, ValueError, IndexError) as error:
        why = f"there is no {error}" if isinstance(error, KeyError) else str(error)
        raise LearnedError(f"the weights of {run.path} do not fit its settings ({why}): train it again.") from error
    if not np.isfinite(logs).all():
        raise LearnedError(f"the weights of {run.path} are no good: what they give are no numbers. Train it again.")
    return logs


def posteriors(run: Run, plies: Inputs, prior: Doubles | None = None) -> Doubles:
    """The posterior after each ply, (plies + 1, 2, bands); row 0 is the prior, before any move.

    It stands on the run's own prior or on another: p'(y) ~ p(y) prior'(y) / prior(y) (Saerens et al. 2002).
    """
    own = run.prior if prior is None else np.maximum(prior, 1e-12)
    return np.asarray(np.exp(log_softmax(evidence(run, plies) + np.log(own))))


def _log_posteriors(run: Run, plies: Inputs) -> Doubles:
    if not len(plies):
        return np.empty((0, 2, len(run.prior)))
    if run.config.model == "mean":
        return np.broadcast_to(np.log(run.prior), (len(plies), 2, len(run.prior)))
    if run.config.model == "tags":
        raise LearnedError(
            f"{run.path} reads no moves but opening, length and result; it is for 'assay evaluate' alone."
        )
    if run.config.model == "boosting":
        each = ply_features(plies, run.inputs, stored_book(run.weights))
        found = tree_logits(run.weights, each.reshape(2 * len(plies), -1)).reshape(len(plies), 2, -1)
    else:
        found = _read(run, plies)
    return log_softmax(found / run.temperature)


def _read(run: Run, plies: Inputs) -> Doubles:
    """Logits of the sequence models, turned from mover and opponent to White and Black."""
    seen = plies.first(run.config.max_plies)
    scalars = read_scalars(seen, run.inputs, stored_book(run.weights))
    if scalars.shape[1] != run.weights["encode.mean"].shape[0]:
        raise LearnedError(f"{run.path} reads {run.weights['encode.mean'].shape[0]} scalars, not {scalars.shape[1]}.")
    out = logits(run.weights, run.config, seen.planes, scalars, seen.white).astype(np.float64)
    turned = np.where(seen.white[:, None, None], out, out[:, ::-1])
    return np.concatenate((turned, np.repeat(turned[-1:], len(plies) - len(seen), axis=0)))


def one_thread() -> AbstractContextManager[object]:
    """Matrix products in one thread: those of one game are so small that threads cost 25 to 50 times what they save."""
    limits: AbstractContextManager[object] = threadpool_limits(limits=1, user_api="blas")
    return limits


def logits(
    weights: Arrays, config: Config, planes: npt.NDArray[np.uint64], scalars: Floats, white: npt.NDArray[np.bool_]
) -> Floats:
    """Logits of one game, (plies, 2, bands), for the mover and the opponent of each ply."""
    x = _encode(weights, config, planes, scalars, white)
    if config.model == "gru":
        x = x + _gru(weights, config.layers, x)
    else:
        for number in range(config.layers):
            x = _block(weights, f"blocks.{number}.", config.heads, x)
    known = _norm(weights, "norm", x)
    out = _linear(weights, "head", known)
    if config.pool != "last":
        out = out + _pooled(weights, config.pool, known, white)
    return out.reshape(len(x), 2, -1)


def _linear(weights: Arrays, name: str, x: Floats) -> Floats:
    out: Floats = x @ weights[f"{name}.weight"].T
    if (bias := weights.get(f"{name}.bias")) is not None:
        out += bias
    return out


def _norm(weights: Arrays, name: str, x: Floats) -> Floats:
    """Layer normalisation (Ba et al. 2016), with torch's epsilon."""
    centred = x - x.mean(axis=-1, keepdims=True)
    spread = np.sqrt((centred**2).mean(axis=-1, keepdims=True) + np.float32(1e-5))
    out: Floats = centred / spread * weights[f"{name}.weight"] + weights[f"{name}.bias"]
    return out


def _encode(
    weights: Arrays, config: Config, planes: npt.NDArray[np.uint64], scalars: Floats, white: npt.NDArray[np.bool_]
) -> Floats:
    bits = mover_bits(planes, white).transpose(0, 2, 1).astype(np.float32)
    mixed = np.maximum(_linear(weights, "encode.mix", bits), 0) if config.square_width else bits
    x = _linear(weights, "encode.project", mixed.reshape(len(planes), -1))
    scaled = ((scalars - weights["encode.mean"]) / weights["encode.spread"]).astype(np.float32)
    x += _linear(weights, "encode.scalars", scaled)
    x += weights["encode.place.weight"][: len(planes)] + weights["encode.side.weight"][white.astype(int)]
    return _norm(weights, "encode.norm", x)


def _block(weights: Arrays, name: str, heads: int, x: Floats) -> Floats:
    """A pre-norm transformer layer: causal attention, then a two-layer network, each added to what came in."""
    plies, width = x.shape
    qkv = _linear(weights, f"{name}qkv", _norm(weights, f"{name}norm1", x))
    q, k, v = qkv.reshape(plies, 3, heads, width // heads).transpose(1, 2, 0, 3)
    fit = q @ k.transpose(0, 2, 1) / np.float32(np.sqrt(width // heads))
    fit[:, np.triu(np.ones((plies, plies), dtype=bool), 1)] = -np.inf
    share = np.exp(fit - fit.max(axis=-1, keepdims=True))
    share /= share.sum(axis=-1, keepdims=True)
    seen = (share @ v).transpose(1, 0, 2).reshape(plies, width)
    x = x + _linear(weights, f"{name}out", seen)
    inner = np.maximum(_linear(weights, f"{name}up", _norm(weights, f"{name}norm2", x)), 0)
    return x + _linear(weights, f"{name}down", inner)


def _pooled(weights: Arrays, way: str, known: Floats, white: npt.NDArray[np.bool_]) -> Floats:
    """What the plies so far say together, as :class:`assay.learned.net.Pooling` has it."""
    said = np.maximum(_linear(weights, "pooling.say", known), 0)
    weight = np.ones((len(said), 1), dtype=np.float32)
    if way == "cls":
        weight = np.exp(np.clip(_linear(weights, "pooling.weigh", known), -8, 8))
    sides = []
    for chosen in (white, ~white):
        some = weight * chosen[:, None]
        if way == "max":
            sides.append(np.maximum.accumulate(said * some, axis=0))
            continue
        total = np.cumsum(said * some, axis=0)
        sides.append(
            total / np.float32(SUM_UNIT) if way == "sum" else total / np.maximum(np.cumsum(some, axis=0), 1e-6)
        )
    both = np.where(white[:, None], np.concatenate(sides, axis=1), np.concatenate(sides[::-1], axis=1))
    return _linear(weights, "pooling.head", both.astype(np.float32))


def _gru(weights: Arrays, layers: int, x: Floats) -> Floats:
    """Gated recurrent units (Cho et al. 2014) as torch lays them out: reset, update, new."""
    for layer in range(layers):
        coming = x @ weights[f"gru.weight_ih_l{layer}"].T + weights[f"gru.bias_ih_l{layer}"]
        again, bias = weights[f"gru.weight_hh_l{layer}"].T, weights[f"gru.bias_hh_l{layer}"]
        state = np.zeros(x.shape[1], dtype=np.float32)
        states = np.empty_like(x)
        for ply, (reset_in, update_in, new_in) in enumerate(coming.reshape(len(x), 3, -1)):
            reset_h, update_h, new_h = (state @ again + bias).reshape(3, -1)
            reset, update = _sigmoid(reset_in + reset_h), _sigmoid(update_in + update_h)
            state = (1 - update) * np.tanh(new_in + reset * new_h) + update * state
            states[ply] = state
        x = states
    return x


def _sigmoid(x: Floats) -> Floats:
    out: Floats = 0.5 * (1 + np.tanh(0.5 * x))
    return out
