"""The move model: numpy gives what torch gives; files that are damaged or of another shape are told in a sentence."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path

import chess
import numpy as np
import pytest

from assay.arrays import load_arrays, save_arrays
from assay.errors import InputError
from assay.games.legal import seen_by_mover
from assay.games.packed import from_board, unpack
from assay.policy.chances import log_chances, open_network
from assay.policy.movemodel import Policy, Size, load_policy, log_chances_of, make_policy, save_policy, shapes
from assay.policy.traits import features

SMALL = Size(24, 32, 12)


def made_up(size: Size = SMALL, seed: int = 1) -> Policy:
    chance = np.random.default_rng(seed)
    weights = {name: chance.normal(0, 0.3, shape).astype(np.float16) for name, shape in shapes(size).items()}
    return make_policy(weights, size, {"steps": 0}, "made up")


def some_keys(count: int) -> np.ndarray:  # type: ignore[type-arg]
    board, chance, found = chess.Board(), random.Random(4), []
    while len(found) < count:
        moves = sorted(board.legal_moves, key=str)
        if not moves:
            board = chess.Board()
            continue
        board.push(chance.choice(moves))
        found.append(np.frombuffer(from_board(board), np.uint8))
    return np.array(found)


def test_numpy_gives_what_torch_gives() -> None:
    torch = pytest.importorskip("torch")
    from assay.policy.network import MoveModel, batch_of

    policy = made_up()
    found = features(seen_by_mover(*unpack(some_keys(150))))
    elo, pool = np.linspace(800, 2600, 150), np.arange(150) % 2
    net = MoveModel(policy.size)
    net.load_state_dict({name: torch.from_numpy(array) for name, array in policy.weights.items()})
    with torch.no_grad():
        theirs = net(batch_of(found, elo, pool)).numpy()
    assert np.allclose(theirs, log_chances_of(policy, found, elo, pool), atol=1e-4)


def test_a_policy_comes_back_as_it_was_written(tmp_path: Path) -> None:
    policy = made_up()
    save_policy(tmp_path / "p.npz", policy)
    again = load_policy(tmp_path / "p.npz")
    assert again.identity == policy.identity
    assert again.about == policy.about
    assert made_up(seed=2).identity != policy.identity
    keys = some_keys(600)  # more than are computed at once
    one, other = log_chances(policy, keys, 1600), log_chances(again, keys, 1600)
    assert (one.logs == other.logs).all()
    apart = log_chances(policy, keys[550:], 1600)
    assert np.allclose(apart.logs, one.logs[one.offsets[550] :], atol=1e-5)


def test_the_level_counts() -> None:
    policy, keys = made_up(), some_keys(5)
    assert not np.allclose(log_chances(policy, keys, 1200).logs, log_chances(policy, keys, 2000).logs)
    assert not np.allclose(log_chances(policy, keys, 1500, "board").logs, log_chances(policy, keys, 1500).logs)


def test_chances_of_moves_played_and_of_no_move() -> None:
    mate = np.frombuffer(from_board(chess.Board("7k/6Q1/6K1/8/8/8/8/8 b - - 0 1")), np.uint8)
    keys = np.array([some_keys(1)[0], mate])
    found = log_chances(made_up(), keys)
    assert found.offsets[1] == found.offsets[2]
    assert found.likeliest()[1] == -1
    told = found.played(np.array([found.moves[3], 0]))
    assert told[0] == found.logs[3]
    assert np.isnan(told[1])
    assert len(log_chances(made_up(), np.empty((0, 35), np.uint8)).moves) == 0


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda w, m: w.pop("out.bias"), "differ in 'out.bias'"),
        (lambda w, m: w.update({"odd": np.zeros(1)}), "differ in 'odd'"),
        (lambda w, m: w.update({"out.bias": np.zeros(2)}), "another shape"),
        (lambda w, m: w["hidden.bias"].__setitem__(0, np.nan), "numbers that are none"),
        (lambda w, m: w["move.weight"].__setitem__((0, 0), np.inf), "numbers that are none"),
        (lambda w, m: m.update(kind="another"), "no policy"),
        (lambda w, m: m.update(version=99), "no policy"),
        (lambda w, m: m.update(size={"width": "x"}), "damaged"),
        (lambda w, m: m.update(size={"width": 0, "bag": 4, "hidden": 4}), "no width"),
        (lambda w, m: m.update(size={"breadth": 3}), "damaged"),
        (lambda w, m: m.pop("about"), "damaged"),
    ],
)
def test_what_is_wrong_with_a_file_is_told(tmp_path: Path, spoil: object, words: str) -> None:
    path = tmp_path / "p.npz"
    save_policy(path, made_up())
    weights, meta = load_arrays(path)
    spoil(weights, meta)  # type: ignore[operator]
    save_arrays(path, weights, meta)
    with pytest.raises(InputError, match=words):
        open_network(path)


@pytest.mark.parametrize("share", [0.1, 0.5, 0.99])
def test_a_file_that_ends_too_early_is_told(tmp_path: Path, share: float) -> None:
    path = tmp_path / "p.npz"
    save_policy(path, made_up())
    data = path.read_bytes()
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(InputError, match="damaged"):
        open_network(path)


def test_sizes_tell_policies_apart() -> None:
    one = made_up(Size(16, 16, 8))
    assert one.identity != made_up(replace(one.size, width=24)).identity
