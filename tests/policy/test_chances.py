"""What people would play, by the command and by the function: tables, every move in numbers, pictures, and refusals."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from xml.etree import ElementTree

import chess
import pytest
from click.testing import CliRunner, Result
from tests.policy.made_up import games, write_leela

import assay
from assay.cli.main import assay as command
from assay.errors import InputError

ITALIAN = "r1bqkbnr/pppp1ppp/2n5/4p3/2B1P3/5N2/PPPP1PPP/RNBQK2R b KQkq - 3 3"
GAME = """[White "A"]
[Black "B"]
[Result "1-0"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0
"""


def run(*words: object) -> Result:
    return CliRunner().invoke(command, ["chances", *map(str, words)])


def rows(*words: object) -> list[dict[str, object]]:
    done = run(*words, "--format", "json")
    assert done.exit_code == 0, done.output
    found: list[dict[str, object]] = json.loads(done.stdout)
    return found


def test_every_legal_move_has_a_chance_at_every_rating_and_they_sum_to_one() -> None:
    found = rows(ITALIAN, "--elo", "1200,2400")
    assert {row["move"] for row in found} == {move.uci() for move in chess.Board(ITALIAN).legal_moves}
    for level in ("1200", "2400"):
        assert sum(float(str(row[level])) for row in found) == pytest.approx(1, abs=1e-5)
    assert [row["1200"] for row in found] != [row["2400"] for row in found]


def test_a_pool_has_ratings_of_its_own() -> None:
    assert rows(ITALIAN, "--elo", "1500") != rows(ITALIAN, "--elo", "1500", "--pool", "lichess")


def test_the_table_of_a_position_sums_up_what_it_leaves_out() -> None:
    done = run(ITALIAN, "--top", "3", "--elo", "1600")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["move", "1600"]
    assert len(lines) == 5 and lines[-1].startswith(f"{chess.Board(ITALIAN).legal_moves.count() - 3} others")


def test_a_fen_may_come_in_words_of_their_own() -> None:
    assert run(*ITALIAN.split()).stdout == run(ITALIAN).stdout != ""


def test_of_a_game_every_move_is_listed_with_its_chance(tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text(GAME)
    done = run(tmp_path / "game.pgn", "--elo", "1500")
    lines = done.stdout.splitlines()
    assert lines[0].split() == ["move", "played", "1500", "likeliest", "at", "1500"]
    assert [line.split()[:2] for line in lines[1:4]] == [["1.", "e4"], ["1...", "e5"], ["2.", "Bc4"]]
    assert len(lines) == 8
    found = rows(tmp_path / "game.pgn", "--elo", "1500")
    assert [row["san"] for row in found if row["played"]] == ["e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6", "Qxf7#"]
    alone = rows(tmp_path / "game.pgn", "--elo", "1500", "--ply", "7")
    assert {row["fen"] for row in alone} == {found[-1]["fen"]}


def test_another_game_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text(games(2) + "\n" + GAME)
    assert "Qxf7#" in run(tmp_path / "games.pgn", "--game", "3").stdout


def test_positions_line_by_line(tmp_path: Path) -> None:
    (tmp_path / "positions.fen").write_text(f"{chess.STARTING_FEN}\n\n{ITALIAN}\n")
    found = rows(tmp_path / "positions.fen")
    assert {row["position"]: row["fen"] for row in found} == {1: chess.STARTING_FEN, 2: ITALIAN}
    assert {row["played"] for row in found} == {None}
    told = list(csv.DictReader(io.StringIO(run(tmp_path / "positions.fen", "--format", "csv").stdout)))
    assert len(told) == len(found)
    assert "likeliest at 1600" in run(tmp_path / "positions.fen").stdout


def test_other_networks_answer_too(tmp_path: Path) -> None:
    weights = write_leela(tmp_path / "other.pb.gz")
    found = rows(ITALIAN, "--policy", weights, "--elo", "1500")
    assert sum(float(str(row["1500"])) for row in found) == pytest.approx(1, abs=1e-5)
    assert found != rows(ITALIAN, "--elo", "1500")


def test_the_picture_has_a_board_for_each_rating(tmp_path: Path) -> None:
    done = run(ITALIAN, "--elo", "1000,1500,2000", "-o", tmp_path / "x.svg")
    assert done.exit_code == 0, done.output
    picture = ElementTree.parse(tmp_path / "x.svg").getroot()
    name = "{http://www.w3.org/2000/svg}"
    texts = ["".join(one.itertext()) for one in picture.iter(f"{name}text")]
    assert [text for text in texts if text.startswith("rated")] == ["rated 1000", "rated 1500", "rated 2000"]
    assert len(list(picture.iter(f"{name}use"))) == 3 * 32
    assert len(list(picture.iter(f"{name}polygon"))) >= 3
    assert "Nf6" in texts


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["no such thing"], "neither a file nor a position"),
        (["8/8/8/8/8/8/8/8 w - - 0 1"], "no king"),
        (["4k3/8/8/8/8/8/4R3/4K3 w - - 0 1"], "the side that has moved is in check"),
        (["4k3/8/8/8/8/8/8/P3K3 w - - 0 1"], "a pawn stands on the first or the last rank"),
        (["rnbq/8 w"], "is no position in FEN"),
        ([ITALIAN, "--elo", "99"], "off the scale"),
        ([ITALIAN, "--elo", "4000"], "off the scale"),
        (["7k/5Q2/6K1/8/8/8/8/8 b - - 0 1"], "the game is over"),
        (["7k/6Q1/6K1/8/8/8/8/8 b - - 0 1"], "the game is over"),
    ],
)
def test_what_cannot_be_answered_is_told_in_a_sentence(words: list[str], sentence: str) -> None:
    done = run(*words)
    assert done.exit_code == 1 and sentence in str(done.exception)
    assert isinstance(done.exception, InputError)


@pytest.mark.parametrize("levels", ["", "high", "1500,", "-1500", "1500:1600"])
def test_ratings_that_are_none_are_wrong_usage(levels: str) -> None:
    done = run(ITALIAN, "--elo", levels)
    assert done.exit_code == 2 and "no list of ratings" in done.output


def test_files_without_what_is_asked(tmp_path: Path) -> None:
    (tmp_path / "game.pgn").write_text(GAME)
    (tmp_path / "bad.fen").write_text(f"{ITALIAN}\n8/8/8/8/8/8/8/8 w - - 0 1\n")
    (tmp_path / "empty.pgn").write_text("")
    (tmp_path / "none.pgn").write_text('[White "A"]\n\n*\n')
    for words, sentence in (
        (["game.pgn", "--game", "2"], "has no game 2"),
        (["game.pgn", "--ply", "8"], "there is no 8"),
        (["game.pgn", "-o", tmp_path / "x.svg"], "choose it with --ply"),
        (["bad.fen"], "line 2 of"),
        (["bad.fen", "--game", "1"], "leave --game out"),
        (["empty.pgn"], "holds no game"),
        (["none.pgn"], "no moves"),
    ):
        done = run(tmp_path / str(words[0]), *words[1:])
        assert done.exit_code == 1 and sentence in str(done.exception), (words, done.output, done.exception)
    assert not (tmp_path / "x.svg").exists()


def test_the_function_takes_boards_and_fens_and_what_is_known_besides() -> None:
    board = chess.Board(ITALIAN)
    found = assay.chances(board, 1700)
    assert found == assay.chances(ITALIAN, 1700)
    assert list(found.values()) == sorted(found.values(), reverse=True)
    assert sum(found.values()) == pytest.approx(1)
    rare = list(found)[-1]
    sharper = assay.chances(board, 1700, extra={rare: 3.0})
    odds, before = sharper[rare] / (1 - sharper[rare]), found[rare] / (1 - found[rare])
    assert odds / before == pytest.approx(2.718281828**3, rel=1e-4)
    with pytest.raises(InputError, match="no pool"):
        assay.chances(board, 1700, pool="elsewhere")


HANGING = "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR b KQkq - 4 4"


def test_an_engine_makes_the_chances_sharper(tmp_path: Path) -> None:
    """The queen can be taken: the policy thinks that many do not see it, the engine says what that costs."""
    plain, sharper = (
        json.loads(run(HANGING, "--elo", "1500,2400", "--format", "json", *words).stdout)
        for words in ((), ("--sharper", "--depth", "6"))
    )
    taken = [next(row for row in rows if row["san"] == "Nxh5") for rows in (plain, sharper)]
    assert taken[1]["1500"] > taken[0]["1500"]
    assert len(sharper) == len(plain)
    for level in ("1500", "2400"):
        assert sum(row[level] for row in sharper) == pytest.approx(1.0, abs=1e-4)
    assert "Values of moves by" in run(HANGING, "--sharper", "--depth", "6").stderr
    # One legal move, and none at all, are as they were.
    positions = tmp_path / "positions.fen"
    positions.write_text("k7/8/1K6/8/8/8/8/1R6 b - - 0 1\n" + HANGING + "\n")
    assert run(positions, "--sharper", "--depth", "6").exit_code == 0


def test_sharper_rests_on_the_policy_that_ships(tmp_path: Path) -> None:
    other = tmp_path / "other.npz"
    other.write_bytes(b"")
    assert run(HANGING, "--sharper", "--policy", other).exit_code != 0
