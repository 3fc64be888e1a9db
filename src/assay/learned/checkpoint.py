"""A training frozen between two steps: weights, optimiser, random state, history; it goes on as if nothing happened."""

from __future__ import annotations

from dataclasses import asdict, field
from pathlib import Path
from typing import Any

import torch
from torch import nn

from assay.arrays import Arrays, freeze, load_arrays, save_arrays, thaw, under
from assay.errors import LearnedError
from assay.records import dataclass

NAME = "checkpoint.npz"

_MAY_CHANGE = ("threads", "patience", "epochs")  # with other epochs the rate goes on along another cosine


@dataclass
class State:
    """Where a training stands: `epoch` and `batch` come next; sums belong to the running epoch."""

    epoch: int = 0
    batch: int = 0
    loss_sum: float = 0.0
    ply_sum: int = 0
    best_nll: float = float("inf")
    best_epoch: int = -1
    history: list[dict[str, float]] = field(default_factory=list)
    start: str = ""  # the run whose weights it began with

    @property
    def step(self) -> tuple[int, int]:
        return self.epoch, self.batch


def save(
    path: Path,
    net: nn.Module,
    mean: nn.Module,
    optimiser: torch.optim.Optimizer,
    state: State,
    best: Arrays,
    identity: dict[str, Any],
) -> None:
    """Write a checkpoint; the one before stays until this is whole. `mean` holds averaged weights, or is the net."""
    arrays = freeze(net, mean, optimiser, "moment.")
    arrays |= {f"best.{name}": array for name, array in best.items()}
    arrays["random"] = torch.get_rng_state().numpy()
    save_arrays(path / NAME, arrays, {"state": asdict(state), "identity": identity})


def load(
    path: Path, net: nn.Module, mean: nn.Module, optimiser: torch.optim.Optimizer, identity: dict[str, Any]
) -> tuple[State, Arrays]:
    """Put everything back to where a checkpoint left it; return the state and the best weights."""
    arrays, meta = load_arrays(path / NAME)
    if "identity" not in meta:
        raise LearnedError(f"{path / NAME} is no checkpoint of a training.")
    for name, value in identity.items():
        if name in _MAY_CHANGE:
            continue
        if meta["identity"].get(name) != value:
            raise LearnedError(
                f"the checkpoint in {path} does not fit: its {name} is {meta['identity'].get(name)!r}, asked for is "
                f"{value!r}. Resume with the settings it was started with, or train into another folder."
            )
    thaw(arrays, net, mean, optimiser, "moment.")
    torch.set_rng_state(torch.from_numpy(arrays["random"]))
    return State(**meta["state"]), under(arrays, "best.")
