"""Two rows of the answer compared: what cancels, what stays, how many were compared, and a user's mistakes."""

from __future__ import annotations

import json
from dataclasses import FrozenInstanceError
from pathlib import Path

import numpy as np
import pytest
from tests.commands import told

import assay
from assay.answer.comparing import Opposed, holm, left_of
from assay.answer.voices import Voice
from assay.curve import GRID, Honesty
from assay.errors import InputError

EVENT = Path(assay.__file__).parent / "data" / "simulated-event.pgn"
GAME = """[Event "{event}"]
[Site "{site}"]
[Date "{date}"]
[Round "{number}"]
[White "{white}"]
[Black "{black}"]
[WhiteElo "{white_elo}"]
[BlackElo "{black_elo}"]
[TimeControl "{control}"]
[Result "{result}"]

1. e4 e5 2. Nf3 Nc6 {result}

"""


def pgn(path: Path, *games: dict[str, object]) -> Path:
    usual = {
        "event": "Open", "site": "Riga", "date": "2012.05.01", "white": "Elm", "black": "Oak", "white_elo": 2400,
        "black_elo": 2000, "control": "-", "result": "1/2-1/2",
    }  # fmt: skip
    path.write_text("".join(GAME.format(number=at, **usual | game) for at, game in enumerate(games, 1)))
    return path


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> tuple[object, ...]:
    """The match with an engine's values at a small depth."""
    store = tmp_path_factory.mktemp("compare") / "store.db"
    assay.analyse(assay.SAMPLE, store=store, depth=6).close()
    return ("--store", store, "--depth", 6, "--no-analysis", "--quiet")


