"""White's advantage by the kind of game."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assay.errors import RatingError
from assay.results.encounters import tabulate
from assay.results.expectancy import expectancy, slope
from assay.results.ratings import rate_table

Run = Callable[..., Any]
NAMES = ("Elm", "Oak", "Yew", "Ash", "Fir", "Bay")


def games(count: int = 3000, seed: int = 7) -> tuple[np.ndarray, ...]:
    """White, Black, twice the score and the kind: White is worth 20 points in kind 0 and 120 in kind 1."""
    draw = np.random.default_rng(seed)
    white = draw.integers(0, 6, count)
    black = (white + draw.integers(1, 6, count)) % 6
    kind = draw.integers(0, 2, count)
    strength = np.arange(6) * 60.0
    chance = expectancy(strength[white] - strength[black] + np.where(kind == 1, 120.0, 20.0), slope())
    return white, black, 2 * (draw.random(count) < chance).astype(np.int8), kind


def test_both_kinds_are_found_as_by_a_search_over_everything() -> None:
    from scipy.optimize import minimize

    white, black, outcome, kind = games()
    found = rate_table(NAMES, tabulate(white, black, outcome, 6, kind), kinds=("slow", "fast"), draw_rate=0.5)

    def loss(x: np.ndarray) -> float:
        chance = expectancy(x[white] - x[black] + x[6:][kind], slope())
        score = outcome / 2.0
        return -float(np.sum(score * np.log(chance) + (1 - score) * np.log(1 - chance))) + float(x[:6].mean()) ** 2

    best = minimize(loss, np.zeros(8), method="BFGS", options={"gtol": 1e-7}).x
    advantage = {one.kind: one.value for one in found.advantages}
    # What a kind adds is taken to be within 300 points: that moves it by a thousandth of its error.
    assert advantage["slow"] == pytest.approx(best[6], abs=0.2)
    assert advantage["fast"] == pytest.approx(best[7], abs=0.2)
    assert np.allclose(found.ratings - found.ratings.mean(), best[:6] - best[:6].mean(), atol=0.1)
    assert abs(advantage["slow"] - 20.0) < 40.0 < advantage["fast"]


def test_kinds_that_do_not_differ_change_nothing() -> None:
    white, black, outcome, _ = games()
    # Every game once in each kind.
    twice = [np.concatenate((column, column)) for column in (white, black, outcome)]
    kinds = np.repeat([0, 1], len(white))
    apart = rate_table(NAMES, tabulate(*twice, 6, kinds), kinds=("a", "b"))
    whole = rate_table(NAMES, tabulate(*twice, 6))
    assert np.allclose(apart.ratings, whole.ratings, atol=1e-3)
    assert np.allclose(apart.deviation, whole.deviation, rtol=1e-3)
    assert apart.white_deviation == pytest.approx(whole.white_deviation, rel=1e-3)
    pair = np.array([0]), np.array([3])
    assert np.allclose(apart.difference_deviation(*pair), whole.difference_deviation(*pair), rtol=1e-3)
    assert [one.value for one in apart.advantages] == pytest.approx([whole.white_advantage] * 2, abs=1e-3)
    assert apart.advantages[0].error == pytest.approx(whole.white_deviation * 2**0.5, rel=0.05)


def test_the_command_tells_each_kind_and_takes_an_index(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    text = ""
    for number, (white, black, outcome, kind) in enumerate(zip(*games(400), strict=True)):
        result = "1-0" if outcome else "0-1"
        control = "600+5" if kind else "0.6+0.006"
        text += f'[Event "{number}"]\n[White "{NAMES[white]}"]\n[Black "{NAMES[black]}"]\n[Result "{result}"]\n'
        text += f'[TimeControl "{control}"]\n\n{result}\n\n'
    file.write_text(text)
    answer = run("--white-by", "time-control", str(file))
    assert "- 600+5 (" in answer.out
    assert "- 0.6+0.006 (" in answer.out
    index = tmp_path / "games.parquet"
    run(str(file), "-o", str(index), command="index")
    told = [
        json.loads(run("--white-by", "time-control", "--format", "json", str(path)).out)["white_advantage_by"]
        for path in (file, index)
    ]
    assert told[0] == told[1]
    assert {one["kind"] for one in told[0]} == {"600+5", "0.6+0.006"}
    speeds = json.loads(run("--white-by", "speed", "--format", "json", str(file)).out)["white_advantage_by"]
    assert {one["kind"] for one in speeds} == {"ultrabullet", "rapid"}
    assert run("--white-by", "speed", "-w", "30", str(file)).code == 1


def test_pairs_know_one_advantage() -> None:
    from assay.results.gamepairs import count_pairs

    white, black, outcome, kind = games(200)
    met = count_pairs(white, black, outcome / 2.0, np.arange(200))
    with pytest.raises(RatingError, match="--white-by"):
        rate_table(NAMES, tabulate(white, black, outcome, 6, kind), kinds=("a", "b"), pairs=met)
