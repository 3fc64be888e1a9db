"""Weights for a larger network that gives what a smaller one gave, to train on from.

What is new goes in with small random weights and counts for nothing at first: it goes out with zeros (Chen, Goodfellow
and Shlens, "Net2Net", ICLR 2016, begin the same way). Inputs are known by their names, so a policy that was trained
before a feature was thought of can be taken up with it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from assay.arrays import Arrays, load_arrays
from assay.errors import InputError, LearnedError
from assay.policy.features import INPUT_NAMES, STATE
from assay.policy.model import KIND, LEVEL, Size, shapes


def grown(path: Path, fresh: Arrays, size: Size) -> Arrays:
    """The weights of a policy file, put into the fresh weights of a network that is as large or larger."""
    old, meta = load_arrays(path)
    try:
        before = Size(**meta["size"])
        inputs, state = list(meta["inputs"]), list(meta["state"])
        known = meta["kind"] == KIND and {name: array.shape for name, array in old.items()} == shapes(
            before, len(inputs), len(state)
        )
    except (KeyError, TypeError) as error:
        raise InputError(f"{path} is no policy of Assay ({error}).") from error
    if not known:
        raise InputError(f"{path} is no policy of Assay: its weights have other shapes than it says.")
    if before.width > size.width or before.bag > size.bag or before.hidden > size.hidden:
        raise LearnedError(f"{path} is larger than what is asked for; ask for --width {before.width} or more.")
    lost = (set(inputs) - set(INPUT_NAMES)) | (set(state) - set(STATE))
    if lost:
        raise LearnedError(f"{path} reads {sorted(lost)[0]!r}, which this version of Assay does not tell; train anew.")
    new = {name: array.copy() for name, array in fresh.items()}
    wide, deep, low = np.arange(before.width), np.arange(before.bag), np.arange(before.hidden)
    column = np.array([INPUT_NAMES.index(name) for name in inputs])
    level = [*(STATE.index(name) for name in state), *(len(STATE) + i for i in range(LEVEL))]
    both = np.concatenate([wide, size.width + wide])  # what is added, then what is multiplied
    for name, where in (
        ("bag.weight", np.ix_(np.arange(12 * 64), deep)),
        ("state.bias", (deep,)),
        ("context.bias", (both,)),
        ("move.bias", (wide,)),
        ("place.weight", np.ix_(np.arange(len(old["place.weight"])), wide)),
        ("hidden.bias", (low,)),
        ("out.bias", (slice(None),)),
    ):
        new[name][where] = old[name]
    # Into old numbers nothing new goes yet, and nothing new goes out.
    for name, rows, columns in (
        ("state.weight", deep, np.array(level)),
        ("move.weight", wide, column),
        ("context.weight", both, deep),
        ("hidden.weight", low, wide),
        ("out.weight", np.arange(1), low),
    ):
        new[name][rows] = 0
        if name in ("hidden.weight", "out.weight"):
            new[name][:, len(columns) :] = 0
        new[name][np.ix_(rows, columns)] = old[name]
    rest = np.setdiff1d(size.width + np.arange(size.width), both)
    new["context.weight"][rest] = 0
    new["context.bias"][rest] = 0
    # The product is divided by the root of the width.
    product = size.width + wide
    new["context.weight"][product] *= (size.width / before.width) ** 0.5
    new["context.bias"][product] *= (size.width / before.width) ** 0.5
    return new
