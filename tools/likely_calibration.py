"""Make the calibration for searches that go deeper with likely moves alone.

    python tools/likely_calibration.py --reference reference -o base.json
    python tools/likely_calibration.py --base base.json --store likely.db --engine stockfish \
        -o src/assay/data/calibrations/stockfish-15.1-likely-8.json

What such a search would say of the reference set is nearly known from the values of all moves at all depths: moves that
it would not search deeper keep their value. The model is fitted to these first. A real search of few moves values them
a little differently than one of all moves, so the model is then carried over to what it says of the turns that come
with Assay, by the paired transfer that serves other engines: the same turns by both, on the scale of the first.

Without the policy no move is likely, so there is no model without it; Regan's way needs all moves, and has no part in
it. Lines of pools are those of the calibration that stands on the same games at full width.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace
from pathlib import Path

from assay import manifest
from assay.engine.analysis import value
from assay.engine.identity import LIKELY, LikelyDeeper, Search
from assay.engine.parsed import Wanted
from assay.engine.store import writing
from assay.moves import reference, transfer
from assay.moves.calibrating import figures_of, reference_turns
from assay.moves.calibration import Calibration, default_name, load, save
from assay.moves.choice.calibrate import RIDGE, calibrate
from assay.moves.choice.likely import chooser, searched_deeper, with_few
from assay.moves.evidence import log_policy
from assay.policy.chances import shipped

BOUNDED_RIDGE = (30, 4_000)  # without a model by the values alone beside it the policy must not count much


def told(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def fitted(folder: str, depth: int) -> Calibration:
    """The model of what such a search would say, were the values those of a search of all moves."""
    network = shipped()
    likely, base = LikelyDeeper(network.identity), load(default_name(depth))
    rated = reference_turns(reference.read(folder, depth))
    logs = log_policy(rated.choices, network)
    deeper = searched_deeper(rated.choices, logs, likely)
    few = replace(rated, choices=with_few(rated.choices, depth, deeper, likely), log_policy=logs)
    told(f"{deeper.sum() / len(rated):.1f} moves a turn are searched deeper")
    made = calibrate(few, depth, ridge={**RIDGE, "policy": BOUNDED_RIDGE}, told=told)
    told(str(made.judgement))
    settings = {**base.settings, "transferred_from": base.name, "moves_deeper": float(deeper.sum() / len(rated))}
    return replace(
        base,
        name=f"stockfish-15.1-likely-{depth}",
        options=tuple(sorted({**dict(base.options), LIKELY: str(likely)}.items())),
        settings=settings,
        models={"policy": made.model},
        network=network.identity,
        figures={"policy": figures_of(made.judgement)},
        marks=(),
        line=None,
        scale=None,
        made=manifest.make("calibration", inputs=[{"name": "reference", "turns": len(rated)}], settings=settings),
    )


def carried_over(base: Calibration, store: Path, engine: str, valued_only: bool) -> Calibration:
    """The same for what a real search says; positions that the store lacks are valued first."""
    network = shipped()
    likely, found = LikelyDeeper(network.identity), transfer.shipped_turns(base.depth)
    keys = [] if valued_only else list(dict.fromkeys(key.tobytes() for key in found.choices.keys))
    search = Search(engine, base.depth, base.lines, likely=likely)
    with writing(store) as opened:
        outcome = value(Wanted(keys=keys), opened, search, deeper=chooser(network, likely))
        paired = transfer.pair(found, opened, outcome.identity, base.depth)
    old = paired.old.choices
    deeper = searched_deeper(old, log_policy(old, network), likely)
    few = replace(paired, old=replace(paired.old, choices=with_few(old, base.depth, deeper, likely)))
    made = transfer.transfer(few.with_policy(network), base.models["policy"], told=told)
    figures = transfer.figures_of(made)
    told(f"{made.turns} turns of {made.games} games: {figures}")
    return replace(base, models={"policy": made.model}, figures={**base.figures, "transfer": {"policy": figures}})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--reference")
    parser.add_argument("--depth", type=int, default=8)
    parser.add_argument("--base")
    parser.add_argument("--store", type=Path)
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--valued-only", action="store_true", help="take what the store holds")
    parser.add_argument("-o", "--output", required=True)
    given = parser.parse_args()
    found = load(given.base) if given.base else fitted(given.reference, given.depth)
    if given.store:
        found = carried_over(found, given.store, given.engine, given.valued_only)
    save(found, None, given.output)


if __name__ == "__main__":
    main()
