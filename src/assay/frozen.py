"""Networks of torch as named arrays: what a training leaves, and what it needs to go on as if nothing had happened."""

from __future__ import annotations

import numpy as np
import torch
from torch import nn

from assay.arrays import Arrays

_MOMENTS = ("step", "exp_avg", "exp_avg_sq")  # what AdamW remembers of a parameter


def weights_of(net: nn.Module) -> Arrays:
    """The weights as arrays of their own."""
    return {name: tensor.detach().numpy().copy() for name, tensor in net.state_dict().items()}


def load_weights(net: nn.Module, weights: Arrays) -> None:
    """Give a network these weights."""
    net.load_state_dict({name: torch.from_numpy(array) for name, array in weights.items()})


def follow(mean: nn.Module, net: nn.Module, share: float) -> None:
    """Move averaged weights by this share of the way towards those of the net."""
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
