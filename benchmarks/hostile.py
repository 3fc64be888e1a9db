"""Files that were made to be slow: ten times the bytes should take ten times the time.

    python benchmarks/hostile.py [--bytes 1000000] [--tiny] [--json FILE]

Each case is read at one size and at ten times that size, and the ratio of the CPU times is printed; at most twelve is
the aim. `index` does what the command does, `moves` turns the games into positions.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import zstandard

from measure import Measurement, best, show

TARGET = 12.0
TIMES = 10
_TAGS = '[Event "E"]\n[White "Elm"]\n[Black "Oak"]\n[Result "*"]\n\n'
_GAME = f"{_TAGS}1. e4 e5 *\n\n"  # before and behind, as there is nothing to index in a file without any


@dataclass(frozen=True)
class Case:
    """A file by its number of bytes, and what is done with it."""

    name: str
    text: Callable[[int], str]
    job: str = "index"
    suffix: str = ".pgn"


def _times(piece: str, size: int) -> str:
    return piece * (size // len(piece))


CASES = (
    Case("braces in tags", lambda size: _times('[White "{"]\n', size)),
    Case("tags that are none", lambda size: _times("[ab cd\n", size)),
    Case("stray results", lambda size: _times("1-0\n\n", size)),
    Case("open comments", lambda size: _times(_TAGS + "1. e4 {never closed\n\n", size)),
    Case("braces across tags", lambda size: _times('{\n[White "x}"]\n', size)),
    Case("false tags, compressed", lambda size: _times('[x "y"]\nz\n', size), suffix=".pgn.zst"),
    Case("comments before an illegal move", lambda size: f"{_TAGS}1. e4 {_times('{a} ', size)}Ke4 *\n", "moves"),
    Case(
        "clocks before an illegal move", lambda size: f"{_TAGS}1. e4 {_times('{[%clk 0:01]} ', size)}Ke4 *\n", "moves"
    ),
    Case("blank lines amid moves", lambda size: f"{_TAGS}1. e4 e5\n\n{_times('{a} ', size)}\n\n2. Nf3 *\n", "moves"),
    Case("variations without end", lambda size: f"{_TAGS}1. e4 {_times('(1. d4 ', size)}*\n", "moves"),
)


def make(case: Case, size: int, folder: Path) -> Path:
    """The file of a case."""
    path = folder / f"{size}{case.suffix}"
    data = f"{_GAME}{case.text(size)}\n\n{_GAME}".encode()
    path.write_bytes(zstandard.compress(data) if case.suffix.endswith(".zst") else data)
    return path


def seconds(case: Case, path: Path, folder: Path) -> float:
    """CPU seconds of a case in this process, the least of some runs."""
    from assay.games import index, read, to_arrays

    def work() -> None:
        if case.job == "index":
            index(path, folder / "index.parquet")
        else:
            to_arrays(list(read(path)), threads=1)

    return best(work, repeat=2)


def measure(folder: Path, size: int) -> list[Measurement]:
    """All cases; what was measured is printed as it is known."""
    found = []
    for case in CASES:
        small, large = make(case, size, folder), make(case, TIMES * size, folder)
        less, more = seconds(case, small, folder), seconds(case, large, folder)
        print(f"{case.name}: {less:.3f} s, {more:.3f} s", file=sys.stderr, flush=True)
        found.append(Measurement(f"{case.job}: {case.name}", more / less, "times", target=TARGET, less=True))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--bytes", type=int, default=1_000_000)
    parser.add_argument("--json", type=Path)
    parser.add_argument("--tiny", action="store_true", help="try whether it runs; its figures mean nothing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        rows = measure(Path(name), 1_000 if given.tiny else given.bytes)
    show(rows, f"Ten times the bytes ({given.bytes:,} at first), CPU time", given.json)


if __name__ == "__main__":
    main()
