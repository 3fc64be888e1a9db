"""How fast games are read, side by side with python-chess in one run.

    python benchmarks/games.py GAMES.pgn[.zst] [--rows 5000000] [--json FILE]

Times are CPU seconds where "per core" is said, else seconds on the clock; the best of several runs. python-chess reads
the first few thousand games only, which is enough to know its speed.
"""

from __future__ import annotations

import argparse
import io
import itertools
import json
import os
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import chess.pgn
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from assay.bands import speed
from assay.games import fens, index, keys, read_games, read_tags, repeated, to_arrays
from assay.games.catalog import open_index, rows_of
from assay.games.columns import SCHEMA, TEXT
from assay.games.indexing import METADATA
from assay.games.stats import count
from assay.games.stream import Stream
from assay.report.tables import render

Row = dict[str, Any]
FILTER = (
    'white_elo >= 1900 and white_elo < 2000 and result == "1-0" and time_control == "300+0" and has_clock and has_eval'
)


def best(job: Callable[[], Any], *, repeat: int = 3, clock: Callable[[], float] = time.perf_counter) -> float:
    """The shortest of several runs."""
    times = []
    for _ in range(repeat):
        start = clock()
        job()
        times.append(clock() - start)
    return min(times)


def reading(plain: Path, packed: Path, folder: Path) -> list[Row]:
    """Index and tags, against python-chess's read_headers."""
    megabytes = plain.stat().st_size / 1e6
    out = folder / "index.parquet"
    one_core = megabytes / best(lambda: index(plain, out, threads=1), clock=time.process_time)
    clock_plain = best(lambda: index(plain, out))
    clock_packed = best(lambda: index(packed, out))
    tags = megabytes / best(lambda: read_tags([plain]), clock=time.process_time)
    sample = itertools.islice(read_games(plain), 5000)
    text = "\n\n".join(game.text for game in sample)

    def headers() -> None:
        stream = io.StringIO(text)
        while chess.pgn.read_headers(stream):
            pass

    reference = len(text.encode()) / 1e6 / best(headers, repeat=2, clock=time.process_time)
    cores = os.cpu_count() or 1
    return [
        row("index, per core", "MB/s", one_core, 150, reference, 5),
        row(f"index, {cores} cores, clock", "MB/s", megabytes / clock_plain),
        row(f"index of .zst, {cores} cores, clock", "MB/s", megabytes / clock_packed),
        row("time of .zst over plain", "x", clock_packed / clock_plain, 1.5, at_most=True),
        row("three tags, per core", "MB/s", tags),
        row("peak memory of assay index", "MB", memory(packed, out), 1000, at_most=True),
    ]


def memory(packed: Path, out: Path) -> float:
    """Peak memory of the whole command, in MB."""
    code = "from assay.cli.main import main; import sys; main(sys.argv[1:])"
    command = [sys.executable, "-c", code, "index", str(packed), "-o", str(out)]
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
    subprocess.run(command, check=True, capture_output=True)
    return max(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, before) / 1024


def moves(plain: Path) -> list[Row]:
    """Moves to arrays, against python-chess's read_game."""
    games = list(itertools.islice(read_games(plain), 10_000))
    texts = [game.text for game in games]
    arrays = to_arrays(texts)
    ours = len(texts) / best(lambda: to_arrays(texts, threads=1), clock=time.process_time)
    some = texts[:300]

    def slowly() -> None:
        for text in some:
            chess.pgn.read_game(io.StringIO(text))

    reference = len(some) / best(slowly, repeat=2, clock=time.process_time)
    return [
        row("moves to arrays, per core", "games/s", ours, None, reference, 30),
        row("positions to FEN", "1/s", arrays.plies / best(lambda: fens(arrays), repeat=2)),
        row("keys and repetitions", "1/s", arrays.plies / best(lambda: (keys(arrays), repeated(arrays)), repeat=2)),
    ]


def tables(folder: Path, rows: int) -> list[Row]:
    """Count, filter and statistics on an index of many rows, as a whole command and in the library."""
    file = folder / "many.parquet"
    made_up_index(file, rows)
    code = "from assay.cli.main import main; import sys; main(sys.argv[1:])"
    command = [sys.executable, "-c", code]

    def run(*args: str) -> None:
        subprocess.run([*command, *args], check=True, capture_output=True)

    chosen = ("filter", str(file), "--where", FILTER)
    opened = [open_index(file)]
    million = f"{rows / 1e6:g}M rows"
    return [
        row(f"filter --count-only, {million}", "s", best(lambda: run(*chosen, "--count-only")), 2, at_most=True),
        row(f"filter --preview 10, {million}", "s", best(lambda: run(*chosen, "--preview", "10")), 2, at_most=True),
        row(f"stats, {million}", "s", best(lambda: run("stats", str(file))), 2, at_most=True),
        row(f"count in the library, {million}", "s", best(lambda: rows_of(opened, FILTER).select(pl.len()).collect())),
        row(f"stats in the library, {million}", "s", best(lambda: count(rows_of(opened)))),
    ]  # fmt: skip


