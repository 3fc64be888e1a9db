"""What a rating list from results and moves costs: `assay rate --list` beside `assay results` on the same games.

    python benchmarks/answer.py ANALYSED.pgn STORE ARCHIVE... [--games 5000] [--depth 8] [--pool otb-slow]

ANALYSED are games whose analyses are in STORE; they are written again under other names until there are `--games` of
them: the analysed list. ARCHIVE has many games more; the second list is of these with the analysed ones among them.
Each command runs in a process of its own; CPU seconds tell more than the clock where a machine is busy.
"""

from __future__ import annotations

import argparse
import subprocess
import tempfile
from pathlib import Path

from assay.games import read
from assay.games.completing import with_tags
from measure import ASSAY, LAUNCHER


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


def timed(*words: object) -> tuple[float, float, float]:
    """CPU seconds, seconds and megabytes of a command."""
    import json

    command = [*LAUNCHER, *ASSAY, *map(str, words)]
    found = subprocess.run(command, capture_output=True, text=True, check=True)
    code, cpu, wall, memory = json.loads(found.stdout)
    if code:
        raise SystemExit(f"{' '.join(map(str, words))}: {found.stderr}")
    return cpu, wall, memory / 1024


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
        cpu, wall, memory = timed("rate", copies, *how)
        print(f"{count} games, all analysed: {cpu:.1f} s of CPU, {wall:.1f} s, {memory:.0f} MB", flush=True)
        if given.archives:
            files = (*given.archives, given.analysed)
            base = timed("results", *files, "--format", "csv")
            print(f"archive, results alone: {base[0]:.1f} s of CPU, {base[1]:.1f} s, {base[2]:.0f} MB", flush=True)
            cpu, wall, memory = timed("rate", *files, *how)
            print(
                f"archive, list from both: {cpu:.1f} s of CPU, {wall:.1f} s, {memory:.0f} MB: "
                f"{cpu - base[0]:.1f} s of CPU and {wall - base[1]:.1f} s more"
            )


if __name__ == "__main__":
    main()
