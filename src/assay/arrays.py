"""Named arrays and a JSON text in one file, without pickle: the format of weights and checkpoints.

Networks of torch as such arrays: what a training leaves, and what it needs to go on as if nothing had happened.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.manifest import parse
from assay.paths import atomic

if TYPE_CHECKING:
    import torch
    from torch import nn


Arrays = dict[str, npt.NDArray[Any]]

_META = "meta.json"


def save_arrays(path: Path, arrays: Mapping[str, npt.NDArray[Any]], meta: Mapping[str, Any]) -> None:
    """Write arrays and their description as `.npz`, whole or not at all."""
    text = np.frombuffer(json.dumps(meta).encode(), dtype=np.uint8)
    with atomic(path) as part, part.open("wb") as file:
        np.savez(file, allow_pickle=False, **{_META: text, **arrays})


def load_arrays(path: Path) -> tuple[Arrays, dict[str, Any]]:
    """Read what `save_arrays` wrote; a damaged or foreign file is refused."""
    try:
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        meta = parse(arrays.pop(_META).tobytes())
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    except Exception as error:  # a damaged archive may fail at any of its parts
        raise InputError(f"{path} holds no model of Assay, or is damaged ({error}).") from error
    return arrays, meta


_MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # what AdamW remembers of a parameter


def weights_of(net: nn.Module) -> Arrays:
    """The weights as arrays of their own."""
    return {name: tensor.detach().numpy().copy() for name, tensor in net.state_dict().items()}


def load_weights(net: nn.Module, weights: Arrays) -> None:
    """Give a network these weights."""
    import torch

    net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})


def follow(mean: nn.Module, net: nn.Module, share: float) -> None:
    """Move averaged weights by this share of the way towards those of the net."""
    import torch

    with torch.no_grad():
        for slow, fast in zip(mean.parameters(), net.parameters(), strict=True):
            slow.lerp_(fast, share)


def freeze(net: nn.Module, mean: nn.Module, optimiser: torch.optim.Optimizer, moments: str) -> Arrays:
    """A network, its averaged weights (which may be its own) and its optimiser, whose names begin with `moments`."""
    arrays = {f"net.{name}": array for name, array in weights_of(net).items()}
    if mean is not net:
        arrays |= {f"mean.{name}": array for name, array in weights_of(mean).items()}
    for name, parameter in net.named_parameters():
        if known := optimiser.state.get(parameter):
            arrays |= {f"{moments}{kind}.{name}": known[kind].detach().numpy() for kind in _MOMENTS}
    return arrays


def thaw(arrays: Arrays, net: nn.Module, mean: nn.Module, optimiser: torch.optim.Optimizer, moments: str) -> None:
    """Put back what `freeze` took; arrays that are missing are a KeyError, those of other shapes a RuntimeError."""
    import torch

    load_weights(net, under(arrays, "net."))
    if mean is not net:
        load_weights(mean, under(arrays, "mean."))
    steps = under(arrays, f"{moments}step.")
    for name, parameter in net.named_parameters():
        if name in steps:
            optimiser.state[parameter] = {
                kind: torch.from_numpy(np.asarray(arrays[f"{moments}{kind}.{name}"])) for kind in _MOMENTS
            }


def under(arrays: Arrays, prefix: str) -> Arrays:
    """The arrays whose names begin so, without that beginning."""
    return {name.removeprefix(prefix): array for name, array in arrays.items() if name.startswith(prefix)}
