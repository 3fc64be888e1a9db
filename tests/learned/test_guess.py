"""Guessing from the moves: one game, many games, one player; priors, and what cannot be guessed."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

import assay
from assay.cli.learned import guess as command
from assay.errors import InputError, LearnedError
from assay.learned import guess_games
from assay.learned.guess import estimates, game_curves, player_estimate, read_prior, sparkline, together
from assay.learned.run import SHIPPED, model_of, shipped

ITALIAN = "1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. c3 Nf6 5. d3 d6 6. O-O O-O 1/2-1/2"
BLUNDER = "1. f3 e5 2. g4 Qh4# 0-1"
EDGES = np.array([1000.0, 1200.0, 1400.0])


@pytest.fixture
def games(tmp_path: Path) -> Callable[..., Path]:
    def write(*games: tuple[str, str, str], site: str = "?") -> Path:
        file = tmp_path / "games.pgn"
        texts = [f'[Site "{site}"]\n[White "{w}"]\n[Black "{b}"]\n\n{moves}\n\n' for w, b, moves in games]
        file.write_text("".join(texts), encoding="utf-8")
        return file

    return write


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_models_are_whole_and_small(name: str) -> None:
    run = shipped(name)
    assert run.manifest["inputs"], "the manifest names the data"
    assert run.manifest["settings"]["dataset"]["split"] in ("game", "player")
    assert run.prior.sum() == pytest.approx(1)
    assert sum(weights.nbytes for weights in run.weights.values()) < 1e7
    assert sum(file.stat().st_size for file in run.path.iterdir()) < 5e6


def test_the_pool_chooses_the_model(games: Callable[..., Path]) -> None:
    assert {model_of(None, pool).name for pool in ("lichess-rapid", "chess.com-blitz", "online")} == {"lichess"}
    assert {model_of(None, pool).name for pool in ("otb-slow", "otb-rapid", "unknown", None)} == {"otb"}
    assert model_of("lichess", "otb-slow").name == "lichess"
    with pytest.raises(InputError, match="there is no model 'nowhere'"):
        model_of("nowhere", "")
    sites = {
        "https://lichess.org/abcdefgh": "lichess",
        "https://lichess.org/broadcast/open/1": "otb",
        "Chess.com": "lichess",
    }
    for site, name in sites.items():
        (found,), _ = guess_games(games(("A", "B", ITALIAN), site=site))
        assert found.run.name == name, site


def test_a_game_is_guessed_after_every_move(games: Callable[..., Path]) -> None:
    (found,), problems = guess_games(games(("A", "B", ITALIAN)))
    assert not problems
    assert found.moves[:3] == ("e4", "e5", "Nf3")
    assert found.posteriors.shape == (13, 2, len(found.run.prior))
    np.testing.assert_allclose(found.posteriors.sum(axis=-1), 1)


def test_a_draw_is_an_end_however_it_is_written(tmp_path: Path) -> None:
    file = tmp_path / "games.pgn"
    moves = ITALIAN.removesuffix("1/2-1/2")
    results = ("1/2-1/2", "1/2", "*")
    file.write_text("".join(f'[White "{n}"]\n[Result "{r}"]\n\n{moves}{r}\n\n' for n, r in enumerate(results)))
    drawn, short, open_ = (one.posteriors[-1] for one in guess_games(file)[0])
    assert (drawn == short).all()
    assert (drawn != open_).any()


def test_a_beginners_game_is_rated_below_a_sound_one(games: Callable[..., Path]) -> None:
    sound, silly = guess_games(games(("A", "B", ITALIAN), ("C", "D", BLUNDER)), model="lichess")[0]
    assert silly.last(0).tops() < sound.last(0).tops()


def test_games_of_one_player_add_up(games: Callable[..., Path]) -> None:
    """The same evidence twice is more evidence of the same: the same top, a narrower interval."""
    file = games(("A", "B", ITALIAN), ("C", "D", BLUNDER), ("A", "B", ITALIAN))
    found, _ = guess_games(file, player="A", keep_duplicates=True, model="lichess")
    assert [guess.number for guess in found] == [1, 3]
    one, two = estimates(found[0].last(0), found[0], 0.5)[0], player_estimate(found, "A", 0.5)
    assert two.value == one.value
    assert two.high - two.low < one.high - one.low


def test_games_with_either_colour_add_up(games: Callable[..., Path]) -> None:
    found, _ = guess_games(games(("A", "B", ITALIAN), ("B", "A", ITALIAN)), player="A")
    one, other = found[0].last(0).table, found[1].last(1).table
    assert not np.allclose(one, other)
    np.testing.assert_allclose(together(found, "A").table, one + other)


def test_every_side_of_every_game_has_its_curve(games: Callable[..., Path]) -> None:
    found, _ = guess_games(games(("A", "B", ITALIAN), ("B", "A", BLUNDER)))
    curves = game_curves(found)
    assert curves.number == (1, 1, 2, 2)
    assert curves.player == ("A", "B", "B", "A")
    assert curves.white == (True, False, True, False)
    assert curves.model == ("otb",) * 4
    mine = np.array([name == "A" for name in curves.player])
    np.testing.assert_allclose(curves.curve.table[mine].sum(axis=0), together(found, "A").table[0])


def test_before_the_first_move_nothing_is_known_of_anybody(games: Callable[..., Path]) -> None:
    (found,), _ = guess_games(games(("A", "B", ITALIAN)))
    before, *after = estimates(found.curve(0), found)
    assert not before.known
    assert all(one.known for one in after)


def test_a_prior_is_in_the_answer_only_if_it_is_asked_for(games: Callable[..., Path], tmp_path: Path) -> None:
    file, expected = games(("A", "B", ITALIAN), site="https://lichess.org/x"), tmp_path / "prior.json"
    expected.write_text(json.dumps({"2150": 1}))

    def rating(*options: str) -> float:
        run = CliRunner().invoke(command, [str(file), "--format", "json", *options])
        assert run.exit_code == 0, run.output
        return float(json.loads(run.stdout)[-1]["white"])

    assert rating() == rating("--prior", "none")
    assert rating("--prior", "pool") != rating()
    assert 2100 < rating("--prior", str(expected)) < 2200
    start = json.loads(CliRunner().invoke(command, [str(file), "--format", "json", "--prior", "pool"]).stdout)[0]
    assert 1200 < start["white"] < 1900, "before any move the players of the pool are all that is known"


def test_evals_are_read_unless_moves_alone_are_asked_for(games: Callable[..., Path]) -> None:
    words = [f"{word} {{ [%eval {0.2 if at % 2 else 0.3}] }}" for at, word in enumerate(("e4", "e5", "Nf3", "Nc6"))]
    moves = " ".join(words) + " *"
    file = games(("A", "B", moves), ("C", "D", "e4 e5 Nf3 Nc6 *"), site="https://lichess.org/x")
    valued, plain = guess_games(file)[0]
    assert valued.valued
    assert not plain.valued
    assert not np.allclose(valued.evidence, plain.evidence)
    alone, _ = guess_games(file, evals=False)[0]
    np.testing.assert_allclose(alone.evidence, plain.evidence)


def test_models_of_different_scales_are_not_pooled(tmp_path: Path) -> None:
    file = tmp_path / "mixed.pgn"
    tags = '[Site "{}"]\n[White "A"]\n[Black "B"]\n\n' + ITALIAN + "\n\n"
    file.write_text(tags.format("lichess.org") + tags.format("Linares"))
    found, _ = guess_games(file, keep_duplicates=True)
    with pytest.raises(LearnedError, match="cannot be pooled; choose one with --model"):
        together(found, "A")


def test_what_cannot_be_read_is_counted(games: Callable[..., Path]) -> None:
    file = games(("A", "B", ITALIAN), ("A", "B", "1. e4 Ke4 *"))
    found, problems = guess_games(file)
    assert len(found) == 1
    assert problems == {"illegal move": 1}
    with pytest.raises(InputError, match="has no game 9"):
        guess_games(file, number=9)
    with pytest.raises(InputError, match="has no game of 'Nobody'"):
        guess_games(file, player="Nobody")
    with pytest.raises(InputError, match=r"no game .* can be rated \(illegal move: 1\)"):
        guess_games(file, number=2)


def test_a_prior_is_read_from_json_or_csv(tmp_path: Path) -> None:
    as_json, as_csv = tmp_path / "prior.json", tmp_path / "prior.csv"
    as_json.write_text('{"1050": 1, "1200": 3}')
    as_csv.write_text("band,share\n1000,0.25\n1399,0.75\n")
    assert read_prior(as_json, EDGES).tolist() == read_prior(as_csv, EDGES).tolist() == [0.25, 0.75]


@pytest.mark.parametrize("text", ["", "[]", '{"900": 1}', '{"1000": -1}', '{"1000": 0}', '{"x": 1}', '{"1000": NaN}'])
def test_a_wrong_prior_is_told(tmp_path: Path, text: str) -> None:
    file = tmp_path / "prior.json"
    file.write_text(text)
    with pytest.raises(InputError, match=r"prior\.json"):
        read_prior(file, EDGES)


def test_a_prior_from_python_is_that_of_the_file(games: Callable[..., Path], tmp_path: Path) -> None:
    file, written = games(("A", "B", ITALIAN)), tmp_path / "prior.json"
    written.write_text('{"2150": 1, "2250": 3}')
    one, other = (assay.rate_learned(file, prior=prior)["A"] for prior in (written, {2150: 1, 2250: 3}))
    assert one == other
    with pytest.raises(InputError, match="the prior: 100 is outside the model's bands, 1400 to 2900"):
        assay.rate_learned(file, prior={100: 1})


def test_curves_are_added_by_hand_and_told_in_a_line(games: Callable[..., Path], tmp_path: Path) -> None:
    found = assay.rate_learned(games(("A", "B", ITALIAN), ("B", "A", BLUNDER)))
    one, other = (guess.last(guess.players.index("A")) for guess in found.guesses)
    np.testing.assert_allclose((one + other).table, found.curve("A").table)
    assert repr(found.curve("A")).startswith("Curve of 1 row, ratings 600 to 3200; top ")
    assert repr(found.curves) == "GameCurves of 4 sides of 2 games"
    assert repr(found.guesses[0]) == "Guess of game 1: A - B, 12 plies, by otb"
    with pytest.raises(InputError, match="of 1 and 4 rows"):
        one + found.curves.curve
    with pytest.raises(InputError, match="there is no 'C' in this answer"):
        found.curve("C")
    single = assay.rate_learned(games(("A", "B", ITALIAN)))
    assert assay.plot(single, tmp_path / "figures") == [tmp_path / "figures" / "posterior.svg"]
    assert assay.plot(single, tmp_path / "it.png") == [tmp_path / "it.png"]


def test_a_prior_that_is_not_there_is_told_with_what_would_do(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"there is no file .*pol; a prior is 'none', 'pool' or a file of shares"):
        read_prior(tmp_path / "pol", EDGES)


@pytest.mark.parametrize("model", SHIPPED)
def test_a_game_fits_a_page_of_eighty_columns(games: Callable[..., Path], model: str) -> None:
    run = CliRunner().invoke(command, [str(games(("A", "B", ITALIAN))), "--model", model])
    assert run.exit_code == 0, run.output
    lines = run.stdout.splitlines()
    assert len(lines) == 4 + 1 + 13, "a line a ply"
    assert max(map(len, lines)) <= 80
    assert "…" not in run.stdout


def test_of_one_ply_nothing_is_ruled_out(games: Callable[..., Path]) -> None:
    run = CliRunner().invoke(command, [str(games(("A", "B", "1. e4 *")))])
    assert "White: A, no guess, for nothing is ruled out" in run.stdout
    more = CliRunner().invoke(command, [str(games(("A", "B", BLUNDER)))])
    assert "White: A, guess at most " in more.stdout


def test_a_posterior_is_drawn_with_its_peak_full() -> None:
    assert sparkline(np.array([0.25, 0.5, 0.25])) == "▄█▄"


def test_the_command_draws_a_chart_and_a_picture(games: Callable[..., Path], tmp_path: Path) -> None:
    picture = tmp_path / "posterior.svg"
    run = CliRunner().invoke(command, [str(games(("A", "B", ITALIAN))), "-o", str(picture)])
    assert run.exit_code == 0, run.output
    assert "White: A" in run.output
    assert "6... O-O" in run.output
    assert "on unseen players the model otb is off by" in run.stderr
    assert "█" in run.output
    assert picture.read_text().startswith("<?xml")


def test_the_command_prints_json(games: Callable[..., Path]) -> None:
    run = CliRunner().invoke(command, [str(games(("A", "B", ITALIAN))), "--format", "json", "--model", "lichess"])
    rows = json.loads(run.stdout)
    assert len(rows) == 13
    bands = [name for name in rows[0] if name.startswith("white_") and name.removeprefix("white_").isdecimal()]
    assert math.isclose(sum(rows[-1][name] for name in bands), 1)


def test_many_games_give_a_table_and_a_pooled_row(games: Callable[..., Path]) -> None:
    file = games(("A", "B", ITALIAN), ("B", "A", ITALIAN))
    every = json.loads(CliRunner().invoke(command, [str(file), "--format", "json"]).stdout)
    assert [(row["game"], row["player"]) for row in every] == [(1, "A"), (1, "B"), (2, "B"), (2, "A")]
    one = json.loads(CliRunner().invoke(command, [str(file), "--player", "A", "--format", "json"]).stdout)
    assert [row["colour"] for row in one] == ["White", "Black", "pooled"]


def test_a_game_without_moves_is_not_rated(games: Callable[..., Path]) -> None:
    found, problems = guess_games(games(("A", "B", "1-0"), ("A", "C", ITALIAN)))
    assert [guess.players for guess in found] == [("A", "C")]
    assert problems == {"no moves": 1}
    alone = CliRunner().invoke(command, [str(games(("A", "B", "1-0")))])
    assert isinstance(alone.exception, InputError)
    assert "no moves: 1" in str(alone.exception)
    assert not alone.stdout


def test_a_game_that_occurs_twice_is_guessed_once(games: Callable[..., Path]) -> None:
    twice = games(("A", "B", ITALIAN), ("C", "A", BLUNDER), ("a", "B (GER)", ITALIAN))
    found, problems = guess_games(twice)
    assert [guess.number for guess in found] == [1, 2]
    assert problems == {"the same game again": 1}
    assert [guess.number for guess in guess_games(twice, number=3)[0]] == [3]
    assert len(guess_games(twice, keep_duplicates=True)[0]) == 3
