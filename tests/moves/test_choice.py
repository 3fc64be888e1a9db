"""Features of choices, and the fit: values as they should be, tastes found again, curves that are concave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from tests.moves.made import choices_of, random_fens

from assay.engine.choices import filled, joined, pawns
from assay.engine.score import MISSING
from assay.moves.choice.features import divisors, features
from assay.moves.choice.model import Taste, fit, log_chances


@pytest.fixture(scope="module")
def many():
    return choices_of(random_fens(300, seed=5), depth=6)


def test_equal_moves_share_a_rank_whatever_their_order() -> None:
    made = choices_of(["4k3/8/8/8/8/8/8/4K2R w K - 0 1"], depth=1)
    codes = np.full_like(made.codes, -50)
    codes[[2, 5, 9], 0] = 80
    found = features(replace(made, codes=codes))
    rank = found.table[:, found.names.index("rank, depth 1")]
    best = found.table[:, found.names.index("best, depth 1")]
    assert np.flatnonzero(best).tolist() == [2, 5, 9]
    assert np.allclose(np.delete(rank, [2, 5, 9]), np.log1p(3))


def test_a_move_missing_at_a_depth_gets_the_lowest_value_there() -> None:
    codes = np.array([[10, 20], [MISSING, -40], [-30, 5], [7, MISSING]], np.int16)
    assert filled(codes, np.array([0, 3, 4])).tolist() == [[10, 20], [-30, -40], [-30, 5], [7, 0]]


def test_quicker_mates_are_worth_more_and_no_value_reaches_a_mate() -> None:
    values = pawns(np.array([31_999, 31_990, 29_999, 31_000], np.int16))
    assert values[0] > values[1] > values[3] >= values[2] == 20


def test_no_feature_depends_on_the_order_of_the_moves(many) -> None:
    rng = np.random.default_rng(2)
    order = np.lexsort((rng.random(len(many.moves)), many.turn))
    back = np.empty_like(order)
    back[order] = np.arange(len(order))
    shuffled = replace(
        many, codes=many.codes[order], moves=many.moves[order], played=back[many.chosen] - many.start[:-1]
    )
    assert np.allclose(features(many).table[order], features(shuffled).table, atol=1e-5)


def test_tastes_are_found_again(many) -> None:
    rng = np.random.default_rng(7)
    repeated = joined([many] * 20)
    table = rng.normal(0, 1, (len(many.moves), 3)).astype(np.float32)
    table = np.concatenate([table] * 20)
    true = Taste(np.array([1.0, -0.5, 0.0]), np.array([0.3, 0.0, -0.4]))
    z = rng.normal(0, 1, len(repeated))
    g = table @ true.a + z[repeated.turn] * (table @ true.b)
    noisy = g + rng.gumbel(0, 1, len(g))
    best = np.maximum.reduceat(noisy, repeated.start[:-1])[repeated.turn]
    chosen = np.flatnonzero(noisy == best)
    found = fit(table, repeated.start, chosen, z, np.ones(len(z)), np.full(3, 1e-3), np.full(3, 1e-3), np.round(z * 4))
    assert np.abs(found.a - true.a).max() < 0.06
    assert np.abs(found.b - true.b).max() < 0.06


def test_every_turn_is_concave_in_strength(many) -> None:
    found = features(many)
    root = np.sqrt(found.table[:, found.names.index("loss, depth 6")])
    table = found.table / divisors(found.table, root, many)
    rng = np.random.default_rng(3)
    g0, g1 = (table @ rng.normal(0, 0.3, table.shape[1]) for _ in range(2))
    grid = np.linspace(-4, 4, 33)
    curve = np.stack([log_chances(g0 + z * g1, many.start, many.turn)[many.chosen] for z in grid])
    assert (np.diff(curve, 2, axis=0) <= 1e-9).all()
