"""Ratings from results, whole process from file to table: CPU seconds and peak memory, beside Ordo and BayesElo.

    python benchmarks/results.py [FOLDER] [--largest] [--json FILE]

Makes its own games (in FOLDER, or in a temporary one), rates them with `assay results -q -W -D` and, where they are on
the PATH, with `ordo` and `bayeselo` too. `--largest` adds 100,000 players with 5 million games (350 MB).
"""

from __future__ import annotations

import argparse
import shutil
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from measure import ASSAY, Cost, Measurement, of_command, show

RESULTS = ("1-0", "1/2-1/2", "0-1")
# What a start cannot do without: the interpreter, arrays, the command line.
LEAST = [sys.executable, "-c", "import numpy, click"]


@dataclass(frozen=True)
class Case:
    """A tournament to rate, with switches, and the CPU seconds that it may take."""

    title: str
    players: int
    games: int
    target: float
    switches: tuple[str, ...] = ()


ROW = Case("20k players in a row, all games drawn", 20_000, 19_999, 5)
CASES = (
    Case("10 players, 900 games", 10, 900, 0.5),
    Case("1k players, 100k games", 1_000, 100_000, 0.5),
    Case("1k players, 100k games, -s 100", 1_000, 100_000, 1.6, ("-s", "100")),
    Case("10k players, 1M games", 10_000, 1_000_000, 1.6),
    ROW,
)
LARGEST = Case("100k players, 5M games", 100_000, 5_000_000, 12)


def measure(folder: Path, cases: Sequence[Case] = CASES) -> list[Measurement]:
    """All cases; the games are made in the folder unless they are there."""
    found = [start(folder), start(folder, moves="1. e4 e5 2. Nf3 ")]
    for case in cases:
        file = folder / f"results-{case.players}-{case.games}.pgn"
        if not file.exists():
            (make_row if case == ROW else make_games)(file, case.players, case.games)
        ratings = [*ASSAY, "results", "-q", "-W", "-D", *case.switches]
        plain, theirs = least([*ratings, "-p", str(file)]), with_ordo(file, case.switches)
        seconds, memory = (theirs.cpu, theirs.memory) if theirs else (None, None)
        found += [
            Measurement(case.title, plain.cpu, "s", "Ordo", seconds, target=case.target, less=True),
            Measurement(f"{case.title}, memory", plain.memory, "MB", "Ordo", memory, wanted=1, less=True),
        ]
        if not case.switches:
            errors, bayes = least([*ratings, str(file)]), with_bayeselo(file)
            found.append(
                Measurement(f"{case.title}, with errors", errors.cpu, "s", "BayesElo", bayes and bayes.cpu, less=True)
            )
    return found


def start(folder: Path, moves: str = "") -> Measurement:
    """Two games: little more than the start of Python and what is imported; with moves these are compared."""
    file = folder / f"results-2-2{'-moves' if moves else ''}.pgn"
    make_games(file, 2, 2, moves)
    own, floor = least([*ASSAY, "results", "-q", "-p", str(file)], 10), least(LEAST, 10)
    title = f"2 players, 2 games{', with moves' if moves else ''}: the start"
    return Measurement(title, own.cpu, "s", "import numpy, click", floor.cpu, less=True)


def least(command: Sequence[str], runs: int = 2) -> Cost:
    """The cheapest of some runs."""
    return min((of_command(command) for _ in range(runs)), key=lambda cost: cost.cpu)


def with_ordo(file: Path, switches: Sequence[str]) -> Cost | None:
    ordo = shutil.which("ordo")
    return of_command([ordo, "-q", "-W", "-D", *switches, "-p", str(file)]) if ordo else None


def with_bayeselo(file: Path) -> Cost | None:
    """The usual session: read, fit with white advantage and draw rate, errors, the list."""
    bayeselo = shutil.which("bayeselo")
    told = f"readpgn {file}\nelo\nmm 1 1\nexactdist\nratings\nx\nx\n"
    return of_command([bayeselo], told) if bayeselo else None


def make_games(file: Path, players: int, games: int, moves: str = "") -> None:
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
                f'[White "Player {a:06}"]\n[Black "Player {b:06}"]\n[Result "{RESULTS[c]}"]\n\n{moves}{RESULTS[c]}\n\n'
                for a, b, c in zip(white.tolist(), black.tolist(), result.tolist(), strict=True)
            )


def make_row(file: Path, players: int, games: int) -> None:
    """Everybody has met the next one alone, and drawn."""
    with file.open("w", encoding="utf-8") as out:
        out.writelines(
            f'[White "Player {a:06}"]\n[Black "Player {(a + 1) % players:06}"]\n[Result "1/2-1/2"]\n\n1/2-1/2\n\n'
            for a in range(games)
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", help="where the games are made, or found")
    parser.add_argument("--largest", action="store_true", help="100,000 players with 5 million games too")
    parser.add_argument("--json", type=Path, help="write the measurements there too")
    args = parser.parse_args()
    cases = [*CASES, LARGEST] if args.largest else CASES
    with tempfile.TemporaryDirectory() as scratch:
        show(measure(args.folder or Path(scratch), cases), "Ratings from results, whole process", args.json)


if __name__ == "__main__":
    main()
