"""The process behind a job: analyse, and publish the report as it grows.

``python -m assay.web.worker FOLDER --store S [--engine E] [--workers N]``; it lives as long as its standard input.
"""

from __future__ import annotations

import argparse
import json
import sys
import traceback
from pathlib import Path

from assay.errors import AssayError
from assay.report.make import Making, make
from assay.web.jobs import INPUT
from assay.web.told import Told, end_with_parent


def run(folder: Path, making: Making) -> None:
    """Do the job in this folder."""
    asked = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    told = Told(folder)
    told.tell()
    try:
        make([folder / INPUT], making, preset=asked["preset"], name=asked["name"], progress=told, publish=told.publish)
    except AssayError as error:
        told.tell(error=str(error))
        raise


def main() -> None:
    """Read the command line, do the job; exit code 1 and a sentence in the job's folder when it cannot be done."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--workers", type=int)
    words = parser.parse_args()
    end_with_parent()
    try:
        run(words.folder, Making(words.store, words.engine, words.workers))
    except AssayError:
        sys.exit(1)
    except Exception:
        traceback.print_exc()
        sys.exit(1)


if __name__ == "__main__":
    main()
