"""Small files that grow without end stay within the memory that the docs promise: under 500 MB."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path

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
    command = [sys.executable, "-c", RUN, "index", str(file), "-o", str(tmp_path / "out.parquet"), "--quiet"]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert "Traceback" not in run.stderr and "bug" not in run.stderr
    assert int(run.stdout.split()[-1]) < MOST
