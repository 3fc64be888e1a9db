"""A clock that jumps: what is measured is measured by the clock that cannot, and the order of jobs stays."""

from __future__ import annotations

import ast
import itertools
from pathlib import Path

import pytest

import assay
from assay.web import jobs

PACKAGE = Path(assay.__file__).parent
# Where the time of the day is wanted: it says when an artefact was made, a job came, a report was written.
TELL_THE_DATE = {"manifest.py", "reports/origin.py", "web/jobs.py"}
# Where it is compared with dates that a service gives: of games, and of the moment from which it may be asked again.
DATES_OF_SERVICES = {"fetch/asking.py", "fetch/chesscom.py", "fetch/fetching.py", "fetch/lichess.py"}


def wall_clocks(file: Path) -> set[str]:
    """The names by which a file asks for the time of the day."""
    asked = {ast.unparse(node) for node in ast.walk(ast.parse(file.read_text())) if isinstance(node, ast.Attribute)}
    return asked & {"time.time", "time.time_ns", "datetime.now", "datetime.utcnow", "datetime.today", "loop.time"}


def test_no_length_of_time_is_taken_from_the_wall_clock() -> None:
    found = {file.relative_to(PACKAGE).as_posix(): wall_clocks(file) for file in PACKAGE.rglob("*.py")}
    assert {name for name, asked in found.items() if asked} == TELL_THE_DATE | DATES_OF_SERVICES
    assert all(found[name] == {"datetime.now"} for name in TELL_THE_DATE)


def test_jobs_stay_in_their_order_when_the_clock_goes_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock = itertools.chain(
        ["2026-10-25T02:59:59.000+00:00", "2026-10-25T02:00:00.000+00:00"], itertools.repeat("2026")
    )
    monkeypatch.setattr(jobs, "now", lambda: next(clock))
    folders = jobs.JobFolders(tmp_path)
    made = [
        folders.create(b"1. e4 *", name=name, preset="quick", games=1, sha256="0" * 64).created
        for name in ("first", "second", "third")
    ]
    assert made == sorted(made)
