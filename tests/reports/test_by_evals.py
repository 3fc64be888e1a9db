"""A report without an engine: by the evaluations that the games carry."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import assay
from assay.cli.main import main
from assay.engine import identity
from assay.errors import InputError
from assay.games.archives import sample
from assay.reports.page import render


def valued(text: str, number: int) -> str:
    """A game of the sample as Lichess would give it, with made-up values: at every ninth move something is lost."""
    head, _, moves = text.strip().partition("\n\n")
    head = re.sub(r"\[(Event|Site|Date) [^\n]*\n", "", head)
    words, value, plies = [], 30, 0
    for word in moves.split():
        words.append(word)
        if word[0].isdigit() or word == "*":
            continue
        if plies % 9 == 5:
            value += -260 if plies % 2 == 0 else 260
        elif plies % 9 == 8:
            value = 30
        words.append(f"{{ [%eval {value / 100:.2f}] }}")
        plies += 1
    tags = f'[Event "Rated Rapid game"]\n[Site "https://lichess.org/game{number:04}"]\n'
    tags += f'[Date "2022.0{1 + number % 2}.03"]\n'
    return f'{tags}{head}\n[TimeControl "600+5"]\n\n{" ".join(words)}\n'


@pytest.fixture(scope="module")
def games(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The five games of one player."""
    texts = [f"[Event {text}" for text in sample("simulated-event.pgn").decode().split("[Event ")[1:]]
    own = [text for text in texts if '"Elm"' in text]
    path = tmp_path_factory.mktemp("evals") / "mine.pgn"
    path.write_text("\n".join(valued(text, at) for at, text in enumerate(own)), encoding="utf-8")
    return path


@pytest.fixture
def no_engine(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr(identity, "USUAL_PLACES", ())


def test_where_no_engine_is_found_the_evaluations_speak(games: Path, no_engine: None, tmp_path: Path) -> None:
    made = assay.report(games, player="Elm", store=tmp_path / "none.db")
    report = made.report
    assert any("The evaluations in the games are used instead" in remark for remark in made.remarks)
    assert report.me is not None and report.provenance.engine == "" and report.provenance.turns > 200
    (elm,) = report.players
    said = next(one for one in assay.rate(games, evals=True).said if one.player == "Elm")
    assert elm.joint.value == said.joint.value and elm.intrinsic.known and elm.screening is None
    assert "takes an engine" in elm.screening_note and [m.name for m in elm.measures] == ["Average loss in centipawns"]
    marked = [move for game in report.games for move in game.moves if move.mark]
    assert marked and all(move.loss and move.expected is not None and not move.candidates for move in marked)
    assert len(report.me.mistakes) == 5
    assert all("lose" in mistake.text and "on average" in mistake.text for mistake in report.me.mistakes)
    assert {part.label for part in report.me.by_phase} >= {"opening", "middlegame"}
    page = render(report)
    assert "Moves were judged by the evaluations that the games carry" in page


def test_evaluations_are_taken_where_that_is_asked(games: Path, tmp_path: Path) -> None:
    report = assay.report(games, evals=True, store=tmp_path / "none.db").report
    assert report.provenance.engine == "" and not (tmp_path / "none.db").exists()
    event = tmp_path / "event.pgn"
    event.write_text(games.read_text().replace('"Elm"', '"Oak"', 2))
    told = assay.report(event, evals=True, store=tmp_path / "none.db").report.summary
    assert told.endswith(
        "By the evaluations in the games nobody's play can be compared with a rating: that takes an engine."
    )


def test_games_without_evaluations_are_a_sentence(no_engine: None, tmp_path: Path) -> None:
    path = tmp_path / "plain.pgn"
    path.write_bytes(sample("simulated-event.pgn"))
    with pytest.raises(InputError, match="carry no evaluations"):
        assay.report(path, evals=True)
    with pytest.raises(SystemExit, match=r"^1$"):
        main(["report", str(path), "--store", str(tmp_path / "none.db"), "-o", str(tmp_path / "x.html")])
