"""Write a report in any of its formats."""

from __future__ import annotations

import os
from pathlib import Path

from assay.errors import OutputError
from assay.paths import atomic
from assay.reports.content import Report
from assay.reports.exports import to_csv, to_json, to_pgn
from assay.reports.page import render
from assay.reports.pdf import need_browser, print_pdf

# All formats that are text; a PDF is printed from the HTML.
TEXTS = {"html": render, "csv": to_csv, "json": to_json, "pgn": to_pgn}


def check_place(path: Path, format: str) -> None:
    """Refuse at once what could not be written after an hour of analysis."""
    if not path.parent.is_dir():
        raise OutputError(f"cannot write {path}: the folder {path.parent} does not exist.")
    if not os.access(path.parent, os.W_OK):
        raise OutputError(f"cannot write {path}: the folder {path.parent} is read-only.")
    if format == "pdf":
        need_browser()


def write(report: Report, path: Path, format: str) -> int:
    """Write a report, whole or not at all; the size in bytes."""
    with atomic(path) as part:
        if format == "pdf":
            print_pdf(render(report), part)
        else:
            part.write_text(TEXTS[format](report), encoding="utf-8")
    return path.stat().st_size
