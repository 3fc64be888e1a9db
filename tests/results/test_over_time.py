"""Ratings over time: beside an independent search for the maximum, on players of known walks, as a command."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

import assay
from assay.errors import AssayError
from assay.results import history as rooms
from assay.results.history import rate_history

Run = Callable[..., Any]
BETA = np.log(0.76 / 0.24) / 202.0


def made(players: int, games: int, times: int, *, walk: float, spread: float, seed: int) -> Any:
    """Players whose strength walks, and their games: strengths, White, Black, twice White's score, time."""
    generator = np.random.default_rng(seed)
    steps = generator.normal(0.0, walk, (players, times))
    steps[:, 0] = generator.normal(0.0, spread, players)
    strength = np.cumsum(steps, axis=1)
    time = generator.integers(0, times, games)
    white = generator.integers(0, players, games)
    black = (white + generator.integers(1, players, games)) % players
    p = 1.0 / (1.0 + np.exp(-BETA * (strength[white, time] - strength[black, time] + 35.0)))
    draw = 2.0 * p * (1.0 - p)
    u = generator.random(games)
    outcome = np.where(u < p - draw / 2, 2, np.where(u < p + draw / 2, 1, 0)).astype(np.int8)
    return strength, white, black, outcome, time


def test_the_maximum_is_that_of_an_independent_search() -> None:
    """Nothing of the fit is used here: the logarithm of the posterior is written down once more, and climbed."""
    _, white, black, outcome, time = made(6, 140, 5, walk=60.0, spread=200.0, seed=4)
    months = np.array([0.0, 1.0, 3.0, 4.0, 7.0])
    walk, spread = 30.0, 180.0
    found = rate_history(white, black, outcome, time, months, walk=walk, newcomers=spread)
    nodes = sorted({(int(a), int(t)) for a, t in zip([*white, *black], [*time, *time], strict=True)})
    place = {node: at for at, node in enumerate(nodes)}
    one = np.array([place[int(a), int(t)] for a, t in zip(white, time, strict=True)])
    two = np.array([place[int(b), int(t)] for b, t in zip(black, time, strict=True)])

    def badness(x: np.ndarray) -> float:
        ratings, advantage, equal = x[:-2] * 100.0, x[-2] * 100.0, x[-1]
        p = 1.0 / (1.0 + np.exp(-BETA * (ratings[one] - ratings[two] + advantage)))
        a = (1.0 - 2.0 * equal) / equal**2
        draw = 4.0 * p * (1.0 - p) / (1.0 + np.sqrt(1.0 + 4.0 * a * p * (1.0 - p)))
        chance = np.where(outcome == 2, p - draw / 2, np.where(outcome == 1, draw, 1.0 - p - draw / 2))
        total = -np.sum(np.log(chance))
        for (player, t), at in place.items():
            before = place.get((player, max((s for q, s in nodes if q == player and s < t), default=-1)))
            if before is None:
                total += ratings[at] ** 2 / (2.0 * spread**2)
            else:
                gap = months[t] - months[nodes[before][1]]
                total += (ratings[at] - ratings[before]) ** 2 / (2.0 * walk**2 * gap)
        return float(total)

    begin = np.append(np.zeros(len(nodes) + 1), 0.4)
    bounds = [(None, None)] * (len(nodes) + 1) + [(0.05, 0.95)]
    best = minimize(badness, begin, bounds=bounds, options={"maxiter": 5000, "maxfun": 10**6, "ftol": 1e-13}).x
    ratings = best[:-2] * 100.0
    assert list(zip(found.moments.player.tolist(), found.moments.bin.tolist(), strict=True)) == nodes
    shift = float(np.mean(found.ratings - ratings))
    assert np.max(np.abs(found.ratings - ratings - shift)) < 0.2
    assert found.white_advantage == pytest.approx(best[-2] * 100.0, abs=0.2)
    assert found.draw_rate == pytest.approx(best[-1], abs=1e-3)
    # The errors are those of the inverse of the matrix of second derivatives (by differences).
    step, n = 0.02, len(nodes)
    point = np.append(found.ratings - shift, 0.0)[:n] / 100.0

    def at(x: np.ndarray) -> float:
        return badness(np.concatenate((x, best[-2:])))

    hessian = np.empty((n, n))
    units = np.eye(n) * step
    for i in range(n):
        for j in range(i, n):
            ends = [at(point + a * units[i] + b * units[j]) for a, b in ((1, 1), (1, -1), (-1, 1), (-1, -1))]
            hessian[i, j] = hessian[j, i] = (ends[0] - ends[1] - ends[2] + ends[3]) / (4.0 * step**2)
    apart = np.eye(n) - 1.0 / n  # errors are those to the average
    brute = 100.0 * np.sqrt(np.diagonal(apart @ np.linalg.inv(hessian) @ apart))
    assert np.max(np.abs(found.deviation / brute - 1.0)) < 0.1


