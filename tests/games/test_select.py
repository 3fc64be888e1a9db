"""Counting and drawing games: the numbers add up, and the same seed draws the same games."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.games.made import tag_lines

from assay.games import index, read
from assay.games.catalog import games_of, rows_of
from assay.games.stats import NO_CONTROL, NO_RATING, UNREADABLE, count, draw, outside, too_far
from assay.pools import STANDARD, Bands

elos = st.none() | st.integers(400, 3300)
controls = st.sampled_from(
    [("60+0", 60, 0, "bullet"), ("300+3", 300, 3, "blitz"), (None, None, None, None), ("soon", None, None, None)]
)


@settings(max_examples=40)
@given(st.lists(st.tuples(elos, elos, controls), max_size=60))
def test_every_game_is_counted_once(games: list[tuple[int | None, int | None, tuple[str, int, int, str]]]) -> None:
    names = ("white_elo", "black_elo", "time_control", "base_seconds", "increment_seconds", "speed")
    types = (pl.Int32, pl.Int32, pl.String, pl.Int32, pl.Int32, pl.String)
    schema = dict(zip(names, types, strict=True))
    frame = pl.DataFrame([(white, black, *control) for white, black, control in games], schema, orient="row")
    found = count(frame.lazy())
    expected: Counter[str] = Counter()
    bands: Counter[int] = Counter()
    for white, black, (control, *_) in games:
        if white is None or black is None:
            expected[NO_RATING] += 1
        elif abs(white - black) > 200:
            expected[too_far(STANDARD)] += 1
        elif (band := STANDARD.of((white + black) / 2)) is None:
            expected[outside(STANDARD)] += 1
        elif control == "soon":
            expected[UNREADABLE] += 1
        else:
            bands[band] += 1
            expected[NO_CONTROL] += control is None
    assert found.games == len(games)
    assert found.dropped == +expected
    assert dict(found.ratings.iter_rows()) == bands
    assert found.controls["games"].sum() == sum(bands.values()) - expected[NO_CONTROL]
    assert found.controls["games"].to_list() == sorted(found.controls["games"].to_list(), reverse=True)
    assert found.both["games"].sum() == found.controls["games"].sum()


@pytest.fixture(scope="module")
def indexed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two files, bands of very different size, some games without ratings."""
    folder = tmp_path_factory.mktemp("games")
    for name, least in (("a", 1500), ("b", 1550)):
        text = "".join(
            tag_lines(
                {"Event": f"{name}{i}", "WhiteElo": str(least + 2 * i), "BlackElo": str(least + 2 * i + 7 * (i % 40))}
            )
            + "\n1. e4 *\n\n"
            for i in range(200)
        )
        (folder / f"{name}.pgn").write_text(text + '[Event "unrated"]\n\n*\n')
    index(folder, folder / "all.parquet")
    return folder / "all.parquet"


def test_the_same_number_from_every_band(indexed: Path) -> None:
    opened = read(indexed)
    drawn = draw(opened, 30, bands=STANDARD, seed=3)
    games = list(games_of(opened.indexes, drawn.spans))
    bands = Counter(STANDARD.of((int(g.tags["WhiteElo"]) + int(g.tags["BlackElo"])) / 2) for g in games)
    assert bands == {band: min(30, there) for band, there in drawn.available.items() if there}
    assert bands == {band: number for band, number in drawn.drawn.items() if number}
    assert sum(drawn.available.values()) + sum(drawn.dropped.values()) == 402
    assert drawn.dropped == {NO_RATING: 2, too_far(STANDARD): 402 - 2 - sum(drawn.available.values())}
    # Over the whole of the files, in their order, each game once.
    places = [(game.source, game.start_offset) for game in games]
    assert places == sorted(set(places)) and len({source for source, _ in places}) == 2


def test_the_seed_decides(indexed: Path) -> None:
    opened = read(indexed)
    first, again, other = (draw(opened, 10, bands=STANDARD, seed=seed).spans for seed in (1, 1, 2))
    assert first.equals(again)
    assert not first.equals(other)


def test_wider_bands_and_a_filter(indexed: Path) -> None:
    opened = read(indexed)
    drawn = draw(read(opened, where="black_elo - white_elo < 100"), 1000, bands=Bands(width=200), seed=1)
    rows = rows_of(opened.indexes, "black_elo - white_elo < 100").collect()
    assert sum(drawn.drawn.values()) == rows.height == drawn.spans.height
