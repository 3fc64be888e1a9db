"""Marked moves are looked at again, deeper: marks that do not stand are taken back, and what was seen is stored."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import chess
import pytest
from tests.commands import run

import assay
from assay.engine.identity import Identity
from assay.engine.store import Store
from assay.errors import InputError
from assay.moves.asked import Asked
from assay.players import guessed
from assay.reports import growing, reviewing
from assay.reports.second_look import Look, Played, look_again

GAME = """[Event "Rated Rapid game"]
[Site "https://lichess.org/abcd1234"]
[White "Elm"]
[Black "Oak"]
[Result "1-0"]
[WhiteElo "1650"]
[BlackElo "1600"]

1. e4 e5 2. Bc4 Nc6 3. Qh5 Nf6 4. Qxf7# 1-0
"""
LONGER = GAME.replace(
    "3. Qh5 Nf6 4. Qxf7#",
    "3. Nf3 Bc5 4. O-O Nf6 5. d3 d6 6. c3 O-O 7. h3 h6 8. Re1 a6 9. Bb3 Re8 10. Nbd2 Nh5 11. Nxe5 Nxe5 12. Qxh5",
)


NOBODY = Identity("Nobody 1", "", (), 0, 50)


def after(*sans: str) -> chess.Board:
    board = chess.Board()
    for san in sans:
        board.push_san(san)
    return board


def test_a_blunder_stands_and_the_best_move_loses_nothing(tmp_path: Path) -> None:
    board = after("e4", "e5", "Bc4", "Nc6", "Qh5")
    played = [(board, board.parse_san(san)) for san in ("Nf6", "g6")]
    mate = after("e4", "e5", "Bc4", "Nc6", "Qh5", "Nf6")
    played.append((mate, mate.parse_san("Qxf7#")))
    with Store(tmp_path / "store.db", create=True) as store:
        (nobody,) = look_again(played[:1], store, NOBODY, 2, Asked(no_analysis=True))
        assert nobody is None
        looks = look_again(played, store, NOBODY, 2, Asked())
        by = store.kept()[0].identity
        # What was seen is stored: no engine is needed again.
        assert look_again(played, store, by, 2, Asked(engine="no-such-engine", no_analysis=True)) == looks
    blunder, best, mating = looks
    assert blunder and best and mating
    assert blunder.loss > 40 and blunder.best != played[0][1]
    assert best.loss < 5 and mating.loss == 0


def never(played: Sequence[Played]) -> list[Look | None]:
    """A look at which the move played is always the best."""
    return [Look(move, 0.0, 0.0) for _, move in played]


def test_a_mark_that_does_not_stand_is_taken_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "game.pgn").write_text(GAME)
    asked = {"store": tmp_path / "store.db", "depth": 6}
    found = assay.review(tmp_path / "game.pgn", **asked)
    blunder = found.moves[5]
    assert blunder.mark == "??" and blunder.lost_again and found.judge.endswith("depth 6, marks 10")
    assert blunder.lost == min(blunder.loss or 0, blunder.lost_again)
    assert f"[%cal G{blunder.best_uci}]" in found.to("pgn")
    monkeypatch.setattr(reviewing, "looking", lambda *_: never)
    found = assay.review(tmp_path / "game.pgn", **asked)
    assert not any(move.mark for move in found.moves) and "%cal" not in found.to("pgn")
    assert found.moves[5].loss and found.moves[5].loss > 40  # as it seemed at first


def test_without_an_engine_it_is_said_that_nobody_looked_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "game.pgn").write_text(GAME)
    words = ("review", tmp_path / "game.pgn", "--depth", 6, "--store", tmp_path / "store.db", "--quiet")
    assert run("analyse", *words[1:4], "--store", tmp_path / "store.db", "--from-move", 1, "--quiet") == 0
    capsys.readouterr()
    assert run(*words, "--no-analysis") == 0
    assert "No engine looked at the marks again" in capsys.readouterr().err
    assert run(*words) == 0
    assert "looked at the marks" not in capsys.readouterr().err


def test_the_report_looks_again_as_well(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "game.pgn").write_text(LONGER)
    asked = {"store": tmp_path / "store.db", "depth": 6}
    report = assay.report(tmp_path / "game.pgn", **asked).report
    marked = [move for move in report.games[0].moves if move.mark]
    assert marked and all(move.lost_again is not None and move.better for move in marked)
    assert report.provenance.settings["Marks"].endswith("does so again at depth 10")
    monkeypatch.setattr(growing, "looking", lambda *_: never)
    assert not any(move.mark for move in assay.report(tmp_path / "game.pgn", **asked).report.games[0].moves)


def test_whose_games_they_are_may_be_said_of_few_games(tmp_path: Path) -> None:
    pairs = [("Elm", "Oak"), ("Oak", "Elm"), ("Elm", "Ash")]
    assert guessed(pairs) is None and guessed(pairs, one=True) == "Elm"
    assert guessed(pairs[:2], one=True) is None
    (tmp_path / "games.pgn").write_text(GAME)
    with pytest.raises(InputError, match=r'nobody alone .* \("(Elm|Oak)", "(Elm|Oak)"\)'):
        assay.report(tmp_path / "games.pgn", me=True, store=tmp_path / "store.db", depth=6)
