"""Fits: the truth comes back, the errors are right, and what cannot be fitted is said."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.optimize import minimize
from tests.moves.regan.spreads import choose, random_values, simulated

from assay.errors import AssayWarning
from assay.moves.regan import Fit, ModelError, TooFewTurns, fit, move_probabilities, project, scaled_deltas
from assay.moves.regan.problem import CRITERIA

every_method = pytest.mark.parametrize("method", CRITERIA)
TRUE_S, TRUE_C = 0.12, 0.5
DELTAS, PLAYED = simulated(6000, TRUE_S, TRUE_C)


@every_method
def test_the_truth_comes_back(method: str) -> None:
    found = fit(DELTAS, PLAYED, method=method)  # type: ignore[arg-type]
    assert found.converged
    assert abs(found.s - TRUE_S) < 4 * found.s_error < 0.1
    assert abs(found.c - TRUE_C) < 4 * found.c_error < 0.25


@every_method
def test_with_c_given(method: str) -> None:
    found = fit(DELTAS, PLAYED, method=method, c=TRUE_C)  # type: ignore[arg-type]
    assert (found.c, found.c_error) == (TRUE_C, 0)
    assert abs(found.s - TRUE_S) < 4 * found.s_error


@pytest.mark.parametrize("model", ["power", "shares", "third"])
@pytest.mark.parametrize("curve", ["invexp", "ipa", "ipb", "secha", "sechb"])
def test_every_model_and_curve_can_be_fitted(model: str, curve: str) -> None:
    deltas, played = simulated(2500, 0.2, 1.2, model=model, curve=curve)
    found = fit(deltas, played, method="likelihood", model=model, curve=curve)  # type: ignore[arg-type]
    assert abs(np.log(found.c / 1.2)) < 4 * found.c_error / found.c


def test_percentiling_finds_the_least_squares() -> None:
    """Against a general minimiser on the objective written out turn by turn (RH11, section 6)."""
    deltas, played = simulated(400, TRUE_S, TRUE_C, seed=7)
    quantiles = np.arange(0.05, 0.96, 0.05)

    def objective(point: NDArray[np.float64]) -> float:
        p = move_probabilities(deltas, *np.exp(point))
        total = np.zeros(19)
        for row, k in zip(p, played, strict=True):
            start, end = row[:k].sum(), row[: k + 1].sum()
            total += np.clip((quantiles - start) / (end - start), 0, 1)
        return float(((total / len(played) - quantiles) ** 2).sum())

    best = minimize(objective, np.log([0.15, 0.5]), method="Nelder-Mead", options={"xatol": 1e-6, "fatol": 1e-14})
    found = fit(deltas, played)
    assert [found.s, found.c] == pytest.approx(np.exp(best.x), rel=1e-3)
    assert found.percentile_distance == pytest.approx(best.fun / 19, rel=1e-6)


def test_equations_hold() -> None:
    found = fit(DELTAS, PLAYED, method="equations")
    assert found.mm_predicted == pytest.approx(found.mm_actual, abs=1e-7)
    assert found.ad_predicted == pytest.approx(found.ad_actual, abs=1e-7)
    assert found.mm_actual == pytest.approx((PLAYED == 0).mean())
    assert found.ad_actual == pytest.approx(DELTAS[np.arange(6000), PLAYED].mean())


def test_with_c_given_the_error_equation_holds() -> None:
    found = fit(DELTAS, PLAYED, method="equations", c=0.45)
    assert found.ad_predicted == pytest.approx(found.ad_actual, abs=1e-9)


def test_the_summary_agrees_with_the_projection() -> None:
    found = fit(DELTAS, PLAYED)
    expected = project(DELTAS, found.s, found.c)
    assert found.mm_predicted == pytest.approx(expected.match.mean())
    assert found.ad_predicted == pytest.approx(expected.average_error)
    assert found.top_predicted[:5] == pytest.approx(expected.top.mean(axis=0))
    assert found.rank_actual.sum() == pytest.approx(1.0)
    assert found.qfit == pytest.approx(1e4 * np.mean((found.rank_predicted - found.rank_actual) ** 2))
    assert found.percentile_curve == pytest.approx(found.percentiles, abs=0.03)


@every_method
def test_standard_errors_are_the_spread_of_repeated_fits(method: str) -> None:
    deltas = scaled_deltas(random_values(400, seed=3))
    p = move_probabilities(deltas, TRUE_S, TRUE_C)
    fits = [fit(deltas, choose(p, seed), method=method) for seed in range(120)]  # type: ignore[arg-type]
    logs = np.log([[f.s, f.c] for f in fits])
    stated = np.median([[f.s_error / f.s, f.c_error / f.c] for f in fits], axis=0)
    assert stated == pytest.approx(logs.std(axis=0), rel=0.25)


def test_games_that_repeat_themselves_widen_the_errors() -> None:
    """Each turn four times over in one game: four times the turns, and no more knowledge."""
    once = fit(DELTAS[:1000], PLAYED[:1000])
    four = fit(np.repeat(DELTAS[:1000], 4, axis=0), np.repeat(PLAYED[:1000], 4), games=np.repeat(np.arange(1000), 4))
    assert (four.games, four.turns) == (1000, 4000)
    assert four.s == pytest.approx(once.s, rel=1e-5)
    assert four.s_error == pytest.approx(once.s_error, rel=1e-3)


def test_the_interval_surrounds_and_widens_with_few_games() -> None:
    many = fit(DELTAS, PLAYED)
    low, high = many.interval("s")
    assert low < many.s < high
    few = fit(DELTAS, PLAYED, games=np.arange(6000) % 4)
    assert few.games == 4
    ratio = np.log(few.interval("c")[1] / few.c) / (few.c_error / few.c)
    assert ratio == pytest.approx(3.182, abs=0.001), "Student's t with three degrees of freedom"
    assert replace(few, s_error=1e6).interval("s") == (0.0, np.inf)
    with pytest.raises(ModelError, match="parameters are s and c"):
        many.interval("p")


class TestElsewhere:
    played = np.where(np.arange(6000) % 100 == 0, -1, PLAYED)

    def test_it_counts_as_a_miss_and_an_error(self) -> None:
        found = fit(DELTAS, self.played, method="equations", elsewhere=2.0)
        assert found.elsewhere == 60
        assert found.mm_actual == pytest.approx((self.played == 0).mean())
        inside = self.played >= 0
        errors = DELTAS[np.flatnonzero(inside), self.played[inside]].sum() + 60 * 2.0
        assert found.ad_actual == pytest.approx(errors / 6000)

    def test_by_default_it_costs_the_cap_of_an_even_position(self) -> None:
        assert fit(DELTAS, self.played).ad_actual == fit(DELTAS, self.played, elsewhere=np.log(5)).ad_actual

    @every_method
    def test_it_makes_the_player_worse(self, method: str) -> None:
        without, with_some = fit(DELTAS, PLAYED, method=method), fit(DELTAS, self.played, method=method)  # type: ignore[arg-type]
        worse = project(DELTAS, with_some.s, with_some.c).average_error
        better = project(DELTAS, without.s, without.c).average_error
        assert worse > better or method == "likelihood"

    def test_a_move_beyond_the_cap_is_elsewhere(self) -> None:
        played = PLAYED.copy()
        turn = int(np.argmax(np.isinf(DELTAS).any(axis=1)))
        played[turn] = int(np.argmax(np.isinf(DELTAS[turn])))
        assert fit(DELTAS, played).elsewhere == 1

    def test_its_error_must_be_a_number(self) -> None:
        with pytest.raises(ModelError, match="turn 0: the error of a move elsewhere"):
            fit(DELTAS, PLAYED, elsewhere=float("nan"))


def test_single_precision_is_enough() -> None:
    double, single = fit(DELTAS, PLAYED), fit(DELTAS.astype(np.float32), PLAYED)
    assert single.s == pytest.approx(double.s, rel=1e-4)


def test_depths_are_weighed() -> None:
    both = np.stack([DELTAS * 0.5, DELTAS], axis=-1)
    assert fit(both, PLAYED, weights=[0, 1]).s == pytest.approx(fit(DELTAS, PLAYED).s, rel=1e-6)
    assert fit(both, PLAYED, weights=[1, 0]).s == pytest.approx(fit(DELTAS, PLAYED).s / 2, rel=1e-4)


@every_method
def test_spreads_of_few_moves(method: str) -> None:
    deltas, played = simulated(3000, TRUE_S, TRUE_C, moves=4)
    found = fit(deltas, played, method=method)  # type: ignore[arg-type]
    assert abs(np.log(found.s / TRUE_S)) < 4 * found.s_error / found.s


def test_a_fit_at_the_edge_warns() -> None:
    with pytest.warns(AssayWarning, match="edge of the range"):
        found = fit(DELTAS[:200], np.zeros(200, dtype=int))
    assert found.at_edge
    assert np.isnan(found.s_error)


def test_a_fit_is_frozen() -> None:
    with pytest.raises(AttributeError):
        fit(DELTAS, PLAYED).s = 0.2  # type: ignore[misc]
    assert isinstance(fit(DELTAS, PLAYED), Fit)


def test_too_few_turns() -> None:
    with pytest.raises(TooFewTurns, match="9 turns are too few for a fit; it takes at least 10"):
        fit(DELTAS[:9], PLAYED[:9])
    with pytest.raises(TooFewTurns, match="0 turns"):
        fit(np.empty((0, 4)), np.empty(0, dtype=int))


def test_when_one_game_alone_tells_there_is_no_standard_error() -> None:
    """Thirty turns with a choice in one game, and lone moves in another."""
    lone = np.tile(np.r_[0.0, np.full(19, np.inf)], (30, 1))
    deltas, played = np.concatenate([DELTAS[:30], lone]), np.r_[PLAYED[:30], np.zeros(30, dtype=int)]
    found = fit(deltas, played, method="equations", c=0.5, games=np.repeat([0, 1], 30))
    assert not found.s_error < 1


def test_one_game_gives_no_standard_error() -> None:
    assert np.isnan(fit(DELTAS[:500], PLAYED[:500], games=np.zeros(500)).s_error)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"deltas": np.zeros((20, 20))}, "all equal: nothing to fit"),
        ({"deltas": np.tile([0.0] + [0.03] * 19, (20, 1))}, "all equal: nothing to fit"),
        ({"deltas": np.tile([0.0] + [np.inf] * 19, (20, 1))}, "one move or moves that are all equal"),
        ({"played": np.r_[np.zeros(19, dtype=int), 20]}, "turn 19: the played move has index 20"),
        ({"played": np.full(20, -1)}, "outside the moves listed: nothing to fit"),
        ({"played": np.zeros(3, dtype=int)}, "there are 20 turns, but played has shape"),
        ({"games": np.zeros(3)}, "there are 20 turns, but games has shape"),
        ({"method": "magic"}, "unknown method 'magic'"),
        ({"model": "magic"}, "unknown model 'magic'"),
        ({"c": 0.0}, "c must be a positive number"),
        ({"deltas": np.zeros(20)}, "array of turns x moves"),
    ],
)
def test_bad_arguments(change: dict[str, object], sentence: str) -> None:
    arguments: dict[str, object] = {"deltas": DELTAS[:20], "played": PLAYED[:20]}
    arguments |= change
    with pytest.raises(ModelError, match=sentence):
        fit(**arguments)  # type: ignore[arg-type]
