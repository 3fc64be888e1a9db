"""The move model in numpy: chances of the legal moves of many positions, at a level of play.

A move has no picture of the whole board but what counts for it: its features, some planes at its two squares, who moves
from where to where and takes what; and a summary of the board, a bag of pieces on squares, that is added to and
multiplied with it. The softmax runs over the legal moves only.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.arrays import Arrays, load_arrays, save_arrays
from assay.errors import InputError
from assay.policy.teacher import log_softmax
from assay.policy.traits import INPUT_NAMES, INPUTS, STATE, Traits
from assay.records import dataclass

Floats = npt.NDArray[np.float32]

KIND = "policy"
VERSION = 1
LEVEL = 4  # inputs that tell the level
PLACES = np.array([0, 6 * 64, 12 * 64])  # where the three tables of places begin
SIZES = (INPUTS, 12 * 64 + 7 * 64, 12 * 64, len(STATE))
_BATCH = 512


@dataclass(frozen=True)
class Size:
    """Widths of the layers."""

    width: int = 96
    bag: int = 128
    hidden: int = 32


def level_inputs(elo: npt.ArrayLike, pool: npt.ArrayLike) -> Floats:
    """The rating and the pool it belongs to (0 Lichess, 1 over the board) as numbers around zero: (n, 4)."""
    pool = np.asarray(pool, np.float32)
    z = (np.asarray(elo, np.float32) - 1500) / 500
    return np.stack([z * (1 - pool), z * pool, pool, z * z / 4], axis=-1).astype(np.float32)


@dataclass(frozen=True)
class Policy:
    """A network that foretells moves; `identity` is a hash of its weights."""

    size: Size
    weights: dict[str, Floats]
    about: dict[str, Any]
    identity: str


def shapes(size: Size, inputs: int = INPUTS, state: int = len(STATE)) -> dict[str, tuple[int, ...]]:
    """The arrays that weights of this size consist of."""
    _, places, bag, _ = SIZES
    return {
        "bag.weight": (bag, size.bag),
        "state.weight": (size.bag, state + LEVEL),
        "state.bias": (size.bag,),
        "context.weight": (2 * size.width, size.bag),
        "context.bias": (2 * size.width,),
        "move.weight": (size.width, inputs),
        "move.bias": (size.width,),
        "place.weight": (places, size.width),
        "hidden.weight": (size.hidden, size.width),
        "hidden.bias": (size.hidden,),
        "out.weight": (1, size.hidden),
        "out.bias": (1,),
    }


def make_policy(weights: Mapping[str, npt.NDArray[Any]], size: Size, about: Mapping[str, Any], name: str) -> Policy:
    """A policy from its weights, which must have the right shapes and be numbers."""
    wanted = shapes(size)
    if set(weights) != set(wanted):
        odd = sorted(set(weights) ^ set(wanted))[0]
        raise InputError(f"{name} is no policy of this version of Assay: its weights differ in {odd!r}.")
    kept: dict[str, Floats] = {}
    digest = hashlib.sha256(f"{VERSION} {asdict(size)}".encode())
    for array, shape in wanted.items():
        if weights[array].shape != shape:
            raise InputError(f"{name} is a policy of another shape: {array} is {weights[array].shape}, not {shape}.")
        kept[array] = np.ascontiguousarray(weights[array], np.float32)
        if not np.isfinite(kept[array]).all():
            raise InputError(f"{name} is damaged: {array} holds numbers that are none. Train or fetch it again.")
        digest.update(array.encode() + kept[array].astype("<f4").tobytes())
    return Policy(size, kept, dict(about), digest.hexdigest()[:16])


def save_policy(path: Path, policy: Policy) -> None:
    """Write a policy, weights in 16 bits; what is read again has these rounded weights, and a hash of them."""
    arrays: Arrays = {name: array.astype(np.float16) for name, array in policy.weights.items()}
    told = {"inputs": list(INPUT_NAMES), "state": list(STATE), "about": policy.about}
    save_arrays(path, arrays, {"kind": KIND, "version": VERSION, "size": asdict(policy.size), **told})


def load_policy(path: Path) -> Policy:
    """Read a policy; a damaged or foreign file is refused with a sentence."""
    weights, meta = load_arrays(path)
    if not isinstance(meta, dict) or meta.get("kind") != KIND or meta.get("version") != VERSION:
        raise InputError(f"{path} is no policy of this version of Assay.")
    try:
        size = Size(**{name: int(value) for name, value in meta["size"].items()})
        about = dict(meta["about"])
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise InputError(f"{path} is damaged ({error}); train it again.") from error
    if (meta.get("inputs"), meta.get("state")) != (list(INPUT_NAMES), list(STATE)):
        raise InputError(f"{path} was trained on other features; train on from it with 'assay policy train --start'.")
    if min(asdict(size).values()) < 1:
        raise InputError(f"{path} is damaged: a layer has no width. Train it again.")
    return make_policy(weights, size, about, str(path))


def log_chances_of(policy: Policy, found: Traits, elo: npt.ArrayLike, pool: npt.ArrayLike) -> Floats:
    """The logarithm of the chance of every legal move at these ratings, one for each position."""
    w, size = policy.weights, policy.size
    state = np.concatenate([found.state, level_inputs(elo, pool)], axis=1)
    bag = np.add.reduceat(w["bag.weight"][found.pieces], found.piece_offsets[:-1], axis=0)
    board = np.maximum(bag + state @ w["state.weight"].T + w["state.bias"], 0)
    context = board @ w["context.weight"].T + w["context.bias"]
    row = found.moves.row
    place = w["place.weight"]
    first, second, third = (found.placed + PLACES).T
    flow = found.inputs.T @ w["move.weight"].T
    flow += place[first]
    flow += place[second]
    flow += place[third]
    flow += (context[:, : size.width] + w["move.bias"])[row]
    np.maximum(flow, 0, out=flow)
    logits = np.maximum(flow @ w["hidden.weight"].T + w["hidden.bias"], 0) @ w["out.weight"][0] + w["out.bias"][0]
    flow *= context[row, size.width :]
    logits += flow.sum(axis=1) * np.float32(size.width**-0.5)
    return log_softmax(logits, found.moves.offsets)
