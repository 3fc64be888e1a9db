"""How fast games are read, side by side with python-chess and pgn-extract in one run.

    python benchmarks/games.py GAMES.pgn[.zst] [--rows 5000000] [--json FILE]

Times are CPU seconds where "per core" is said, else seconds on the clock; the best of several runs. python-chess reads
the first few thousand games only, which is enough to know its speed. pgn-extract is asked for if it is on the PATH.
"""

from __future__ import annotations

import argparse
import io
import os
import shutil
import tempfile
import time
from itertools import islice
from pathlib import Path
from typing import Any

import chess.pgn
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import zstandard

from assay.games import fens, index, keys, read, read_tags, repeated, to_arrays
from assay.games.catalog import open_index, rows_of
from assay.games.columns import SCHEMA, TEXT
from assay.games.duplicates import TAGS, repeats
from assay.games.indexing import METADATA
from assay.games.stats import count
from assay.games.stream import Stream
from assay.pools import speed
from measure import ASSAY, Measurement, best, of_command, show

FILTER = (
    'white_elo >= 1900 and white_elo < 2000 and result == "1-0" and time_control == "300+0" and has_clock and has_eval'
)
HEADERS, ARRAYS, SLOW = 5_000, 10_000, 300  # games that are read for their headers, to arrays, by python-chess


def measure(file: Path, folder: Path, *, rows: int = 5_000_000) -> list[Measurement]:
    """All measurements on the games of a file; what is made on the way goes into the folder."""
    plain, packed = unpack(file, folder), folder / "games.pgn.zst"
    with plain.open("rb") as source, packed.open("wb") as target:
        zstandard.ZstdCompressor(level=3).copy_stream(source, target)
    return [*reading(plain, packed, folder), *moves(plain, folder), *selecting(plain, folder), *tables(folder, rows)]


def unpack(file: Path, folder: Path) -> Path:
    """The games of a file as plain PGN."""
    plain = folder / "games.pgn"
    with Stream(file) as stream, plain.open("wb") as out:
        out.writelines(stream.blocks())
    return plain


def reading(plain: Path, packed: Path, folder: Path) -> list[Measurement]:
    """Index and tags, against python-chess's read_headers."""
    megabytes = plain.stat().st_size / 1e6
    out = folder / "index.parquet"
    one_core = megabytes / best(lambda: index(plain, out, threads=1))
    clock_plain = best(lambda: index(plain, out), clock=time.perf_counter)
    clock_packed = best(lambda: index(packed, out), clock=time.perf_counter)
    tags = megabytes / best(lambda: read_tags([plain]))
    once = megabytes / best(lambda: without_copies(plain))
    text = "\n\n".join(game.text for game in islice(read(plain), HEADERS))

    def headers() -> None:
        stream = io.StringIO(text)
        while chess.pgn.read_headers(stream):
            pass

    reference = len(text.encode()) / 1e6 / best(headers, repeat=2)
    cores = os.cpu_count() or 1
    memory = of_command([*ASSAY, "index", str(packed), "-o", str(out)]).memory
    return [
        Measurement("index, per core", one_core, "MB/s", "python-chess read_headers", reference, target=150, wanted=5),
        Measurement(f"index, {cores} cores, clock", megabytes / clock_plain, "MB/s"),
        Measurement(f"index of .zst, {cores} cores, clock", megabytes / clock_packed, "MB/s"),
        Measurement("index of .zst over plain, clock", clock_packed / clock_plain, "x", target=1.5, less=True),
        Measurement("index, peak memory", memory, "MB", target=1000, less=True),
        Measurement("three tags, per core", tags, "MB/s"),
        Measurement("seven tags and games that occur twice, per core", once, "MB/s"),
    ]


def without_copies(plain: Path) -> int:
    """How many games of a file occur again."""
    tags = read_tags([plain], TAGS, moves=True)
    columns = {tag: (tags.codes[tag], tags.values[tag]) for tag in TAGS}
    assert tags.moves is not None
    return int(np.count_nonzero(repeats(columns, *tags.moves) != np.arange(tags.games)))


