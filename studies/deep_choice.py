"""Deep choices of the reference set: what one line to depth 16 prefers, and what other engines choose there.

    python studies/deep_choice.py analyse REFERENCE STORE [--depth 16]
    python studies/deep_choice.py help REFERENCE STORE HELPERS --engine PROGRAM [--nodes 150000]
    python studies/deep_choice.py write REFERENCE STORE HELPERS...

`analyse` values the turns of paired transfers first (thirty of each of 144 games: other engines have valued them, too),
then sides of games, marks and samples in turn, so that what is done at any time is spread over the scale; it goes on
where it stopped. Turns count that are within three pawns of equality. `help` has another engine choose in the positions
of paired transfers whose deep choice is in STORE, and stores that in HELPERS. `write` puts what is stored into the
folder of the reference set: deep-choice.parquet, and the choices of other engines, helpers.parquet.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine.analysis import value
from assay.engine.choices import pawns
from assay.engine.identity import NO_DEPTH, Search
from assay.engine.parsed import Wanted
from assay.engine.store import Store
from assay.moves import reference
from assay.moves.reference import Reference
from assay.moves.transfer import shipped_turns
from assay.paths import atomic

SCHEMA = {"depth": pl.UInt8, "lines": pl.UInt16, "nodes": pl.UInt32, "move": pl.UInt16, "value": pl.Int16}
SEED = 16
TOGETHER = 100  # positions that are valued in one run of the engine


def near(found: Reference) -> NDArray[np.bool_]:
    """Which turns are within three pawns of equality."""
    best = np.fmax.reduceat(pawns(found.choices.codes[:, -1]), found.choices.start[:-1])
    return np.abs(best) <= 3


def order(found: Reference) -> list[NDArray[np.int64]]:
    """The turns of each side, one side of each game first, samples and marks in turn."""
    unit = found.choices.unit
    own = np.flatnonzero(near(found))
    units, first, code = np.unique(unit[own], return_index=True, return_inverse=True)
    kind = [f"{a} {b}" for a, b in zip(found.turns["set"], found.turns["mark"], strict=True)]
    kinds = np.array(kind)[own[first]]
    rng = np.random.default_rng(SEED)
    flip = rng.integers(0, 2, int(unit.max()) // 2 + 1)
    second = (units % 2) != flip[units // 2]
    rank = np.zeros(len(units))
    for one in np.unique(kinds):
        here = np.flatnonzero(kinds == one)
        here = here[np.lexsort((rng.random(len(here)), second[here]))]
        rank[here] = np.arange(len(here))
    turns = np.split(own[np.argsort(code, kind="stable")], np.cumsum(np.bincount(code))[:-1])
    return [turns[at] for at in np.lexsort((kinds, rank))]


def analyse(folder: Path, path: Path, depth: int) -> None:
    """Value some positions after the other, and say what it costs."""
    found, first = reference.read(folder, 8), shipped_turns(8)
    keys = [bytes(key) for key in first.choices.keys[near(first)]]
    keys += [bytes(found.choices.keys[turn]) for side in order(found) for turn in side]
    keys = list(dict.fromkeys(keys))
    begun, done = time.perf_counter(), 0
    with Store(path, create=True) as store:
        for at in range(0, len(keys), TOGETHER):
            wanted = Wanted(keys=keys[at : at + TOGETHER])
            done += value(wanted, store, Search(depth=depth, lines=1), workers=1, quiet=True).valued
            spent = time.perf_counter() - begun
            print(f"{at + len(wanted.keys)} of {len(keys)}; {done} positions in {spent:.0f} s", flush=True)


def helped(path: Path, helpers: Path, engine: str, nodes: int) -> None:
    """Have another engine choose where the deep choice is known."""
    first = shipped_turns(8)
    with Store(path) as store:
        known = store.holds(store.choose(depth=16, lines=1), 16, [bytes(key) for key in first.choices.keys])
    keys = [key for key in dict.fromkeys(map(bytes, first.choices.keys)) if key in known]
    begun = time.perf_counter()
    with Store(helpers, create=True) as store:
        for at in range(0, len(keys), TOGETHER):
            wanted = Wanted(keys=keys[at : at + TOGETHER])
            value(wanted, store, Search(engine, depth=NO_DEPTH, lines=1, nodes=nodes), workers=1, quiet=True)
            print(f"{at + len(wanted.keys)} of {len(keys)} in {time.perf_counter() - begun:.0f} s", flush=True)


def stored(path: Path, keys: set[bytes]) -> pl.DataFrame:
    """The first choice of every analysis of a store at its greatest depth, for some positions."""
    rows: list[dict[str, Any]] = []
    with Store(path) as store:
        for kept in store.kept():
            for one in store.all_valued(kept.id):
                if one.key in keys:
                    best = int(np.argmax(one.table()[-1]))
                    rows.append(
                        {
                            "key": one.key,
                            "engine": kept.identity.engine,
                            "depth": one.depth if not kept.identity.nodes else 0,
                            "lines": kept.identity.lines,
                            "nodes": kept.identity.nodes,
                            "move": int(one.move_codes()[best]),
                            "value": int(one.table()[-1][best]),
                        }
                    )
    return pl.DataFrame(rows, schema_overrides=SCHEMA)


def write(folder: Path, path: Path, helpers: Sequence[Path]) -> None:
    """Put what is stored beside the parts of the reference set, and the checksums anew."""
    keys = {bytes(key) for found in (reference.read(folder, 8), shipped_turns(8)) for key in found.choices.keys}
    deep = stored(path, keys)
    other = pl.concat([stored(one, set(deep["key"])) for one in helpers])
    for name, frame in (("deep-choice", deep), ("helpers", other)):
        with atomic(folder / f"{name}.parquet") as part:
            frame.write_parquet(part, compression="zstd", compression_level=19)
        told = frame.group_by("engine", "depth", "lines", "nodes").len().sort("engine").rows()
        print(f"{name}: {frame.height} choices; {told}")
    sums = "".join(f"{value}  {file}\n" for file, value in reference.checksums(folder).items())
    (folder / "SHA256SUMS").write_text(sums)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("analyse", "help", "write"))
    parser.add_argument("reference", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("helpers", type=Path, nargs="*")
    parser.add_argument("--depth", type=int, default=16)
    parser.add_argument("--engine")
    parser.add_argument("--nodes", type=int, default=150_000)
    given = parser.parse_args()
    if given.step == "analyse":
        analyse(given.reference, given.store, given.depth)
    elif given.step == "help":
        helped(given.store, given.helpers[0], given.engine, given.nodes)
    else:
        write(given.reference, given.store, given.helpers)


if __name__ == "__main__":
    main()
