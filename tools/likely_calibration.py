"""Make the calibration for searches that go deeper with likely moves alone.

    python tools/likely_calibration.py REFERENCE -o src/assay/data/calibrations/stockfish-15.1-likely-8.json

What such a search would say of the reference set is known from the values of all moves at all depths: moves that it
would not search deeper keep their value. The models are fitted to these; lines of pools are those of the calibration
that stands on the same games at full width. Without the policy no move is likely, so there is no model without it; and
Regan's way needs all moves, and has no part in it.
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import replace

from assay import manifest
from assay.engine.identity import LIKELY, LikelyDeeper
from assay.moves import reference
from assay.moves.calibrating import figures_of, reference_turns
from assay.moves.calibration import default_name, load, save
from assay.moves.choice.calibrate import calibrate
from assay.moves.choice.likely import searched_deeper, with_few
from assay.moves.evidence import log_policy
from assay.policy.chances import shipped


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("reference")
    parser.add_argument("-o", "--output", required=True)
    parser.add_argument("--depth", type=int, default=8)
    given = parser.parse_args()
    network = shipped()
    likely = LikelyDeeper(network.identity)
    base = load(default_name(given.depth))
    rated = reference_turns(reference.read(given.reference, given.depth))
    logs = log_policy(rated.choices, network)
    deeper = searched_deeper(rated.choices, logs, likely)
    few = replace(rated, choices=with_few(rated.choices, given.depth, deeper, likely), log_policy=logs)

    def told(text: str) -> None:
        print(text, file=sys.stderr, flush=True)

    told(f"{deeper.sum() / len(rated):.1f} moves a turn are searched deeper")
    made = calibrate(few, given.depth, told=told)
    told(str(made.judgement))
    settings = {**base.settings, "transferred_from": base.name, "moves_deeper": float(deeper.sum() / len(rated))}
    made_of = [{"name": "reference", "turns": len(rated)}]
    save(
        replace(
            base,
            name=f"stockfish-15.1-likely-{given.depth}",
            options=tuple(sorted({**dict(base.options), LIKELY: str(likely)}.items())),
            settings=settings,
            models={"policy": made.model},
            network=network.identity,
            figures={"policy": figures_of(made.judgement)},
            marks=(),
            line=None,
            scale=None,
            made=manifest.make("calibration", inputs=made_of, settings=settings),
        ),
        None,
        given.output,
    )


if __name__ == "__main__":
    main()
