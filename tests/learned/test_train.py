"""Training: it learns, it goes on after a kill along the same curve, and no accident costs a checkpoint."""

from __future__ import annotations

import errno
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import torch

from assay.arrays import follow
from assay.errors import InputError, LearnedError, OutputError
from assay.learned import Config, fit_run, open_run, posteriors
from assay.learned.checkpoint import NAME
from assay.learned.dataset import Dataset
from assay.learned.epochs import bells, train
from assay.learned.lessons import average_bands, drawn, training_rows, validation_rows
from assay.learned.net import Net
from assay.learned.run import METRICS, from_mapping, read_config
from assay.learned.train import read_history

TINY = {"d_model": 8, "layers": 1, "heads": 2, "square_width": 2, "batch_size": 16, "max_plies": 16, "lr": 3e-3}


def tiny(**more: object) -> Config:
    return from_mapping(TINY | more)


def curve(folder: Path) -> list[list[float]]:
    """The numbers of every epoch, without the clock's."""
    return [
        [value for name, value in row.items() if name not in ("seconds", "waiting")] for row in read_history(folder)
    ]


def test_it_learns_what_can_be_learned(dataset: Dataset, tmp_path: Path) -> None:
    """Few games can be learned by heart, so the training loss must fall far below that of knowing nothing."""
    config = tiny(epochs=30, patience=30, dropout=0.0, weight_decay=0.0, lr=1e-2, d_model=16, games=12)
    train(dataset, tmp_path, config, ("board",))
    losses = [row["train_loss"] for row in read_history(tmp_path)]
    assert losses[-1] < 0.7 * losses[0]


@pytest.mark.parametrize(
    "extra",
    [
        {},
        {"model": "gru"},
        {"balanced": True, "elo_weight": 0.1, "smoothing": 0.7},
        {"foresight": 0.3},
        {"average": 5},
        {"pool": "cls", "ply_weight": 1.0, "elo_weight": 0.1, "elo_loss": "mae"},
    ],
)
def test_a_run_is_written_whole(dataset: Dataset, tmp_path: Path, extra: dict[str, object]) -> None:
    fitted = fit_run(dataset, tmp_path / "run", tiny(epochs=2, **extra))
    run = open_run(tmp_path / "run")
    assert run.config == fitted.run.config
    assert run.prior.sum() == pytest.approx(1)
    assert (np.ptp(run.prior) < 1e-12) == bool(extra.get("balanced"))
    assert 0.2 <= run.temperature <= 10
    assert run.manifest["settings"]["dataset"]["identity"] == dataset.identity
    assert run.manifest["settings"]["dataset"]["split"] == "game"
    assert len(fitted.history) == 2


SCRIPT = """
import sys
from pathlib import Path
import assay.learned.epochs as module
from assay.learned.run import from_mapping
from assay.learned.dataset import open_dataset
module.CHECKPOINT_SECONDS = 0.0
sizes = dict(d_model=8, layers=1, heads=2, square_width=2)
config = from_mapping(sizes | dict(batch_size=8, max_plies=16, epochs=4, average=3))
module.train(open_dataset(Path(sys.argv[1])), Path(sys.argv[2]), config, ("board",), resume=True)
"""


def test_killed_trainings_go_on_along_the_same_curve(dataset: Dataset, tmp_path: Path) -> None:
    straight, killed = tmp_path / "straight", tmp_path / "killed"
    straight.mkdir()
    killed.mkdir()
    config = tiny(epochs=4, batch_size=8, lr=3e-4, average=3)
    undisturbed = train(dataset, straight, config, ("board",))
    chance, before = random.Random(3), b""
    for _ in range(2):
        process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(dataset.path), str(killed)])
        while process.poll() is None and not ((killed / NAME).is_file() and (killed / NAME).read_bytes() != before):
            time.sleep(0.005)
        time.sleep(chance.random() * 0.1)
        process.send_signal(signal.SIGKILL)
        process.wait()
        before = (killed / NAME).read_bytes()
    resumed = train(dataset, killed, config, ("board",), resume=True)
    assert curve(killed) == curve(straight)
    assert resumed.temperature == undisturbed.temperature
    for name, weights in undisturbed.weights.items():
        assert np.array_equal(weights, resumed.weights[name]), name


