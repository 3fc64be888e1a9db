"""The front door: what `import assay` gives, and that each answer is what the command of the same purpose prints."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from tests.cli.test_rating import games, store
from tests.commands import told

import assay
from assay.errors import AssayWarning
from assay.moves.asked import Analysing, Asked

__all__ = ["games", "store"]

MATCH = str(assay.SAMPLE)
DEPTH = 6


def printed(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[str, str]:
    """What a command prints to stdout and stderr."""
    code, out, err = told(capsys, *words)
    assert not code, err
    return out, err


def same(capsys: pytest.CaptureFixture[str], answer: assay.Answer, *words: object) -> None:
    """An answer has all that is promised of answers, and prints as the command."""
    out, err = printed(capsys, *words)
    assert out == f"{answer}\n"
    assert printed(capsys, *words, "--format", "csv")[0] == f"{answer.to('csv')}\n"
    assert json.loads(printed(capsys, *words, "--format", "json")[0]) == json.loads(answer.to("json"))
    assert [remark for remark in answer.remarks if remark not in err] == []
    assert isinstance(answer.table, pl.DataFrame) and answer.table.height == len(answer)
    assert all(isinstance(count, int) for count in answer.problems.values())
    for name in answer:
        found = answer[name]
        assert isinstance(found, assay.Estimate) and 0 < found.level < 1
    with pytest.raises(assay.AssayError, match="there is no 'Nobody At All'"):
        answer["Nobody At All"]
    with pytest.raises(dataclasses.FrozenInstanceError):
        answer.head = "another"  # type: ignore[misc]


def test_import_loads_nothing() -> None:
    code = "import sys, assay; print(sorted({'numpy', 'polars', 'scipy', 'chess', 'click'} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout == "[]\n"


@pytest.mark.parametrize("name", assay.__all__)
def test_every_name_can_be_had(name: str) -> None:
    assert getattr(assay, name) is not None
    assert name in dir(assay)


@pytest.mark.parametrize(
    "given",
    [MATCH, Path(MATCH), [MATCH], (Path(MATCH),), assay.read(MATCH), assay.read([Path(MATCH)])],
    ids=["str", "Path", "list", "tuple", "Games", "Games of a list"],
)
def test_what_may_be_said_in_many_ways(given: Path) -> None:
    assert assay.rate_results(given)["Deep Blue"] == assay.rate_results(MATCH)["Deep Blue"]
    assert assay.rate_learned(given, game=1)["Deep Blue"] == assay.rate_learned(MATCH, game=1)["Deep Blue"]


@pytest.mark.parametrize("function", [assay.rate_results, assay.rate_learned])
def test_a_mistake_is_an_assay_error(function: Callable[[str], object], tmp_path: Path) -> None:
    (tmp_path / "empty.pgn").write_text("")
    for path in (tmp_path / "none.pgn", tmp_path / "empty.pgn"):
        with pytest.raises(assay.AssayError):
            function(str(path))


def test_results(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    same(capsys, assay.rate_results(MATCH), "results", MATCH)
    same(
        capsys,
        assay.rate_results(MATCH, white="fit", draws="fit", average=2800),
        *["results", "-W", "-D", "-a", "2800"],
        MATCH,
    )
    anchors = tmp_path / "anchors.csv"
    anchors.write_text('"Deep Blue",2900\n')
    given = assay.rate_results(MATCH, anchors={"Deep Blue": 2900.0})
    assert str(given) == str(assay.rate_results(MATCH, anchors=anchors))
    assert given["Deep Blue"].value == pytest.approx(2900) and given["Kasparov, Garry"].value < 2900
    same(capsys, given, "results", "-m", anchors, MATCH)
    with pytest.raises(assay.AssayError, match='Did you mean "Deep Blue"'):
        assay.rate_results(MATCH, anchors={"Deep Blu": 2900.0})


def test_results_count_their_problems(tmp_path: Path) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(
        '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1-0\n\n[White "B"]\n[Black "A"]\n[Result "1-0"]\n\n1-0\n\n'
        '[White "A"]\n[Black "B"]\n[Result "*"]\n\n*\n\n[White "A"]\n[Black "B"]\n[Result "none"]\n\n*\n'
    )
    with pytest.warns(assay.errors.AssayWarning, match="left out"):
        found = assay.rate_results(games)
    assert found.problems == {'unknown result "none"': 1, 'without a result ("*")': 1}
    assert any("left out" in remark for remark in found.remarks)


def test_learned(capsys: pytest.CaptureFixture[str]) -> None:
    same(capsys, assay.rate_learned(MATCH), "guess", MATCH)
    same(capsys, assay.rate_learned(MATCH, game=2), "guess", MATCH, "--game", 2)
    pooled = assay.rate_learned(MATCH, player="Deep Blue")
    same(capsys, pooled, "guess", MATCH, "--player", "Deep Blue")
    assert pooled["Deep Blue"].low < pooled["Deep Blue"].value < pooled["Deep Blue"].high


def test_moves(games: Path, store: Path, capsys: pytest.CaptureFixture[str]) -> None:
    stored = {"store": store, "depth": DEPTH, "no_analysis": True}
    words = (games, "--store", store, "--depth", DEPTH, "--no-analysis", "--quiet")
    same(capsys, assay.rate_moves(games, **stored), "ipr", *words)
    same(
        capsys,
        assay.rate_moves([games], by="phase", level=0.8, **stored),
        "ipr",
        *words,
        *["--by", "phase", "--level", "80"],
    )
    same(capsys, assay.posterior(games, 2, **stored), "posterior", *words, "--game", 2)
    ratings = games.with_name("ratings.csv")
    ratings.write_text('Deep Blue,2700\n"Kasparov, Garry",2795\n')
    given = {"Deep Blue": 2700.0, "Kasparov, Garry": 2795.0}
    same(capsys, assay.screen(games, ratings=given, **stored), "screen", *words, "--rating", ratings)
    kasparov = assay.rate_moves(games, player="Kasparov, Garry", **stored)
    assert list(kasparov) == ["Kasparov, Garry"] and len(kasparov) == 1


def test_one_analysis_serves_many_answers(games: Path, store: Path) -> None:
    stored = {"store": store, "depth": DEPTH, "no_analysis": True}
    with assay.analyse(games, **stored) as analysis:
        assert isinstance(analysis, assay.Analysis)
        rated, followed = assay.rate_moves(analysis), assay.posterior(analysis, 2)
        assert assay.screen(analysis).table.height == 2
    assert str(rated) == str(assay.rate_moves(games, **stored))
    assert str(followed) == str(assay.posterior(games, 2, **stored))


def test_a_report_is_an_answer(games: Path, store: Path, tmp_path: Path) -> None:
    made = assay.report(games, store=store, depth=DEPTH, no_analysis=True)
    assert made.write(tmp_path / "event.html") == (tmp_path / "event.html").stat().st_size
    assert set(made) == {"Deep Blue", "Kasparov, Garry"} and made.table.height == 2
    assert max(map(len, str(made).splitlines())) <= 80
    with pytest.raises(assay.AssayError, match="exclude each other"):
        assay.report(games, quick=True, depth=8)


def test_calibrations_need_rated_games(games: Path, store: Path) -> None:
    with pytest.raises(assay.AssayError, match="--within"):
        assay.calibrate(games, store=store, depth=DEPTH)


def test_the_keywords_of_an_analysis_are_one_object() -> None:
    fields = {field.name: field.type for field in dataclasses.fields(Asked)}
    assert fields == {name: kind.__forward_arg__ for name, kind in Analysing.__annotations__.items()}


def test_an_analysis_takes_no_keyword_that_it_would_forget(games: Path, store: Path, tmp_path: Path) -> None:
    with pytest.raises(assay.AssayError, match="give aliases to what rates it"):
        assay.analyse(games, store=store, aliases=tmp_path / "names.csv", no_analysis=True)


def test_a_name_that_is_not_there_is_answered_with_those_that_are() -> None:
    with pytest.raises(AttributeError, match=r"has no attribute 'guess'; it has .*rate_learned"):
        assay.guess  # type: ignore[attr-defined]  # noqa: B018


def test_who_has_only_wins_has_a_rating_without_an_interval(tmp_path: Path) -> None:
    (tmp_path / "one.csv").write_text("white,black,result\nAnn,Bob,1-0\n")
    with pytest.warns(AssayWarning, match="only wins or only losses"):
        found = assay.rate_results(tmp_path / "one.csv")
    assert not found["Ann"].bounded and "nan" not in str(found["Ann"])


FEN = "4k3/8/8/8/8/8/4q3/R3K2R w - - 0 1"


@pytest.mark.parametrize(
    ("answer", "words"),
    [
        (lambda: assay.stats(MATCH), ("stats", MATCH)),
        (lambda: assay.choose(MATCH, where="plies > 80"), ("filter", MATCH, "--where", "plies > 80")),
        (lambda: assay.choose(MATCH, where="True", preview=2), ("filter", MATCH, "--where", "True", "--preview", 2)),
        (
            lambda: assay.planes(MATCH, 2, 30, planes=[0, 36]),
            ("planes", MATCH, "--game", 2, "--ply", 30, "--planes", "0,36"),
        ),
        (lambda: assay.calibration(depth=6), ("calibration", "show", "--depth", 6)),
        (lambda: assay.calibrations(), ("calibration", "list")),
        (lambda: assay.foretell(FEN, [1500, 2500]), ("chances", FEN, "--elo", "1500,2500")),
        (lambda: assay.rating_lists(), ("ratings", "list")),
    ],
    ids=lambda each: "-".join(map(str, each[:1])) if isinstance(each, tuple) else "",
)
def test_what_starts_no_engine(
    answer: Callable[[], assay.Answer],
    words: tuple[object, ...],
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path))
    same(capsys, answer(), *words)


def test_a_simulated_event_is_an_answer(tmp_path: Path) -> None:
    made = assay.simulate(
        tmp_path / "two.pgn", s=[0.2, 0.2], c=[0.5, 0.5], games=2, depth=1, lines=3, workers=1, seed=1
    )
    assert [game.tags["Result"] for game in assay.read(tmp_path / "two.pgn")] == made.table["result"].to_list()
    assert len(made) == len(made.played) == 2 and "2 games written to" in made.remarks[-1]


def test_an_answer_is_written_as_its_file_is_called(tmp_path: Path) -> None:
    answer = assay.event(MATCH)
    for name, format in (("a.txt", "table"), ("a.csv", "csv"), ("a.json", "json"), ("a.html", "html")):
        answer.write_text(tmp_path / name)
        assert (tmp_path / name).read_text(encoding="utf-8") == f"{answer.to(format)}\n"
    assay.rate_results(MATCH).write_text(tmp_path / "a.html")  # no page of its own: publish makes one
    assert "PLAYER" in (tmp_path / "a.html").read_text(encoding="utf-8")


def test_groups_and_shrunk_games_are_what_the_commands_write(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    printed(capsys, "results", "-q", "-g", tmp_path / "groups.txt", MATCH)
    assert (tmp_path / "groups.txt").read_text(encoding="utf-8") == assay.groups(MATCH).report
    out, err = printed(capsys, "prep", "-g", 6, MATCH)
    kept = assay.shrink(MATCH, min_games=6)
    assert out == kept.pgn and err.splitlines()[-1] == kept.remarks[-1]
    kept.write_text(tmp_path / "kept.pgn", "table")
    assert (tmp_path / "kept.pgn").read_text(encoding="utf-8") == kept.pgn


def test_a_list_over_time_has_two_files(tmp_path: Path) -> None:
    answer = assay.rate_over_time(MATCH, by="year")
    assert [path.name for path in assay.publish(answer, output=tmp_path / "a.html")] == ["a.html"]
    with pytest.raises(assay.AssayError, match="output and csv"):
        assay.publish(answer, head2head=tmp_path / "h.txt")
