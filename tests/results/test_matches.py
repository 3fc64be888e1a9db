"""`assay match`: the numbers that engine testers know, pairs, terminations, the test, and a file that grows."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import assay
from assay.errors import AssayError
from assay.results.sprt import Tally, sprt

Run = Callable[..., Any]
FIRST = (379, 10170, 21828, 10640, 343)
SECOND = (365, 16618, 36229, 16974, 390)


def words(option: str, counts: tuple[int, ...]) -> list[str]:
    return [option, *map(str, counts)]


def test_the_golden_numbers(run: Run) -> None:
    out = run(*words("--penta", FIRST), "--sprt", "0", "2", command="match").out
    assert "+3.05 +- 2.31" in out
    assert "LLR 2.946" in out
    assert "H1 accepted: 2 Elo" in out
    both = [*words("--penta", SECOND), *words("--wdl", (36433, 68692, 36027)), "--sprt", "0", "2", "--format", "json"]
    found = json.loads(run(*both, command="match").out)
    assert round(found["llr_pentanomial"], 2) == 2.25
    assert round(found["llr_trinomial"], 2) == 0.92
    assert found["verdict_pentanomial"] == "goes on"


def test_elo_and_normalised_elo_by_their_definitions() -> None:
    answer = assay.match(wdl=(30, 50, 20))
    mean, variance = 0.55, (30 * 0.45**2 + 50 * 0.05**2 + 20 * 0.55**2) / 100
    assert answer["First"].value == pytest.approx(400 * math.log10(mean / (1 - mean)))
    row = answer.table.row(0, named=True)
    assert row["normalised_elo"] == pytest.approx(800 / math.log(10) * 0.05 / math.sqrt(variance))
    assert row["draw_ratio"] == 0.5
    assert answer["second"].value == -answer["First"].value
    assert 0.5 < row["los"] < 1.0


def test_the_logistic_test_is_the_ratio_of_the_greatest_likelihoods() -> None:
    """Beside a search over all distributions with the mean score of either strength."""
    from scipy.optimize import minimize

    counts = np.array([12, 40, 31])
    scores = np.array([0.0, 0.5, 1.0])

    def greatest(elo: float) -> float:
        mean = 1.0 / (1.0 + 10.0 ** (-elo / 400.0))
        held = [
            {"type": "eq", "fun": lambda p: p.sum() - 1.0},
            {"type": "eq", "fun": lambda p: p @ scores - mean},
        ]
        found = minimize(
            lambda p: -counts @ np.log(p), [0.3, 0.3, 0.4], constraints=held, bounds=[(1e-6, 1)] * 3, tol=1e-14
        )
        return -float(found.fun)

    test = sprt(Tally((12, 40, 31)), 0.0, 30.0, scale="logistic")
    assert test.llr == pytest.approx(greatest(30.0) - greatest(0.0), abs=1e-5)


def test_the_games_to_come_are_those_of_simulated_tests() -> None:
    tally = Tally((40, 100, 60))
    test = sprt(tally, 0.0, 25.0, scale="normalised")
    assert test.accepted is None
    generator = np.random.default_rng(3)
    lengths = []
    for _ in range(150):
        counts = np.array(tally.counts)
        while True:
            counts = counts + generator.multinomial(4, (0.2, 0.5, 0.3))
            if sprt(Tally(tuple(counts.tolist())), 0.0, 25.0, scale="normalised").accepted or counts.sum() > 20_000:
                lengths.append(counts.sum() - tally.units)
                break
    assert test.further[0] == pytest.approx(np.mean(lengths), rel=0.2)


def games(*rows: tuple[str, str, str, str]) -> str:
    """Games as PGN: White, Black, result, more tags."""
    return "".join(f'[White "{w}"]\n[Black "{b}"]\n[Result "{r}"]\n{more}\n{r}\n\n' for w, b, r, more in rows)


def test_a_file_of_two_players(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "match.pgn"
    fens = [f'[FEN "{n}"]\n' for n in range(3)]
    file.write_text(
        games(
            ("New", "Old", "1-0", fens[0]),
            ("New", "Old", "1/2-1/2", fens[1]),
            ("Old", "New", "1/2-1/2", fens[0] + '[Termination "time forfeit"]\n'),
            ("Old", "New", "1/2-1/2", fens[1]),
            ("New", "Old", "0-1", fens[2] + '[Termination "Time forfeit"]\n'),
        )
    )
    out = run(str(file), command="match").out
    assert "New - Old: 5 games" in out
    assert "2, by opening: 0 x 0, 0 x 1/2, 1 x 1, 1 x 1 1/2, 0 x 2; 1 game without a pair" in " ".join(out.split())
    assert "2 x time forfeit" in out
    assert "White's score" in out
    fewer = run(str(file), "--exclude-termination", "TIME forfeit", command="match").out
    assert "New - Old: 3 games" in fewer
    none = run(str(file), "--exclude-termination", "crash", command="match")
    assert "New - Old: 5 games" in none.out
    assert 'no game ended by "crash"; the terminations are: "time forfeit"' in none.err
    turned = json.loads(run(str(file), "--players", "Old", "New", "--format", "json", command="match").out)
    assert (turned["wins"], turned["draws"], turned["losses"]) == (1, 3, 1)
    by_order = json.loads(run(str(file), "--pairs", "order", "--format", "json", command="match").out)
    assert (by_order["pairs"], by_order["games_without_pair"]) == (2, 1)


def test_games_beside_the_pairs_count(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "match.pgn"
    fen = '[FEN "1"]\n'
    alone = ("New", "Old", "1-0", '[FEN "2"]\n')
    file.write_text(games(("New", "Old", "1-0", fen), ("Old", "New", "1/2-1/2", fen), alone))
    row = json.loads(run(str(file), "--format", "json", command="match").out)
    mean = 2.5 / 3
    variance = ((1.5 - 2 * mean) ** 2 + (1.0 - mean) ** 2) / 3
    assert row["pairs"] == 1
    assert row["elo"] == pytest.approx(400 * math.log10(mean / (1 - mean)))
    assert row["normalised_elo"] == pytest.approx(800 / math.log(10) * (mean - 0.5) / math.sqrt(variance))


def test_a_few_pairs_by_chance_do_not_speak_for_the_match(run: Run, tmp_path: Path) -> None:
    """Players who choose their openings meet the same one now and then."""
    file = tmp_path / "match.pgn"
    met = [("New", "Old", "1-0", '[ECO "C42"]\n'), ("Old", "New", "1-0", '[ECO "C42"]\n')]
    file.write_text(games(*met, *(("New", "Old", "1-0", f'[ECO "A0{n}"]\n') for n in range(6))))
    row = json.loads(run(str(file), "--format", "json", command="match").out)
    assert (row["pairs"], row["games_without_pair"]) == (None, 8)
    assert row["elo"] == pytest.approx(400 * math.log10(7))
    assert json.loads(run(str(file), "--pairs", "opening", "--format", "json", command="match").out)["pairs"] == 1


def test_two_of_many(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "gauntlet.pgn"
    file.write_text(games(("A", "B", "1-0", ""), ("B", "A", "1-0", ""), ("A", "C", "0-1", "")))
    many = run(str(file), command="match")
    assert many.code == 1
    assert "there are 3 players: name the two (--players)" in many.err
    assert '"A" and "B"' in many.err
    wrong = run(str(file), "--players", "A", "BB", command="match")
    assert wrong.code == 1
    assert "no games of 'BB'" in wrong.err
    assert "C - A: 1 game" in run(str(file), "--players", "C", "A", command="match").out


def test_watch_tells_again_until_the_test_ends(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "growing.pgn"

    def next_games(_: float) -> None:
        """Instead of waiting: the match goes on."""
        with file.open("a") as out:
            draws = ("New", "Old", "1/2-1/2", ""), ("Old", "New", "1/2-1/2", "")
            out.write(games(*[("New", "Old", "1-0", ""), ("Old", "New", "1/2-1/2", ""), *draws] * 5))

    monkeypatch.setattr("time.sleep", next_games)
    answer = run(str(file), "--watch", "--sprt", "0", "30", command="match")
    assert answer.code == 0
    assert "waiting" in answer.err
    assert "New - Old: 20 games" in answer.out
    assert "New - Old: 40 games" in answer.out
    assert answer.out.count("SPRT pentanomial") == 3
    assert answer.out.count("H1 accepted") == 1  # by pairs, in the last table alone


@pytest.mark.parametrize(
    ("how", "sentence"),
    [
        ({"wdl": (0, 0, 0)}, "no games in this match"),
        ({"wdl": (1, 2)}, "three counts"),
        ({"penta": (1, 2, 3)}, "five counts"),
        ({"penta": (1, 1, 1, 1, 1), "wdl": (1, 1, 1)}, "two matches"),
        ({"wdl": (1, 2, 3), "sprt": (2, 0)}, "the smaller one first"),
        ({"wdl": (1, 2, 3), "sprt": (0, 1e9)}, "within 1000 Elo"),
        ({"wdl": (1, 2, 3), "sprt": (0, 2), "alpha": 0.7}, "alpha"),
        ({"wdl": (1, 2, 3), "sprt": (0, 2), "bounds": "bayes"}, "logistic or normalised"),
        ({}, "there is no match"),
    ],
)
def test_nonsense_is_told(how: dict[str, Any], sentence: str) -> None:
    with pytest.raises(AssayError, match=sentence):
        assay.match(**how)


def test_all_won_has_no_bound_and_no_crash(run: Run) -> None:
    out = run("--wdl", "5", "0", "0", "--sprt", "0", "10", command="match").out
    assert "no bound" in out
    assert "SPRT trinomial" in out


def test_a_list_of_two_tells_the_error_of_the_difference(run: Run, write_pgn: Callable[..., str]) -> None:
    file = write_pgn([("New", "Old", "1-0"), ("Old", "New", "1-0"), ("New", "Old", "1/2-1/2")] * 30)
    data = json.loads(run(file, "--format", "json").out)
    assert data["difference_error"] == pytest.approx(2.0 * data["players"][0]["error"])
    assert f"Difference of the two = {data['difference']:.1f} +/- {data['difference_error']:.1f}" in run(file).out
    assert "Difference" not in run("-q", "-p", file).out


def test_counts_that_are_all_alike_tell_no_error(run: Run) -> None:
    """An error of 0.00 would be a claim of certainty after two games."""
    for counts in ((0, 0, 10, 0, 0), (0, 0, 0, 1, 0)):
        answer = run(*words("--penta", counts), command="match")
        assert "error unknown" in answer.out
        assert "+- 0.00" not in answer.out
        row = json.loads(run(*words("--penta", counts), "--format", "json", command="match").out)
        assert row["elo_error"] is None
        assert row["elo_low"] is None
        assert 0.0 < row["los"] < 1.0
    assert not assay.match(wdl=(0, 5, 0))["First"].bounded


def test_an_interval_without_an_upper_end_says_so(run: Run) -> None:
    answer = run(*words("--penta", (0, 0, 1, 0, 3)), command="match")
    assert "to no bound, 95 %" in answer.out
    assert "unknown" not in answer.out


def test_a_match_that_one_side_won_whole_has_no_interval() -> None:
    for found in assay.match(wdl=(2, 0, 0)).estimates.values():
        assert math.isinf(found.value) and not found.bounded and str(found) == "-"


def test_watch_waits_for_the_first_game_that_counts(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "live.pgn"
    game = '[White "A"]\n[Black "B"]\n[Round "{}"]\n[Result "1-0"]\n[Termination "{}"]\n\n1-0\n\n'
    file.write_text(game.format(1, "stall"))
    monkeypatch.setattr("time.sleep", lambda _: file.write_text("".join(game.format(at, "mate") for at in range(99))))
    words = ("--watch", "--sprt", "0", "30", "--keep-duplicates", "--exclude-termination", "stall")
    answer = run(str(file), *words, command="match")
    assert answer.code == 0 and "assay: waiting: there are no games in this match" in answer.err
    assert "H1 accepted" in answer.out
