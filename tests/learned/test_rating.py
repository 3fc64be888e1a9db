"""Posteriors: trees as arrays, temperature, prior shift, pooling, and how runs are judged."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingClassifier

from assay import manifest
from assay.errors import LearnedError
from assay.learned import baselines, fit_run, open_run, posteriors
from assay.learned.curves import fit_tuning, on_grid, opened
from assay.learned.dataset import Dataset
from assay.learned.evaluate import (
    Judged,
    by_band,
    by_ply,
    by_speed,
    judge,
    pair_error,
    together,
    tunings_of,
    unseen_rows,
)
from assay.learned.lessons import log_softmax
from assay.learned.run import Run, from_mapping


@pytest.fixture(scope="module")
def run(dataset: Dataset, tmp_path_factory: pytest.TempPathFactory) -> Run:
    settings = {"d_model": 8, "layers": 1, "heads": 2, "square_width": 2, "max_plies": 16, "epochs": 1}
    return fit_run(dataset, tmp_path_factory.mktemp("runs") / "run", from_mapping(settings)).run


def test_a_dataset_and_a_run_tell_themselves_in_a_line(run: Run, dataset: Dataset) -> None:
    assert repr(dataset).startswith(f"Dataset {dataset.path}: games train ")
    assert repr(run) == f"Run {run.path}: transformer that reads board; bands 1000 to 2000 by 250"


def test_trees_as_arrays_say_what_scikit_learn_says() -> None:
    rng = np.random.default_rng(4)
    features = rng.normal(size=(400, 6))
    bands = np.digitize(features[:, 0] + 0.3 * rng.normal(size=400), [-1, 0, 1]) + 1  # nobody in bands 0 and 5
    trees = baselines.grow_trees(features, bands, 6, None, seed=2)
    grown = HistGradientBoostingClassifier(
        max_iter=baselines.ROUNDS,
        learning_rate=0.1,
        max_leaf_nodes=12,
        l2_regularization=1.0,
        early_stopping=False,
        random_state=2,
    ).fit(features, bands)
    fresh = rng.normal(size=(100, 6))
    found = np.exp(log_softmax(baselines.tree_logits(trees, fresh)))
    np.testing.assert_allclose(found[:, 1:5], grown.predict_proba(fresh), atol=1e-5)
    assert found[:, [0, 5]].max() < 1e-6


def test_aggregates_look_back_and_never_ahead(dataset: Dataset) -> None:
    plies = dataset.game(2)
    whole, start = baselines.ply_features(plies, ("board",)), baselines.ply_features(plies.first(7), ("board",))
    np.testing.assert_array_equal(whole[:7], start)
    # White's own means are the opponent's means in Black's row.
    half = (whole.shape[2] - 2) // 2
    np.testing.assert_array_equal(whole[:, 0, :half], whole[:, 1, half : 2 * half])
    np.testing.assert_array_equal(whole[:, 0, -2], -whole[:, 1, -2])


def test_posteriors_start_from_the_prior_and_sum_to_one(run: Run, dataset: Dataset) -> None:
    found = posteriors(run, dataset.game(0))
    assert found.shape == (dataset.plies[0] + 1, 2, 4)
    np.testing.assert_allclose(found.sum(axis=-1), 1)
    np.testing.assert_allclose(found[0], [run.prior, run.prior])


def test_beyond_its_plies_a_model_keeps_its_last_word(run: Run, dataset: Dataset) -> None:
    row = int(dataset.plies.argmax())
    found = posteriors(run, dataset.game(row))
    assert len(found) > 18
    assert np.array_equal(found[16], found[-1])
    assert not np.array_equal(found[15], found[16])


def test_another_prior_moves_posteriors_by_its_ratio(run: Run, dataset: Dataset) -> None:
    other = np.array([0.7, 0.1, 0.1, 0.1])
    plain, moved = posteriors(run, dataset.game(0)), posteriors(run, dataset.game(0), other)
    expected = plain * other / run.prior
    np.testing.assert_allclose(moved, expected / expected.sum(axis=-1, keepdims=True))
    np.testing.assert_allclose(moved[0, 0], other)


def test_no_moves_give_the_prior(run: Run, dataset: Dataset) -> None:
    found = posteriors(run, dataset.game(0, 0))
    np.testing.assert_allclose(found, [[run.prior, run.prior]])


EDGES = np.arange(700.0, 2801.0, 100.0)


def measured(count: int, noise: float, own: float, games: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Evidence of games whose noise is known, with an error that the games of a player share, told twice as surely."""
    rng = np.random.default_rng(5)
    truth = np.repeat(rng.uniform(1200, 2200, count), games)
    players = np.repeat(np.arange(1, count + 1, dtype=np.uint64), games)
    seen = truth + rng.normal(0, noise, len(truth)) + np.repeat(rng.normal(0, own, count), games)
    stretched = 1700 + 1.25 * (seen - 1700) + 60
    middle = (EDGES[1:] + EDGES[:-1]) / 2
    return -((middle - stretched[:, None]) ** 2) / (1.25 * noise) ** 2, truth, players


def test_a_tuning_finds_the_line_and_makes_intervals_hold() -> None:
    evidence, truth, players = measured(300, 150, 60, 9)
    tuning = fit_tuning(evidence, truth, players, EDGES)
    assert tuning.stretch == pytest.approx(1 / 1.25, abs=0.05)
    assert tuning.power < 0.8  # half would do for one game, were it not for the ends of the scale
    assert 20 < tuning.scale_error < 120
    for games in (1, 9):
        code = np.arange(len(truth)) // games
        curve = on_grid(evidence, EDGES, tuning).sum(code)
        true = truth[::games]
        assert np.polyfit(true, curve.tops(), 1)[0] == pytest.approx(1, abs=0.06)
        for level in (0.5, 0.8, 0.95):
            found = curve.estimates(tuning.honesty, level)
            held = np.mean([one.low <= rating <= one.high for one, rating in zip(found, true, strict=True)])
            assert held == pytest.approx(level, abs=0.08)


