"""Ratings from results, whole process from file to table: processor seconds and peak memory.

    python benchmarks/results.py [FOLDER] [--largest]

Makes its own games (in FOLDER, or in a temporary one), rates them with `assay results -q -W -D` and, if `ordo` is on
the PATH, with Ordo too. `--largest` adds 100,000 players with 5 million games (350 MB).
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np

CASES = [
    ("10 players, 900 games", 10, 900, []),
    ("1k players, 100k games", 1_000, 100_000, []),
    ("1k players, 100k games, -s 100", 1_000, 100_000, ["-s", "100"]),
    ("10k players, 1M games", 10_000, 1_000_000, []),
    ("100k players, 5M games", 100_000, 5_000_000, []),
]
RESULTS = ("1-0", "1/2-1/2", "0-1")


def make_games(file: Path, players: int, games: int) -> None:
    """Games between players of normal strength (SD 200 Elo), paired at random; 30 % of those between equals drawn."""
    generator = np.random.default_rng(1)
    strength = generator.normal(2300.0, 200.0, players)
    with file.open("w", encoding="utf-8") as out:
        for begin in range(0, games, 100_000):
            count = min(100_000, games - begin)
            white = generator.integers(0, players, count)
            black = (white + generator.integers(1, players, count)) % players
            p = 1.0 / (1.0 + np.exp(-0.00571 * (strength[white] - strength[black] + 35.0)))
            draw = 1.2 * p * (1.0 - p)
            u = generator.random(count)
            result = np.where(u < p - draw / 2, 0, np.where(u < p + draw / 2, 1, 2))
            out.writelines(
                f'[White "Player {a:06}"]\n[Black "Player {b:06}"]\n[Result "{RESULTS[c]}"]\n\n{RESULTS[c]}\n\n'
                for a, b, c in zip(white.tolist(), black.tolist(), result.tolist(), strict=True)
            )


def cost(command: list[str]) -> tuple[float, float]:
    """Processor seconds (user and system) and peak memory in MB of a process."""
    child = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {child.returncode}")
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def main() -> None:
    words = [word for word in sys.argv[1:] if word != "--largest"]
    cases = CASES if "--largest" in sys.argv else CASES[:-1]
    assay = [sys.executable, "-c", "from assay.cli.main import main; main()", "results"]
    ordo = shutil.which("ordo")
    print(f"{'':34}{'assay':>9}{'memory':>9}{'with errors':>13}" + (f"{'ordo':>9}{'memory':>9}" if ordo else ""))
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(words[0]) if words else Path(scratch)
        for title, players, games, switches in cases:
            file = folder / f"results-{players}-{games}.pgn"
            if not file.exists():
                make_games(file, players, games)
            plain = cost([*assay, "-q", "-W", "-D", *switches, "-p", str(file)])
            errors = cost([*assay, "-q", "-W", "-D", *switches, str(file)])
            line = f"{title:34}{plain[0]:7.2f} s{plain[1]:6.0f} MB{errors[0]:11.2f} s"
            if ordo:
                theirs = cost([ordo, "-q", "-W", "-D", *switches, "-p", str(file)])
                line += f"{theirs[0]:7.2f} s{theirs[1]:6.0f} MB"
            print(line, flush=True)


if __name__ == "__main__":
    main()
