"""The learned rating in a report: from the shipped model, or a reason in words."""

from __future__ import annotations

import pytest

from assay.errors import InputError, LearnedError
from assay.games import Game
from assay.learned.run import Run
from assay.reports import learned
from assay.reports.learned import learned_ratings

MOVES = (
    b"1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 Nf6 5. O-O Be7 6. Re1 b5 7. Bb3 d6 8. c3 O-O 9. h3 Nb8 10. d4 Nbd7 1/2-1/2"
)


def game(white: bytes, black: bytes) -> Game:
    data = b'[Site "https://lichess.org/x"]\n[White "%b"]\n[Black "%b"]\n[Result "1/2-1/2"]\n\n%b\n' % (
        white,
        black,
        MOVES,
    )
    return Game("-", 0, len(data), data)


def test_every_player_gets_a_rating_with_an_interval() -> None:
    found = learned_ratings([game(b"Anna", b"Ben"), game(b"Ben", b"Cleo"), game(b" ", b"Anna")])
    assert set(found.ratings) == {"Anna", "Ben", "Cleo", "?"}
    for rating in found.ratings.values():
        assert rating.low is not None
        assert rating.value is not None
        assert rating.high is not None
        assert rating.low < rating.value < rating.high
    assert found.model == "lichess"


def test_several_games_narrow_the_interval() -> None:
    found = learned_ratings([game(b"Anna", b"Ben"), game(b"Anna", b"Cleo"), game(b"Anna", b"Dan")])
    assert found.ratings["Anna"].half_width < found.ratings["Ben"].half_width


@pytest.mark.parametrize(
    ("error", "note"),
    [
        (InputError("/some/where is no finished training."), "no learned model is installed"),
        (LearnedError("it is of version 0; train it again."), "it is of version 0; train it again"),
    ],
)
def test_without_a_model_there_is_a_reason(monkeypatch: pytest.MonkeyPatch, error: Exception, note: str) -> None:
    def fail(*_: object) -> None:
        raise error

    monkeypatch.setattr(learned, "guess_these", fail)
    assert learned_ratings([game(b"Anna", b"Ben")]).note == note


def test_a_game_that_cannot_be_read() -> None:
    data = b"1. e4 Ke4 *"
    assert learned_ratings([Game("-", 0, len(data), data)]).note == "no game can be read"


def test_a_model_that_learned_nothing_rates_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "error", (496.0, 496.0))
    found = learned_ratings([game(b"Anna", b"Ben")])
    assert found.note == "the model for such games (lichess) is no better than guessing the average"
    assert not found.ratings
