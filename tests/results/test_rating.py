"""The fit: equations, closed forms, anchors, priors, groups."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import AssayWarning, RatingError
from assay.results import rate
from assay.results.expectancy import LOGISTIC_SCALE, expectancy, slope, win_draw_loss
from assay.results.levels import ABOVE, BELOW, RATED, UNPLAYED


def by_name(result: Any) -> dict[str, float]:
    return dict(zip(result.players, result.ratings.tolist(), strict=True))


def test_two_players_have_a_closed_form() -> None:
    # Three points of four: ln 3 / beta apart.
    result = rate(["A"] * 4, ["B"] * 4, [1, 1, 1, 0], white_advantage=0.0)
    assert by_name(result)["A"] - by_name(result)["B"] == pytest.approx(np.log(3) / slope())
    assert result.ratings.mean() == pytest.approx(2300)


def test_expected_points_are_the_points_made(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(40, 3000)
    result = rate(pool.white, pool.black, pool.score, players=pool.players)
    gap = result.ratings[pool.white] - result.ratings[pool.black] + result.white_advantage
    p = expectancy(gap, slope())
    for player in range(40):
        expected = p[pool.white == player].sum() + (1 - p[pool.black == player]).sum()
        assert expected == pytest.approx(result.points[player], abs=1e-6)
    assert p.sum() == pytest.approx(pool.score.sum(), abs=1e-6)
    draws = win_draw_loss(p, result.draw_rate)[1].sum()
    assert draws == pytest.approx((pool.score == 0.5).sum(), abs=1e-4)
    assert result.white_advantage == pytest.approx(30, abs=12)


@pytest.mark.parametrize("players", [40, 400, 1500])
def test_all_sizes_of_solver_agree_with_the_truth(players: int, make_pool: Callable[..., Any]) -> None:
    pool = make_pool(players, 60 * players)
    result = rate(pool.white, pool.black, pool.score, players=pool.players)
    z = (result.ratings - (pool.strength - pool.strength.mean() + 2300)) / result.deviation
    assert np.std(z) == pytest.approx(1, abs=0.3 if players < 100 else 0.1)


def test_logistic_scale_is_the_scale_of_400() -> None:
    result = rate(["A"] * 11, ["B"] * 11, [1.0] * 10 + [0.0], white_advantage=0.0, scale=LOGISTIC_SCALE)
    assert abs(result.ratings[0] - result.ratings[1]) == pytest.approx(400)


def test_likelihood_and_points_agree_where_half_is_drawn(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(20, 800)
    points = rate(pool.white, pool.black, pool.score, draw_rate=0.5)
    likelihood = rate(pool.white, pool.black, pool.score, draw_rate=0.5, likelihood=True)
    assert likelihood.ratings == pytest.approx(points.ratings, abs=1e-3)


def test_likelihood_is_at_its_maximum(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(8, 400)
    result = rate(pool.white, pool.black, pool.score, likelihood=True)

    def log_likelihood(ratings: np.ndarray, white: float, equal: float) -> float:
        p = expectancy(ratings[pool.white] - ratings[pool.black] + white, slope())
        win, draw, loss = win_draw_loss(p, equal)
        return float(np.log(np.select([pool.score == 1, pool.score == 0.5], [win, draw], loss)).sum())

    ratings = np.array([by_name(result)[str(i)] for i in range(8)])
    best = log_likelihood(ratings, result.white_advantage, result.draw_rate)
    for player in range(8):
        for step in (-2.0, 2.0):
            moved = ratings.copy()
            moved[player] += step
            assert log_likelihood(moved, result.white_advantage, result.draw_rate) < best
    for step in (-0.005, 0.005):
        assert log_likelihood(ratings, result.white_advantage, result.draw_rate + step) < best


def test_anchors_are_held_exactly(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(10, 500)
    one = rate(pool.white, pool.black, pool.score, players=pool.players, anchors={"P003": 2800.0})
    assert by_name(one)["P003"] == pytest.approx(2800)
    free = rate(pool.white, pool.black, pool.score, players=pool.players)
    assert one.ratings - one.ratings.mean() == pytest.approx(free.ratings - free.ratings.mean(), abs=1e-6)
    anchors = {"P001": 2650.0, "P002": 2400.5}
    two = rate(pool.white, pool.black, pool.score, players=pool.players, anchors=anchors)
    assert {name: by_name(two)[name] for name in anchors} == anchors
    # All others still make the points that are expected of them.
    p = expectancy(two.ratings[pool.white] - two.ratings[pool.black] + two.white_advantage, slope())
    for player in set(range(10)) - {1, 2}:
        expected = p[pool.white == player].sum() + (1 - p[pool.black == player]).sum()
        assert expected == pytest.approx(two.points[player], abs=1e-4)


def test_an_anchor_with_a_perfect_score_is_held_too() -> None:
    result = rate(
        ["A", "B", "A", "C"], ["B", "C", "C", "B"], [1, 0.5, 1, 1], anchors={"A": 2700.0}, white_advantage=0.0
    )
    assert by_name(result)["A"] == pytest.approx(2700)


def test_priors_pull_as_their_precision_says() -> None:
    # All drawn: near equality the games have the information N beta^2 / 2, and each prior 1 / sigma^2.
    priors = {"A": (2310.0, 20.0), "B": (2290.0, 20.0)}
    result = rate(["A"] * 50, ["B"] * 50, [0.5] * 50, priors=priors, draw_rate=0.5, white_advantage=0.0)
    pull = 1.0 / (1.0 + 2.0 * 50 * slope() ** 2 / 2.0 * 20.0**2)
    assert by_name(result)["A"] == pytest.approx(2300 + 10 * pull, abs=0.05)
    assert result.ratings.mean() == pytest.approx(2300, abs=1e-3)
    strong = rate(["A"] * 2, ["B"] * 2, [1, 0], priors={"A": (2400.0, 0.01), "B": (2200.0, 0.01)}, draw_rate=0.5)
    assert by_name(strong)["A"] == pytest.approx(2400, abs=0.1)


def test_a_loose_anchor_without_error_is_an_anchor() -> None:
    result = rate(["A", "B"], ["B", "A"], [1, 1], priors={"A": (2500.0, 0.0)}, white_advantage=0.0)
    assert by_name(result)["A"] == 2500


def test_a_prior_for_all_bounds_perfect_scores() -> None:
    result = rate(["A", "A"], ["B", "C"], [1, 1], prior=200.0, white_advantage=0.0, draw_rate=0.5)
    assert (result.status == RATED).all()
    assert 2300 < by_name(result)["A"] < 2500


def test_relations_tie_players() -> None:
    games = (["A"] * 4 + ["C"] * 4, ["B"] * 4 + ["B"] * 4, [1, 0, 1, 0, 1, 1, 0, 1])
    free = rate(*games, draw_rate=0.5, white_advantage=0.0)
    tied = rate(*games, relations=[("C", "A", 0.0, 0.5)], draw_rate=0.5, white_advantage=0.0)
    assert by_name(free)["C"] - by_name(free)["A"] > 50
    assert by_name(tied)["C"] == pytest.approx(by_name(tied)["A"], abs=1)


def test_starting_elsewhere_ends_at_the_same_place(make_pool: Callable[..., Any]) -> None:
    pool = make_pool(30, 900)
    plain = rate(pool.white, pool.black, pool.score, players=pool.players)
    warm = rate(pool.white, pool.black, pool.score, players=pool.players, start=by_name(plain) | {"Nobody": 1.0})
    assert warm.ratings == pytest.approx(plain.ratings, abs=1e-4)
    assert warm.fit.solution.trace[0] < plain.fit.solution.trace[0]


def test_perfect_scores_stand_where_their_result_has_an_even_chance() -> None:
    core = (["A", "B", "A", "B"], ["B", "A", "B", "A"], [1, 1, 0.5, 0.5])
    white, black, score = core[0] + ["W", "A"], core[1] + ["A", "L"], core[2] + [1, 1]
    result = rate(white, black, score)
    status = dict(zip(result.players, result.status.tolist(), strict=True))
    assert status == {"A": RATED, "B": RATED, "W": ABOVE, "L": BELOW}
    ratings, advantage = by_name(result), result.white_advantage
    up = win_draw_loss(expectancy(ratings["W"] - ratings["A"] + advantage, slope()), result.draw_rate)[0]
    down = win_draw_loss(expectancy(ratings["L"] - ratings["A"] - advantage, slope()), result.draw_rate)[2]
    assert float(up) == pytest.approx(0.5, abs=1e-6)
    assert float(down) == pytest.approx(0.5, abs=1e-6)
    # The average is that of the players the results place.
    assert (ratings["A"] + ratings["B"]) / 2 == pytest.approx(2300)


def test_purging_goes_on_until_nobody_is_perfect() -> None:
    # First beats Second and the core, Second beats the core: Second is perfect only without First.
    white = ["A", "B", "First", "Second", "Second", "First"]
    black = ["B", "A", "A", "A", "B", "Second"]
    result = rate(white, black, [0.5, 0.5, 1, 1, 1, 1])
    ratings = by_name(result)
    assert ratings["First"] > ratings["Second"] > ratings["A"]
    assert {name: int(s) for name, s in zip(result.players, result.status, strict=True)}["Second"] == ABOVE


def test_a_chain_of_perfect_scores_ends() -> None:
    n = 60
    result = rate(list(range(n - 1)), list(range(1, n)), [1.0] * (n - 1), draw_rate=0.5, white_advantage=0.0)
    assert np.all(np.diff(result.ratings) < 0)
    assert result.pool.max() == 0


def test_separate_pools_each_have_the_average() -> None:
    result = rate(["A", "B", "X", "Y"], ["B", "A", "Y", "X"], [1, 0.5, 0.5, 0.5], white_advantage=0.0)
    pools = {name: int(pool) for name, pool in zip(result.players, result.pool, strict=True)}
    assert pools["A"] == pools["B"] != pools["X"] == pools["Y"]
    ratings = by_name(result)
    assert ratings["A"] + ratings["B"] == pytest.approx(4600)
    assert ratings["X"] + ratings["Y"] == pytest.approx(4600)


def test_two_groups_that_met_one_way_are_placed() -> None:
    strong = (["S1", "S2"], ["S2", "S1"], [0.5, 0.5])
    weak = (["T1", "T2", "T1"], ["T2", "T1", "T2"], [0.5, 0.5, 0.5])
    result = rate(strong[0] + weak[0] + ["S1"] * 3, strong[1] + weak[1] + ["T1"] * 3, strong[2] + weak[2] + [1, 1, 1])
    ratings = by_name(result)
    assert ratings["S1"] > ratings["T1"] + 100
    assert result.pool.max() == 0


def test_players_without_results_are_named() -> None:
    result = rate(["A", "B", "N"], ["B", "A", "A"], [1, 1, np.nan], white_advantage=0.0)
    assert result.status.tolist() == [RATED, RATED, UNPLAYED]
    last = result.table()[-1]
    assert (last["player"], last["rating"], last["reason"]) == ("N", None, "no games")
    assert result.skipped == {"no score": 1}


def test_a_white_advantage_without_bounds_is_told() -> None:
    # Nobody made a point with Black.
    with pytest.warns(AssayWarning, match="do not bound the white advantage"):
        result = rate(["A", "B", "A", "B"], ["B", "A", "B", "A"], [1, 1, 1, 1])
    assert 100 < result.white_advantage < 1000
    assert np.isfinite(result.ratings).all()


def test_a_simulated_run_without_bounds_is_no_news_of_the_games() -> None:
    # With four games, some runs leave the white advantage open. A warning would fail this test.
    result = rate(["A", "B", "A", "B"], ["B", "A", "B", "A"], [1, 1, 0.5, 0.5])
    assert result.simulate(20, seed=1).runs == 20


def test_games_against_oneself_are_left_out() -> None:
    result = rate(["A", "A", "B"], ["A", "B", "A"], [1, 0.5, 0.5])
    assert result.skipped == {"a player against himself": 1}
    assert result.played.tolist() == [2, 2]


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"anchors": {"Nobody": 2500.0}}, 'anchor "Nobody": no games'),
        ({"priors": {"A": (2500.0, -1.0)}}, "below zero"),
        ({"relations": [("A", "B", 0.0, 0.0)]}, "cannot be weighed"),
        ({"scale": 0.0}, "above zero"),
        ({"draw_rate": 1.5}, "not between 0 and 1"),
        ({"prior": 0.0}, "not above zero"),
        ({"likelihood": True, "draw_rate": 0.0}, "impossible"),
        ({"anchors": {"A": 2500.0}, "priors": {"A": (2400.0, 0.0)}}, "leave out one"),
    ],
)
def test_bad_arguments_raise_a_sentence(how: dict[str, Any], sentence: str) -> None:
    with pytest.raises(RatingError, match=sentence):
        rate(["A", "B", "A"], ["B", "A", "B"], [1, 1, 0.5], **how)


def test_bad_scores_raise() -> None:
    with pytest.raises(RatingError, match="0\\.5"):
        rate(["A"], ["B"], [0.7])
    with pytest.raises(RatingError, match="one score for each"):
        rate(["A", "B"], ["B", "A"], [1])
    with pytest.raises(RatingError, match="no games"):
        rate([], [], [])


@settings(max_examples=60)
@given(
    st.lists(
        st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from([0.0, 0.5, 1.0])).filter(
            lambda g: g[0] != g[1]
        ),
        min_size=1,
        max_size=30,
    )
)
def test_any_results_end_in_a_rating_for_all(games: list[tuple[int, int, float]]) -> None:
    white, black, score = zip(*games, strict=True)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssayWarning)
        result = rate(white, black, score)
    assert np.isfinite(result.ratings).all()
    assert (result.pool >= 0).all()
    # Who lies above a group by the rules of placing has not lost to it.
    for row in result.table():
        assert row["symbol"] != ">" or row["losses"] < row["played"]


def test_the_likelihood_with_draws_is_at_the_highest_of_its_tops(make_pool: Callable[..., Any]) -> None:
    """Many starts by hand, each from another draw rate and spread of ratings, lead nowhere higher."""
    from assay.results import solve as solving

    for seed in range(4):
        pool = make_pool(11, 90, seed=seed, spread=200.0)
        how = {"players": pool.players, "likelihood": True, "white_advantage": 30.0}
        found = rate(pool.white, pool.black, pool.score, **how)
        problem = found.fit.problem
        best = solving.log_posterior(problem, found.fit.solution)
        level = problem.start.mean()
        for share in (0.0, 0.5, 1.0, 3.0):
            for equal in (0.02, 0.2, 0.4, 0.6, 0.8, 0.98):
                start = replace(problem, start=level + share * (problem.start - level), several=False, equal=equal)
                other = solving.solve(start)
                assert solving.log_posterior(problem, other) <= best + 1e-4


# A knock-out of sixteen engines: White, Black, twice White's score. Its likelihood has two tops.
KNOCK_OUT = """
    6-0:1 0-6:0 6-0:2 3-2:2 2-3:1 3-2:2 4-10:2 10-4:0 4-10:2 7-11:2 11-7:0 7-11:2 5-12:2
    12-5:0 5-12:1 8-13:1 13-8:0 8-13:2 1-14:2 14-1:2 1-14:2 14-1:1 9-15:2 15-9:1 9-15:2
