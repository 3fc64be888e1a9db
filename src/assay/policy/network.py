"""The move model in torch, for training, and how it grows; :mod:`assay.policy.movemodel` runs its weights in numpy.

What is new in a larger network goes in with small random weights and counts for nothing at first: it goes out with
zeros (Chen, Goodfellow and Shlens, "Net2Net", ICLR 2016, begin the same way). Inputs are known by their names, so a
policy that was trained before a feature was thought of can be taken up with it.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from assay.arrays import Arrays, load_arrays
from assay.errors import InputError, LearnedError
from assay.policy.movemodel import KIND, LEVEL, PLACES, SIZES, Size, level_inputs, shapes
from assay.policy.traits import INPUT_NAMES, STATE, Traits
from assay.records import dataclass

__all__ = ["MoveModel", "Tensors", "batch_of", "grown", "loss_of"]


@dataclass(frozen=True)
class Tensors:
    """Positions ready for the network: moves of all of them in one row."""

    inputs: Tensor  # (moves, features and planes)
    placed: Tensor  # (moves, 3)
    row: Tensor  # the position of each move
    pieces: Tensor
    piece_offsets: Tensor
    state: Tensor  # (positions, state and level)

    @property
    def positions(self) -> int:
        return len(self.state)


def batch_of(found: Traits, elo: npt.ArrayLike, pool: npt.ArrayLike) -> Tensors:
    """Put features into tensors."""
    state = np.concatenate([found.state, level_inputs(elo, pool)], axis=1)
    return Tensors(
        torch.from_numpy(found.inputs).T,
        torch.from_numpy(found.placed + PLACES),
        torch.from_numpy(found.moves.row.astype(np.int64)),
        torch.from_numpy(found.pieces),
        torch.from_numpy(found.piece_offsets[:-1]),
        torch.from_numpy(state),
    )


class MoveModel(nn.Module):
    """A logit for every legal move: its features, its squares, and the board as a bag of pieces."""

    def __init__(self, size: Size) -> None:
        super().__init__()
        self.size = size
        inputs, places, bag, state = SIZES
        self.bag = nn.EmbeddingBag(bag, size.bag, mode="sum")
        self.state = nn.Linear(state + LEVEL, size.bag)
        self.context = nn.Linear(size.bag, 2 * size.width)
        self.move = nn.Linear(inputs, size.width)
        self.place = nn.EmbeddingBag(places, size.width, mode="sum")
        self.hidden = nn.Linear(size.width, size.hidden)
        self.out = nn.Linear(size.hidden, 1)
        for table in (self.bag, self.place):
            nn.init.normal_(table.weight, std=0.05)
        nn.init.zeros_(self.out.weight)
        nn.init.zeros_(self.out.bias)

    def forward(self, batch: Tensors) -> Tensor:
        """The logarithm of the chance of each move among the legal ones."""
        board = torch.relu(self.bag(batch.pieces, batch.piece_offsets) + self.state(batch.state))
        add, dot = self.context(board).chunk(2, dim=1)
        flow = torch.relu(self.move(batch.inputs) + self.place(batch.placed) + add.index_select(0, batch.row))
        logits = self.out(torch.relu(self.hidden(flow)))[:, 0]
        logits = logits + (flow * dot.index_select(0, batch.row)).sum(1) * self.size.width**-0.5
        return log_softmax(logits, batch.row, batch.positions)


def log_softmax(logits: Tensor, row: Tensor, positions: int) -> Tensor:
    """Within each position."""
    most = torch.full((positions,), -torch.inf).scatter_reduce(0, row, logits.detach(), "amax")
    down = logits - most[row]
    sums = torch.zeros(positions).index_add(0, row, down.exp())
    return down - sums.log()[row]


def loss_of(logs: Tensor, target: Tensor, positions: int) -> Tensor:
    """Cross entropy a position; `target` are probabilities of all moves."""
    return -(logs * target).sum() / positions


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
