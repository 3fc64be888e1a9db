"""A larger network that begins as a smaller one: what is new says nothing at first, so that the outputs are the same.

Net2Net (Chen, Goodfellow and Shlens 2016): a training need not begin again when its network proves too small.
"""

from __future__ import annotations

import re

import numpy as np

from assay.arrays import Arrays


def grown(own: Arrays, small: Arrays) -> Arrays:
    """The weights of `small` in the shapes of `own`, by name; names that it has no room for are left out.

    `own` may have more channels of the layer shared by the squares (their way into the projection begins at zero), more
    places (they begin as the last one known) and more blocks (they begin by adding nothing).
    """
    widened = _widened(own, small)
    fits: Arrays = {}
    for name, array in small.items():
        if name not in own:
            continue
        place = own[name]
        if name in widened:
            fits[name] = widened[name]
        elif place.shape == array.shape:
            fits[name] = array
        elif name == "encode.place.weight" and _is_longer(place, array):
            fits[name] = np.concatenate([array, np.repeat(array[-1:], len(place) - len(array), axis=0)])
    if any(name.startswith("blocks.0.") for name in fits):
        for name, place in own.items():
            if re.match(r"blocks\.\d+\.(out|down)\.", name) and name not in small:
                fits[name] = np.zeros_like(place)
    return fits


def _widened(own: Arrays, small: Arrays) -> Arrays:
    """The layer shared by the squares with more channels, and a projection that hears only the first of them."""
    mix, project = "encode.mix.weight", "encode.project.weight"
    if not (mix in own and mix in small and _is_longer(own[mix], small[mix])):
        return {}
    if len(own[project]) != len(small[project]):
        return {}
    narrow, wide = len(small[mix]), len(own[mix])
    heard = np.zeros_like(own[project]).reshape(len(own[project]), -1, wide)
    heard[:, :, :narrow] = small[project].reshape(len(own[project]), -1, narrow)
    layer = {name: np.concatenate([small[name], own[name][narrow:]]) for name in (mix, "encode.mix.bias")}
    return {project: heard.reshape(own[project].shape)} | layer


def _is_longer(place: np.ndarray, array: np.ndarray) -> bool:
    """True if `place` has more rows than `array` and is like it otherwise."""
    return place.shape[1:] == array.shape[1:] and len(place) > len(array)