def test_averaged_weights_follow() -> None:
    """Over N steps of the same weights a moving average covers 1 - (1 - 1/N)^N of the way, and its first step all."""
    scale = np.zeros(3, dtype=np.float32), np.ones(3, dtype=np.float32)
    mean, net = Net(tiny(), 4, *scale), Net(tiny(), 4, *scale)
    before, goal = mean.head.weight.detach().clone(), net.head.weight.detach()
    for _ in range(20):
        follow(mean, net, 1 / 20)
    torch.testing.assert_close(mean.head.weight.detach(), before + (goal - before) * (1 - 0.95**20))
    follow(mean, net, 1.0)
    torch.testing.assert_close(mean.head.weight.detach(), goal)


def test_a_training_begins_with_another(dataset: Dataset, tmp_path: Path) -> None:
    """With a rate of next to nothing the weights stay where they began."""
    first = fit_run(dataset, tmp_path / "first", tiny(epochs=1)).run
    second = fit_run(dataset, tmp_path / "second", tiny(epochs=1, lr=1e-9, seed=2), start=first).run
    assert second.manifest["settings"]["results"]["start"] == "first"
    again = fit_run(dataset, tmp_path / "second", second.config, resume=True).run
    assert again.manifest["settings"]["results"] == second.manifest["settings"]["results"]
    for name in ("encode.project.weight", "blocks.0.qkv.weight", "head.weight"):
        np.testing.assert_allclose(second.weights[name], first.weights[name], atol=1e-6)
    other = fit_run(dataset, tmp_path / "other", tiny(epochs=1, lr=1e-9, balanced=True), start=first).run
    np.testing.assert_allclose(other.weights["blocks.0.qkv.weight"], first.weights["blocks.0.qkv.weight"], atol=1e-6)
    taken = first.weights["head.bias"] - np.tile(np.log(first.prior), 2)
    np.testing.assert_allclose(other.weights["head.bias"], taken, atol=1e-5)  # an even prior
    with pytest.raises(LearnedError, match="choose its d-model, layers and inputs"):
        fit_run(
            dataset, tmp_path / "third", tiny(model="gru", d_model=16, square_width=3), ("board", "clock"), start=first
        )
    mean = fit_run(dataset, tmp_path / "mean", tiny(model="mean")).run
    with pytest.raises(LearnedError, match="choose its d-model, layers and inputs"):
        fit_run(dataset, tmp_path / "fourth", tiny(), start=mean)


def test_an_epoch_draws_from_the_bands(dataset: Dataset) -> None:
    rows = training_rows(dataset, tiny())
    first, second = (drawn(dataset, rows, tiny(per_band=3), epoch) for epoch in (0, 1))
    assert np.bincount(average_bands(dataset, rows[first])).max() == 3
    assert first.tolist() != second.tolist()


def test_every_game_is_seen_before_any_is_seen_again(dataset: Dataset) -> None:
    rows = training_rows(dataset, tiny(games=60))
    parts = [drawn(dataset, rows, tiny(epoch_games=20), epoch) for epoch in range(4)]
    assert sorted(np.concatenate(parts[:3]).tolist()) == list(range(60))
    assert parts[3].tolist() != parts[0].tolist()


def test_balanced_validation_has_every_band_alike(dataset: Dataset) -> None:
    rows = validation_rows(dataset, balanced=True)
    counts = np.bincount(average_bands(dataset, rows))
    assert len(set(counts[counts > 0])) == 1
    assert set(rows) <= set(dataset.rows("validation"))


def test_a_label_is_spread_over_its_neighbours() -> None:
    spread = bells(5, 0.7)
    assert torch.allclose(spread.sum(dim=1), torch.ones(5))
    assert (spread.argmax(dim=1) == torch.arange(5)).all()
    assert spread[2, 1] == spread[2, 3] > spread[2, 4]


def test_a_checkpoint_of_other_settings_is_refused(dataset: Dataset, tmp_path: Path) -> None:
    train(dataset, tmp_path, tiny(epochs=1), ("board",))
    with pytest.raises(LearnedError, match=r"its d_model is 8, asked for is 16.*Resume with the settings"):
        train(dataset, tmp_path, tiny(epochs=1, d_model=16), ("board",), resume=True)


