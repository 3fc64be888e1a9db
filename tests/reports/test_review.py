"""The review of a game: marks, moments, accuracy, clocks; annotated PGN that keeps what was in the file."""

from __future__ import annotations

import io
import json
import re
from pathlib import Path

import chess.pgn
import numpy as np
import pytest
from tests.commands import run

import assay
from assay.games import read
from assay.reports.judged import accuracy_of, of_game, stakes, win_of

HEAD = """[Event "Rated Rapid game"]
[Site "https://lichess.org/abcd1234"]
[Date "2024.05.01"]
[White "Elm"]
[Black "Oak"]
[Result "1-0"]
[WhiteElo "1650"]
[BlackElo "1600"]
[TimeControl "600+0"]
[Note "kept \\"as it is\\""]

"""
MATE = (
    HEAD + "1. e4 { [%clk 0:09:58] } e5 { [%clk 0:09:58] } 2. Bc4 { [%clk 0:09:55] } Nc6 { [%clk 0:09:50] } "
    "3. Qh5 { [%clk 0:09:50] early } Nf6 { [%clk 0:00:20] } (3... g6 4. Qf3 { better }) "
    "4. Qxf7# { [%clk 0:09:49] } 1-0\n"
)
EVALS = (
    HEAD + "1. e4 { [%eval 0.3] [%clk 0:09:58] } e5 { [%eval 0.35] [%clk 0:09:50] } 2. Nf3 $1 { [%eval 0.25] } "
    "Nc6 { [%eval 0.3] } 3. Bb5 { [%eval 0.2] } f6? { [%eval 1.4] } 4. Bxc6 { [%eval 0.9] } dxc6 { [%eval 0.9] } "
    "5. Nxe5 { [%eval -4.0] } fxe5 { [%eval -4.0] } 6. Qh5+ { [%eval -3.9] } "
    "Ke7 { [%eval #3] } 7. Qxe5+ { [%eval #2] } 1-0\n"
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A game that an engine judges, one with evaluations, and a store for the first."""
    folder = tmp_path_factory.mktemp("review")
    (folder / "mate.pgn").write_text(MATE)
    (folder / "evals.pgn").write_text(EVALS)
    return folder


def asked(folder: Path) -> tuple[object, ...]:
    return ("--store", folder / "store.db", "--depth", 6, "--quiet")


def test_a_blunder_is_marked_with_what_was_better_and_who_finds_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("review", folder / "mate.pgn", *asked(folder)) == 0
    out = capsys.readouterr().out
    assert max(map(len, out.splitlines())) <= 80
    out = " ".join(out.split())
    assert "3...Nf6??" in out and "of players rated 1600 find" in out and "The game turned at 3...Nf6??" in out
    assert "Bishop's opening (C23)" in out and "1 move with less than 30 s left" in out
    found = assay.review(folder / "mate.pgn", store=folder / "store.db", depth=6)
    assert (found.black.blunders, found.white.blunders, found.moves[5].mark) == (1, 0, "??")
    assert found.moves[5].line[0] == found.moves[5].best and len(found.moves[5].line) > 2
    assert found.moves[0].value is not None  # evaluated from the first move
    assert found.moves[-1].accuracy == pytest.approx(100, abs=0.01) and found.white.accuracy > found.black.accuracy
    assert all(side.expected_low <= side.expected <= side.expected_high for side in found.sides)
    # The white move is no clock's: the base time is known, so the first move is timed as well.
    assert found.moves[0].spent == 2.0 and found.black.clock is not None and found.black.clock.longest == 570.0


def test_the_annotated_game_keeps_what_was_in_the_file(folder: Path, tmp_path: Path) -> None:
    assert run("review", folder / "mate.pgn", *asked(folder), "-o", tmp_path / "out.pgn") == 0
    text = (tmp_path / "out.pgn").read_text()
    old, new = (chess.pgn.read_game(io.StringIO(one)) for one in (MATE, text))
    assert old is not None and new is not None and not new.errors
    assert {name: new.headers[name] for name in old.headers} == dict(old.headers)
    assert [node.move for node in old.mainline()] == [node.move for node in new.mainline()]
    assert [node.clock() for node in old.mainline()] == [node.clock() for node in new.mainline()]
    nodes = list(new.mainline())
    assert nodes[5].nags == {chess.pgn.NAG_BLUNDER} and not nodes[0].nags
    assert "early" in nodes[4].comment and "better" in text
    assert [node.eval() is not None for node in nodes] == [True] * 6 + [False]
    sidelines = [variation.san() for variation in nodes[4].variations if not variation.is_main_variation()]
    assert "g6" in sidelines and len(sidelines) == 2  # the file's own and ours
    # What every program takes, by the standard's rules for import: lines of 255 at most, none that begins as an escape
    # does, no comment in a comment, glyphs by their numbers before the comments of a move.
    moves = text.partition("\n\n")[2]
    assert max(map(len, text.splitlines())) <= 255 and not [line for line in moves.splitlines() if line[:1] in "%;["]
    assert not re.search(r"\{[^}]*\{", moves) and moves.count("{") == moves.count("}")
    assert re.search(r"Nf6\s\$4\s\{", moves) and not re.search(r"[?!]", re.sub(r"\{[^}]*\}", "", moves))


def test_json_and_csv_have_everything(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("review", folder / "mate.pgn", *asked(folder), "--format", "json") == 0
    content = json.loads(capsys.readouterr().out)
    assert content["summary"].startswith("Elm - Oak 1-0") and len(content["moves"]) == 7
    assert "3...Nf6??" in [moment["move"] for moment in content["moments"]]
    assert run("review", folder / "mate.pgn", *asked(folder), "--format", "csv") == 0
    assert capsys.readouterr().out.startswith("move,san,mark,phase,value,loss,accuracy,best")


def test_evaluations_in_the_file_serve_without_an_engine(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("review", folder / "evals.pgn", "--evals") == 0
    out, err = capsys.readouterr()
    assert "5.Nxe5??" in out and "Judged by the evaluations in the file" in err
    found = assay.review(folder / "evals.pgn", evals=True)
    assert [move.mark for move in found.moves[:6]] == ["", "", "", "", "", "?"]
    assert found.moves[8].loss == pytest.approx(float(win_of(0.9) - win_of(-4.0)))
    assert found.white.expected is not None and found.black.expected is not None
    marked = chess.pgn.read_game(io.StringIO(found.to("pgn")))
    assert marked is not None
    nodes = list(marked.mainline())
    assert nodes[2].nags == {chess.pgn.NAG_GOOD_MOVE} and nodes[5].nags == {chess.pgn.NAG_MISTAKE}
    assert nodes[8].nags == {chess.pgn.NAG_BLUNDER} and found.to("pgn").count("%eval") == 13
    # Where there is no engine, evaluations are taken unasked; where there are none either, a sentence.
    bare = ("--engine", "no-such-engine", "--store", folder / "none.db")
    assert run("review", folder / "evals.pgn", *bare) == 0
    assert "Judged by the evaluations in the file" in capsys.readouterr().err
    assert run("review", folder / "mate.pgn", *bare) == 1
    assert "no chess engine 'no-such-engine' found" in capsys.readouterr().err
    assert run("review", folder / "mate.pgn", "--evals") == 1
    assert "carries no evaluations" in capsys.readouterr().err


def test_a_game_can_be_given_itself(folder: Path) -> None:
    (game,) = read(folder / "evals.pgn").all()
    assert assay.review(game, evals=True).head == assay.review(folder / "evals.pgn", evals=True).head
    with pytest.raises(assay.AssayError, match="no game 2"):
        assay.review(folder / "evals.pgn", 2, evals=True)


def test_a_game_without_tags_or_moves_is_told_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "bare.pgn").write_text("1. e4 { [%eval 0.2] } e5 { [%eval 0.3] } *\n")
    bare = assay.review(tmp_path / "bare.pgn", evals=True)
    assert bare.white.rating is None and bare.white.expected is None and bare.white.accuracy is not None
    (tmp_path / "empty.pgn").write_text(f"{HEAD}1-0\n")
    with pytest.raises(assay.AssayError, match="has no moves"):
        assay.review(tmp_path / "empty.pgn")
    (tmp_path / "wrong.pgn").write_text(f"{HEAD}1. e4 Ke4 1-0\n")
    with pytest.raises(assay.AssayError, match="cannot be read: illegal move"):
        assay.review(tmp_path / "wrong.pgn")


def test_the_accuracy_of_a_game_is_lichess() -> None:
    """The published formula, by hand: the mean of a mean weighted by volatility and the harmonic mean."""
    win = win_of(np.array([0.15, 0.2, 0.1, -3.0, -3.0]))
    stake = stakes(win)
    assert stake == pytest.approx([np.clip(np.std(win[at : at + 2]), 0.5, 12) for at in range(4)])
    accuracy = accuracy_of(np.array([0.0, 12.0]))
    assert accuracy[1] == pytest.approx(103.1668 * np.exp(-0.04354 * 12) - 3.1669)
    own = np.array([accuracy @ stake[:2] / stake[:2].sum(), 2 / (1 / accuracy).sum()])
    assert of_game(accuracy, stake[:2]) == pytest.approx(own.mean())
    # A move that loses everything counts as 1 % in the harmonic mean: 40 moves of which one does are no 30 %.
    blunder = np.array([100.0] * 39 + [0.0])
    assert of_game(blunder, np.ones(40)) == pytest.approx((97.5 + 40 / (39 / 100 + 1)) / 2)
