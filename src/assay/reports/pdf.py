"""Print a report as PDF with Chromium, where it is present."""

from __future__ import annotations

import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from assay.errors import OutputError

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "msedge")
MAC = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"
SECONDS = 180
_FLAGS = (
    "--headless",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-pdf-header-footer",
)


def find_browser() -> str | None:
    """The program of a Chromium on this machine."""
    return next((path for name in (*BROWSERS, MAC) if (path := shutil.which(name))), None)


def need_browser() -> str:
    """The program of a Chromium; OutputError where there is none."""
    browser = find_browser()
    if browser is None:
        raise OutputError(
            "a PDF needs Chromium or Chrome, and none was found: install one, or write html and print it."
        )
    return browser


def print_pdf(html: str, path: Path) -> None:
    """Print HTML on A4 into a file; OutputError where there is no browser, or it fails."""
    browser = need_browser()
    # Chromium's sandbox does not run as root, the usual case in a container; the page is our own and calls nobody.
    flags = [*_FLAGS, *(["--no-sandbox"] if hasattr(os, "geteuid") and os.geteuid() == 0 else [])]
    with tempfile.TemporaryDirectory(prefix="assay-") as folder:
        page = Path(folder) / "report.html"
        page.write_text(html, encoding="utf-8")
        command = [browser, *flags, f"--user-data-dir={folder}/profile", f"--print-to-pdf={path}", page.as_uri()]
        try:
            subprocess.run(command, capture_output=True, timeout=SECONDS, check=False)
        except (OSError, subprocess.TimeoutExpired) as error:
            raise OutputError(f"{browser} could not print the report: {error}.") from error
    if not path.is_file() or not path.stat().st_size:
        raise OutputError(f"{browser} printed nothing; write html and print it from a browser.")
