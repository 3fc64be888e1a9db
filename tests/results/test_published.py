"""Lists people publish: one page, columns of numbers, JSON that states the level, lists that grow."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Run = Callable[..., Any]
POOLS = [("A", "B", "1-0"), ("B", "A", "1/2-1/2"), ("C", "D", "1-0"), ("D", "C", "1-0"), ("A", "<b>E&", "1-0")]


def data_of(page: str) -> Any:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page, re.DOTALL)
    assert found is not None
    return json.loads(found.group(1))


def test_a_page_with_pools_and_results_against_each_other(
    run: Run, write_pgn: Callable[..., str], tmp_path: Path
) -> None:
    file, page = write_pgn(POOLS), tmp_path / "list.html"
    answer = run(file, "-o", str(page))
    assert answer.code == 0
    assert answer.out == ""
    text = page.read_text()
    assert text.count('<table class="list">') == 2
    assert "Pool 2" in text
    assert "3 players, average 2300.0" in text
    assert "<b>E" not in text
    data = data_of(text)
    number = {name: int(at) for at, name in data["names"].items()}
    assert sorted(data["met"][str(number["A"])]) == [[number["B"], 1, 1, 0], [number["<b>E&"], 1, 0, 0]]
    assert "http://" not in text.replace("http://www.w3.org/2000/svg", "")


def test_a_page_of_ratings_over_time(run: Run, tmp_path: Path) -> None:
    games = "".join(
        f'[Date "201{n}.05.01"]\n[Round "{n}"]\n[White "A"]\n[Black "B"]\n[Result "{r}"]\n\n{r}\n\n'
        for n, r in enumerate(("1-0", "1/2-1/2", "0-1", "0-1"))
    )
    (tmp_path / "games.pgn").write_text(games)
    page = tmp_path / "list.html"
    assert run("--over-time", "year", str(tmp_path / "games.pgn"), "-o", str(page)).code == 0
    data = data_of(page.read_text())
    assert data["times"] == ["2010", "2011", "2012", "2013"]
    assert [len(curve) for curve in data["moments"].values()] == [4, 4]
    assert 'id="day"' in page.read_text()


def test_columns_of_numbers_and_the_level(run: Run, write_pgn: Callable[..., str]) -> None:
    file = write_pgn(POOLS)
    rows = list(csv.DictReader(run(file, "-J", "--format", "csv").out.splitlines()))
    for row in rows:
        for name in ("RATING", "ERROR", "POINTS", "PLAYED", "(%)", "CFS(%)", "POOL"):
            assert row[name] == "" or float(row[name]) == float(row[name])
    assert rows[-1]["CFS(%)"] == ""
    data = json.loads(run(file, "-F", "90", "--format", "json").out)
    assert data["level"] == pytest.approx(0.9)
    assert [pool["level"] for pool in data["pools"]] == ["average 2300.0", "average 2300.0"]


def test_an_index_beside_new_games_is_rating_all_at_once(run: Run, pool_file: str, tmp_path: Path) -> None:
    text = Path(pool_file).read_text()
    games = [f"[White {part}" for part in text.split("[White ")[1:]]
    old, new, index = tmp_path / "old.pgn", tmp_path / "new.pgn", tmp_path / "old.parquet"
    old.write_text("".join(games[:100]))
    new.write_text("".join(games[100:]))
    assert run(str(old), "-o", str(index), command="index").code == 0
    whole = run("-W", "-D", "--keep-duplicates", "--format", "json", pool_file)
    grown = run("-W", "-D", "--keep-duplicates", "--format", "json", str(index), str(new))
    assert json.loads(grown.out)["players"] == json.loads(whole.out)["players"]
