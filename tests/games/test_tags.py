"""Columns of tags: a value stands in the row of its game, whatever is missing around it."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.games.made import tag_lines

from assay.games import read, read_tags
from assay.games.tags import ENDLESS, LATIN1

NAMES = ("Event", "White", "WhiteElo", "WhiteTitle", "WhiteRatingDiff", "Black", "Result", "ECO", "TimeControl")
values = st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=30)
tags = st.dictionaries(st.sampled_from(NAMES), values, max_size=len(NAMES))


@settings(max_examples=60)
@given(st.lists(tags, min_size=1, max_size=8), st.sampled_from(["\n", "\r\n"]))
def test_tags_come_back(tmp_path_factory: pytest.TempPathFactory, games: list[dict[str, str]], line_end: str) -> None:
    file = tmp_path_factory.mktemp("tags") / "games.pgn"
    text = "\n\n".join(f"{tag_lines({'Site': 's'} | game)}\n1. e4 *" for game in games)
    file.write_text(text.replace("\n", line_end), encoding="utf-8", newline="")
    columns = read_tags([file], NAMES)
    assert columns.games == len(games)
    for name in NAMES:
        assert columns.column(name) == [game.get(name) for game in games]
    assert [game.tags for game in read(file)] == [{"Site": "s"} | game for game in games]


def test_odd_tags(tmp_path: Path) -> None:
    file = tmp_path / "odd.pgn"
    file.write_bytes(
        b'[White  "two spaces"]\n[Black\t"a tab"]\n[WhiteElo "2000" ]  \n[Whit "no"]\n[White"no"]\n\n'
        b'1. e4 {\n[White "in a comment"]\n} *\n\n'
        b'[White "no end\n[Black "G\xfcnter"]\n[Result ""]\n\n*\n\n'
        b'[White "x"]\n[Black "first"]\n[Black "last"]\n[Result "say \\"hi\\" \\\\"]\n\n*\n'
    )
    read = read_tags([file], ("White", "Black", "Result", "WhiteElo"))
    assert read.column("White") == ["two spaces", None, "x"]
    assert read.column("Black") == ["a tab", "Günter", "last"]
    assert read.column("Result") == [None, "", 'say "hi" \\']
    assert read.column("WhiteElo") == ["2000", None, None]
    assert read.problems == {ENDLESS: 1, LATIN1: 1}


def test_names_that_begin_alike(tmp_path: Path) -> None:
    file = tmp_path / "alike.pgn"
    file.write_bytes(
        b'[WhiteEloBefore "1"]\n[WhiteElo "2"]\n[Openings "3"]\n[Opening "4"]\n[TimeControls "5"]\n\n*\n\n'
        b'[WhiteElo\t"6"]\n[Opening  "7"]\n[TimeControl "8"]\n[WhiteEl "9"]\n\n*\n'
    )
    read = read_tags([file], ("WhiteElo", "Opening", "TimeControl"))
    assert read.column("WhiteElo") == ["2", "6"]
    assert read.column("Opening") == ["4", "7"]
    assert read.column("TimeControl") == [None, "8"]


def test_every_tag_that_is_not_utf8_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "latin1.pgn"
    file.write_bytes(b'[White "G\xfcnter"]\n[Black "\xc3\xbc"]\n\n*\n\n' * 3)
    assert read_tags([file], ("White", "Black")).problems == {LATIN1: 3}


def test_players_share_their_codes(tmp_path: Path) -> None:
    for name, white, black in (("a", "x", "y"), ("b", "y", "x")):
        (tmp_path / f"{name}.pgn").write_text(f'[White "{white}"]\n[Black "{black}"]\n\n*\n')
    read = read_tags([tmp_path])
    assert read.values["White"] is read.values["Black"]
    assert read.codes["White"].tolist() == read.codes["Black"].tolist()[::-1]
    assert read.column("Result") == [None, None]


def test_no_games(tmp_path: Path) -> None:
    (tmp_path / "empty.pgn").touch()
    read = read_tags([tmp_path / "empty.pgn"])
    assert (read.games, read.column("White"), read.problems) == (0, [], {})


def test_a_truncated_file_is_reported(tmp_path: Path) -> None:
    import gzip

    text = "".join(f'[White "{i}"]\n[Black "b"]\n[Result "1-0"]\n\n1-0\n\n' for i in range(5000))
    (tmp_path / "cut.pgn.gz").write_bytes(gzip.compress(text.encode())[:-2000])
    read = read_tags([tmp_path / "cut.pgn.gz"])
    assert 100 < read.games < 5000
    assert [reason for reason in read.problems if reason.startswith("truncated gzip data")]
