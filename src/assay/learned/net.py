"""The sequence models in torch: games as they read them, planes and scalars of each ply in, two distributions out.

One example per game, batches of like length with padding and masks. Both models are causal, so the output at ply t is
p(band | plies 0..t), for the mover of ply t and for the opponent. A network may begin as a smaller one.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor, nn
from torch.nn import functional
from torch.utils.data import Dataset as TorchDataset

from assay.arrays import Arrays
from assay.games.outcomes import score_of
from assay.learned.book import Books, read_scalars
from assay.learned.dataset import Dataset
from assay.learned.inputs import MAY_BE_UNKNOWN, Floats, Inputs, mover_bits
from assay.learned.planes import NUM_PLANES
from assay.learned.run import SUM_UNIT, Config
from assay.records import dataclass

SQUARES = 64
OUTCOMES = 3  # lost, drawn, won

POOLED = 32  # channels of what plies are pooled into

UNKNOWN = -100  # what torch's cross-entropy leaves out
BUCKET = 40  # batches that are sorted by length together


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
        # Bits are bits in half the width too: this layer is most of a network's cost, and learns as well in bfloat16.
        wide = torch.bfloat16 if self.training and self.mix is not None else torch.float32
        bits = planes.transpose(2, 3).to(wide, memory_format=torch.contiguous_format)
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=wide == torch.bfloat16):
            mixed = bits if self.mix is None else functional.relu(self.mix(bits))
            out: Tensor = self.project(mixed.reshape(games, plies, -1))
        out = out.float() + self.scalars((scalars - self.mean) / self.spread)
        out = out + self.place.weight[:plies] + self.side(white.long())
        seen: Tensor = self.drop(self.norm(out))
        return seen


class Layer(nn.Module):
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


class Pooling(nn.Module):
    """What the plies so far say together, the mover's own and the opponent's apart: a second voice beside the last ply.

    Every ply says a few numbers, which are added up ("sum": evidence of single moves adds), averaged, or taken at their
    highest; "cls" averages with weights that the network learns, as a token does that attends to all plies.
    """

    def __init__(self, config: Config, bands: int) -> None:
        super().__init__()
        self.way = config.pool
        self.say = nn.Linear(config.d_model, POOLED)
        self.weigh = nn.Linear(config.d_model, 1) if self.way == "cls" else None
        self.head = nn.Linear(2 * POOLED, 2 * bands, bias=False)
        nn.init.zeros_(self.head.weight)

    def forward(self, known: Tensor, white: Tensor) -> Tensor:
        """Logits (games, plies, 2 x bands) to add."""
        said = functional.relu(self.say(known))
        weight = torch.ones_like(said[..., :1]) if self.weigh is None else torch.exp(self.weigh(known).clamp(-8, 8))
        mine = white[..., None]
        sides = [self._together(said, weight * chosen) for chosen in (mine, ~mine)]
        both = torch.where(mine, torch.cat(sides, dim=-1), torch.cat(sides[::-1], dim=-1))
        out: Tensor = self.head(both)
        return out

    def _together(self, said: Tensor, weight: Tensor) -> Tensor:
        if self.way == "max":
            return torch.cummax(said * weight, dim=1).values
        total = torch.cumsum(said * weight, dim=1)
        return total / SUM_UNIT if self.way == "sum" else total / torch.cumsum(weight, dim=1).clamp(min=1e-6)


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
            self.blocks = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = nn.LayerNorm(config.d_model)
        self.drop = nn.Dropout(config.dropout)
        self.head = nn.Linear(config.d_model, 2 * bands)
        self.pooling = None if config.pool == "last" else Pooling(config, bands)
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

    def rate(self, known: Tensor, white: Tensor) -> Tensor:
        """Logits (games, plies, 2, bands): the mover's, then the opponent's."""
        logits: Tensor = self.head(known)
        if self.pooling is not None:
            logits = logits + self.pooling(known, white)
        return logits.view(*known.shape[:2], 2, self.bands)

    def forward(self, planes: Tensor, scalars: Tensor, white: Tensor) -> Tensor:
        """Logits (games, plies, 2, bands) of games."""
        return self.rate(self.read(planes, scalars, white), white)


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


@dataclass(frozen=True)
class Example:
    """One game: its plies, cut to the longest that the model reads, and both players' labels (White, Black)."""

    plies: Inputs
    scalars: Floats  # (plies, n)
    bands: npt.NDArray[np.int64]  # (2,)
    ratings: Floats  # (2,)
    outcome: int  # 2 if White won, 1 for a draw, 0 if Black won, UNKNOWN
    pool: int = 0  # of the players, see assay.learned.lessons


