"""A run beside the posteriors of others: the same players, the same bands, the same score."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from assay.errors import LearnedError
from assay.learned import guess_games
from assay.learned.evaluate import judge_beside, normal_prior
from assay.learned.guess import Guess
from assay.learned.run import shipped

RUN = shipped("otb")
MIDDLE = (RUN.edges[1:] + RUN.edges[:-1]) / 2


@pytest.fixture
def guesses(tmp_path: Path) -> list[Guess]:
    file = tmp_path / "game.pgn"
    file.write_text("1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. O-O Nf6 1/2-1/2\n", encoding="utf-8")
    return guess_games(file, model="otb")[0]


def test_who_says_the_same_has_the_same_score(guesses: list[Guess]) -> None:
    white, black = guesses[0].posteriors[-1]
    rating = float(MIDDLE[3])
    both = judge_beside(RUN, guesses, {(1, 0): (rating, MIDDLE, white), (1, 1): (rating, MIDDLE, black)})
    assert both.learned == both.others
    assert both.learned.cases == 2


def test_only_players_of_whom_both_speak_are_judged(guesses: list[Guess]) -> None:
    sure = np.zeros(len(MIDDLE))
    sure[3] = 1
    rating = float(MIDDLE[3])
    others = {
        (1, 0): (rating, MIDDLE, sure),
        (1, 1): (float(RUN.edges[-1]), MIDDLE, sure),  # beyond the bands
        (2, 0): (rating, MIDDLE, sure),  # a game that was not guessed
    }
    both = judge_beside(RUN, guesses, others)
    assert (both.learned.cases, both.others.cases) == (1, 1)
    assert both.others.top1 == 1
    with pytest.raises(LearnedError, match="inside the bands"):
        judge_beside(RUN, guesses, {(2, 0): others[2, 0]})


def test_the_prior_for_others_has_the_mean_of_the_run() -> None:
    mean, deviation = normal_prior(RUN)
    assert abs(mean - RUN.prior @ MIDDLE) < RUN.edges[1] - RUN.edges[0]
    assert 0 < deviation < RUN.edges[-1] - RUN.edges[0]