def made_up_index(file: Path, rows: int, group: int = 1 << 17) -> None:
    """An index of made-up games, of the shape that Lichess's archives have."""
    rng = np.random.default_rng(1)
    schema = pa.schema([(f.name, pa.string() if f.type == TEXT else f.type) for f in SCHEMA])
    controls = np.array(["60+0", "180+0", "180+2", "300+0", "300+3", "600+0", "600+5", "900+10", "1800+0"])
    bases, plus = (np.array([int(c.split("+")[i]) for c in controls], np.int32) for i in (0, 1))
    speeds = np.array([speed(base, increment) for base, increment in zip(bases, plus, strict=True)])
    with pq.ParquetWriter(file, schema, compression="zstd", compression_level=1, store_schema=False) as writer:
        for start in range(0, rows, group):
            n = min(group, rows - start)
            number = np.arange(start, start + n)
            white = np.clip(rng.normal(1650, 350, n), 600, 3200).astype(np.int32)
            which = rng.choice(len(controls), n, p=np.array([25, 17, 9, 16, 5, 17, 5, 4, 2]) / 100)
            names = rng.integers(0, 400_000, (2, n))
            columns: dict[str, Any] = {
                "source": ["made-up.pgn.zst"] * n,
                "start_offset": number * 2200,
                "end_offset": number * 2200 + 2190,
                "event": ["Rated game"] * n,
                "site": [f"https://example.org/{i:08x}" for i in number],
                "date": ["2024.01.15"] * n,
                "white": [f"player{i}" for i in names[0]],
                "black": [f"player{i}" for i in names[1]],
                "result": rng.choice(["1-0", "0-1", "1/2-1/2"], n),
                "white_elo": white,
                "black_elo": (white + rng.normal(0, 90, n)).astype(np.int32),
                "time_control": controls[which],
                "base_seconds": bases[which],
                "increment_seconds": plus[which],
                "speed": speeds[which],
                "plies": rng.integers(10, 160, n).astype(np.int32),
                "has_clock": np.ones(n, np.bool_),
                "has_eval": rng.random(n) < 0.1,
            }  # fmt: skip
            empty = dict.fromkeys(schema.names, [None] * n)
            arrays = [pa.array((empty | columns)[f.name], f.type) for f in schema]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
        writer.add_key_value_metadata({METADATA: b'{"inputs": []}'})


def row(
    job: str, unit: str, ours: float, target: float | None = None, reference: float | None = None,
    ratio: float | None = None, *, at_most: bool = False,
) -> Row:  # fmt: skip
    """One line of the table: ours, python-chess, how many times faster, and the target."""
    times = ours / reference if reference else None
    met = target is None or (ours <= target if at_most else ours >= target)
    met = met and (ratio is None or (times or 0) >= ratio)
    wanted = [f"{'at most' if at_most else 'at least'} {target:g}"] if target else []
    wanted += [f"{ratio:g} times"] if ratio else []
    return {
        "job": job,
        "unit": unit,
        "assay": float(f"{ours:.3g}"),
        "python-chess": reference and float(f"{reference:.3g}"),
        "times": times and float(f"{times:.3g}"),
        "target": ", ".join(wanted),
        "met": (met if wanted else None),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, help="a PGN file, packed or not; 50 MB or more tell most")
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of the made-up index")
    parser.add_argument("--json", type=Path, help="write the rows there too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plain, packed = folder / "games.pgn", folder / "games.pgn.zst"
        with Stream(args.games) as stream, plain.open("wb") as file:
            file.writelines(stream.blocks())
        with plain.open("rb") as source, packed.open("wb") as target:
            zstandard.ZstdCompressor(level=3).copy_stream(source, target)
        rows = [*reading(plain, packed, folder), *moves(plain), *tables(folder, args.rows)]
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {platform.machine()}; {args.games.name}\n")
    print(render(rows, decimals={"assay": 1, "python-chess": 1, "times": 1}))
    if args.json:
        args.json.write_text(json.dumps(rows, indent=1))


if __name__ == "__main__":
    main()