def moves(plain: Path, folder: Path) -> list[Measurement]:
    """Moves to arrays, against python-chess's read_game and pgn-extract, which both check every move."""
    games = list(islice(read(plain), ARRAYS))
    texts = [game.text for game in games]
    arrays = to_arrays(texts)
    ours = len(texts) / best(lambda: to_arrays(texts, threads=1))
    some = texts[:SLOW]

    def slowly() -> None:
        for text in some:
            chess.pgn.read_game(io.StringIO(text))

    reference = len(some) / best(slowly, repeat=2)
    extract, checked = shutil.which("pgn-extract"), None
    if extract:
        part = folder / "part.pgn"
        part.write_bytes(b"".join(game.data.strip() + b"\n\n" for game in games))
        command = [extract, "-s", "-r", str(part)]
        checked = len(games) / min(of_command(command).cpu for _ in range(2))
    read_game = "python-chess read_game"
    return [
        Measurement("moves to arrays, per core", ours, "games/s", read_game, reference, wanted=30),
        Measurement("moves to arrays, per core", ours, "games/s", "pgn-extract -r", checked),
        Measurement("positions to FEN", arrays.plies / best(lambda: fens(arrays), repeat=2), "1/s"),
        Measurement(
            "keys and repetitions", arrays.plies / best(lambda: (keys(arrays), repeated(arrays)), repeat=2), "1/s"
        ),
    ]


def selecting(plain: Path, folder: Path) -> list[Measurement]:
    """From PGN to the PGN of the games that White won, whole processes: index and filter against pgn-extract."""
    made, out = str(folder / "index.parquet"), str(folder / "won.pgn")
    steps = (["index", str(plain), "-o", made], ["filter", made, "--where", 'result == "1-0"', "--out-pgn", out])
    ours = sum(of_command([*ASSAY, *step]).cpu for step in steps)
    again = of_command([*ASSAY, *steps[1]]).cpu
    extract, theirs = shutil.which("pgn-extract"), None
    if extract:
        theirs = of_command([extract, "-s", "-Tr1-0", f"-o{out}", str(plain)]).cpu
    games = "games that White won to PGN"
    return [
        Measurement(games, ours, "s", "pgn-extract -T", theirs, less=True),
        Measurement(f"{games}, with an index at hand", again, "s", "pgn-extract -T", theirs, less=True),
    ]


def tables(folder: Path, rows: int) -> list[Measurement]:
    """Count, filter and statistics on an index of many rows, as a whole command and in the library."""
    file = folder / "many.parquet"
    made_up_index(file, rows)
    chosen = [*ASSAY, "filter", str(file), "--where", FILTER]
    opened = [open_index(file)]
    million = f"{rows / 1e6:g}M rows, clock"

    def clock(*command: str) -> float:
        return min(of_command(command).wall for _ in range(2))

    counting = best(lambda: rows_of(opened, FILTER).select(pl.len()).collect(), clock=time.perf_counter)
    statistics = best(lambda: count(rows_of(opened)), clock=time.perf_counter)
    return [
        Measurement(f"filter --count-only, {million}", clock(*chosen, "--count-only"), "s", target=2, less=True),
        Measurement(f"filter --preview 10, {million}", clock(*chosen, "--preview", "10"), "s", target=2, less=True),
        Measurement(f"stats, {million}", clock(*ASSAY, "stats", str(file)), "s", target=2, less=True),
        Measurement(f"count in the library, {million}", counting, "s", less=True),
        Measurement(f"stats in the library, {million}", statistics, "s", less=True),
    ]


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
                "site": [f"https://lichess.org/{i:08x}" for i in number],
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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("games", type=Path, help="a PGN file, packed or not; 50 MB or more tell most")
    parser.add_argument("--rows", type=int, default=5_000_000, help="rows of the made-up index")
    parser.add_argument("--json", type=Path, help="write the measurements there too")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        show(measure(args.games, Path(folder), rows=args.rows), args.games.name, args.json)


if __name__ == "__main__":
    main()
