"""Does a job without an engine: publishes a made-up report game by game, as the real worker would.

Twenty positions a game. A job whose name begins with "slow" stays at its second game until it is ended, and
publishes its report once more for each file "again"; one whose
name begins with "broken" ends with a sentence.
"""

from __future__ import annotations

import json
import runpy
import sys
import time
from pathlib import Path

from assay.web.worker import Told, end_with_parent

SAMPLE = Path(__file__).parents[1] / "reports" / "conftest.py"
POSITIONS = 20


def work(folder: Path) -> None:
    make_report = runpy.run_path(str(SAMPLE))["make_report"]
    job = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    told = Told(folder)
    if job["name"].startswith("broken"):
        told.tell(error="the engine was nowhere to be found.")
        sys.exit(1)
    total = POSITIONS * job["games"]
    for done in range(total + 1):
        if done % POSITIONS == 0 and done:
            told.publish(make_report(done // POSITIONS))
        while job["name"].startswith("slow") and done > POSITIONS * 1.5:
            time.sleep(0.1)
            told.update(done, total)
            if (again := folder / "again").exists():
                again.unlink()
                told.publish(make_report(1))
        told.update(done, total)
        time.sleep(0.005)


if __name__ == "__main__":
    end_with_parent()
    work(Path(sys.argv[1]))
