"""The deep choices of the reference set: what one line to depth 16 prefers, where the list has depth 8.

    python studies/deep_choice.py analyse REFERENCE STORE [--depth 16]
    python studies/deep_choice.py write REFERENCE STORE [--depth 16]

`analyse` values the turns of paired transfers first (thirty of each of 144 games: other engines have valued them, too),
then sides of games, marks and samples in turn, so that what is done at any time is spread over the scale; it goes on
where it stopped. Turns count that are within three pawns of equality. `write` puts what is stored
beside the parts of the reference set, as `deep-choice.parquet`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import value
from assay.engine.choices import pawns
from assay.engine.identity import Search
from assay.engine.parsed import Wanted
from assay.engine.store import Store
from assay.moves import reference
from assay.moves.reference import Reference
from assay.moves.transfer import shipped_turns

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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("step", choices=("analyse", "write"))
    parser.add_argument("reference", type=Path)
    parser.add_argument("store", type=Path)
    parser.add_argument("--depth", type=int, default=16)
    given = parser.parse_args()
    if given.step == "analyse":
        analyse(given.reference, given.store, given.depth)


if __name__ == "__main__":
    main()
