"""The sequence models: planes and scalars of each ply in, two distributions over rating bands at every ply out.

Both are causal, so the output at ply t is p(band | plies 0..t), for the mover of ply t and for the opponent.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional

from assay.learned.config import Config
from assay.learned.planes import NUM_PLANES

SQUARES = 64
OUTCOMES = 3  # lost, drawn, won


class PlyEncoder(nn.Module):
    """One ply to a vector: a small layer shared by all squares mixes their planes, then a projection, scalars, place.

    The shared layer is what makes few games enough: "my piece, their control, none of mine" is a product on one
    square, learned once for all 64. With `square_width` 0 the raw bits are projected at once.
    """

    mean: Tensor
    spread: Tensor

    def __init__(self, config: Config, mean: npt.NDArray[np.float32], spread: npt.NDArray[np.float32]) -> None:
        super().__init__()
        width = config.square_width or NUM_PLANES
        self.register_buffer("mean", torch.from_numpy(mean))
        self.register_buffer("spread", torch.from_numpy(spread))
        self.mix = nn.Linear(NUM_PLANES, width) if config.square_width else None
        self.project = nn.Linear(SQUARES * width, config.d_model)
        self.scalars = nn.Linear(len(mean), config.d_model, bias=False)
        self.place = nn.Embedding(config.max_plies, config.d_model)
        self.side = nn.Embedding(2, config.d_model)
        self.norm = nn.LayerNorm(config.d_model)
        self.drop = nn.Dropout(config.dropout)
        # Place and side start small: at torch's scale of 1 they would be nearly all that is left after the norm, and
        # what a ply says would take thousands of steps to be heard.
        for embedding in (self.place, self.side):
            nn.init.normal_(embedding.weight, std=0.05)
        nn.init.normal_(self.scalars.weight, std=len(mean) ** -0.5)

    def forward(self, planes: Tensor, scalars: Tensor, white: Tensor) -> Tensor:
        """planes (games, plies, 64 planes, 64 squares) of bits, scalars (games, plies, n), white (games, plies)."""
        games, plies = planes.shape[:2]
        bits = planes.transpose(2, 3).to(torch.float32, memory_format=torch.contiguous_format)
        mixed = bits if self.mix is None else functional.relu(self.mix(bits))
        out: Tensor = self.project(mixed.reshape(games, plies, -1))
        out = out + self.scalars((scalars - self.mean) / self.spread)
        out = out + self.place.weight[:plies] + self.side(white.long())
        seen: Tensor = self.drop(self.norm(out))
        return seen


class Block(nn.Module):
    """A pre-norm transformer layer with causal attention."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        d = config.d_model
        self.heads = config.heads
        self.norm1, self.norm2 = nn.LayerNorm(d), nn.LayerNorm(d)
        self.qkv = nn.Linear(d, 3 * d)
        self.out = nn.Linear(d, d)
        self.up, self.down = nn.Linear(d, 4 * d), nn.Linear(4 * d, d)
        self.drop = nn.Dropout(config.dropout)

    def forward(self, x: Tensor) -> Tensor:
        games, plies, d = x.shape
        q, k, v = self.qkv(self.norm1(x)).view(games, plies, 3, self.heads, d // self.heads).permute(2, 0, 3, 1, 4)
        # Padding stands at the end, so the causal mask alone keeps it from being seen by real plies. Nothing is dropped
        # in the attention itself: torch's fused kernel cannot, and the other one is slower.
        seen = functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.drop(self.out(seen.transpose(1, 2).reshape(games, plies, d)))
        out: Tensor = x + self.drop(self.down(functional.relu(self.up(self.norm2(x)))))
        return out


class Net(nn.Module):
    """Ply encoder, sequence layers (transformer or GRU), and the two heads.

    `mean` and `spread` are those of the scalars over the training games. With `prior` the heads start at it, so that no
    step is spent on what needs no learning.
    """

    def __init__(
        self,
        config: Config,
        bands: int,
        mean: npt.NDArray[np.float32],
        spread: npt.NDArray[np.float32],
        prior: npt.NDArray[np.float64] | None = None,
    ) -> None:
        super().__init__()
        self.encode = PlyEncoder(config, mean, spread)
        if config.model == "gru":
            self.gru = nn.GRU(config.d_model, config.d_model, config.layers, batch_first=True)
        else:
            self.blocks = nn.ModuleList(Block(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.drop = nn.Dropout(config.dropout)
        self.head = nn.Linear(config.d_model, 2 * bands)
        # What training alone asks for: the next move's squares and the result, in the mover's view.
        self.foresee = nn.Linear(config.d_model, 2 * SQUARES + OUTCOMES) if config.foresight else None
        if prior is not None:
            nn.init.normal_(self.head.weight, std=0.02)
            self.head.bias = nn.Parameter(torch.tensor(np.tile(np.log(prior), 2), dtype=torch.float32))
        self.recurrent, self.bands = config.model == "gru", bands

    def read(self, planes: Tensor, scalars: Tensor, white: Tensor) -> Tensor:
        """What is known after each ply, (games, plies, d_model)."""
        x: Tensor = self.encode(planes, scalars, white)
        if self.recurrent:
            x = x + self.gru(x)[0]
        else:
            for block in self.blocks:
                x = block(x)
        known: Tensor = self.drop(self.norm(x))
        return known

    def rate(self, known: Tensor) -> Tensor:
        """Logits (games, plies, 2, bands): the mover's, then the opponent's."""
        logits: Tensor = self.head(known)
        return logits.view(*known.shape[:2], 2, self.bands)

    def forward(self, planes: Tensor, scalars: Tensor, white: Tensor) -> Tensor:
        """Logits (games, plies, 2, bands) of games."""
        return self.rate(self.read(planes, scalars, white))
