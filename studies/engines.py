"""How far the ratings of other engines lie from those of Stockfish 15.1 on the same games, with and without a transfer.

    python studies/engines.py [STORE ...] [--write FOLDER]

Without stores the figures of the calibrations that ship. With stores, in which `assay calibrate --engine PATH
--transfer --store STORE` has put the values of an engine (those of `studies/analyses/engines-d8.parquet`, say), the
transfers of all engines there are made anew, and with `--write` kept as calibrations.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from assay.engine.store import Store
from assay.moves.calibration import Calibration, load, save, shipped, slug
from assay.moves.transfer import pair, shares, shipped_turns, transferred
from assay.policy.chances import shipped as shipped_policy

DEPTHS = (8, 6)
NAMES = {"policy": "with the policy", "engine": "values alone"}


def made(stores: list[str]) -> Iterator[Calibration]:
    """The transfers of every engine in the stores, with how its values look beside people's moves."""
    for path in stores:
        with Store(Path(path)) as store:
            for kept in store.kept():
                for depth in (depth for depth in DEPTHS if depth <= kept.depth):
                    found = pair(shipped_turns(depth), store, kept.identity, depth)
                    for who, rated in (("Stockfish 15.1", found.old), (kept.identity.engine, found.new)):
                        said = shares(rated.choices.to_depth(depth))
                        print(
                            f"# {who}, depth {depth}: played moves that are best {said.best:.3f}, "
                            f"mean error {said.error:.3f}, ties {said.ties:.3f}"
                        )
                    name = slug(kept.identity.engine, depth)
                    yield transferred(found, load(depth=depth), name=name, network=shipped_policy())


def main() -> None:
    """Print the table of docs/validation.md."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("stores", nargs="*")
    parser.add_argument("--write", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    if given.write and not given.stores:
        parser.error("--write keeps transfers that are made anew: name the stores.")
    rows = {}
    for one in made(given.stores) if given.stores else map(load, shipped()):
        if "transfer" in one.figures:
            rows[-one.depth, one.engine] = one.figures["transfer"]
        if given.write:
            save(one, None, str(given.write / f"{one.name}.json"))
    print("| depth | engine | model | turns | as it is | for each 400 | transferred | for each 400 |")
    print("|---|---|---|---|---|---|---|---|")
    for (depth, engine), figures in sorted(rows.items()):
        for kind, name in NAMES.items():
            if kind in figures:
                said = figures[kind]
                cells = [
                    f"{said[what]:+.0f} ± {said[f'{what}_error']:.0f}".replace("-", "−")
                    for what in ("untouched", "untouched_per_400", "apart", "apart_per_400")
                ]
                print(f"| {-depth} | {engine} | {name} | {said['turns']:,} | {' | '.join(cells)} |")


if __name__ == "__main__":
    main()
