"""The finished report that the opening page shows: prepared, so that nobody waits for it and no engine is needed."""

from __future__ import annotations

from functools import cache
from importlib import resources

from assay.reports.content import Report
from assay.reports.kept import kept
from assay.reports.page import render

FILE = "sample-report.json.gz"  # made by tools/sample_report.py


@cache
def sample_report() -> Report:
    """The report on the simulated event that ships with Assay."""
    return kept((resources.files("assay.data") / FILE).read_bytes())


@cache
def sample_page() -> bytes:
    """The same as a page."""
    return render(sample_report()).encode()