def test_a_full_disk_keeps_the_checkpoint_before(
    dataset: Dataset, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    train(dataset, tmp_path, tiny(epochs=1), ("board",))
    before = (tmp_path / NAME).read_bytes()

    def full(file: object, **arrays: object) -> None:
        file.write(b"half a che")  # type: ignore[attr-defined]
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("assay.arrays.np.savez", full)
    with pytest.raises(OutputError, match="No space left on device"):
        train(dataset, tmp_path, tiny(epochs=2), ("board",), resume=True)
    assert (tmp_path / NAME).read_bytes() == before
    assert sorted(path.name for path in tmp_path.iterdir()) == [NAME, METRICS]


def test_it_stops_when_validation_gets_worse(dataset: Dataset, tmp_path: Path) -> None:
    config = tiny(epochs=40, patience=2, lr=3e-2, dropout=0.0, games=10)
    trained = train(dataset, tmp_path, config, ("board",))
    nlls = [row["validation_nll"] for row in read_history(tmp_path)]
    assert len(nlls) < 40
    assert trained.results["best_epoch"] == int(np.argmin(nlls)) + 1 == len(nlls) - 2


def test_baselines_are_trained_alike(dataset: Dataset, tmp_path: Path) -> None:
    mean = fit_run(dataset, tmp_path / "mean", tiny(model="mean"))
    rows = dataset.rows("train")
    shares = np.bincount(dataset.bands[rows].reshape(-1), minlength=4) / (2 * len(rows))
    np.testing.assert_allclose(mean.run.prior, shares, atol=0.02)
    assert mean.validation.score(0) == mean.validation.score()
    even = fit_run(dataset, tmp_path / "even", tiny(model="mean", balanced=True))
    np.testing.assert_allclose(even.run.prior, 0.25)
    trees = fit_run(dataset, tmp_path / "trees", tiny(model="boosting"))
    assert trees.validation.posteriors.shape[1:] == (6, 2, 4)
    tags = fit_run(dataset, tmp_path / "tags", tiny(model="tags"))
    assert np.ptp(tags.validation.posteriors[:, 0], axis=0).max() < 1e-12 < np.ptp(tags.validation.end, axis=0).max()
    with pytest.raises(LearnedError, match="reads no moves"):
        posteriors(tags.run, dataset.game(0))


def test_a_training_is_not_overwritten(dataset: Dataset, tmp_path: Path) -> None:
    fit_run(dataset, tmp_path / "run", tiny(model="mean"))
    with pytest.raises(OutputError, match="holds a training already"):
        fit_run(dataset, tmp_path / "run", tiny(model="mean"))
    with pytest.raises(LearnedError, match="holds no training to resume"):
        fit_run(dataset, tmp_path / "other", tiny(), resume=True)


def test_a_damaged_checkpoint_is_told(dataset: Dataset, tmp_path: Path) -> None:
    (tmp_path / NAME).write_bytes(b"PK\x03\x04 not a checkpoint")
    with pytest.raises(InputError, match="damaged"):
        train(dataset, tmp_path, tiny(), ("board",), resume=True)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("layers = 0", "layers is 0; it must be greater than 0"),
        ("dropout = 1.5", "between 0 and 1"),
        ("d_model = 10\nheads = 4", "not a multiple"),
        ("depth = 3", "has no setting 'depth'"),
        ("layers = 'two'", "must be of type int"),
        ("model = 'lstm'", "there is no model 'lstm'"),
    ],
)
def test_wrong_settings_are_told(tmp_path: Path, text: str, sentence: str) -> None:
    file = tmp_path / "config.toml"
    file.write_text(text)
    with pytest.raises(LearnedError, match=sentence):
        read_config(file)


def test_settings_come_from_toml(tmp_path: Path) -> None:
    file = tmp_path / "config.toml"
    file.write_text('model = "gru"\nd-model = 64\nlr = 1\n')
    assert read_config(file) == Config(model="gru", d_model=64, lr=1.0)
    file.write_text("model = ")
    with pytest.raises(InputError, match="is not TOML"):
        read_config(file)