def test_the_variances_and_the_errors_are_right_on_average(monkeypatch: pytest.MonkeyPatch) -> None:
    strength, white, black, outcome, time = made(70, 9_000, 16, walk=25.0, spread=200.0, seed=2)
    months = np.arange(16.0)
    # Large histories take errors from each player's own part; they are close to those of the whole matrix.
    monkeypatch.setattr(rooms, "EXACT", 0)
    found = rate_history(white, black, outcome, time, months)
    assert found.walk == pytest.approx(25.0, rel=0.25)
    assert found.newcomers == pytest.approx(200.0, rel=0.2)
    miss = found.ratings - strength[found.moments.player, found.moments.bin]
    z = (miss - miss.mean()) / found.deviation
    assert z.std() == pytest.approx(1.0, abs=0.12)
    monkeypatch.setattr(rooms, "EXACT", 10**5)
    exact = rate_history(white, black, outcome, time, months, walk=found.walk, newcomers=found.newcomers)
    assert np.median(np.abs(found.deviation / exact.deviation - 1.0)) < 0.1


def test_a_walk_of_nothing_is_one_rating() -> None:
    _, white, black, outcome, time = made(8, 600, 4, walk=0.0, spread=150.0, seed=5)
    found = rate_history(white, black, outcome, time, np.arange(4.0), walk=0.01, newcomers=1000.0)
    static = assay.results.rate(white, black, outcome / 2.0, players=[str(k) for k in range(8)], likelihood=True)
    gaps = [found.ratings[found.moments.player == k].mean() - found.average for k in range(8)]
    assert np.max(np.abs(gaps - (static.ratings - 2300.0))) < 3.0


@pytest.fixture
def dated(tmp_path: Path) -> str:
    """Games of three years: Rise gets better, Elm and Oak stay; two others met only each other."""
    generator = np.random.default_rng(1)
    text = []
    for month in range(36):
        date = f"{2010 + month // 12}.{month % 12 + 1:02}.{generator.integers(1, 28):02}"
        for one, two in (("Rise", "Elm"), ("Elm", "Oak"), ("Oak", "Rise"), ("Far", "Away")):
            ahead = (month - 18) * 25.0 * ((one == "Rise") - (two == "Rise"))
            for white, black, gap in ((one, two, ahead), (two, one, -ahead)):
                result = ("1-0", "0-1")[int(generator.random() > 1.0 / (1.0 + np.exp(-BETA * gap)))]
                event = f"Cup {month // 6}"
                text.append(
                    f'[Event "{event}"]\n[Site "X"]\n[Date "{date}"]\n[Round "{len(text)}"]\n[White "{white}"]\n'
                    f'[Black "{black}"]\n[Result "{result}"]\n\n{result}\n\n'
                )
    text.append('[Date "2011.??.??"]\n[White "Elm"]\n[Black "Oak"]\n[Result "1-0"]\n\n1-0\n\n')
    (tmp_path / "dated.pgn").write_text("".join(text))
    return str(tmp_path / "dated.pgn")


@pytest.mark.parametrize(("by", "times"), [("month", 36), ("year", 3), ("event", 6)])
def test_a_row_for_each_player_and_time(run: Run, dated: str, by: str, times: int) -> None:
    answer = run("--over-time", by, "--format", "json", dated)
    rows = json.loads(answer.out)["rows"]
    assert len(rows) == 5 * times
    assert list(rows[0]) == ["player", "time", "rating", "error", "games", "points", "pool"]
    rise = [row["rating"] for row in rows if row["player"] == "Rise"]
    assert rise[-1] - rise[0] > 100.0
    assert {row["pool"] for row in rows if row["player"] in ("Far", "Away")} == {2}
    assert "no games connect 2 pools" in answer.err
    assert ("1 x no month in the Date tag" in answer.err) == (by == "month")


