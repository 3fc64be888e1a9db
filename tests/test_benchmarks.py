"""The benchmarks run, whatever they measure: a tiny run of all writes the page, the picture and the figures."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
PNG = b"\x89PNG"


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The folder of a tiny run, and what it printed."""
    out = tmp_path_factory.mktemp("bench")
    command = [sys.executable, str(BENCHMARKS / "all.py"), "--tiny", "--out", str(out), "--json", str(out / "all.json")]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    return out, ran.stdout


def test_the_page_has_every_section(run: tuple[Path, str]) -> None:
    page = (run[0] / "performance.md").read_text(encoding="utf-8")
    titles = [line for line in page.splitlines() if line.startswith("#")]
    assert titles == [
        "# Performance",
        "## Side by side",
        "## How cost grows",
        "## On paper",
        "### A whole month of Lichess",
        "### A year of the world's rated tournaments",
        "### All of The Week in Chess",
    ]
    assert "A tiny run: its sizes are too small" in page
    assert "images/scaling.png" in page


def test_the_picture_is_drawn(run: tuple[Path, str]) -> None:
    assert (run[0] / "images" / "scaling.png").read_bytes().startswith(PNG)


def test_every_alternative_stands_in_the_table_whether_or_not_it_is_installed(run: tuple[Path, str]) -> None:
    for name in ("python-chess", "plain loop", "gradient boosting", "pgn-extract", "Ordo", "BayesElo"):
        assert name in run[1]


def test_the_figures_are_data_too(run: tuple[Path, str]) -> None:
    found = json.loads((run[0] / "all.json").read_text(encoding="utf-8"))
    assert {"processor", "cores", "memory", "versions", "date"} <= found["machine"].keys()
    assert {series["axis"] for series in found["growth"]} == {
        "games",
        "players",
        "turns",
        "positions",
        "plies",
        "depth",
    }
    for rows in found["rooms"].values():
        for row in rows:
            assert math.isfinite(row["value"])
            assert row["ratio"] is None if row["other"] is None else row["ratio"] > 0


def test_the_page_answers_whole_beside_a_job(tmp_path: Path) -> None:
    file = tmp_path / "web.json"
    command = [sys.executable, str(BENCHMARKS / "web.py"), "--tiny", "--jobs", "20", "--json", str(file)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    (broken,) = (row for row in json.loads(file.read_text()) if row["job"].startswith("broken"))
    assert broken["value"] == 0


def test_examples_in_the_benchmarks_hold() -> None:
    files = [str(BENCHMARKS / name) for name in ("measure.py", "growth.py", "paper.py", "page.py")]
    ran = subprocess.run([sys.executable, "-m", "doctest", *files], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stdout
