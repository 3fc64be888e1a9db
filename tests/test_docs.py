"""The examples of the documentation run, and its links lead somewhere."""

from __future__ import annotations

import re
import runpy
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from assay.cli import games
from assay.cli.main import COMMANDS
from assay.games.archives import write_samples
from assay.moves.groups import KEYS
from assay.moves.regan import CURVES, MODELS

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
# Pages of which something is run; the tutorials have a test of their own.
WITH_EXAMPLES = [
    page for page in sorted(DOCS.glob("*.md")) if re.search(r"(?m)^(>>> |```console)", page.read_text("utf-8"))
]
follow = runpy.run_path(str(ROOT / "tools" / "tutorials.py"))["follow"]


@pytest.fixture
def tables_as_before() -> Iterator[None]:
    """What the examples add to the tables of the package is gone after them."""
    tables: tuple[dict[Any, Any], ...] = (CURVES, MODELS, KEYS, COMMANDS["Games"])
    before = [dict(table) for table in tables]
    yield
    for table, old in zip(tables, before, strict=True):
        table.clear()
        table.update(old)
    vars(games).pop("shortest", None)


@pytest.mark.usefixtures("tables_as_before")
@pytest.mark.parametrize("page", WITH_EXAMPLES, ids=lambda page: page.stem)
def test_the_examples_run(page: Path, tmp_path: Path) -> None:
    _, wrong = follow(page, tmp_path, slow=False)
    assert not wrong, "\n\n".join(wrong)


def test_the_front_page_is_short_and_true(tmp_path: Path) -> None:
    """A person decides in two minutes; what the first screen shows is what the command prints."""
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    assert len(text.splitlines()) <= 150
    first_screen = "\n".join(text.splitlines()[:25])
    assert "$ assay" in first_screen and "![" in first_screen
    write_samples(tmp_path)
    _, wrong = follow(ROOT / "README.md", tmp_path)
    assert not wrong, "\n\n".join(wrong)


@pytest.mark.parametrize("page", sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")]), ids=lambda page: page.stem)
def test_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\(([^)#]+)", page.read_text(encoding="utf-8"))
    missing = [link for link in links if "://" not in link and not (page.parent / link).exists()]
    assert not missing


def test_every_page_is_on_the_map() -> None:
    index = (DOCS / "index.md").read_text(encoding="utf-8")
    pages = {str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md")} - {"index.md"}
    assert not {page for page in pages if f"({page})" not in index}


@pytest.mark.parametrize("page", sorted(DOCS.rglob("*.md")), ids=lambda page: page.stem)
def test_every_page_begins_with_what_it_is_for_and_ends_in_time(page: Path) -> None:
    lines = page.read_text(encoding="utf-8").splitlines()
    begin = next(line for line in lines[1:] if line.strip())
    assert lines[0].startswith("# ") and len(begin) > 40 and not begin.startswith(("#", "|", "```", "- ", "<")), begin
    assert len(lines) <= 300 or page.stem == "validation"


def test_the_version_is_one() -> None:
    import assay

    changes = (ROOT / "CHANGELOG.md").read_text(encoding="utf-8")
    assert re.search(r"^## (\S+)", changes, re.MULTILINE)[1] == assay.__version__  # type: ignore[index]
    assert f"assay-{assay.__version__}-py3-none-any.whl" in (DOCS / "install.md").read_text(encoding="utf-8")