def test_lists_on_a_day_and_by_peak(run: Run, dated: str) -> None:
    early = run("--over-time", "month", "--on", "2010-02", "--format", "csv", dated).out.splitlines()
    late = run("--over-time", "month", "--format", "table", dated).out
    assert early[0] == "rank,player,rating,error,games,last,peak,peak_error,peak_time,pool"
    assert early[3].startswith("3,Rise,")
    assert late.index("Rise") < late.index("Elm")
    peak = json.loads(run("--over-time", "year", "--peak", "--format", "json", dated).out)["rows"]
    assert (peak[0]["player"], peak[0]["peak_time"], peak[0]["rank"]) == ("Rise", "2012", 1)
    assert run("--over-time", "month", "--on", "1990", dated).code == 1
    for day in ("soon", "2010-31-31", "2010-02-30", "2010-13", "2010-01-01-01"):
        assert "is no date" in run("--over-time", "month", "--on", day, dated).err


def test_one_player_with_a_chart(run: Run, dated: str, tmp_path: Path) -> None:
    out = run("--over-time", "year", "--player", "Rise", "--plot", "--", dated).out
    assert [line.split()[1] for line in out.splitlines() if line.startswith("Rise")] == ["2010", "2011", "2012"]
    assert sum("-o-" in line for line in out.splitlines()) == 3
    picture = tmp_path / "rise.svg"
    assert run("--over-time", "year", "--player", "Rise", "--plot", str(picture), dated).code == 0
    assert picture.read_text().startswith("<?xml")
    assert "Did you mean 'Rise'" in run("--over-time", "year", "--player", "Rice", dated).err


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--over-time", "year", "-A", "Elm"), "--anchor does not go with --over-time"),
        (("--peak",), "--peak belongs to --over-time"),
        (("--over-time", "year", "--plot", "x.svg"), "--plot draws one player"),
        (("--over-time", "year", "--player", "Elm", "--plot", "x.doc"), ".svg, .png or .pdf"),
    ],
)
def test_what_does_not_go_together_is_told(run: Run, dated: str, words: tuple[str, ...], sentence: str) -> None:
    answer = run(*words, dated)
    assert answer.code == 1
    assert sentence in answer.err


def test_games_without_dates_are_refused(run: Run, pool_file: str) -> None:
    answer = run("--over-time", "month", pool_file)
    assert answer.code == 1
    assert "no game has a result and a date" in answer.err
    assert "no game has a result and an event" in run("--over-time", "event", pool_file).err


def test_one_game_has_an_error_and_a_bounded_white_advantage(run: Run, tmp_path: Path) -> None:
    """Nobody made a point with Black, and two newcomers tell no spread."""
    file = tmp_path / "one.pgn"
    file.write_text('[Date "2010.01.05"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1-0\n')
    answer = run("--over-time", "month", "--format", "json", str(file))
    assert answer.code == 0
    first, second = json.loads(answer.out)["rows"]
    assert first["rating"] > second["rating"] and min(first["error"], second["error"]) > 100


def test_the_library_takes_and_gives_the_same(dated: str) -> None:
    answer = assay.rate_over_time(dated, by="year")
    assert answer.table.height == 15
    assert answer["Rise"].value == pytest.approx(answer.moments("Rise").rows[-1]["rating"])
    with pytest.raises(AssayError, match="by month, year, event"):
        assay.rate_over_time(dated, by="day")  # type: ignore[arg-type]


def test_drawn_games_alone_say_nothing_of_white(tmp_path: Path) -> None:
    (tmp_path / "drawn.csv").write_text("white,black,result,date\nAnn,Bob,.5,2020-01-01\nBob,Ann,.5,2020-02-01\n")
    found = assay.rate_over_time(tmp_path / "drawn.csv")
    assert found["Ann"].value == pytest.approx(found["Bob"].value) and np.isfinite(found["Ann"].low)
