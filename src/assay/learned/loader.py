"""Games of a dataset as torch reads them: one example per game, batches of like length, padding and masks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch
from torch import Tensor
from torch.utils.data import Dataset as TorchDataset

from assay.learned.book import Books, read_scalars
from assay.learned.dataset import Dataset
from assay.learned.inputs import RESULTS, Floats, Inputs, mover_bits

UNKNOWN = -100  # what torch's cross-entropy leaves out
BUCKET = 40  # batches that are sorted by length together


@dataclass(frozen=True)
class Example:
    """One game: its plies, cut to the longest that the model reads, and both players' labels (White, Black)."""

    plies: Inputs
    scalars: Floats  # (plies, n)
    bands: npt.NDArray[np.int64]  # (2,)
    ratings: Floats  # (2,)
    outcome: int  # 2 if White won, 1 for a draw, 0 if Black won, UNKNOWN


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


class Examples(TorchDataset[Example]):
    """The games `rows` of a dataset as a map-style torch dataset; reading touches only the pages of those games."""

    def __init__(
        self,
        dataset: Dataset,
        rows: npt.NDArray[np.int64],
        max_plies: int,
        kinds: tuple[str, ...],
        books: Books | None = None,
    ) -> None:
        self.dataset, self.rows, self.max_plies, self.kinds, self.books = dataset, rows, max_plies, kinds, books
        self.lengths = np.minimum(dataset.plies[rows], max_plies)

    def __len__(self) -> int:
        return len(self.rows)

    def __getitem__(self, index: int) -> Example:
        row = int(self.rows[index])
        plies = self.dataset.game(row, self.max_plies)
        scalars = read_scalars(plies, self.kinds, self.books.of(row) if self.books else None)
        score = RESULTS.get(str(self.dataset.results[row]))
        outcome = UNKNOWN if score is None else round(2 * score)
        return Example(plies, scalars, self.dataset.bands[row], self.dataset.ratings[row], outcome)


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
