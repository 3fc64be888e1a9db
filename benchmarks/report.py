"""What a report of stored games costs and weighs, and how soon it is seen: pages opened in Chromium.

    python benchmarks/report.py GAMES.pgn[.zst] --store FILE [--games 54] [--many 1000] [--depth 8] [--rounds 3]

The first games of the file make one HTML file, all of them (at most --many) one with its games in files beside it.
Each is made once before it is measured: what the store lacks is analysed then, and marked moves are looked at again,
as for everybody who asks for a report; so the store should have these games. First paint is what the browser says
itself (`first-contentful-paint`), the least of some openings: what the machine does besides is not the page's doing.
"""

from __future__ import annotations

import argparse
import tempfile
from itertools import islice
from pathlib import Path

from playwright.sync_api import sync_playwright

from assay.games import read
from assay.paths import find_browser
from measure import ASSAY, Measurement, of_command, show

HALF = 2.8  # CPU seconds: half of what version 0.1 took for 54 games of 98 players (5.62 s)
_FLAGS = ["--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-sync"]
_PAINT = "performance.getEntriesByName('first-contentful-paint')[0].startTime"


def first_paint(file: Path, rounds: int) -> float:
    """Seconds until something of a page is seen, the least of some openings."""
    found = []
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=find_browser(), args=_FLAGS)
        for _ in range(rounds):
            page = browser.new_page(viewport={"width": 1280, "height": 900}, bypass_csp=True)
            page.goto(file.as_uri())
            page.wait_for_function("performance.getEntriesByName('first-contentful-paint').length > 0")
            found.append(page.evaluate(_PAINT) / 1000)
            page.close()
        browser.close()
    return min(found)


def measure(
    file: Path, folder: Path, store: Path, *, games: int = 54, many: int = 1000, depth: int = 8, rounds: int = 3
) -> list[Measurement]:
    """One file of some games, and many games beside a summary."""
    chosen = [game.data.strip() for game in islice(read(file), many)]
    asked = ["--depth", str(depth), "--quiet", "--store", str(store)]
    rows = []
    for number, words in ((games, []), (len(chosen), ["--games", "beside"])):
        event, page = folder / f"{number}.pgn", folder / f"{number}.html"
        event.write_bytes(b"\n\n".join(chosen[:number]) + b"\n")
        command = [*ASSAY, "report", str(event), *asked, *words, "-o", str(page)]
        of_command(command)  # its second looks are in the store from here on
        cost = min((of_command(command) for _ in range(1 if words else rounds)), key=lambda one: one.cpu)
        name = f"report, {number} stored games{', games beside' if words else ''}"
        rows += [
            Measurement(name, cost.cpu, "s", target=None if words else HALF, less=True),
            Measurement(f"{name}, memory", cost.memory, "MB", less=True),
            Measurement(f"{name}, size", page.stat().st_size / 1e6, "MB", target=2.0, less=True),
            Measurement(f"{name}, first paint", first_paint(page, 5), "s", target=0.3, less=True),
        ]
    return rows


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--store", type=Path, required=True, help="a store with the analyses of these games")
    parser.add_argument("--games", type=int, default=54)
    parser.add_argument("--many", type=int, default=1000)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", type=Path, help="write the measurements there too")
    args = parser.parse_args()
    how = {"games": args.games, "many": args.many, "depth": args.depth, "rounds": args.rounds}
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(args.file, Path(folder), args.store, **how)
    show(rows, f"Reports on games of {args.file.name}, depth {args.depth}", args.json)


if __name__ == "__main__":
    main()