def test_two_players_of_the_same_games(stored: tuple[object, ...], capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = told(capsys, "compare", assay.SAMPLE, *stored)
    assert code == 0 and "Stockfish" in err
    assert max(map(len, out.splitlines())) <= 80 and "Deep Blue" in out.splitlines()[-1]
    (row,) = json.loads(told(capsys, "compare", assay.SAMPLE, *stored, "--format", "json")[1])
    assert row["low"] < 0 < row["difference"] < row["high"]
    assert 0.5 < row["stronger"] < 1 and row["p"] == pytest.approx(2 * (1 - row["stronger"])) == row["p_corrected"]
    rated = assay.rate(assay.SAMPLE, store=stored[1], depth=6, no_analysis=True)
    assert row["rating"] == rated["Deep Blue"].value and row["second_rating"] == rated["Kasparov, Garry"].value
    # As columns, too.
    lines = told(capsys, "compare", assay.SAMPLE, *stored, "--format", "csv")[1].splitlines()
    assert lines[0].startswith("first,second,games,second_games,rating,second_rating,difference,low,high,stronger,p")
    turned = json.loads(
        told(
            capsys, *("compare", assay.SAMPLE, *stored, "--format", "json"),
            *("--players", "Kasparov, Garry", "Deep Blue"),
        )[1]
    )  # fmt: skip
    assert turned[0]["difference"] == pytest.approx(-row["difference"], abs=2)
    assert turned[0]["stronger"] == pytest.approx(1 - row["stronger"], abs=0.01)


def test_games_with_each_other_tell_of_the_difference_alone(tmp_path: Path) -> None:
    """Four draws: as strong as each other, whatever the tags say; rated against the tags they are 400 apart."""
    drawn = pgn(tmp_path / "drawn.pgn", {}, {"white": "Oak", "black": "Elm", "white_elo": 2000, "black_elo": 2400}, {},
                {"white": "Oak", "black": "Elm", "white_elo": 2000, "black_elo": 2400})  # fmt: skip
    found = assay.compare(drawn, players=("Elm", "Oak"), witness=["results"])
    rated = assay.rate(drawn, witness=["results"])
    assert rated["Oak"].value - rated["Elm"].value > 200
    assert abs(found["Elm - Oak"].value) <= 2 and found.differences[0].stronger == pytest.approx(0.5, abs=0.01)


def test_what_both_sides_share_is_not_in_their_difference() -> None:
    bell = -0.5 * ((GRID - 2200) / 100) ** 2
    honesty = [Honesty(1.0, 50.0, shared=30.0, tilt=0.1)] * 2

    def stays(common: str, lines: tuple[str, str] = ("board", "board"), away: float = 0.0) -> float:
        voice = Voice("moves", np.stack([bell, bell]), [], "", "moves", np.stack([bell, bell]), honesty, lines)
        return left_of(voice, Opposed((0,), (1,), common), (0,), away)  # type: ignore[arg-type]

    assert stays("nothing") == 50.0
    assert stays("line") == pytest.approx(40.0)  # a player's own
    assert stays("player") == 0.0
    assert stays("line", ("board", "rapid")) == 50.0
    assert stays("player", ("board", "rapid")) == 30.0  # the lines' own errors
    assert stays("player", away=400.0) == pytest.approx(40.0 / np.sqrt(2))


def test_parts_of_a_player(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results = {2010: ("0-1", "1/2-1/2"), 2011: ("1/2-1/2", "1-0"), 2012: ("1-0", "1/2-1/2")}
    years = [{"date": f"{year}.01.01", "result": one} for year, some in results.items() for one in some]
    games = pgn(tmp_path / "years.pgn", *years, {"date": "????.??.??"})
    each = assay.compare(games, player="Elm", by="year", witness=["results"])
    assert [row.second for row in each.differences] == ["the rest"] * 3
    assert each["2012"].value > 0 > each["2010"].value and each.differences[0].games == (2, 4)
    assert any("1 game without a year" in line for line in each.remarks)
    pairs = assay.compare(games, player="Elm", by="year", pairwise=True, witness=["results"])
    assert list(reversed(list(pairs))) == ["2012 - 2011", "2012 - 2010", "2011 - 2010"]
    # Three comparisons: the smallest of their chances counts three times.
    least = min(pairs.differences, key=lambda row: row.p)
    assert least.corrected == pytest.approx(min(3 * least.p, 1.0))
    assert told(capsys, "compare", games, "--player", "Elm", "--by", "year", "--witness", "results")[1] == f"{each}\n"


def test_two_pools_are_two_scales(tmp_path: Path) -> None:
    games = pgn(
        tmp_path / "pools.pgn",
        *[{"result": "1/2-1/2"}, {"result": "1-0"}, {"result": "0-1"}],
        *[{"site": "https://lichess.org/abcdefgh", "control": "180+0", "result": one} for one in ("1-0", "0-1")],
    )
    found = assay.compare(games, player="Elm", by="pool", witness=["results"])
    assert len(found) == 1 and any("two scales" in line for line in found.remarks)


def test_a_side_that_won_everything_has_a_bound_alone(tmp_path: Path) -> None:
    other = {"white": "Ash", "black": "Oak", "white_elo": 2100}
    games = pgn(tmp_path / "won.pgn", {"black": "Yew"}, {"black": "Yew"}, {"black": "Yew"},
                *[{"white": "Elm", "black": "Fir", "result": "1-0"}] * 3, other, other)  # fmt: skip
    found = assay.compare(games, players=("Fir", "Ash"), witness=["results"])["Fir - Ash"]
    assert found.low == float("-inf") and np.isfinite(found.high)


def test_phases_are_told_by_the_moves_alone(stored: tuple[object, ...], capsys: pytest.CaptureFixture[str]) -> None:
    words = ("compare", assay.SAMPLE, *stored, "--player", "Deep Blue", "--by", "phase", "--format", "json")
    rows = json.loads(told(capsys, *words)[1])
    assert [row["first"] for row in rows] == ["opening", "middlegame", "endgame"]
    assert {row["second"] for row in rows} == {"the rest"} and all(row["games"] <= 6 for row in rows)


def test_the_correction_is_that_of_holm() -> None:
    assert holm([0.02]) == [0.02]
    assert holm([0.5, 0.001, 0.03, 0.8]) == pytest.approx([1.0, 0.004, 0.09, 1.0])


def test_an_answer_like_all_others() -> None:
    found = assay.compare(assay.SAMPLE, witness=["results"])
    assert found.table.height == len(found) == 1 and isinstance(found["Deep Blue - Kasparov, Garry"], assay.Estimate)
    with pytest.raises(FrozenInstanceError):
        found.head = "another"  # type: ignore[misc]
    with pytest.raises(InputError, match="there is no 'Nobody'"):
        found["Nobody"]


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ((), 1, "there are 6 players in these games: name the two"),
        (("--players", "Elm", "Nobody"), 1, "nobody called 'Nobody'"),
        (("--players", "Elm", "Elm"), 1, "give two names"),
        (("--player", "Elm"), 2, "say by which parts"),
        (("--by", "year"), 2, "name him with --player"),
        (("--player", "Elm", "--by", "year", "--players", "Elm", "Fir"), 2, "leave out one of them"),
        (("--pairwise", "--players", "Elm", "Fir"), 2, "parts of one player"),
        (("--player", "Elm", "--by", "year"), 1, "one part by year"),
        (("--witness", "stars"), 2, "there is no witness 'stars'"),
    ],
)
def test_mistakes_are_sentences(
    words: tuple[str, ...], code: int, sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    heard = () if "--witness" in words else ("--witness", "results")
    found, out, err = told(capsys, "compare", EVENT, *words, *heard)
    assert (found, out) == (code, "") and sentence in err and "Traceback" not in err
