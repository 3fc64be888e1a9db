"""The other two answers of a report: from results, and learned."""

from __future__ import annotations

import polars as pl
import pytest

from assay.errors import InputError, LearnedError
from assay.games import Game, to_arrays
from assay.learned.run import Run
from assay.reports import witnesses
from assay.reports.witnesses import Learned, learned_ratings, result_ratings


def event(*games: tuple[str, str, str], **elos: float) -> pl.DataFrame:
    white, black, result = zip(*games, strict=True)
    return pl.DataFrame(
        {
            "white": white,
            "black": black,
            "result": result,
            "white_elo": [elos.get(name) for name in white],
            "black_elo": [elos.get(name) for name in black],
        },
        schema_overrides={"white_elo": pl.Float64, "black_elo": pl.Float64},
    )


def match(one: str, two: str, games: int = 4) -> list[tuple[str, str, str]]:
    """Colours alternate; half of the games are drawn, the others won by White."""
    return [(one, two, "1-0"), (two, one, "1/2-1/2"), (one, two, "1/2-1/2"), (two, one, "1-0")] * (games // 4)


def width(games: pl.DataFrame, name: str) -> float:
    return 2 * result_ratings(games)[name].half_width


def test_an_even_match_between_unequal_tags_draws_them_together() -> None:
    found = result_ratings(event(*match("Anna", "Ben", 40), Anna=2500, Ben=2300))
    anna, ben = found["Anna"].value, found["Ben"].value
    assert anna is not None
    assert ben is not None
    assert (anna + ben) / 2 == pytest.approx(2400, abs=1)
    assert 0 < anna - ben < 40


def test_more_games_narrow_the_interval() -> None:
    wide, narrow = (width(event(*match("Anna", "Ben", n), Anna=2500, Ben=2500), "Anna") for n in (4, 40))
    assert narrow < wide / 2


def test_an_opponent_without_a_tag_is_rated_all_the_same() -> None:
    found = result_ratings(event(*match("Anna", "Ben"), Anna=2500))
    assert found["Ben"].value == pytest.approx(2500, abs=1)


def test_groups_that_never_met_stay_at_their_tags() -> None:
    elos = {"Anna": 2500.0, "Ben": 2500.0, "Cleo": 1500.0, "Dan": 1500.0}
    found = result_ratings(event(*match("Anna", "Ben"), *match("Cleo", "Dan"), **elos))
    assert found["Ben"].value == pytest.approx(2500, abs=1)
    assert found["Cleo"].value == pytest.approx(1500, abs=1)


def test_a_perfect_score_is_above_the_tag_and_within_reason() -> None:
    games = [("Cleo", name, "1-0") for name in ("Anna", "Ben", "Dan")]
    elos = dict.fromkeys(("Anna", "Ben", "Cleo", "Dan"), 2500.0)
    value = result_ratings(event(*games, **elos))["Cleo"].value
    assert value is not None
    assert 2550 < value < 3000


def test_without_any_tag_there_is_no_level() -> None:
    assert "no level" in result_ratings(event(*match("Anna", "Ben")))["Anna"].note


def test_games_without_results_give_a_reason() -> None:
    found = result_ratings(event(("Anna", "Ben", "*"), Anna=2500, Ben=2500))
    assert not found["Anna"].known
    assert found["Anna"].note


@pytest.mark.parametrize("draw", ["1/2", "½-½", "=-=", " 1/2-1/2"])
def test_a_draw_counts_however_it_is_written(draw: str) -> None:
    usual, other = (
        event(("Anna", "Ben", text), ("Ben", "Anna", "1-0"), Anna=2500, Ben=2400) for text in ("1/2-1/2", draw)
    )
    assert result_ratings(other) == result_ratings(usual)


def test_an_unfinished_game_of_a_newcomer_takes_nothing_from_the_others() -> None:
    games = match("Anna", "Ben")
    alone = result_ratings(event(*games, Anna=2500, Ben=2400))
    found = result_ratings(event(*games, ("Cleo", "Anna", "*"), Anna=2500, Ben=2400, Cleo=2100))
    assert found["Anna"] == alone["Anna"]
    assert found["Ben"] == alone["Ben"]
    assert found["Cleo"].note == "no game with a result"


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


def asked(*games: Game) -> Learned:
    names = {at: (game.tags.get("White", "?"), game.tags.get("Black", "?")) for at, game in enumerate(games)}
    return learned_ratings(games, to_arrays(games), names)


def test_every_player_gets_a_rating_with_an_interval() -> None:
    found = asked(game(b"Anna", b"Ben"), game(b"Ben", b"Cleo"), game(b" ", b"Anna"))
    assert set(found.ratings) == {"Anna", "Ben", "Cleo", "?"}
    for rating in found.ratings.values():
        assert rating.low is not None
        assert rating.value is not None
        assert rating.high is not None
        assert rating.low < rating.value < rating.high
        assert rating.bounded or rating.low > 1000  # of one game the interval may be open
    assert found.model == "lichess"


def test_several_games_narrow_the_interval() -> None:
    games = [game(b"Anna", name) for name in (b"Ben", b"Cleo", b"Dan")]
    one, three = (asked(*some).ratings["Anna"] for some in (games[:1], games))
    assert min(three.high, 3200) - max(three.low, 600) < min(one.high, 3200) - max(one.low, 600)


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

    monkeypatch.setattr(witnesses, "guess_parsed", fail)
    assert asked(game(b"Anna", b"Ben")).note == note


def test_a_game_that_cannot_be_read() -> None:
    data = b"1. e4 Ke4 *"
    assert asked(Game("-", 0, len(data), data)).note == "no game can be read"


def test_a_model_that_learned_nothing_rates_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Run, "error", (496.0, 496.0))
    found = asked(game(b"Anna", b"Ben"))
    assert found.note == "the model for such games (lichess) is no better than guessing the average"
    assert not found.ratings