def test_a_curve_has_the_place_and_the_sureness_of_its_evidence_and_no_bumps() -> None:
    middle = (EDGES[1:] + EDGES[:-1]) / 2
    bell = -0.5 * ((middle - 1700) / 200) ** 2
    bumpy = bell + 0.4 * np.cos(middle / 100 * np.pi)  # every other band is higher
    plain, other = (on_grid(evidence[None], EDGES) for evidence in (bell, bumpy))
    assert other.tops()[0] == pytest.approx(plain.tops()[0], abs=10)
    (found,) = plain.estimates(level=0.95)
    assert found.half_width == pytest.approx(1.96 * 200, rel=0.06)
    assert np.ptp(np.diff(other.table[0], 2)) < 1e-9  # a parabola, beyond the bands as well
    games = np.zeros(50, dtype=np.int64)
    assert on_grid(np.repeat(bumpy[None], 50, axis=0), EDGES).sum(games).tops()[0] == other.tops()[0]


def test_a_game_that_says_nothing_has_a_flat_curve_and_one_beyond_the_bands_is_open() -> None:
    silent = on_grid(np.zeros((1, len(EDGES) - 1)), EDGES)
    assert not np.any(silent.table)
    middle = (EDGES[1:] + EDGES[:-1]) / 2
    curve = on_grid(-0.5 * ((middle - 600) / 400)[None] ** 2, EDGES)
    assert 600 < curve.tops()[0] < 1100  # not at the end of the scale
    found = opened(curve.estimates(level=0.8)[0], EDGES)
    assert found.low == -np.inf
    assert found.high < 1500
    little = on_grid(np.repeat(0.01 * middle[None] / 100, 9, axis=0), EDGES).sum(np.zeros(9, dtype=np.int64))
    found = opened(little.estimates(level=0.8)[0], EDGES)
    assert (found.low, found.high) == (-np.inf, np.inf)


def test_runs_are_judged_by_ply_band_and_speed(run: Run, dataset: Dataset) -> None:
    rows = dataset.rows("train")
    judged = judge(run, dataset, rows)
    plies = by_ply(judged)
    assert list(plies) == ["0", "10", "20", "end"]
    assert plies["0"].cases == plies["end"].cases == 2 * len(rows)
    assert plies["20"].cases == 2 * int((dataset.plies[rows] >= 20).sum())
    assert sum(found.cases for found in by_band(judged).values()) == 2 * len(rows)
    assert {name: found.cases for name, found in by_speed(judged).items()} == {"blitz": 2 * len(rows)}
    means = [found.mae for found in by_band(judged).values()]
    assert 0 < pair_error(judged) < max(means)
    assert together(judged, run, run.prior) is None  # nobody is named


def test_balanced_every_band_counts_the_same(run: Run, dataset: Dataset) -> None:
    rows = unseen_rows(dataset, "train")
    weights = judge(run, dataset, rows, balanced=True).weights
    mass = np.histogram(dataset.ratings[rows], dataset.edges, weights=weights)[0]
    np.testing.assert_allclose(mass, 2 * len(rows) / len(mass))
    assert len(np.unique(weights)) > 1
    assert (judge(run, dataset, rows).weights == 1).all()


def test_other_bands_are_refused(run: Run, pgn: Path, make_dataset: Callable[..., Dataset]) -> None:
    from assay.pools import Bands

    other = make_dataset(pgn, bands=Bands(1000, 2000, 100))
    with pytest.raises(LearnedError, match=r"knows the bands 1000-2000 by 250, .* has 1000-2000 by 100"):
        judge(run, other, other.rows("test"))


def test_a_run_of_another_version_is_refused(run: Run, tmp_path: Path) -> None:
    manifest.write(tmp_path / "run.json", run.manifest | {"settings": run.manifest["settings"] | {"version": 7}})
    with pytest.raises(LearnedError, match="a run of version 7, this Assay reads version 2"):
        open_run(tmp_path)


def test_later_years_have_a_scale_of_their_own(run: Run) -> None:
    """The same evidence 200 Elo too low in later years: their line differs, the error that games share does not."""
    evidence, truth, players = measured(250, 150, 60, 3)
    games = len(truth) // 2
    judged = Judged(
        run="made",
        edges=EDGES,
        within=None,
        centre=1700.0,
        posteriors=np.empty((games, 0, 2, 0)),
        ratings=truth.reshape(games, 2),
        plies=np.full(games, 40),
        speed=np.full(games, "bullet", dtype=object),
        years=np.full(games, 2016.0),
        players=players.reshape(games, 2),
        weights=np.ones((games, 2)),
        evidence=evidence.reshape(games, 2, -1),
        valued=np.zeros(games, dtype=bool),
    )
    once = np.arange(len(truth), dtype=np.uint64).reshape(games, 2) + 10_000
    later = replace(judged, years=np.full(games, 2025.0), ratings=judged.ratings + 200, players=once)
    found = tunings_of(judged, later)
    assert found["bullet+later"].shift - found["bullet"].shift == pytest.approx(200, abs=30)
    assert found["bullet+later"].scale_error == found["bullet"].scale_error
    known = replace(run, tunings=found)
    assert known.tuning_of("bullet", year=2025) == found["bullet+later"]
    assert known.tuning_of("bullet", year=2016) == known.tuning_of("bullet") == found["bullet"]
    assert known.tuning_of("rapid", year=2025) == found["+later"]
    assert set(tunings_of(later)) == {"", "bullet"}  # of no other years: what there is serves all
