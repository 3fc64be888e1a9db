"""The studies: every one that the documentation tells of is there, and `make validate` runs them with resume."""

from __future__ import annotations

import re
import runpy
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
ALL, REMAKE = ROOT / "studies" / "all.py", ROOT / "studies" / "remake.py"
TOLD = re.compile(r"\b((?:studies|benchmarks)/\w+\.py)")


def run(*words: object, study: Path = ALL) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(study), *map(str, words)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("page", sorted(ROOT.glob("docs/**/*.md")), ids=lambda page: page.name)
def test_a_page_names_studies_that_are_there(page: Path) -> None:
    assert [name for name in TOLD.findall(page.read_text("utf-8")) if not (ROOT / name).exists()] == []


def test_the_run_of_all_names_studies_that_are_there() -> None:
    studies = runpy.run_path(str(ALL))["STUDIES"]
    lines = [line for study in studies for line in (study.words, *(study.before.words if study.before else ()))]
    words = [word for line in lines for word in line.split()]
    files = [word for word in words if word.endswith(".py")]
    assert files and [file for file in files if not (ROOT / file).exists()] == []
    assert len({study.name for study in studies}) == len(studies)


def test_what_lacks_is_named_and_what_is_done_is_not_run_again(tmp_path: Path) -> None:
    out = tmp_path / "out"
    listed = run(tmp_path, "--out", out, "--list")
    assert listed.returncode == 0 and "left out" in listed.stdout and "fide-lichess: to be run" in listed.stdout
    (tmp_path / "fide-and-lichess.csv").write_text("no such columns\n")
    failed = run(tmp_path, "--out", out, "--only", "fide-lichess")
    assert failed.returncode == 1 and "failed with 1" in failed.stdout and not (out / "fide-lichess.txt").exists()
    version = runpy.run_path(str(ALL))["version"]()
    (out / "fide-lichess.txt").write_text(f"# version {version}\n# 1 s of CPU\n")
    assert "done before" in run(tmp_path, "--out", out, "--only", "fide-lichess").stdout


def test_what_ships_is_made_anew_in_order_and_what_is_done_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def names(*words: str) -> list[str]:
        listed = run(tmp_path, "--out", tmp_path, "--list", *words, study=REMAKE).stdout.splitlines()
        assert all("to be made, some" in line for line in listed)
        return [line.split(":")[0] for line in listed]

    every = names()
    assert every.index("depth-8") < every.index("engines") < every.index("lines") < every.index("answer")
    assert names("--after", "engines") == every[every.index("lines") :]
    failed = run(tmp_path, "--out", tmp_path, "--only", "lines", study=REMAKE)
    assert failed.returncode == 1 and "lines ... failed with" in failed.stdout
    monkeypatch.syspath_prepend(str(REMAKE.parent))
    (tmp_path / "remade" / "lines.txt").write_text(runpy.run_path(str(REMAKE))["heading"]() + "\n")
    assert run(tmp_path, "--out", tmp_path, "--only", "lines", study=REMAKE).stdout == "lines: done before\n"
