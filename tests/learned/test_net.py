"""Batches (padding, truncation, masks, labels seen from the mover) and the sequence models on them: what they may see,
and that numpy says what torch says.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from assay.arrays import weights_of
from assay.learned import forward
from assay.learned.dataset import Dataset
from assay.learned.epochs import ply_weights
from assay.learned.inputs import scalars_of
from assay.learned.net import Batch, Examples, Net, collate, grown, make_batches
from assay.learned.planes import unpack
from assay.learned.run import Config

SMALL = {"d_model": 16, "layers": 2, "heads": 2, "square_width": 4, "max_plies": 20}
OTHERS: list[dict[str, object]] = [{}, {"model": "gru"}, {"square_width": 0}]
OTHERS += [{"pool": way} for way in ("mean", "max", "cls", "sum")]
CONFIGS = [Config(**SMALL | other) for other in OTHERS]  # type: ignore[arg-type]
NAMES = ["transformer", "gru", "raw bits", "mean", "max", "cls", "sum"]


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


def test_evals_are_hidden_from_a_share_of_the_games(tmp_path: Path, make_dataset: Callable[..., Dataset]) -> None:
    file = tmp_path / "games.pgn"
    tags = '[WhiteElo "1500"]\n[BlackElo "1500"]\n[TimeControl "300+0"]\n'
    moves = "1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } 2. Nf3 { [%eval #3] } Nc6 { [%eval 0.1] }"
    file.write_text("".join(f'{tags}[Round "{n}"]\n\n{moves} *\n\n' for n in range(40)))
    dataset = make_dataset(file, min_plies=1)
    kinds = ("evals", "pool")
    examples = Examples(dataset, np.arange(len(dataset)), 20, kinds, hide=0.5)
    known = [bool(examples[i].scalars[:, 23].all()) for i in range(len(examples))]
    assert 0.2 < np.mean(known) < 0.8
    assert known == [bool(examples[i].scalars[:, 23].all()) for i in range(len(examples))], "the same in the same turn"
    examples.turn = 1
    assert known != [bool(examples[i].scalars[:, 23].all()) for i in range(len(examples))]
    shown = Examples(dataset, np.arange(1), 20, kinds)[0].scalars
    assert shown[:, :11].sum(axis=1).tolist() == pytest.approx([1.0] * 4)  # hats share out what they stand for
    assert shown[:, 24:].tolist() == [[0, 1, 0, 0, 0]] * 4  # blitz


def test_later_plies_count_more_and_games_alike() -> None:
    mask = torch.tensor([[True, True, False, False], [True, True, True, True]])
    alike = ply_weights(mask, 0.0)
    assert alike[mask].tolist() == pytest.approx([1 / 12] * 6)
    rising = ply_weights(mask, 1.0)
    assert rising.sum(dim=1).tolist() == pytest.approx([0.25, 0.25])
    assert (rising[1, 1:] > rising[1, :-1]).all()
    assert not rising[~mask].any()


def test_every_game_is_in_one_batch_with_games_of_like_length() -> None:
    lengths = np.random.default_rng(1).integers(10, 200, 1000)
    batches = make_batches(lengths, 32, (1, 0))
    assert sorted(game for batch in batches for game in batch) == list(range(1000))
    padded = sum(len(batch) * lengths[batch].max() for batch in batches)
    assert padded < 1.1 * lengths.sum()
    assert batches == make_batches(lengths, 32, (1, 0)) != make_batches(lengths, 32, (1, 1))


@pytest.fixture
def batch(dataset: Dataset) -> Batch:
    examples = Examples(dataset, np.arange(4), 20, ("board",))
    return collate([examples[i] for i in range(4)])


def net_of(config: Config) -> Net:
    torch.manual_seed(3)
    mean, spread = np.full(42, 0.5, np.float32), np.full(42, 2.0, np.float32)
    net = Net(config, 4, mean, spread).eval()
    if net.pooling is not None:
        torch.nn.init.normal_(net.pooling.head.weight)  # it begins by saying nothing
    return net


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
def test_no_ply_sees_a_later_one(config: Config, batch: Batch) -> None:
    net = net_of(config)
    with torch.no_grad():
        whole = net(batch.planes, batch.scalars, batch.white)
        start = net(batch.planes[:, :5], batch.scalars[:, :5], batch.white[:, :5])
    assert whole.shape == (*batch.mask.shape, 2, 4)
    assert torch.allclose(whole[:, :5], start, atol=1e-5)
    assert not torch.allclose(whole[:, 5], whole[:, 6], atol=1e-3)


@pytest.mark.parametrize("config", CONFIGS, ids=NAMES)
def test_numpy_says_what_torch_says(config: Config, batch: Batch, dataset: Dataset) -> None:
    net = net_of(config)
    with torch.no_grad():
        expected = net(batch.planes, batch.scalars, batch.white).numpy()
    weights = weights_of(net)
    for game in range(4):
        plies = dataset.game(game, 20)
        found = forward.logits(weights, config, plies.planes, plies.board.astype(np.float32), plies.white)
        np.testing.assert_allclose(found, expected[game, : len(plies)], atol=2e-5)


@pytest.mark.parametrize(
    ("setting", "size", "way_out"),
    [("layers", 4, "blocks.3.down"), ("square_width", 7, "encode.project"), ("max_plies", 33, "encode.place")],
)
def test_a_larger_net_begins_as_the_smaller_one(batch: Batch, setting: str, size: int, way_out: str) -> None:
    small, large = net_of(CONFIGS[0]), net_of(Config(**SMALL | {setting: size}))  # type: ignore[arg-type]
    before = weights_of(large)
    large.load_state_dict(
        large.state_dict() | {name: torch.from_numpy(a) for name, a in grown(before, weights_of(small)).items()}
    )
    inputs = batch.planes, batch.scalars, batch.white
    with torch.no_grad():
        torch.testing.assert_close(large(*inputs), small(*inputs), atol=1e-5, rtol=1e-5)
    # And what is new can be learned: its way out has a slope.
    large(*inputs).square().sum().backward()
    slope = large.get_parameter(f"{way_out}.weight").grad
    assert slope is not None
    assert slope.abs().max() > 0


def test_what_does_not_fit_is_left(batch: Batch) -> None:
    narrow = weights_of(net_of(Config(**SMALL | {"d_model": 8})))  # type: ignore[arg-type]
    left = {"encode.mean", "encode.spread", "encode.mix.weight", "encode.mix.bias", "head.bias"}
    assert set(grown(weights_of(net_of(CONFIGS[0])), narrow)) == left
    wide = weights_of(net_of(Config(**SMALL | {"square_width": 7, "max_plies": 33})))  # type: ignore[arg-type]
    kept = grown(weights_of(net_of(CONFIGS[0])), wide)
    assert "encode.project.weight" not in kept
    assert "encode.place.weight" not in kept
    assert np.array_equal(kept["blocks.1.qkv.weight"], wide["blocks.1.qkv.weight"])
    raw = weights_of(net_of(CONFIGS[2]))
    for own, small in ((raw, wide), (wide, raw)):
        assert "encode.project.weight" not in grown(own, small)
    assert grown(wide, {"trees": np.zeros(3, dtype=np.float32)}) == {}
