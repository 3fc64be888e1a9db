"""The choice model as a whole: it comes back from a file, tells strength apart, and asks for no order of moves."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from tests.moves.made import choices_of, random_fens

from assay.curve import GRID, Honesty
from assay.engine.choices import joined
from assay.errors import CalibrationError
from assay.moves.choice.calibrate import Rated, calibrate
from assay.moves.choice.features import BOUNDED, NATURAL, features
from assay.moves.choice.measures import Scatter
from assay.moves.choice.model import Model, Taste, from_json, log_chances, strength

SCATTER = Scatter(np.ones(3), np.eye(3), np.full(3, 1 / 3))


@pytest.fixture(scope="module")
def simple() -> Model:
    """Whoever is stronger loses less."""
    found = features(choices_of(random_fens(3, seed=1), depth=4))
    weight = {"root of loss, depth 4": (-4.0, -2.0), "rank, depth 2": (-0.5, 0.0)}
    a, b = (np.array([weight.get(name, (0, 0))[k] for name in found.names], float) for k in (0, 1))
    return Model(4, found.names, found.kinds, np.ones(len(a)), Taste(a, b), Honesty(0.8, 30.0), SCATTER)


def played_by(model: Model, elo: float, turns: int, seed: int):
    """Turns of a player of this strength, who chooses as the model says."""
    made = choices_of(random_fens(turns, seed=seed), seed=seed, depth=4)
    log = model.log_chances(made, elo)
    noisy = log + np.random.default_rng(seed).gumbel(0, 1, len(log))
    best = np.maximum.reduceat(noisy, made.start[:-1])[made.turn]
    chosen = np.flatnonzero(noisy == best) - made.start[:-1]
    return type(made)(**{**vars(made), "played": chosen})


def test_a_model_comes_back_from_its_file(simple: Model) -> None:
    back = from_json(json.loads(json.dumps(replace(simple, lift=7.0).to_json())))
    assert back.lift == 7 and from_json({k: v for k, v in simple.to_json().items() if k != "lift"}).lift == 0
    assert back.names == simple.names and back.honesty == simple.honesty and back.depth == 4
    assert np.array_equal(back.taste.b, simple.taste.b) and not back.wants_policy


@pytest.mark.parametrize(
    "damage",
    [
        {"features": []},
        {"power": 0},
        {"power": "nan"},
        {"depth": 0},
        {"features": [{"name": "a"}]},
        {"features": None},
        {"scale_error": None},
    ],
)
def test_what_is_no_model_is_refused(simple: Model, damage: dict[str, object]) -> None:
    with pytest.raises(CalibrationError, match="no choice model"):
        from_json({**simple.to_json(), **damage})


def test_chances_add_up_and_follow_strength(simple: Model) -> None:
    made = choices_of(random_fens(20, seed=8), depth=4)
    for elo in (800.0, 2800.0):
        log = simple.log_chances(made, elo)
        assert np.allclose(np.add.reduceat(np.exp(log), made.start[:-1]), 1)
    loss = features(made)
    root = loss.table[:, loss.names.index("root of loss, depth 4")]
    expected = [np.exp(simple.log_chances(made, elo)) @ root for elo in (800.0, 1600.0, 2800.0)]
    assert expected[0] > expected[1] > expected[2]


@pytest.mark.parametrize("elo", [1400.0, 2200.0, 2800.0])
def test_players_come_out_at_their_strength(simple: Model, elo: float) -> None:
    curve = simple.curve(played_by(simple, elo, 400, seed=int(elo)))
    (found,) = curve.sum(np.zeros(len(curve), int)).estimates()
    assert found.low < elo < found.high and found.high - found.low < 900


def test_the_curve_is_the_chance_of_what_was_played(simple: Model) -> None:
    made = played_by(simple, 2000.0, 10, seed=3)
    curve = simple.curve(made)
    at = list(GRID).index(2000.0)
    assert np.allclose(curve.table[:, at], simple.log_chances(made, 2000.0)[made.chosen], atol=1e-4)


def test_a_calibration_finds_the_model_behind_the_games(simple: Model) -> None:
    parts = [played_by(simple, elo, 60, seed=int(elo) + n) for elo in range(1600, 2800, 200) for n in range(6)]
    elo = np.repeat(np.repeat(np.arange(1600.0, 2800, 200), 6), 60)
    side = np.repeat(np.arange(len(parts)), 60)
    made = joined(parts)
    made = type(made)(**{**vars(made), "unit": side})
    rated = Rated(made, elo, elo.astype(int), side, side)
    found = calibrate(rated, 4, folds=2, keep=lambda name, kind: name in ("root of loss, depth 4", "rank, depth 2"))
    assert found.judgement.slope.value == pytest.approx(1, abs=0.25)
    # Turns far from equality are learned from, and not judged.
    assert 1_000 < found.judgement.turns < len(made) and len(found.judgement.marks) == 6
    z = strength(np.array([1600.0, 2600.0]))
    weight = found.model.taste.a / found.model.divisors, found.model.taste.b / found.model.divisors
    own = found.model.names.index("root of loss, depth 4")
    for at in z:
        assert weight[0][own] + at * weight[1][own] == pytest.approx(-4 - 2 * at, rel=0.35)
    log = log_chances(np.zeros(len(made.moves)), made.start, made.turn)
    assert found.judgement.log_likelihood > log[made.chosen].mean()


def test_beside_a_model_of_values_alone_what_is_natural_is_not_bounded(simple: Model) -> None:
    parts = [played_by(simple, elo, 40, seed=int(elo) + n) for elo in (1600.0, 2000.0, 2400.0) for n in range(4)]
    elo, side = np.repeat([1600.0, 2000.0, 2400.0], 160), np.repeat(np.arange(12), 40)
    made = joined(parts)
    made = type(made)(**{**vars(made), "unit": side})
    logs = log_chances(np.random.default_rng(1).normal(size=len(made.moves)), made.start, made.turn)
    rated = Rated(made, elo, elo.astype(int), side, side, logs.astype(np.float32))

    def kept(name: str, kind: str) -> bool:
        return kind == "policy" or name == "root of loss, depth 4"

    plain = calibrate(replace(rated, log_policy=None), 4, folds=2, keep=kept)
    beside, alone = calibrate(rated, 4, folds=2, keep=kept, plain=plain), calibrate(rated, 4, folds=2, keep=kept)
    assert BOUNDED in alone.model.names and BOUNDED not in beside.model.names
    weight = [one.model.taste.b[one.model.names.index(NATURAL)] for one in (alone, beside)]
    assert abs(weight[0]) < 1e-6 < abs(weight[1])
    assert not np.allclose(beside.curve.table, alone.curve.table)
    # What people lose by being taken for no people is given back.
    assert abs(beside.judgement.offset) < 5 and beside.model.lift != 0 == alone.model.lift
