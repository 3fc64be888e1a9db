"""Deep choices of the reference set: what one line to depth 16 prefers, and what other engines choose there.

    python studies/deep_choice.py analyse REFERENCE STORE [--sides 405] [--turns 5] [--depth 16]
    python studies/deep_choice.py help REFERENCE HELPERS --engine PROGRAM [--engine ...] [--nodes 150000] [--most 1500]
    python studies/deep_choice.py write REFERENCE STORE [HELPERS ...]

`analyse` values some turns of sides of games, marks and samples in turn, so that what is done is always spread over
the scale; it goes on where it stopped. Turns count that are within three pawns of equality and at which no move is so
likely by the list that nothing can be told. `help` has other engines choose at such turns whose deep choice is in the
folder, and stores that in HELPERS. `write` adds what is stored to the folder of the reference set: deep-choice.parquet,
and the choices of other engines, helpers.parquet.
"""

from __future__ import annotations

import argparse
import asyncio
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
from assay.engine.local import identify
from assay.engine.parsed import Wanted
from assay.engine.store import Store
from assay.moves import reference
from assay.moves.calibration import load
from assay.moves.choice.deep import stays_of
from assay.moves.choice.model import log_chances, strength
from assay.moves.choice.ratio import OBVIOUS
from assay.moves.evidence import log_policy
from assay.moves.reference import Reference
from assay.paths import atomic
from assay.policy.chances import shipped

SCHEMA = {
    "key": pl.Binary,
    "engine": pl.String,
    "depth": pl.UInt8,
    "lines": pl.UInt16,
    "nodes": pl.UInt32,
    "move": pl.UInt16,
    "value": pl.Int16,
    "stays": pl.UInt32,
}
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


def open_turns(found: Reference) -> NDArray[np.bool_]:
    """At which turns no move is so likely for the player that nothing can be told: where the test looks."""
    choices, elo = found.choices, found.turns["elo"].to_numpy().astype(np.float64)
    g0, g1 = load(depth=choices.depth).model().exponents(choices, log_policy(choices, shipped()))
    own = np.exp(log_chances(g0 + strength(elo)[choices.turn] * g1, choices.start, choices.turn))
    return np.asarray(np.maximum.reduceat(own, choices.start[:-1]) < OBVIOUS)


def keys_of(folder: Path, sides: int, each: int) -> list[bytes]:
    """Which positions to value: some turns that tell of so many sides."""
    found = reference.read(folder, 8)
    wanted = order(found)[:sides]
    turns = np.concatenate(wanted)
    some = np.zeros(len(found), np.bool_)
    some[turns] = True
    part = Reference(found.choices.only(some), found.turns.filter(pl.Series(some)), found.identity)
    some[some] = open_turns(part)
    rng = np.random.default_rng(SEED)
    picked = [rng.permutation(side[some[side]])[:each] for side in wanted]
    return list(dict.fromkeys(bytes(found.choices.keys[turn]) for side in picked for turn in side))


def analyse(folder: Path, path: Path, depth: int, sides: int, each: int) -> None:
    """Value some positions after the other, and say what it costs; what the folder has whole is not valued again.

    Those come first at which engines that think have chosen.
    """
    there = set(written(folder, "deep-choice").drop_nulls("stays")["key"])
    thought = written(folder, "helpers").filter(pl.col("nodes") > 0)["key"].to_list()
    keys = [key for key in dict.fromkeys(thought + keys_of(folder, sides, each)) if key not in there]
    begun, done = time.perf_counter(), 0
    with Store(path, create=True) as store:
        for at in range(0, len(keys), TOGETHER):
            wanted = Wanted(keys=keys[at : at + TOGETHER])
            done += value(wanted, store, Search(depth=depth, lines=1), workers=1, quiet=True).valued
            spent = time.perf_counter() - begun
            print(f"{at + len(wanted.keys)} of {len(keys)}; {done} positions in {spent:.0f} s", flush=True)


def written(folder: Path, name: str) -> pl.DataFrame:
    """What an earlier run has put into the folder."""
    file = folder / f"{name}.parquet"
    found = pl.read_parquet(file) if file.exists() else pl.DataFrame(schema=SCHEMA)
    lacking = [pl.lit(None, kind).alias(name) for name, kind in SCHEMA.items() if name not in found.columns]
    return found.with_columns(lacking).select(list(SCHEMA))


def helped(folder: Path, helpers: Path, engines: Sequence[str], nodes: int, most: int) -> None:
    """Have other engines choose at turns that tell and whose deep choice is known, in turn, the same ones first.

    What the folder has of an engine is not asked again.
    """
    found = reference.read(folder, 8)
    there = set(written(folder, "deep-choice").drop_nulls("stays")["key"])
    known = np.array([bytes(key) in there for key in found.choices.keys]) & near(found)
    part = Reference(found.choices.only(known), found.turns.filter(pl.Series(known)), found.identity)
    keys = list(dict.fromkeys(bytes(key) for key in part.choices.keys[open_turns(part)]))
    keys = [keys[at] for at in np.random.default_rng(SEED).permutation(len(keys))[:most]]
    begun, thought = time.perf_counter(), written(folder, "helpers").filter(pl.col("nodes") == nodes)
    searches = [Search(engine, depth=NO_DEPTH, lines=1, nodes=nodes) for engine in engines]
    names = [asyncio.run(identify(search)).engine for search in searches]
    with Store(helpers, create=True) as store:
        for at in range(0, len(keys), TOGETHER):
            some = keys[at : at + TOGETHER]
            for search, name in zip(searches, names, strict=True):
                done = set(thought.filter(pl.col("engine") == name)["key"])
                value(Wanted(keys=[key for key in some if key not in done]), store, search, workers=1, quiet=True)
            print(f"{at + len(some)} of {len(keys)} in {time.perf_counter() - begun:.0f} s", flush=True)


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
                            "stays": stays_of(one.table()[:, best]),
                        }
                    )
    return pl.DataFrame(rows, schema=SCHEMA)


def joined_rows(*parts: pl.DataFrame) -> pl.DataFrame:
    """All of them, a choice of one kind once, the last to come before the first."""
    return pl.concat(parts[::-1]).unique(("key", "engine", "depth", "lines", "nodes"), maintain_order=True)


def write(folder: Path, path: Path, helpers: Sequence[Path]) -> None:
    """Put what is stored beside the parts of the reference set, with what is there already, and the checksums anew."""
    keys = {bytes(key) for key in reference.read(folder, 8).choices.keys}
    deep = joined_rows(written(folder, "deep-choice"), stored(path, keys))
    other = joined_rows(written(folder, "helpers"), *(stored(one, set(deep["key"])) for one in helpers))
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
    parser.add_argument("--sides", type=int, default=405, help="of games, for analyse")
    parser.add_argument("--turns", type=int, default=5, help="of each side")
    parser.add_argument("--engine", action="append")
    parser.add_argument("--most", type=int, default=1_500, help="turns, for help")
    parser.add_argument("--nodes", type=int, default=150_000)
    given = parser.parse_args()
    if given.step == "analyse":
        analyse(given.reference, given.store, given.depth, given.sides, given.turns)
    elif given.step == "help":
        helped(given.reference, given.store, given.engine, given.nodes, given.most)
    else:
        write(given.reference, given.store, given.helpers)


if __name__ == "__main__":
    main()