"""


def test_of_two_tops_the_higher_one_is_found() -> None:
    games = [tuple(map(int, word.replace(":", "-").split("-"))) for word in KNOCK_OUT.split()]
    white, black, halves = (np.array(column) for column in zip(*games, strict=True))
    names = [str(number) for number in range(16)]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssayWarning)
        found = rate(white, black, halves / 2.0, players=names, likelihood=True)
    from assay.results.solve import log_posterior, solve

    best = log_posterior(found.fit.problem, found.fit.solution)
    assert best > -13.30
    assert found.draw_rate > 0.9
    # One start alone ends at the lower top.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AssayWarning)
        single = solve(replace(found.fit.problem, several=False))
    assert single.equal == pytest.approx(0.686, abs=1e-3)
    assert log_posterior(found.fit.problem, single) == pytest.approx(-13.339, abs=1e-3)
    assert best - log_posterior(found.fit.problem, single) > 0.03


def test_a_top_is_one_in_every_direction() -> None:
    """The matrix of second derivatives by ratings, white advantage and draw rate, from small steps."""
    from assay.results.solve import log_posterior

    generator = np.random.default_rng(4)
    white = generator.integers(0, 6, 120)
    black = (white + generator.integers(1, 6, 120)) % 6
    found = rate(white, black, generator.integers(0, 3, 120) / 2.0, players=list("ABCDEF"), likelihood=True)
    solution, steps = found.fit.solution, np.append(np.full(6, 2.0), 0.01)

    def height(by: np.ndarray) -> float:
        # The last player stays: all ratings together may be shifted.
        moved = solution.ratings + np.append(by[:5], 0.0)
        there = replace(solution, ratings=moved, white=solution.white + by[5], equal=solution.equal + by[6])
        return log_posterior(found.fit.problem, there)

    unit = np.diag(steps)
    top = height(np.zeros(7))
    bend = np.array([[height(a + b) - height(a) - height(b) + top for a in unit] for b in unit])
    assert np.linalg.eigvalsh((bend + bend.T) / 2).max() < 0
    assert all(height(sign * one) < top for one in unit for sign in (-1, 1))


def test_engines_that_mostly_draw_are_rated_by_davidson_however_far_apart() -> None:
    steps = 9  # each wins 40, draws 59 and loses one of a hundred against the next, so that all lie 5,500 apart
    white = np.append(np.repeat(np.arange(steps), 100), [0, 0])
    black = np.append(np.repeat(np.arange(steps) + 1, 100), [steps, steps])
    score = np.append(np.tile(np.repeat([1.0, 0.5, 0.0], [40, 59, 1]), steps), [1.0, 1.0])
    found = rate(
        white,
        black,
        score,
        players=[str(number) for number in range(steps + 1)],
        draw_model="davidson",
        white_advantage=0,
    )
    beta = np.log(0.76 / 0.24) / 202.0
    assert np.diff(-found.ratings) == pytest.approx(np.full(steps, np.log(40) / beta), rel=0.02)


@pytest.mark.parametrize("seed", [2, 4])
def test_engines_that_draw_nearly_always_are_rated(seed: int) -> None:
    """The likelihood rises as the draw rate between equals nears certainty; there is no top beyond."""
    from assay.results.expectancy import expectancy, slope, win_draw_loss

    white, black = (column.ravel() for column in np.meshgrid(np.arange(10), np.arange(10), indexing="ij"))
    white, black = white[white != black], black[white != black]
    strength = np.linspace(-120.0, 120.0, 10)
    win, draw, _ = win_draw_loss(expectancy(strength[white] - strength[black] + 85.0, slope()), 0.985)
    drawn = np.random.default_rng(seed).random(len(white))
    score = np.where(drawn < win, 1.0, np.where(drawn < win + draw, 0.5, 0.0))
    found = rate(white, black, score, players=[str(number) for number in range(10)], likelihood=True)
    assert found.draw_rate == pytest.approx(0.999)
    assert 0.0 < found.white_advantage < 250.0
    assert np.ptp(found.ratings) < 1000.0


@pytest.mark.parametrize("model", ["davidson", "rao-kupper"])
def test_other_draw_models_are_at_the_maximum_of_their_own_likelihood(
    model: str, make_pool: Callable[..., Any]
) -> None:
    """The formulas of Davidson (1970) and of Rao and Kupper (1967) written down once more, and climbed."""
    from scipy.optimize import minimize

    pool = make_pool(5, 200, seed=3)
    found = rate(pool.white, pool.black, pool.score, players=pool.players, draw_model=model)
    beta = np.log(0.76 / 0.24) / 202.0

    def badness(x: np.ndarray) -> float:
        ratings = np.append(x[:4], -x[:4].sum())
        gap = np.exp(beta * 100.0 * (ratings[pool.white] - ratings[pool.black] + x[4]))
        if model == "davidson":
            tie = np.exp(x[5]) * np.sqrt(gap)
            chances = np.stack((np.ones_like(gap), tie, gap)) / (1.0 + gap + tie)
        else:
            threshold = 1.0 + np.exp(x[5])
            win, loss = gap / (gap + threshold), 1.0 / (1.0 + threshold * gap)
            chances = np.stack((loss, 1.0 - win - loss, win))
        return -float(np.sum(np.log(chances[(2 * pool.score).astype(int), np.arange(len(gap))])))

    best = minimize(badness, np.zeros(6), method="BFGS", options={"gtol": 1e-7}).x
    ratings = 100.0 * np.append(best[:4], -best[:4].sum()) + 2300.0
    assert np.max(np.abs(found.ratings - ratings)) < 0.05
    assert found.white_advantage == pytest.approx(100.0 * best[4], abs=0.05)
    tie = np.exp(best[5])
    assert found.draw_rate == pytest.approx(tie / (2.0 + tie), abs=1e-4)
    assert np.all(found.errors() > 0)


def test_an_unknown_draw_model_is_told() -> None:
    with pytest.raises(RatingError, match="a draw model is ordo, davidson, rao-kupper"):
        rate(["A"], ["B"], [1.0], draw_model="coin")


def test_perfect_scores_as_in_the_manual_are_one_draw_short() -> None:
    white, black, score = ["A", "B", "C", "C", "C"], ["B", "A", "A", "B", "A"], [1.0, 1.0, 1.0, 1.0, 1.0]
    found = rate(white, black, score, white_advantage=0.0, draw_rate=0.5, perfect="manual")
    gaps = found.ratings[2] - found.ratings[[0, 1, 0]]
    expected = 1.0 / (1.0 + np.exp(-np.log(0.76 / 0.24) / 202.0 * gaps))
    assert expected.sum() == pytest.approx(2.5)
    program = rate(white, black, score, white_advantage=0.0, draw_rate=0.5)
    assert found.ratings[2] != pytest.approx(program.ratings[2], abs=1.0)
