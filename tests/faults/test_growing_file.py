"""A file that somebody is still writing: what is there of it is answered or told, and more of it never means less."""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from pathlib import Path

import pytest

import assay
from assay.api import players
from assay.errors import AssayError, AssayWarning

GAMES = "\n".join(
    f'[Event "E"]\n[Date "2022.0{at + 1}.03"]\n[Round "{at + 1}"]\n[White "{"AB"[at % 2]}"]\n[Black "{"BA"[at % 2]}"]\n'
    f'[Result "{result}"]\n[WhiteElo "1800"]\n[BlackElo "1810"]\n\n1. e4 {{ [%eval 0.3] }} e5 2. Nf3 Nc6 {result}\n'
    for at, result in enumerate(("1-0", "1/2-1/2", "0-1", "1-0", "1/2-1/2", "0-1"))
).encode()
FUNCTIONS: dict[str, Callable[[Path], int]] = {
    "rate": lambda file: sum(one.games for one in assay.rate(file, witness=["results"]).said) // 2,
    "match": lambda file: assay.match(file).played.games,
    "event": lambda file: sum(row["games"] for row in assay.event(file).table.rows(named=True)) // 2,
    "over time": lambda file: assay.rate_over_time(file).games["counted"],
    "players": lambda file: sum(row["games"] for row in players(file).table.rows(named=True)) // 2,
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_growing_file_never_tells_of_fewer_games(name: str, tmp_path: Path) -> None:
    file, seen = tmp_path / "live.pgn", 0
    places = [*sorted(random.Random(3).sample(range(len(GAMES)), 40)), len(GAMES)]
    for place in places:
        file.write_bytes(GAMES[:place])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", AssayWarning)
                found = FUNCTIONS[name](file)
        except AssayError as error:
            assert str(error).strip() and not seen, (place, error)
            continue
        assert found >= seen, place
        seen = found
    assert seen == 6
