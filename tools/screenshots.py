"""Make the pictures of the README: the report, a game in it, and the page while it works.

    python tools/screenshots.py [GAMES.pgn] [--store STORE] [--preset default] [-o docs/images]

Without games it takes the simulated event that ships, in which one player is helped.
Needs Chromium (tools/install-browser.sh) and an engine.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
from importlib import resources
from pathlib import Path

from playwright.sync_api import Browser, Page, sync_playwright

from assay.moves.asked import Asked
from assay.paths import find_browser
from assay.presets import PRESETS
from assay.reports.growing import make
from assay.reports.page import render

FLAGS = "--no-sandbox --disable-gpu --no-first-run --disable-background-networking --disable-sync"
WIDE = {"width": 1120, "height": 760}


def shoot(browser: Browser, page_file: Path, folder: Path) -> None:
    """The report at a glance, a player, a game."""
    page = _open(browser, page_file, WIDE | {"height": 1130})
    page.screenshot(path=folder / "report.png")
    page.locator("#player-1 > summary").click()
    page.locator("#player-1 .witness-table").wait_for()
    page.locator("#player-1").screenshot(path=folder / "report-player.png")
    page.locator("#game-4 > summary").click()
    page.locator("#game-4 .board svg").wait_for()
    marked = page.locator("#game-4 .moves button", has=page.locator(".bad"))
    (marked.first if marked.count() else page.locator("#game-4 .moves button").last).click()
    page.locator("#game-4").screenshot(path=folder / "report-game.png")


def _open(browser: Browser, file: Path, size: dict[str, int]) -> Page:
    page = browser.new_page(viewport=size, device_scale_factor=1.25)  # type: ignore[arg-type]
    page.goto(file.as_uri())
    return page


def shoot_page(browser: Browser, games: Path, store: Path, preset: str, folder: Path) -> None:
    """The page as it stands at first, and while a report grows."""
    with tempfile.TemporaryDirectory() as jobs:
        command = [sys.executable, "-c", "from assay.cli.main import main; main()", "serve", "--port", "0"]
        server = subprocess.Popen([*command, "--jobs", jobs, "--store", str(store)], stderr=subprocess.PIPE, text=True)
        try:
            assert server.stderr is not None
            address = next(word for word in server.stderr.readline().split() if word.startswith("http"))
            page = browser.new_page(viewport=WIDE, device_scale_factor=1.5)  # type: ignore[arg-type]
            page.goto(address)
            page.screenshot(path=folder / "page.png")
            page.set_input_files("#file", games)
            page.check(f"input[value={preset}]")
            page.get_by_role("button", name="Make the report").click()
            page.wait_for_selector("#report h1, #message:not([hidden])", timeout=600_000)
            page.screenshot(path=folder / "page-growing.png")
        finally:
            server.terminate()
            server.wait()


def main() -> None:
    sample = resources.files("assay.data").joinpath("simulated-event.pgn")
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", nargs="?", type=Path, default=Path(str(sample)))
    parser.add_argument("--store", type=Path)
    parser.add_argument("--preset", choices=PRESETS, default="default")
    parser.add_argument("-o", "--output", type=Path, default=Path("docs/images"))
    words = parser.parse_args()
    words.output.mkdir(parents=True, exist_ok=True)
    report = make([words.games], Asked(store=words.store, depth=PRESETS[words.preset].depth))
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as folder:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS.split())
        file = Path(folder) / "report.html"
        file.write_text(render(report), encoding="utf-8")
        shoot(browser, file, words.output)
        # With a store of its own the page has something to do, so that the picture shows it at work.
        shoot_page(browser, words.games, Path(folder) / "store.db", "quick", words.output)
        browser.close()


if __name__ == "__main__":
    main()
