"""The deep choice: stored like every analysis, and a test that honest play passes and help does not."""

from __future__ import annotations

import shlex
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from tests.commands import run
from tests.moves.made_up import turns_of

from assay.engine.identity import find
from assay.engine.store import Store
from assay.games.archives import sample
from assay.moves.choice.deep import HELPER, HONEST, DeepChoices, DeepTaste, Taste, fit_helper, fit_honest, from_json
from assay.moves.choice.model import log_chances
from assay.moves.choice.ratio import Ratios, best, highest, ratios, standardised

Words = tuple[object, ...]


@pytest.fixture(scope="module")
def game(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One game of the shipped event, analysed at a small depth."""
    path = tmp_path_factory.mktemp("deep") / "game.pgn"
    path.write_bytes(b"[Event " + sample("simulated-event.pgn").split(b"[Event ")[15])
    assert run("analyse", path, "--store", path.with_suffix(".db"), "--depth", 6, "--quiet") == 0
    return path


def test_deep_choices_are_stored_beside_the_lists(game: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = ("--store", game.with_suffix(".db"), "--depth", 6, "--quiet")
    assert run("screen", game, *stored, "--no-analysis", "--deep-choice", 9) == 1
    assert "lacks the deep choice (one line, depth 9) of" in capsys.readouterr().err
    assert run("screen", game, *stored, "--deep-choice", 9, "--format", "csv") == 0
    first = capsys.readouterr()
    assert "Deep choice: one line to depth 9." in first.err and "z is rougher for it" in first.err
    with Store(game.with_suffix(".db")) as store:
        assert sorted(kept.identity.lines for kept in store.kept() if kept.positions)[0] == 1
    assert run("screen", game, *stored, "--no-analysis", "--deep-choice", 9, "--format", "csv") == 0
    assert capsys.readouterr().out == first.out
    # What is valued to one line alone serves nobody who asks for lists.
    assert run("ipr", game, *stored, "--no-analysis") == 0
    assert run("screen", game, *stored, "--no-analysis", "--sequential", "--deep-choice", 9) == 0
    assert "passed an e-value of 2,000" in capsys.readouterr().out


def test_further_engines_are_asked_beside_it(
    game: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("assay.moves.deepchoice.NODES", 2_000)
    other = tmp_path / "other"
    program = shlex.join(find("stockfish"))
    other.write_text(f"#!/bin/sh\n{program} | sed -u 's/^id name .*/id name Otherfish 7/'\n")
    other.chmod(0o755)
    stored = ("--store", game.with_suffix(".db"), "--depth", 6, "--quiet", "--format", "csv")
    nothing = ("--store", tmp_path / "new.db", "--depth", 6, "--deep-choice", 9)  # before anything is analysed
    assert run("screen", game, *nothing, "--helper", "No Such Engine") == 1
    assert "no chess engine 'No' found" in capsys.readouterr().err and not (tmp_path / "new.db").exists()
    assert run("screen", game, *stored, "--helper", other) == 1
    assert "give --deep-choice 16 with --helper" in capsys.readouterr().err
    alone = (*stored, "--deep-choice", 9)
    assert run("screen", game, *alone) == 0
    by_one = capsys.readouterr()
    assert run("screen", game, *alone, "--helper", other) == 0
    by_two = capsys.readouterr()
    assert "Beside it the choice of 1 further engine" in by_two.err and by_two.out != by_one.out
    # What was chosen once is known by name, and nobody is asked again.
    assert run("screen", game, *alone, "--no-analysis", "--helper", "Otherfish") == 0
    assert capsys.readouterr().out == by_two.out
    assert run("screen", game, *alone, "--helper", "No Such Engine") == 1
    assert "no analyses by 'No Such Engine'" in capsys.readouterr().err
    # One engine has one vote.
    assert run("screen", game, *alone, "--helper", "stockfish") == 1
    assert "is asked already" in capsys.readouterr().err
    assert run("screen", game, *alone, "--helper", other, "--helper", "Otherfish") == 1
    assert "Otherfish 7 is asked already" in capsys.readouterr().err


def test_a_list_of_another_depth_has_no_test(game: Path, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert run("screen", game, "--store", tmp_path / "new.db", "--deep-choice", 9, "--depth", 4) == 1
    assert run("screen", game, "--store", game.with_suffix(".db"), "--depth", 6, "--policy", "none", "--no-analysis",
               "--deep-choice", 9) == 1  # fmt: skip
    assert "leave out --policy none" in capsys.readouterr().err


PAIRS = [(f"W{i}", f"B{i}", 2200.0, 2200.0) for i in range(60)]


def test_the_fit_finds_how_often_honest_players_follow() -> None:
    choices = turns_of(PAIRS).choices
    rng = np.random.default_rng(2)
    g0 = -3 * np.sqrt(np.maximum(0.0, _loss(choices)))
    none, natural = np.zeros_like(g0), np.full(len(g0), -2.0, np.float32)
    row = choices.start[:-1] + rng.integers(0, np.minimum(choices.width, 4))
    deep = np.zeros(len(g0))
    deep[row] = 1.2
    played = _drawn(g0 + deep, choices, rng)
    choices = replace(choices, played=played - choices.start[:-1])
    weight, elo = np.ones(len(choices)), np.full(len(choices), 2200.0)
    first = DeepChoices(row, np.full(len(choices), 0xFFFF, np.uint32))
    taste = fit_honest(choices, first, natural, g0, none, elo, weight)
    made = DeepTaste(choices.depth, 16, taste, fit_helper(choices, first, row))
    own, _ = made.exponents(choices, first, natural, g0, none)
    chances = np.exp(log_chances(own, choices.start, choices.turn))
    assert chances[row].mean() == pytest.approx((row == choices.chosen).mean(), abs=0.02)
    engines = made.helped(choices, first)
    assert engines.shape == (len(g0), 2) and (engines[row].mean(axis=0) > 0.9).all()
    np.testing.assert_allclose(np.add.reduceat(engines, choices.start[:-1]), 1.0)
    # Honest play is standard normal by its own chances, who follows is far off.
    groups = np.arange(len(choices)) // 40
    found = ratios(chances, engines, _score(chances, choices), choices)
    honest = _z(found, choices.chosen, groups)
    assert abs(np.nanmean(honest)) < 0.35 and 0.7 < np.nanstd(honest) < 1.3
    follows = np.where(rng.random(len(choices)) < 0.4, row, choices.chosen)
    assert np.nanmean(_z(found, follows, groups)) > 2
    assert from_json(made.to_json()).to_json() == made.to_json()
    assert len(taste.a) == len(HONEST) and len(made.helper) == len(HELPER)


def test_votes_are_shares_of_the_engines_that_were_asked() -> None:
    turn = np.array([0, 0, 0, 1, 1, 2])
    both = (np.array([1, 3, -1]), np.array([2, 3, 5]))
    deep = DeepChoices(np.array([1, 4, -1]), np.zeros(3, np.uint32), both)
    assert deep.votes(6, turn).tolist() == [0, 0.5, 0.5, 1, 0, 1]
    assert deep.mass(6, turn).round(3).tolist() == [0, 0.667, 0.333, 0.667, 0.333, 1]
    alone = replace(deep, others=())
    assert not alone.votes(6, turn).any()
    assert alone.mass(6, turn).tolist() == alone.marks(6).tolist() == [0, 1, 0, 0, 1, 0]


def test_what_engines_agree_on_a_further_one_plays() -> None:
    choices = turns_of(PAIRS).choices
    rng = np.random.default_rng(4)
    row, second = (choices.start[:-1] + rng.integers(0, np.minimum(choices.width, 4)) for _ in range(2))
    agree = rng.random(len(choices)) < 0.5
    second = np.where(agree, row, second)
    # A third engine plays what both play nearly always, and one of them by chance where they differ.
    third = np.where(agree | (rng.random(len(choices)) < 0.5), row, second)
    deep = DeepChoices(row, np.full(len(choices), 0xFF, np.uint32), (second,))
    made = DeepTaste(choices.depth, 16, Taste(np.zeros(8), np.zeros(8)), fit_helper(choices, deep, third))
    assert made.votes and from_json(made.to_json()).to_json() == made.to_json()
    its, others, any_one = made.helped(choices, deep).T
    apart = row != second
    assert any_one[row[~apart]].mean() > 0.9
    assert 0.3 < any_one[row[apart]].mean() < 0.7 and 0.3 < any_one[second[apart]].mean() < 0.7
    # Who follows one of the two plays what that one chooses.
    assert its[row].mean() > 0.8 and others[second].mean() > 0.8
    assert its[second[apart]].mean() < 0.3 and others[row[apart]].mean() < 0.3


def test_an_engine_that_was_asked_is_seen_best_and_asking_many_is_paid_for() -> None:
    choices = turns_of(PAIRS).choices
    rng = np.random.default_rng(6)
    own = np.exp(log_chances(-3 * np.sqrt(np.maximum(0.0, _loss(choices))), choices.start, choices.turn))
    asked = [choices.start[:-1] + rng.integers(0, np.minimum(choices.width, 4)) for _ in range(4)]
    engines = np.full((len(own), 4), 1e-3)
    for column, row in enumerate(asked):
        engines[row, column] = 1.0
    score, groups = _score(own, choices), np.arange(len(choices)) // 60
    several, alone, mixed = (
        ratios(own, of, score, choices) for of in (engines, engines[:, :1], engines.mean(1)[:, None])
    )
    helped = np.where(rng.random(len(choices)) < 0.3, asked[0], _drawn(np.log(own), choices, rng))
    found, known, blurred = (_z(of, helped, groups).mean() for of in (several, alone, mixed))
    assert known > found > blurred + 0.5
    # The highest of four that honest players have is no higher than one would be.
    honest = np.concatenate([_z(several, _drawn(np.log(own), choices, rng), groups) for _ in range(40)])
    assert abs(honest.mean()) < 0.15 and 0.9 < honest.std() < 1.1


def test_the_highest_of_several_is_a_z_again() -> None:
    rng = np.random.default_rng(7)
    for alike in (0.0, 0.5, 0.9):
        each = rng.standard_normal((20_000, 4)) * np.sqrt(1 - alike) + rng.standard_normal((20_000, 1)) * np.sqrt(alike)
        found = highest(each, alike)
        assert abs(found.mean()) < 0.03 and found.std() == pytest.approx(1, abs=0.02)
        assert (found > 2).mean() == pytest.approx(0.0228, abs=0.004)
    assert highest(np.array([30.0, 0.0]), 0.2) > 10 and highest(np.array([-30.0, -31.0]), 0.2) < -10


def test_obvious_moves_tell_nothing() -> None:
    choices = turns_of(PAIRS[:1]).choices
    sure = np.full(len(choices.moves), 1e-6)
    sure[choices.chosen] = 1.0
    found = ratios(sure, sure[:, None], np.zeros(len(sure)), choices)
    assert not found.counts.any() and not found.told(choices.chosen).any()
    assert np.isnan(_z(found, choices.chosen, np.zeros(len(choices), np.intp))).all()


def test_a_player_who_is_stronger_than_the_rating_is_not_taken_for_helped() -> None:
    choices = turns_of(PAIRS).choices
    rng = np.random.default_rng(5)
    quality = -np.sqrt(np.maximum(0.0, _loss(choices)))

    def chances(strength: float) -> np.ndarray:
        return np.exp(log_chances(3 * strength * quality, choices.start, choices.turn))

    own, step = chances(1.0), 0.01
    score = (np.log(chances(1 + step)) - np.log(chances(1 - step))) / (2 * step)
    best = choices.start[:-1] + np.array([int(np.argmax(q)) for q in np.split(quality, choices.start[1:-1])])
    engine = np.full(len(own), 1e-3)
    engine[best] = 1.0
    found = ratios(own, engine[:, None], score, choices)
    stronger = _drawn(3 * 1.3 * quality, choices, rng)
    told, moments = found.told(stronger).sum(axis=0)[0], found.moments.sum(axis=0)[0]
    sure, doubtful = (float(standardised(told, moments, error)) for error in (0.0, 0.3))
    assert sure > 3 and doubtful < 1.5
    # Help on some moves is seen through the doubt, and better than by the ratio alone.
    helped = np.where(rng.random(len(choices)) < 0.3, best, _drawn(3 * quality, choices, rng))
    told = found.told(helped).sum(axis=0)[0]
    alone = moments * np.array([1, 1, 0, 0, 0, 0, 0, 1, 0])
    assert float(standardised(told, moments, 0.3)) > float(standardised(told, alone, 0.3))


def test_how_steady_a_choice_was_is_told_by_its_depths() -> None:
    stays = np.array([0b1, 0b11111111, 0b10111011, 0xFFFF], np.uint32)
    found = DeepChoices(np.zeros(4, np.int64), stays)
    assert found.steady().tolist() == [0.125, 1.0, 0.75, 1.0]
    assert found.at_last().tolist() == [0.125, 1.0, 0.25, 1.0]


def test_weights_that_are_none_are_refused() -> None:
    from assay.errors import CalibrationError

    good = DeepTaste(8, 16, Taste(np.zeros(len(HONEST)), np.zeros(len(HONEST))), np.zeros(len(HELPER))).to_json()
    for bad in ({}, good | {"helper": {}}, good | {"depth": "eight"}):
        with pytest.raises(CalibrationError, match="no weights of the deep choice"):
            from_json(bad)


def _score(chances: np.ndarray, choices: object) -> np.ndarray:
    """As if a higher rating sharpened all chances."""
    return 0.003 * np.log(np.maximum(chances, 1e-9))


def _z(found: Ratios, rows: np.ndarray, groups: np.ndarray) -> np.ndarray:
    whole = (found.told(rows), found.moments, found.between)
    first = np.flatnonzero(np.diff(groups, prepend=-1))
    return best(*(np.add.reduceat(each, first) for each in whole), 70.0)


def _loss(choices: object) -> np.ndarray:
    from assay.engine.choices import filled, pawns

    value = pawns(filled(choices.codes[:, -1:], choices.start))[:, 0]  # type: ignore[attr-defined]
    return np.maximum.reduceat(value, choices.start[:-1])[choices.turn] - value  # type: ignore[attr-defined]


def _drawn(g: np.ndarray, choices: object, rng: np.random.Generator) -> np.ndarray:
    gumbel = g + rng.gumbel(size=len(g))
    start = choices.start  # type: ignore[attr-defined]
    return np.array([start[t] + int(np.argmax(gumbel[start[t] : start[t + 1]])) for t in range(len(start) - 1)])
