"""Make the report that the page of `assay serve` shows at first, on the simulated event that ships.

    python tools/sample_report.py [--store STORE]

Needs Stockfish 15.1, or a store with its analyses of the event at the usual depth.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from importlib import resources
from pathlib import Path

from assay.moves.asked import Asked
from assay.paths import atomic
from assay.reports.exports import keep
from assay.reports.growing import make
from assay.web.app import FILE

EVENT = "simulated-event.pgn"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--store", type=Path)
    words = parser.parse_args()
    event = Path(str(resources.files("assay.data") / EVENT))
    report = make([event], Asked(store=words.store))
    games = tuple(replace(game, text="") for game in report.games)  # they ship already
    with atomic(event.with_name(FILE)) as part:
        part.write_bytes(keep(replace(report, games=games)))
    print(f"{FILE}: {event.with_name(FILE).stat().st_size:,} bytes. {report.summary}")


if __name__ == "__main__":
    main()
