"""What a report and a rating of stored games cost by themselves: every position is in the store, no engine starts.

    python benchmarks/walk.py GAMES.pgn[.zst] [--games 54] [--depth 6] [--foreign 300000] [--store FILE]

The first games of the file are analysed first, into a store of their own or the one that is given. Then `assay report`
and `assay ipr` read them from there, and `assay ipr` reads the first two of them from a store without and with so many
positions of other games.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import tempfile
from itertools import islice
from pathlib import Path

from assay.engine.store import Store
from assay.games import read
from engine import fill
from measure import ASSAY, Cost, Measurement, of_command, show

ROUNDS = 5


def least(command: list[str], rounds: int) -> Cost:
    """The cost of a command, the least of some runs."""
    return min((of_command([*ASSAY, *command]) for _ in range(rounds)), key=lambda cost: cost.cpu)


def measure(
    file: Path,
    folder: Path,
    *,
    games: int = 54,
    depth: int = 6,
    foreign: int = 300_000,
    store: Path | None = None,
    rounds: int = ROUNDS,
) -> list[Measurement]:
    """Report and rating of stored games, and what positions of others in the store add to a rating."""
    chosen = [game.data.strip() for game in islice(read(file), games)]
    event, two, store = folder / "event.pgn", folder / "two.pgn", store or folder / "event.db"
    event.write_bytes(b"\n\n".join(chosen) + b"\n")
    two.write_bytes(b"\n\n".join(chosen[:2]) + b"\n")
    at_depth = ["--depth", str(depth)]
    subprocess.run([*ASSAY, "analyse", str(event), *at_depth, "--store", str(store), "--quiet"], check=True)
    stored = [*at_depth, "--no-analysis", "--store", str(store)]
    report = least(["report", str(event), *stored, "-o", str(folder / "report.html")], rounds)
    rated = least(["ipr", str(event), *stored], rounds)
    alone = least(["ipr", str(two), *stored], rounds)
    full = folder / "full.db"
    shutil.copy(store, full)
    with Store(store) as opened:
        (entry,) = opened.kept()
    fill(full, foreign, entry.identity)
    beside = least(["ipr", str(two), *stored[:-1], str(full)], rounds)
    name, others = f"{len(chosen)} stored games", f"{foreign:,} positions of others"
    return [
        Measurement(f"report, {name}", report.cpu, "s", target=2.8, less=True),
        Measurement(f"report, {name}, memory", report.memory, "MB", less=True),
        Measurement(f"ipr, {name}", rated.cpu, "s", less=True),
        Measurement("ipr, 2 stored games", alone.cpu, "s", less=True),
        Measurement(f"ipr, 2 stored games, {others} add", beside.cpu - alone.cpu, "s", less=True),
        Measurement(f"ipr, 2 stored games, {others} add, memory", beside.memory - alone.memory, "MB", less=True),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--games", type=int, default=54)
    parser.add_argument("--depth", type=int, default=6)
    parser.add_argument("--foreign", type=int, default=300_000)
    parser.add_argument("--store", type=Path, help="a store with the analyses of these games and no others")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--json", type=Path, help="write the measurements there too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows = measure(
            args.file,
            Path(folder),
            games=args.games,
            depth=args.depth,
            foreign=args.foreign,
            store=args.store,
            rounds=args.rounds,
        )
    show(rows, f"Own CPU time on the first games of {args.file.name}, depth {args.depth}", args.json)


if __name__ == "__main__":
    main()
