"""The commands report and serve: what they write, and the sentences for what they cannot do."""

from __future__ import annotations

import json
import runpy
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.commands import told

from assay import paths
from assay.reports import growing

Run = Callable[..., tuple[int, str]]
make_report = runpy.run_path(str(Path(__file__).parents[1] / "reports" / "conftest.py"))["make_report"]


@pytest.fixture
def run(capsys: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Run a command in an empty folder; exit code and what it said on stderr."""
    monkeypatch.chdir(tmp_path)

    def call(*args: str) -> tuple[int, str]:
        code, _, err = told(capsys, *args)
        return code, err

    return call


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """A made-up report in the place of a real one; what was asked of it."""
    calls: list[dict[str, Any]] = []

    def made_up(files: Any, making: Any, **how: Any) -> Any:
        calls.append({"files": files, "making": making, **how})
        return make_report()

    monkeypatch.setattr(growing, "make", made_up)
    return calls


def test_a_report_is_html_by_default(run: Run, asked: list[dict[str, Any]]) -> None:
    code, said = run("report", "games.pgn", "--store", "s.db")
    assert code == 0
    assert said.startswith("3 games, 2 players: report.html (")
    assert Path("report.html").read_text(encoding="utf-8").startswith("<!doctype html>")
    assert asked[0]["making"].calibrated().depth == 8
    assert asked[0]["making"].store == Path("s.db")


@pytest.mark.parametrize(
    ("words", "file", "start"),
    [
        (["-o", "out.json"], "out.json", "{"),
        (["-o", "out.csv"], "out.csv", "player,"),
        (["--format", "pgn"], "report.pgn", "[Event"),
        (["--format", "csv", "-o", "table.txt"], "table.txt", "player,"),
        (["-o", "page.htm"], "page.htm", "<!doctype"),
    ],
)
def test_the_format_follows_the_name(
    run: Run, asked: list[dict[str, Any]], words: list[str], file: str, start: str
) -> None:
    assert run("report", "games.pgn", *words)[0] == 0
    assert Path(file).read_text(encoding="utf-8").startswith(start)


def test_json_is_json(run: Run, asked: list[dict[str, Any]]) -> None:
    run("report", "games.pgn", "--quick", "-o", "out.json")
    assert json.loads(Path("out.json").read_text(encoding="utf-8"))["title"] == "London 1851"
    assert asked[0]["making"].calibrated().depth == 6


def test_a_pdf_without_a_browser_is_a_sentence(
    run: Run, asked: list[dict[str, Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(paths, "find_browser", lambda: None)
    code, said = run("report", "games.pgn", "-o", "report.pdf")
    assert (code, Path("report.pdf").exists()) == (1, False)
    assert "needs Chromium or Chrome" in said


def test_a_place_that_cannot_be_written_is_a_sentence_before_any_work(run: Run, asked: list[dict[str, Any]]) -> None:
    code, said = run("report", "games.pgn", "-o", "nowhere/report.html")
    assert code == 1
    assert "the folder nowhere does not exist" in said
    assert not asked


def test_wrong_usage(run: Run) -> None:
    assert run("report", "games.pgn", "--quick", "--deep")[0] == 2
    assert run("report")[0] == 2
    assert run("report", "games.pgn", "--format", "docx")[0] == 2
    assert run("serve", "--port", "99999")[0] == 2


def test_a_file_that_is_not_there(run: Run) -> None:
    code, said = run("report", "games.pgn", "--store", "s.db")
    assert code == 1
    assert "there is no file games.pgn" in said


def test_serve_without_its_extra_names_it(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in sys.modules if name.startswith("assay.web")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    code, said = run("serve")
    assert code == 1
    assert 'uvicorn is not installed. Install it with: pip install "assay[web]"' in said
