"""The move model in torch, for training; :mod:`assay.policy.model` runs the same weights in numpy."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn

from assay.policy.features import Features
from assay.policy.model import LEVEL, PLACES, SIZES, Size, level_inputs

__all__ = ["MoveModel", "Tensors", "batch_of", "loss_of"]


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


def batch_of(found: Features, elo: npt.ArrayLike, pool: npt.ArrayLike) -> Tensors:
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
