"""What a rating list from results and moves costs: `assay rate --list` beside `assay results` on the same games.

    python benchmarks/answer.py ANALYSED.pgn STORE ARCHIVE... [--games 5000] [--depth 8] [--pool otb-slow]

ANALYSED are games whose analyses are in STORE; they are written again under other names until there are `--games` of
them: the analysed list. ARCHIVE has many games more; the second list is of these with the analysed ones among them.
Each command runs in a process of its own; CPU seconds tell more than the clock where a machine is busy.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from assay.games import read
from assay.games.completing import with_tags
from measure import ASSAY, Cost, of_command


def many(analysed: Path, games: int, out: Path) -> int:
    """The games again and again, by other people each time."""
    some, written = read(analysed).all(), 0
    with out.open("wb") as file:
        for turn in range(-(-games // len(some))):
            for game in some[: games - written]:
                names = {side: f"{game.tags.get(side, '?')} {turn + 1}" for side in ("White", "Black")}
                file.write(with_tags(game, names).strip() + b"\n\n")
                written += 1
    return written


def cost(*words: object) -> Cost:
    """What a command takes."""
    return of_command([*ASSAY, *map(str, words)])


def told(found: Cost) -> str:
    return f"{found.cpu:.1f} s of CPU, {found.wall:.1f} s, {found.memory:.0f} MB"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("analysed", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("archives", nargs="*")
    parser.add_argument("--games", type=int, default=5000)
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--pool", default="otb-slow")
    given = parser.parse_args()
    how = ("--list", "--store", given.store, "--depth", given.depth, "--pool", given.pool, "--format", "csv", "--quiet")
    with tempfile.TemporaryDirectory() as folder:
        copies = Path(folder) / "analysed.pgn"
        count = many(given.analysed, given.games, copies)
        print(f"{count} games, all analysed: {told(cost('rate', copies, *how))}", flush=True)
    if given.archives:
        files = (*given.archives, given.analysed)
        alone = cost("results", *files, "--format", "csv")
        print(f"archive, results alone: {told(alone)}", flush=True)
        both = cost("rate", *files, *how)
        more = f"{both.cpu - alone.cpu:.1f} s of CPU and {both.wall - alone.wall:.1f} s more"
        print(f"archive, list from both: {told(both)}: {more}")


if __name__ == "__main__":
    main()
