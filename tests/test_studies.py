"""Studies that people run: what they are given and cannot use is told in a sentence."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

STUDIES = Path(__file__).parents[1] / "studies"
UNEVEN = """
from types import SimpleNamespace as Rating
import held_out

def case(mark, low=1500.0, high=2500.0):
    return mark, float(mark), Rating(rating=mark + 10.0, low=low, high=high, half_width=50.0, games=4, turns=100)

held_out.tell([[case(1900), case(2000)], [case(1900), case(2000), case(2100, 2200.0)]], "two splits")
"""


def run(*words: str, code: str | None = None) -> subprocess.CompletedProcess[str]:
    what = ["-c", code] if code else [str(STUDIES / "held_out.py"), *words]
    return subprocess.run([sys.executable, *what], cwd=STUDIES, capture_output=True, text=True, check=False)


def test_held_out_tells_splits_of_unequal_size() -> None:
    done = run(code=UNEVEN)
    assert done.returncode == 0, done.stderr
    assert "80% of 5 intervals hold the Elo (2 to 2 of 2 in a single split)" in done.stdout


def test_held_out_says_what_it_cannot_read(tmp_path: Path) -> None:
    (tmp_path / "games.pgn").write_text('[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 1-0\n')
    for words in (("2",), ("2", "2"), ("2", "1")):
        done = run(str(tmp_path / "games.pgn"), str(tmp_path / "none.db"), *words)
        assert done.returncode != 0
        assert "Traceback" not in done.stderr
        assert done.stderr.strip()
