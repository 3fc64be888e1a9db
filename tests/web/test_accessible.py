"""What axe-core finds on the report and on the page: nothing, on a phone and on a desk, light and dark."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

from assay.reports.exports import write
from assay.reports.page import render

ROOT = Path(__file__).parents[2]
AXE = ROOT / ".tools" / "axe" / "node_modules" / "axe-core" / "axe.min.js"
make_report = runpy.run_path(str(ROOT / "tests" / "reports" / "conftest.py"))["make_report"]


@pytest.fixture(scope="module")
def axe() -> str:
    if not AXE.is_file():
        pytest.skip("needs axe-core: tools/install-npm.sh fetches it")
    return AXE.read_text(encoding="utf-8")


def violations(page: Page, axe: str) -> list[str]:
    """The rules that are broken, each with the first place where it is."""
    page.evaluate(axe)
    found: Any = page.evaluate("axe.run(document, { resultTypes: ['violations'] })")
    return [f"{rule['id']}: {rule['nodes'][0]['html'][:160]}" for rule in found["violations"]]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 1280])
def test_the_report(page: Page, tmp_path: Path, axe: str, scheme: Any, width: int) -> None:
    file = tmp_path / "report.html"
    file.write_text(render(make_report()), encoding="utf-8")
    page.emulate_media(color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 800})
    page.goto(file.as_uri())
    page.get_by_role("button", name="Show the witnesses").click()
    page.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
    expect(page.locator("#game-3 .board svg")).to_be_visible()
    page.locator("#game-1").get_by_role("button", name="Last position").click()
    assert violations(page, axe) == []


def test_the_page(server: Any, page: Page, axe: str) -> None:
    page.goto(server.url)
    assert violations(page, axe) == []


@pytest.mark.parametrize("width", [390, 820])
def test_a_report_in_several_files(page: Page, tmp_path: Path, axe: str, width: int) -> None:
    write(make_report(), tmp_path / "event.html", "html", beside=True)
    page.set_viewport_size({"width": width, "height": 900})
    for name in ("event.html", "event-games/games-1.html", "event-games/players-1.html"):
        page.goto((tmp_path / name).as_uri())
        page.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
        assert violations(page, axe) == [], name
        assert page.evaluate("document.documentElement.scrollWidth") <= width
    page.goto((tmp_path / "event.html").as_uri())
    page.locator("#games a").first.click()
    expect(page.locator("#game-1 .board svg")).to_be_visible()  # the link opens the game
    page.get_by_role("link", name="Summary").click()
    expect(page.locator("#glance")).to_be_visible()
