"""The process behind a job: analyse, and publish the report as it grows.

``python -m assay.web.worker FOLDER --store S [--engine E] [--workers N]``; it lives as long as its standard input.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import traceback
from pathlib import Path

from assay.errors import AssayError
from assay.reports.growing import Making, make
from assay.web.jobs import INPUT
from assay.web.told import Told, end_with_parent

NICE = 5  # the page comes first: who looks at it waits, and a job takes its time anyway


def run(folder: Path, making: Making) -> int:
    """Do the job in this folder; 0 if it is done, else 1 and a sentence in the folder."""
    asked = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    told = Told(folder)
    told.tell()
    try:
        make([folder / INPUT], making, preset=asked["preset"], name=asked["name"], progress=told, publish=told.publish)
    except AssayError as error:
        told.tell(error=str(error))
        return 1
    except Exception as error:
        traceback.print_exc()
        told.tell(error=f"this is a bug in Assay: {type(error).__name__}: {error}. worker.log in {folder} says more.")
        return 1
    return 0


def main() -> None:
    """Read the command line and do the job."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--engine", default="stockfish")
    parser.add_argument("--workers", type=int)
    words = parser.parse_args()
    end_with_parent()
    if hasattr(os, "nice"):
        os.nice(NICE)
    sys.exit(run(words.folder, Making(words.store, words.engine, words.workers)))


if __name__ == "__main__":
    main()
