"""Small files that grow without end stay within the memory that the docs promise: under 500 MB."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

import chess
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import zstandard

MOST = 500 << 10  # kilobytes

# Not getrusage: Linux hands its peak on from whoever started the program, and a test runner may have grown.
RUN = """
import re, sys
from pathlib import Path
from assay.cli.main import main
try:
    main(sys.argv[1:])
finally:
    print(re.search(r"VmHWM:\\s+(\\d+) kB", Path("/proc/self/status").read_text()).group(1))
"""
pytestmark = pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc to read the peak from")
BLANK = b"\n" * (1 << 20)
GAME = b'[White "Elm"]\n[Black "Oak"]\n\n1. e4 e5 *\n\n'


def packed(path: Path, parts: Iterable[bytes]) -> None:
    with path.open("wb") as file, zstandard.ZstdCompressor().stream_writer(file) as writer:
        for part in parts:
            writer.write(part)


def blank_blocks(path: Path, count: int) -> None:
    """A frame of blocks that say "128 KiB of line feeds" in four bytes each."""
    block = ((1 << 1) | (128 << 10) << 3).to_bytes(3, "little") + b"\n"
    path.write_bytes(b"\x28\xb5\x2f\xfd\x00\x50" + block * count + b"\x01\x00\x00")


@pytest.mark.parametrize("kind", ["line feeds", "line feeds in a game", "blocks", "lines"])
def test_index_of_an_archive_that_grows(tmp_path: Path, kind: str) -> None:
    file = tmp_path / "games.pgn.zst"
    match kind:
        case "line feeds":
            packed(file, [BLANK] * 256)
        case "line feeds in a game":
            packed(file, [b'[Event "x"]\n', *[BLANK] * 256])
        case "blocks":
            blank_blocks(file, 2048)
        case "lines":
            packed(file, [b'[Event "x"]\n\n1. e4 *\n\n', *[b".\n" * (1 << 19)] * 16])
    said = run("index", file, "-o", tmp_path / "out.parquet", "--quiet")
    assert "Traceback" not in said and "bug" not in said


def run(*words: object) -> str:
    """Run a command within the memory that is promised; what it said on stderr."""
    done = subprocess.run([sys.executable, "-c", RUN, *map(str, words)], capture_output=True, text=True, check=False)
    assert int(done.stdout.split()[-1]) < MOST
    return done.stderr


@pytest.mark.parametrize("values", [11_000_000, 14_000_000, 40_000_000])
def test_analyses_with_a_row_that_grows(tmp_path: Path, values: int) -> None:
    """Some kilobytes of Parquet: a single depth of a single position has as many values as a large store."""
    file = tmp_path / "one.parquet"
    inner = pa.ListArray.from_arrays(pa.array([0, values], pa.int32()), pa.array(np.zeros(values, np.int16)))
    nested = pa.ListArray.from_arrays(pa.array([0, 1], pa.int32()), inner)
    columns = {"fen": pa.array([chess.STARTING_FEN]), "moves": pa.array([["e2e4"]]), "cp": nested, "mate": nested}
    pq.write_table(pa.table(columns), file, compression="zstd")
    assert file.stat().st_size < 20_000
    said = run("import-analyses", file, "--store", tmp_path / "store.db", "--engine-name", "X", "--quiet")
    assert "longer than any analysis" in said or "more than is held at a time" in said


def test_an_upload_of_blank_lines_takes_little_to_look_at() -> None:
    """Two such are looked at while others wait; with all of them the page stays within its memory."""
    data = GAME + b"\n" * 9_000_000 + GAME
    looking = [sys.executable, "-m", "assay.web.checker", str(len(data))]
    with subprocess.Popen(looking, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None and process.stdout is not None
        process.stdout.readline()
        process.stdin.write(json.dumps([len(data), 500]).encode() + b"\n" + data)
        process.stdin.flush()
        assert json.loads(process.stdout.readline())["games"] == 2
        peak = re.findall(r"VmHWM:\s+(\d+) kB", Path(f"/proc/{process.pid}/status").read_text())
        process.stdin.close()
    assert int(peak[0]) < 150 << 10
