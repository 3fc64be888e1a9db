"""A larger network that begins as a smaller one: what is new says nothing at first, so that the outputs are the same.

Net2Net (Chen, Goodfellow and Shlens 2016): a training need not begin again when its network proves too small.
"""

from __future__ import annotations

import re

import numpy as np

from assay.learned.arrays import Arrays


def grown(own: Arrays, small: Arrays) -> Arrays:
    """The weights of `small` in the shapes of `own`, by name; names that it has no room for are left out.

    `own` may have more channels of the layer shared by the squares (their way into the projection begins at zero), more
    places (they begin as the last one known) and more blocks (they begin by adding nothing).
    """
    same_width = len(own["encode.project.weight"]) == len(small["encode.project.weight"])
    fits: Arrays = {}
    for name, array in small.items():
        if name not in own:
            continue
        place = own[name]
        if place.shape == array.shape:
            fits[name] = array
        elif name == "encode.place.weight" and _only_axis(place, array, 0):
            fits[name] = np.concatenate([array, np.repeat(array[-1:], len(place) - len(array), axis=0)])
        elif name.startswith("encode.mix.") and same_width and _only_axis(place, array, 0):
            fits[name] = np.concatenate([array, place[len(array) :]])
        elif name == "encode.project.weight" and _only_axis(place, array, 1):
            channels = (len(place), len(own["encode.mix.weight"]), len(small["encode.mix.weight"]))
            fits[name] = _more_channels(array, *channels)
    if any(name.startswith("blocks.0.") for name in fits):
        for name, place in own.items():
            if re.match(r"blocks\.\d+\.(out|down)\.", name) and name not in small:
                fits[name] = np.zeros_like(place)
    return fits


def _only_axis(place: np.ndarray, array: np.ndarray, axis: int) -> bool:
    """True if `place` is as `array` but longer along this axis."""
    longer = list(array.shape)
    longer[axis] = place.shape[axis]
    return place.shape == tuple(longer) and place.shape[axis] > array.shape[axis]


def _more_channels(project: np.ndarray, out: int, wide: int, narrow: int) -> np.ndarray:
    """A projection from squares of `wide` channels that hears only the first `narrow` of them."""
    found = np.zeros((out, project.shape[1] // narrow, wide), dtype=project.dtype)
    found[:, :, :narrow] = project.reshape(out, -1, narrow)
    return found.reshape(out, -1)
