"""The tutorials are true: every command runs in a fresh folder and prints what the page says."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest

from assay.engine import Engine
from assay.errors import EngineError

ROOT = Path(__file__).parents[1]
TUTORIALS = ROOT / "docs" / "tutorials"


@pytest.fixture(scope="session")
def tool() -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "tools" / "tutorials.py"))


@pytest.fixture(scope="session")
def engine() -> str:
    """The name of the engine here; the pages that need one were written with the engine of the calibrations."""
    try:
        with Engine() as found:
            return found.identity().engine
    except EngineError as error:
        return str(error)


@pytest.mark.parametrize("name", ["arbiter", "rating-list-keeper", "researcher", "player"])
def test_a_tutorial_can_be_followed_word_by_word(name: str, tool: dict[str, Any], engine: str, tmp_path: Path) -> None:
    page = TUTORIALS / f"{name}.md"
    if name != "rating-list-keeper" and engine != "Stockfish 15.1":
        pytest.skip(f"needs Stockfish 15.1, and here: {engine}")
    _, wrong = tool["follow"](page, tmp_path, slow=False)
    assert not wrong, "\n\n".join([*wrong, "'python tools/tutorials.py --write' renews the page."])


def test_every_tutorial_is_tested_and_on_the_map() -> None:
    pages = {page.stem for page in TUTORIALS.glob("*.md")}
    assert pages == {"arbiter", "rating-list-keeper", "researcher", "player"}
    index = (ROOT / "docs" / "index.md").read_text(encoding="utf-8")
    assert all(f"tutorials/{name}.md" in index for name in pages)


def test_a_page_that_is_not_true_is_told(tool: dict[str, Any], tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("```console\n$ echo 1 game\n2 games\n```\n\n```console slow\n$ exit 1\n```\n")
    text, wrong = tool["follow"](page, tmp_path, slow=False)
    assert wrong == ["$ echo 1 game\nthe page says:\n2 games\nnow it is:\n1 game"]
    assert text == "```console\n$ echo 1 game\n1 game\n```\n\n```console slow\n$ exit 1\n```\n"


def test_lines_left_out_stay_left_out(tool: dict[str, Any]) -> None:
    assert tool["shown"](["1", "2", "3", "4"], ["a", "...", "d"]) == ["1", "...", "4"]
