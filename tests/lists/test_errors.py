"""A junior with K 40 is not a veteran with K 10: the error of the rating widens what is expected."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.lists.made import standard

import assay
from assay.games.archives import sample
from assay.games.split import Game, split
from assay.lists.inforce import add


def one_long_game(path: Path) -> Path:
    """The longest game of the sample, with a day and a place."""
    data = sample("simulated-event.pgn")
    part = split(data)
    games = [Game("x", a, b, data[a:b]) for a, b in zip(part.starts.tolist(), part.ends.tolist(), strict=True)]
    longest = max(games, key=lambda game: len(game.data)).text
    path.write_text('[Date "2024.03.09"]\n' + "\n".join(x for x in longest.split("\n") if not x.startswith("[Date ")))
    return path


def test_k_sets_the_error_in_screening(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    pgn = one_long_game(tmp_path / "game.pgn")
    names = [next(iter(assay.read(pgn))).tags[side] for side in ("White", "Black")]
    found = {}
    for k in (10, 40):
        people = [
            {"id": 7 + at, "name": name, "fed": "SUI", "standard": 2300, "k": k, "born": 1980}
            for at, name in enumerate(names)
        ]
        path = tmp_path / "list.txt"
        path.write_text(standard(people))
        add(path, month="2024-03")
        how = {"quick": True, "store": tmp_path / "store.db", "policy": False, "pool": "otb-slow"}
        answer = assay.screen(pgn, ratings="fide", **how)  # type: ignore[arg-type]
        assert any("Errors of the ratings, by K" in remark for remark in answer.remarks)
        found[k] = {row["player"]: (row["rating"], row["z"]) for row in answer.table.to_dicts()}
    for name in names:
        (rating, veteran), (_, junior) = found[10][name], found[40][name]
        assert rating == 2300
        assert veteran is not None and junior is not None and abs(junior) < abs(veteran)
