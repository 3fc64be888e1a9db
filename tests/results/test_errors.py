"""Errors: the sandwich, its estimate for large lists, simulations, game pairs."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from itertools import islice
from typing import Any

import numpy as np
import pytest

from assay.answer import together
from assay.results import information, jenkins, rate
from assay.results.expectancy import expectancy, score_variance, slope
from assay.results.gamepairs import count_pairs
from assay.results.jenkins import PLACES, SPACING, blocks, draw, seeded, walk
from assay.results.systems import conjugate_gradients


def test_two_players_have_a_closed_form() -> None:
    # N games at p = 1/2: the difference has the variance Var(score) / (N beta^2 / 16).
    result = rate(["A"] * 50 + ["B"] * 50, ["B"] * 50 + ["A"] * 50, [1, 0] * 50, white_advantage=0.0)
    sd = np.sqrt(float(score_variance(0.5, 0.0)) / 100) * 4 / slope()
    assert result.difference_deviation(0, 1)[0] == pytest.approx(sd, rel=1e-6)
    assert result.deviation == pytest.approx([sd / 2, sd / 2], rel=1e-6)


def test_covariance_agrees_with_simulation(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(12, 1500)
    result = rate(pool.white, pool.black, pool.score, players=pool.players)
    simulated = result.simulate(1000, seed=3)
    assert simulated.deviation == pytest.approx(result.deviation, rel=0.08)
    assert np.mean(simulated.deviation / result.deviation) == pytest.approx(1, abs=0.02)
    assert simulated.white_deviation == pytest.approx(result.white_deviation, rel=0.08)
    assert simulated.draws_deviation == pytest.approx(result.draws_deviation, rel=0.08)
    i, j = np.triu_indices(12, 1)
    ratio = simulated.difference_deviation(i, j) / result.difference_deviation(i, j)
    assert ratio.mean() == pytest.approx(1, abs=0.02)


def test_errors_from_an_anchor_are_those_of_the_difference(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(12, 900)
    result = rate(pool.white, pool.black, pool.score, players=pool.players, anchors={"P004": 2500.0})
    others = np.flatnonzero(np.arange(12) != 4)
    expected = result.difference_deviation(others, np.full(11, 4))
    assert result.deviation[others] == pytest.approx(expected)
    assert result.deviation[4] == 0
    pool_wide = rate(
        pool.white, pool.black, pool.score, players=pool.players, anchors={"P004": 2500.0}, errors_from="pool"
    )
    plain = rate(pool.white, pool.black, pool.score, players=pool.players)
    assert pool_wide.deviation == pytest.approx(plain.deviation)


def test_superiority_is_complementary(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(6, 300)
    chance = rate(pool.white, pool.black, pool.score).superiority()
    off = ~np.eye(6, dtype=bool)
    assert (chance + chance.T)[off] == pytest.approx(1.0)
    assert np.isnan(np.diagonal(chance)).all()


def test_the_estimate_for_large_lists_is_within_two_percent(
    make_pool: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    pool = make_pool(700, 50_000)
    result = rate(pool.white, pool.black, pool.score)
    estimate = result.deviation.copy()
    monkeypatch.setattr(information, "_EXACT", 5000)
    exact = rate(pool.white, pool.black, pool.score).deviation
    assert np.quantile(np.abs(estimate / exact - 1), 0.95) < 0.02


def test_thin_pools_are_sampled(make_pool: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    pool = make_pool(600, 2400, spread=50.0)
    monkeypatch.setattr(information, "EXACT_IF_THIN", 0)
    sampled = rate(pool.white, pool.black, pool.score)
    monkeypatch.setattr(information, "_EXACT", 5000)
    exact = rate(pool.white, pool.black, pool.score)
    known = exact.bounded
    assert np.quantile(np.abs(sampled.deviation[known] / exact.deviation[known] - 1), 0.9) < 0.15


def test_errors_across_thin_ties_are_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    # Events that few games connect, as in an archive: how far they lie apart is told by slow steps.
    generator = np.random.default_rng(5)
    events, size = 40, 40
    first = generator.integers(0, size, (events, 20 * size))
    second = (first + generator.integers(1, size, first.shape)) % size
    begin = size * np.arange(events)[:, None]
    one = size * np.arange(1, events)
    other = size * (generator.random(events - 1) * np.arange(1, events)).astype(np.intp)
    white = np.concatenate(((begin + first).ravel(), one, other))
    black = np.concatenate(((begin + second).ravel(), other, one))
    score = np.concatenate((generator.integers(0, 3, first.size) / 2, np.ones(2 * (events - 1))))
    how = {"players": [f"P{i}" for i in range(events * size)], "white_advantage": 0.0, "draw_rate": 0.4}
    monkeypatch.setattr(information, "EXACT_IF_THIN", 0)
    sampled = rate(white, black, score, **how).deviation
    monkeypatch.setattr(information, "_EXACT", 5000)
    ratio = sampled / rate(white, black, score, **how).deviation
    assert np.median(ratio) > 0.92 and np.quantile(ratio, 0.02) > 0.8


def _events(generator: np.random.Generator, players: int, games: int) -> tuple[list[str], list[str], list[float]]:
    white = generator.integers(0, players, games)
    black = (white + generator.integers(1, 6, games)) % players
    score = generator.integers(0, 3, games) / 2
    return [f"P{i}" for i in white], [f"P{i}" for i in black], score.tolist()


@pytest.mark.parametrize("most", [3000, 0], ids=["exact", "sampled"])
def test_more_is_known_of_everybody_by_results_and_more(most: int, monkeypatch: pytest.MonkeyPatch) -> None:
    games = _events(np.random.default_rng(2), 400, 1500)
    alone = rate(*games, likelihood=True)
    known = {name: (2300.0 + 3 * at, 120.0) for at, name in enumerate(alone.players[:40])}
    joint = rate(*games, priors=known)
    exact = together.two_errors(joint, alone)
    monkeypatch.setattr(together, "EXACT_IF_THIN", most)
    everything, results = together.two_errors(joint, alone)
    there = np.isfinite(results)
    assert there.sum() > 350 and (everything < results)[there].all()
    assert np.quantile(np.abs(everything / exact[0] - 1), 0.9) < 0.15
    share, exact_share = 1 - (everything / results) ** 2, 1 - (exact[0] / exact[1]) ** 2
    assert np.quantile(np.abs(share - exact_share)[there], 0.9) < 0.1


def test_errors_by_results_are_those_of_results() -> None:
    games = _events(np.random.default_rng(3), 60, 600)
    alone = rate(*games, likelihood=True)
    ratings = dict(zip(alone.players, alone.ratings.tolist(), strict=True))
    joint = rate(*games, priors={name: (value, 80.0) for name, value in ratings.items()})
    everything, results = together.two_errors(joint, alone)
    # The anchors say what results say, so that both stand at the same ratings.
    assert results == pytest.approx(alone.deviation, rel=1e-3)
    assert (everything < 80).all()


def test_a_long_row_of_players_is_rated_with_errors() -> None:
    # Steps of conjugate gradients along a row are as many as its players.
    links = np.arange(24_000)
    white, black = np.tile(links, 2), np.tile(links + 1, 2)
    score = np.concatenate((np.ones(len(links)), np.zeros(len(links))))
    names = [f"P{i}" for i in range(len(links) + 1)]
    row = rate(white, black, score, players=names, anchors={"P0": 2300.0}, white_advantage=0.0, draw_rate=0.5)
    assert np.allclose(row.ratings, 2300.0)
    # The errors of the links add up as independent ones do; they are sampled.
    places = np.array([2_000, 8_000, 16_000, 24_000])
    one_link = rate(["A", "A"], ["B", "B"], [1, 0], anchors={"A": 2300.0}, white_advantage=0.0, draw_rate=0.5)
    expected = one_link.deviation[1] * np.sqrt(places)
    assert row.deviation[places] == pytest.approx(expected, rel=0.35)


@pytest.mark.parametrize("kind", ["band", "cliques", "core and row"])
def test_thin_pools_solve_their_equations(kind: str) -> None:
    generator = np.random.default_rng(3)
    if kind == "band":
        white = np.repeat(np.arange(1_500), 3)
        black = white + np.tile([1, 2, 5], 1_500)
    elif kind == "cliques":
        i, j = np.triu_indices(12, 1)
        blocks = 12 * np.arange(130)[:, None]
        white = np.concatenate(((blocks + i).ravel(), blocks[1:, 0] - 1))
        black = np.concatenate(((blocks + j).ravel(), blocks[1:, 0]))
    else:
        core = generator.integers(0, 400, 4_000)
        white = np.concatenate((core, np.arange(399, 1_800)))
        black = np.concatenate(((core + generator.integers(1, 400, 4_000)) % 400, np.arange(400, 1_801)))
    games = len(white)
    white, black = np.concatenate((white, black, white)), np.concatenate((black, white, black))
    score = np.concatenate((np.ones(games), generator.choice([0.0, 0.5, 1.0], games), np.zeros(games)))
    result = rate(white, black, score, players=[str(i) for i in range(int(max(white.max(), black.max())) + 1)])
    p = expectancy(result.ratings[white] - result.ratings[black] + result.white_advantage, slope())
    missing = np.bincount(white, score - p) - np.bincount(black, score - p, len(result.players))
    assert np.abs(missing).max() < 1e-5
    information = result.fit.solution.information
    sides = information.centre(generator.normal(size=(information.size, 2)))
    image = information.multiply(information.solve(sides))
    assert information.centre(image) == pytest.approx(sides, abs=1e-4)


@pytest.mark.parametrize("kind", ["all their own", "alike", "nothing", "a sum"])
def test_right_sides_are_solved_together(kind: str) -> None:
    generator = np.random.default_rng(4)
    half = generator.normal(size=(60, 60))
    matrix = half @ half.T + np.diag(generator.uniform(1, 500, 60))
    sides = generator.normal(size=(60, 4)) * [1, 1e-6, 1e6, 1]
    if kind == "alike":
        sides[:, 1] = sides[:, 0]
    elif kind == "nothing":
        sides[:, 1] = 0.0
    elif kind == "a sum":
        sides[:, 3] = sides[:, 0] + sides[:, 1]
    found, done = conjugate_gradients(matrix.__matmul__, matrix.diagonal(), sides, 1e-6, 200)
    exact = np.linalg.solve(matrix, sides)
    assert done and np.all(np.linalg.norm(found - exact, axis=0) <= 1e-4 * np.linalg.norm(exact, axis=0))


def test_together_they_need_fewer_steps_than_alone() -> None:
    generator = np.random.default_rng(4)
    # Clusters that hang together by little, as players of countries do.
    matrix = np.diag(np.concatenate((np.geomspace(1e-3, 0.1, 20), generator.uniform(0.5, 2, 380))))
    turn = np.linalg.qr(generator.normal(size=(400, 400)))[0]
    matrix = turn @ matrix @ turn.T
    sides = generator.normal(size=(400, 16))
    steps = []
    for some in (sides[:, 0], sides):
        calls: list[int] = []

        def multiply(x: np.ndarray, calls: list[int] = calls) -> np.ndarray:
            calls.append(1)
            return np.asarray(matrix @ x)

        assert conjugate_gradients(multiply, np.ones(400), some, 1e-4, 1000)[1]
        steps.append(len(calls))
    assert steps[1] < steps[0] / 2


def test_errors_of_thin_pools_do_not_hang_on_how_near_they_are_solved(monkeypatch: pytest.MonkeyPatch) -> None:
    """One country after another, each tied to the next by a game: what is solved as near as usual is near."""
    monkeypatch.setattr(together, "EXACT_IF_THIN", 0)
    generator = np.random.default_rng(7)
    here = generator.integers(0, 40, (30, 400, 2)) + 40 * np.arange(30)[:, None, None]
    pairs = np.concatenate((here.reshape(-1, 2), np.stack((np.arange(29) * 40, np.arange(1, 30) * 40), axis=1)))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    names = [str(i) for i in range(1200)]
    games = [names[i] for i in pairs[:, 0]], [names[i] for i in pairs[:, 1]]
    score = np.full(len(pairs), 0.5)
    alone = rate(*games, score, white_advantage=0.0)
    joint = rate(*games, score, white_advantage=0.0, priors={"0": (2300.0, 60.0), "900": (2300.0, 60.0)})
    usual = together.two_errors(joint, alone)
    monkeypatch.setattr(together, "NEAR", 1e-8)
    for some, nearer in zip(usual, together.two_errors(joint, alone), strict=True):
        assert some == pytest.approx(nearer, rel=1e-3)


def test_matrices_of_huge_lists_are_refused(make_pool: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(information, "MOST_IN_MATRIX", 5)
    pool = make_pool(6, 100)
    with pytest.raises(information.RatingError, match="GB"):
        rate(pool.white, pool.black, pool.score).covariance()


# The generator.


def test_jenkins_side_by_side_is_jenkins_one_by_one() -> None:
    one_by_one = np.zeros(10_000, np.uint16)
    walk(seeded(), 10_000, one_by_one)
    assert (draw(0, 10_000) == one_by_one).all()
    assert (draw(4_090, 20) == one_by_one[4_090:4_110]).all()
    assert (np.concatenate(list(islice(blocks(700, 3), 5))) == one_by_one[:3500]).all()


@pytest.mark.parametrize("row", [0, 1])
def test_each_place_leads_to_the_next(row: int) -> None:
    places = jenkins._places()[row]
    for i in np.random.default_rng(0).integers(0, PLACES - 1, 3).tolist():
        state = tuple(int(word) for word in places[i])
        assert walk(state, SPACING[row]) == tuple(int(word) for word in places[i + 1])  # type: ignore[arg-type]


def test_the_close_and_the_far_places_join() -> None:
    end = SPACING[0] * PLACES
    across = draw(end - 5, 10)
    assert (across[:5] == draw(end - 5, 5)).all()
    assert (across[5:] == draw(end, 5)).all()


def test_beyond_the_last_place_the_walk_goes_on(monkeypatch: pytest.MonkeyPatch) -> None:
    near = np.concatenate(list(islice(blocks(1000), 12)))
    places = jenkins._places()[:, :2].copy()
    places[1, 1] = jenkins._places()[0, 1]
    monkeypatch.setattr(jenkins, "PLACES", 2)
    monkeypatch.setattr(jenkins, "SPACING", (SPACING[0], SPACING[0]))
    monkeypatch.setattr(jenkins, "_places", lambda: places)
    assert (np.concatenate(list(islice(blocks(1000), 12))) == near).all()


# Simulations.


def test_simulations_repeat_themselves(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(8, 300)
    result = rate(pool.white, pool.black, pool.score)
    assert (result.simulate(20).deviations == result.simulate(20).deviations).all()
    assert (result.simulate(20, seed=5).deviations == result.simulate(20, seed=5).deviations).all()
    assert (result.simulate(20).deviations != result.simulate(20, seed=5).deviations).any()


@pytest.mark.parametrize("likelihood", [False, True])
def test_several_processes_give_the_same_numbers(make_pool: Callable[..., Any], likelihood: bool) -> None:
    pool = make_pool(8, 300)
    result = rate(pool.white, pool.black, pool.score, likelihood=likelihood)
    told: list[int] = []
    one, three = result.simulate(70), result.simulate(70, processes=3, advance=lambda: told.append(1))
    assert (one.deviations == three.deviations).all()
    assert (one.white == three.white).all()
    assert (one.equal == three.equal).all()
    assert len(told) == 70


def test_a_simulated_run_is_a_rating_of_its_games(make_pool: Callable[..., Any]) -> None:
    """One run by hand: bits in the order of the encounters, thresholds of 65536 pW and 65536 (pW + pD)."""
    pool = make_pool(7, 400)
    result = rate(pool.white, pool.black, pool.score, players=pool.players)
    order = np.lexsort((pool.black, pool.white))
    white, black = pool.white[order], pool.black[order]
    from assay.results.expectancy import expectancy, win_draw_loss

    gap = result.ratings[white] - result.ratings[black] + result.white_advantage
    win, drawn, _ = win_draw_loss(expectancy(gap, slope()), result.draw_rate)
    bits = draw(0, 400)
    score = np.where(bits < np.floor(65536 * win), 1.0, np.where(bits < np.floor(65536 * (win + drawn)), 0.5, 0.0))
    by_hand = rate(white, black, score, players=pool.players)
    first = result.simulate(2)
    assert first.deviations[0] == pytest.approx(by_hand.ratings - result.ratings, abs=0.01)
    assert first.white[0] == pytest.approx(by_hand.white_advantage, abs=0.01)
    assert first.equal[0] == pytest.approx(by_hand.draw_rate, abs=1e-4)


def test_thin_pools_end_with_simulations() -> None:
    # A chain of single draws: nearly every simulated run falls apart.
    white, black = list(range(9)), list(range(1, 10))
    result = rate(white, black, [0.5] * 9, white_advantage=0.0)
    simulated = result.simulate(5)
    assert simulated.runs == 5
    assert np.isfinite(simulated.deviation).all()


def test_memory_of_simulations_knows_no_square_of_the_players(make_pool: Callable[..., Any]) -> None:
    players = 4000
    pool = make_pool(players, 20 * players, spread=50.0)
    result = rate(pool.white, pool.black, pool.score)
    tracemalloc.start()
    simulated = result.simulate(3)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert simulated.deviations.shape == (3, players)
    assert peak < players**2 * 8 / 3


def test_priors_are_drawn_anew_in_simulations() -> None:
    result = rate(["A"] * 30, ["B"] * 30, [1, 0, 0.5] * 10, priors={"A": (2400.0, 30.0)}, draw_rate=0.5)
    simulated = result.simulate(200)
    assert simulated.deviation[0] == pytest.approx(30, rel=0.25)


# Game pairs.


def test_pairs_are_found_in_order() -> None:
    white = np.array([0, 1, 0, 1, 0, 0])
    black = np.array([1, 0, 1, 0, 1, 2])
    score = np.array([1.0, 0.5, 0.0, 1.0, 0.5, 1.0])
    pairs = count_pairs(white, black, score, np.array([5, 5, 9, 9, 9, 5]))
    assert len(pairs.first) == 2
    assert pairs.counts.sum() == 2
    # 1 + (1 - 0.5) = 1.5 points, and 0 + (1 - 1) = 0 points for the first player.
    assert pairs.counts.tolist() == [1, 0, 0, 1, 0]
    assert len(pairs.single_white) == 2


def test_unbalanced_openings_shrink_errors_from_pairs() -> None:
    # White wins every game: by single games a coin toss, by pairs no spread at all.
    games = 200
    white = np.tile([0, 1], games)
    opening = np.repeat(np.arange(games), 2)
    score = np.ones(2 * games)
    score[:8] = [0.5, 1, 1, 0.5, 1, 1, 0.5, 0.5]
    plain = rate(white, 1 - white, score, white_advantage=0.0)
    paired = rate(white, 1 - white, score, white_advantage=0.0, opening=opening)
    assert paired.ratings == pytest.approx(plain.ratings)
    assert paired.deviation[0] < plain.deviation[0] / 5


def test_independent_games_have_the_same_errors_from_pairs(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(2, 4000, advantage=0.0)
    opening = np.zeros(4000, int)
    plain = rate(pool.white, pool.black, pool.score, white_advantage=0.0)
    paired = rate(pool.white, pool.black, pool.score, white_advantage=0.0, opening=opening)
    assert paired.deviation[0] == pytest.approx(plain.deviation[0], rel=0.06)
