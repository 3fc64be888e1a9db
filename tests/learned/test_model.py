"""The sequence models: what they may see, and that numpy says what torch says."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from assay.learned import forward
from assay.learned.checkpoint import weights_of
from assay.learned.config import Config
from assay.learned.dataset import Dataset
from assay.learned.grow import grown
from assay.learned.loader import Batch, Examples, collate
from assay.learned.model import Net

SMALL = {"d_model": 16, "layers": 2, "heads": 2, "square_width": 4, "max_plies": 20}
CONFIGS = [Config(**SMALL), Config(**SMALL | {"model": "gru"}), Config(**SMALL | {"square_width": 0})]  # type: ignore[arg-type]
NAMES = ["transformer", "gru", "raw bits"]


@pytest.fixture
def batch(dataset: Dataset) -> Batch:
    examples = Examples(dataset, np.arange(4), 20, ("board",))
    return collate([examples[i] for i in range(4)])


def net_of(config: Config) -> Net:
    torch.manual_seed(3)
    mean, spread = np.full(42, 0.5, np.float32), np.full(42, 2.0, np.float32)
    return Net(config, 4, mean, spread).eval()


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