@dataclass(frozen=True)
class Batch:
    """Games padded to the longest of them. `mask` tells real plies; targets stand as (mover, opponent)."""

    planes: Tensor  # uint8 (games, plies, 64 planes, 64 squares)
    scalars: Tensor  # float32 (games, plies, n)
    white: Tensor  # bool (games, plies)
    mask: Tensor  # bool (games, plies)
    bands: Tensor  # int64 (games, plies, 2)
    ratings: Tensor  # float32 (games, plies, 2)
    outcome: Tensor  # int64 (games, plies): 2 if the mover won in the end, 1, 0, UNKNOWN
    pools: Tensor  # int64 (games,)


class Examples(TorchDataset[Example]):
    """The games `rows` of a dataset as a map-style torch dataset; reading touches only the pages of those games.

    What a game may have or not (evals, clocks, analyses) is hidden in a share `hide` of them, others in each `turn`, so
    that a network learns to do without.
    """

    def __init__(
        self,
        dataset: Dataset,
        rows: npt.NDArray[np.int64],
        max_plies: int = 128,
        kinds: tuple[str, ...] = ("board",),
        books: Books | None = None,
        hide: float = 0.0,
    ) -> None:
        self.dataset, self.rows, self.max_plies, self.kinds, self.books = dataset, rows, max_plies, kinds, books
        self.lengths = np.minimum(dataset.plies[rows], max_plies)
        self.hide, self.turn = hide, 0
        self.hidden = [kind for kind in kinds if kind in MAY_BE_UNKNOWN]

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Example:
        row = int(self.rows[index])
        plies = self.dataset.game(row, self.max_plies)
        if self.hidden and self.hide and np.random.default_rng((row, self.turn)).random() < self.hide:
            plies = plies.without(self.hidden)
        scalars = read_scalars(plies, self.kinds, self.books.of(row) if self.books else None)
        score = score_of(str(self.dataset.results[row]))
        outcome = UNKNOWN if score is None else round(2 * score)
        pool = int(self.dataset.pools[row])
        return Example(plies, scalars, self.dataset.bands[row], self.dataset.ratings[row], outcome, pool)


def collate(examples: Sequence[Example]) -> Batch:
    """Pad games to one length; padding stands at the end and is False in the mask."""
    games, longest = len(examples), max(len(example.plies) for example in examples)
    planes = np.zeros((games, longest, 64), dtype=np.uint64)
    scalars = np.zeros((games, longest, examples[0].scalars.shape[1]), dtype=np.float32)
    mask = np.zeros((games, longest), dtype=bool)
    for game, example in enumerate(examples):
        plies = len(example.plies)
        planes[game, :plies] = example.plies.planes
        scalars[game, :plies] = example.scalars
        mask[game, :plies] = True
    white = planes[:, :, 56] != 0
    bits = mover_bits(planes.reshape(-1, 64), white.reshape(-1)).reshape(games, longest, 64, 64)
    bands = np.stack([example.bands for example in examples])
    ratings = np.stack([example.ratings for example in examples])
    outcome = np.array([example.outcome for example in examples])[:, None]
    return Batch(
        planes=torch.from_numpy(bits),
        scalars=torch.from_numpy(scalars),
        white=torch.from_numpy(white),
        mask=torch.from_numpy(mask),
        bands=torch.from_numpy(_for_mover(bands, white)),
        ratings=torch.from_numpy(_for_mover(ratings, white)),
        outcome=torch.from_numpy(np.where(white | (outcome == UNKNOWN), outcome, 2 - outcome)),
        pools=torch.tensor([example.pool for example in examples]),
    )


def _for_mover(labels: npt.NDArray[np.generic], white: npt.NDArray[np.bool_]) -> npt.NDArray[np.generic]:
    """Labels (games, 2) of White and Black as (games, plies, 2) of mover and opponent."""
    return np.where(white[:, :, None], labels[:, None], labels[:, None, ::-1])


def make_batches(lengths: npt.NDArray[np.int64], size: int, seed: tuple[int, ...]) -> list[list[int]]:
    """All games once, in random batches of games of like length, so that little is padding.

    >>> sorted(sum(make_batches(np.arange(10), 4, (1, 0)), []))
    [0, 1, 2, 3, 4, 5, 6, 7, 8, 9]
    """
    random = np.random.default_rng(seed)
    order = random.permutation(len(lengths))
    batches: list[list[int]] = []
    for start in range(0, len(order), size * BUCKET):
        bucket = order[start : start + size * BUCKET]
        bucket = bucket[np.argsort(lengths[bucket], kind="stable")]
        batches += [bucket[i : i + size].tolist() for i in range(0, len(bucket), size)]
    return [batches[i] for i in random.permutation(len(batches))]
