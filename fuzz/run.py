"""Fuzz: many cases against each target, guided by coverage (atheris, on libFuzzer).

    python -m fuzz.run                                    every target, 100,000 cases each
    python -m fuzz.run pgn where --cases 5000
    python -m fuzz.run --again .fuzz/found/pgn-crash-...  one case that failed before, with its traceback

Seeds are made from the project's own games (see `made.py`). What a run finds worth keeping goes to `.fuzz/TARGET`, and
the next run starts from it; `.fuzz/TARGET.log` tells how far it is. A case that breaks a promise ends its target and is
kept in `.fuzz/found`.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import tempfile
import time
from importlib import import_module
from pathlib import Path

from fuzz.targets import NAMES

KEPT = Path(".fuzz")
FOUND = KEPT / "found"
_STATE = re.compile(rb"#\d+\s+(?:INITED|DONE)\s+cov: (\d+) ft: (\d+) corp: (\d+)")


def fuzz(name: str, words: list[str]) -> None:
    """Be the process of one target: libFuzzer takes over and ends it."""
    import atheris

    with atheris.instrument_imports(include=["assay"]):
        target = import_module(f"fuzz.targets.{name}")
    atheris.Setup([sys.argv[0], *words], target.check)
    atheris.Fuzz()


def start(name: str, cases: int, seed: int) -> dict[str, object]:
    """Run a target in a process of its own; what it says at its end as a row."""
    folder = KEPT / name
    for path in (folder, FOUND):
        path.mkdir(parents=True, exist_ok=True)
    target = import_module(f"fuzz.targets.{name}")
    for number, data in enumerate(target.SEEDS):
        (folder / f"seed-{number}").write_bytes(data)
    words = KEPT / f"{name}.dict"
    words.write_text("".join(f'"{escaped(word)}"\n' for word in target.WORDS))
    options = [
        f"-runs={cases}",
        f"-seed={seed}",
        f"-dict={words}",
        "-max_len=1024",
        "-timeout=60",
        "-rss_limit_mb=4096",
    ]
    options += [f"-artifact_prefix={FOUND}/{name}-", str(folder)]
    began, spent = time.monotonic(), os.times().children_user
    # One thread for everything: cases are small, and waiting for threads would take most of the time.
    alone = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "POLARS_MAX_THREADS", "RAYON_NUM_THREADS"), "1")
    command = [sys.executable, "-m", "fuzz.run", "--one", name, *options]
    # Files of the cases go to memory where there is such a place: there are a hundred thousand of them.
    with tempfile.TemporaryDirectory(dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None) as place:
        env = os.environ | alone | {"TMPDIR": place}
        log = KEPT / f"{name}.log"
        with log.open("wb") as said:
            done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said, env=env)
    states = _STATE.findall(log.read_bytes())
    if done.returncode:
        sys.stderr.write(log.read_text(encoding="utf-8", errors="replace")[-4000:])
    first, last = (states[0], states[-1]) if states else ((b"0",) * 3, (b"0",) * 3)
    return {
        "target": name,
        "cases": cases if not done.returncode else "broken",
        "seconds": round(time.monotonic() - began),
        "processor": round(os.times().children_user - spent),
        "edges at first": int(first[0]),
        "edges": int(last[0]),
        "features": int(last[1]),
        "kept": int(last[2]),
    }


def escaped(word: str) -> str:
    """A word as libFuzzer's dictionaries write it.

    >>> escaped('a"\\n')
    'a\\\\x22\\\\x0a'
    """
    plain = set(range(32, 127)) - set(b'"\\')
    return "".join(chr(byte) if byte in plain else f"\\x{byte:02x}" for byte in word.encode())


def main() -> None:
    if sys.argv[1:2] == ["--one"]:
        fuzz(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser(prog="python -m fuzz.run", description=__doc__.split("\n")[0])
    parser.add_argument("targets", nargs="*", metavar="TARGET", help=f"of {', '.join(NAMES)}; all, if none is named")
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--again", type=Path, metavar="FILE", help="check one case again")
    given = parser.parse_args()
    if given.again:
        import_module(f"fuzz.targets.{given.again.name.partition('-')[0]}").check(given.again.read_bytes())
        return
    from assay.table import render

    rows = [start(name, given.cases, given.seed) for name in given.targets or NAMES]
    print(render(rows))
    sys.exit(any(row["cases"] == "broken" for row in rows))


if __name__ == "__main__":
    main()
