"""Batches: padding, truncation, masks, and labels seen from the mover."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import torch

from assay.learned.dataset import Dataset
from assay.learned.inputs import scalars_of
from assay.learned.loader import Examples, collate, make_batches
from assay.learned.planes import unpack


def test_padding_stands_at_the_end_and_is_masked(dataset: Dataset) -> None:
    examples = Examples(dataset, np.arange(6), 20, ("board",))
    batch = collate([examples[i] for i in range(6)])
    lengths = np.minimum(dataset.plies[:6], 20)
    assert batch.mask.sum(1).tolist() == lengths.tolist()
    assert batch.planes.shape == (6, lengths.max(), 64, 64)
    assert not batch.planes[~batch.mask].any()
    assert not batch.scalars[~batch.mask].any()


def test_white_sees_the_planes_as_they_are(dataset: Dataset) -> None:
    example = Examples(dataset, np.arange(1), 20, ("board",))[0]
    batch = collate([example])
    expected = unpack(example.plies.planes[0]).reshape(64, 64)
    assert np.array_equal(batch.planes[0, 0].numpy(), expected)


def test_labels_change_sides_with_the_mover(dataset: Dataset) -> None:
    batch = collate([Examples(dataset, np.array([7]), 20, ("board",))[0]])
    white, black = dataset.ratings[7].tolist()
    assert batch.ratings[0, 0].tolist() == [white, black]
    assert batch.ratings[0, 1].tolist() == [black, white]
    assert torch.equal(batch.bands[0, 0], batch.bands[0, 1].flip(0))


def test_unknown_scalars_are_zero_and_flagged(dataset: Dataset) -> None:
    plies = dataset.game(0)
    found = scalars_of(plies, ("board", "clock", "engine"))
    assert found.shape[1] == 42 + 3 + 5
    assert np.isfinite(found).all()
    assert not found[:, 42:].any()


def test_the_last_ply_of_a_finished_game_is_told(dataset: Dataset) -> None:
    plies = replace(dataset.game(0), ended=True)
    assert scalars_of(plies, ("ending",))[:, 0].tolist() == [0.0] * (len(plies) - 1) + [1.0]
    assert not plies.first(5).ending.any()
    assert plies.first(len(plies)).ended


def test_a_game_ends_where_it_was_finished_and_stored_whole(
    tmp_path: Path, make_dataset: Callable[..., Dataset]
) -> None:
    file = tmp_path / "games.pgn"
    tags = '[WhiteElo "1500"]\n[BlackElo "1500"]\n'
    games = [f'{tags}[Result "{result}"]\n\n1. e4 e5 2. Nf3 Nc6 {result}\n\n' for result in ("1-0", "*", "1/2-1/2")]
    file.write_text("".join(games))
    whole, cut = make_dataset(file, min_plies=1), make_dataset(file, min_plies=1, max_plies=3)
    assert [whole.game(row).ended for row in range(3)] == [True, False, True]
    assert [whole.game(row, 2).ended for row in range(3)] == [False] * 3
    assert [cut.game(row).ended for row in range(3)] == [False] * 3


def test_every_game_is_in_one_batch_with_games_of_like_length() -> None:
    lengths = np.random.default_rng(1).integers(10, 200, 1000)
    batches = make_batches(lengths, 32, (1, 0))
    assert sorted(game for batch in batches for game in batch) == list(range(1000))
    padded = sum(len(batch) * lengths[batch].max() for batch in batches)
    assert padded < 1.1 * lengths.sum()
    assert batches == make_batches(lengths, 32, (1, 0)) != make_batches(lengths, 32, (1, 1))
