"""All benchmarks in one run, how cost grows, and what large jobs would cost: one table, a page, a picture.

    python benchmarks/all.py [GAMES.pgn[.zst]] [--quick] [--out FOLDER] [--json FILE]

Without a file, agents play the games (see made.py). With one, the tables rest on its first 250 MB; how cost grows is
measured on made games all the same, since there are as many of them as wanted. Writes FOLDER/performance.md and
FOLDER/images/scaling.png (FOLDER is docs, or out for a quick run, whose figures are not worth keeping).
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import zstandard

import engine
import games
import growth
import intrinsic
import learned
import machine
import made
import page
import policy
import results
import scaling
from assay.table import render
from measure import Measurement
from scales import FULL, QUICK, TINY, Scale

MOST = 250_000_000  # bytes of a given file
MODEL = "The model of a fallible player"


@contextmanager
def stage(name: str) -> Iterator[None]:
    """Say on stderr what is going on, and how long it took."""
    print(f"{name} ...", end=" ", file=sys.stderr, flush=True)
    began = time.perf_counter()
    yield
    print(f"{time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)


def make_games(data: Path | None, scale: Scale, folder: Path, cores: int) -> Path:
    """Write all games that anything reads into the folder; the file that the tables rest on."""
    played = made.play(scale.played, cores)
    for size in scale.grown["games"]:
        made.write(folder / f"games-{size}.pgn", made.as_tournament(played, size), size)
        results.make_games(folder / f"results-games-{size}.pgn", 1_000, size)
    (lichess,) = (job for job in growth.JOBS if job.work is growth.index_lichess)
    for size in scale.sizes(lichess):
        text = "".join(made.as_lichess(played, size)).encode()
        (folder / f"lichess-{size}.pgn.zst").write_bytes(zstandard.compress(text, 3))
    for size in scale.grown["players"]:
        count = growth.GAMES_PER_PLAYER * size
        results.make_games(folder / f"results-players-{size}.pgn", size, count)
    sample = folder / growth.SAMPLE
    if data:
        made.write_head(data, sample, MOST)
    else:
        made.write(sample, made.as_tournament(played, scale.table_games), scale.table_games)
    return sample


def tables(sample: Path, scale: Scale, folder: Path) -> dict[str, list[Measurement]]:
    """The measurements of every benchmark."""
    found = {}
    with stage("games"):
        found["Games"] = games.measure(sample, folder, rows=scale.rows)
    with stage("ratings from results"):
        found["Ratings from results"] = results.measure(folder, scale.cases)
    with stage("the model"):
        found[MODEL] = intrinsic.measure(scale.turns, millions=0)
    with stage("engine"):
        found["Engine analysis"] = engine.measure(
            sample, folder, positions=scale.positions, depth=scale.depth, stored=scale.stored
        )
    with stage("learned"):
        found["Learned ratings"] = learned.measure(
            sample, folder, scale.learned_games, steps=scale.steps, boosted=scale.boosted
        )
    with stage("what people play"):
        found["What people play"] = policy.measure(sample, scale.asked)
    return found


def grow_all(scale: Scale, folder: Path) -> dict[str, growth.Series]:
    """Every job at all its sizes, by name."""
    found = {}
    for job in growth.JOBS:
        with stage(f"growth: {job.name}"):
            found[job.name] = growth.grow(job, scale.sizes(job), folder)
    return found


def measure_all(data: Path | None, scale: Scale) -> page.Findings:
    """The whole run."""
    here, began = machine.describe(), time.perf_counter()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with stage("making games"):
            sample = make_games(data, scale, folder, here.cores)
        rooms = tables(sample, scale, folder)
        grown = grow_all(scale, folder)
        fits = grown["percentile fit"]
        rooms[MODEL] += intrinsic.large(fits.sizes[-1], fits.costs[-1])
        return page.Findings(
            machine=here,
            scale=scale.name,
            data=data.name if data else "",
            megabytes=sample.stat().st_size / 1e6,
            rooms=rooms,
            grown=grown,
            disk=page.disk(grown, folder),
            minutes=(time.perf_counter() - began) / 60,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path, nargs="?", help="rated games to measure on, PGN, packed or not")
    size = parser.add_mutually_exclusive_group()
    size.add_argument("--quick", action="store_true", help="small sizes, under a minute")
    size.add_argument("--tiny", action="store_true", help="a few games, to see whether it works at all")
    parser.add_argument("--out", type=Path, help="where performance.md goes")
    parser.add_argument("--json", type=Path, help="write all figures there too")
    args = parser.parse_args()
    if args.data and not args.data.is_file():
        parser.error(f"there is no file {args.data}; leave it out to measure on made games.")
    scale = QUICK if args.quick else TINY if args.tiny else FULL
    out = args.out or Path("docs" if scale is FULL else "out")
    found = measure_all(args.data, scale)
    (out / "images").mkdir(parents=True, exist_ok=True)
    scaling.draw(list(found.grown.values()), out / "images" / "scaling.png")
    page.write(found, out / "performance.md")
    if args.json:
        args.json.write_text(json.dumps(found.as_data(), indent=1) + "\n", encoding="utf-8")
    print(render([{"room": room} | row.row() for room, rows in found.rooms.items() for row in rows]))
    print(f"\nWritten: {out / 'performance.md'}, {out / 'images' / 'scaling.png'}")


if __name__ == "__main__":
    main()
