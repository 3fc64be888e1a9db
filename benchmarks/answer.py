"""What a rating list from results and moves costs: `assay rate --list` beside `assay results` on the same games.

    python benchmarks/answer.py ANALYSED.pgn STORE ARCHIVE... [--games 5000] [--depth 8] [--pool otb-slow]

ANALYSED are games whose analyses are in STORE (`studies/analysed_games.py` finds them); they are written again under
other names until there are `--games` of them: the analysed list. ARCHIVE has many games more, some of them analysed.
Each command runs in a process of its own; CPU seconds tell more than the clock where a machine is busy.
"""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from assay.games import read
from assay.games.completing import with_tags
from assay.table import render
from measure import ASSAY, Cost, of_command


def many(analysed: Path, games: int, out: Path) -> int:
    """The games again and again, by other people each time."""
    some, written = read(analysed).all(), 0
    with out.open("wb") as file:
        for turn in range(-(-games // len(some))):
            for game in some[: games - written]:
                names = {side: f"{game.tags.get(side, '?')} {turn + 1}" for side in ("White", "Black")}
                others = names | dict.fromkeys(("WhiteFideId", "BlackFideId"), "")
                file.write(with_tags(game, others).strip() + b"\n\n")
                written += 1
    return written


def cost(*words: object) -> Cost:
    """What a command takes."""
    return of_command([*ASSAY, *map(str, words)])


def row(job: str, found: Cost) -> dict[str, str]:
    return {
        "job": job,
        "s of CPU": f"{found.cpu:.1f}",
        "s on the clock": f"{found.wall:.1f}",
        "MB": f"{found.memory:.0f}",
    }


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
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        copies = Path(folder) / "analysed.pgn"
        count = many(given.analysed, given.games, copies)
        rows.append(row(f"{count} games, all analysed: list from both", cost("rate", copies, *how)))
    if given.archives:
        alone = cost("results", *given.archives, "--format", "csv")
        both = cost("rate", *given.archives, *how)
        more = Cost(both.cpu - alone.cpu, both.wall - alone.wall, both.memory - alone.memory)
        rows += [row("archive: results alone", alone), row("archive: list from both", both), row("more", more)]
    print(render(rows))


if __name__ == "__main__":
    main()
