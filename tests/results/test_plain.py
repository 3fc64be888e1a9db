"""The quick reader of plain files reads what the thorough one reads, or says that it cannot."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from assay.games.plain import PlainTags, read_plain
from assay.games.tags import read_tags

# At most 60 bytes: names beyond 63 are left to the thorough reader.
NAMES = st.text(
    st.characters(min_codepoint=32, max_codepoint=0x17F, exclude_characters='"\\{[]'), min_size=1, max_size=30
)
RESULTS = st.sampled_from(["1-0", "0-1", "1/2-1/2", "*"])


def columns(found: PlainTags) -> list[list[str]]:
    players = [value.decode() for value in found.players]
    results = [value.decode() for value in found.results]
    return [
        [players[code] for code in found.white.tolist()],
        [players[code] for code in found.black.tolist()],
        [results[code] for code in found.result.tolist()],
    ]


@settings(max_examples=50, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(
    st.lists(st.tuples(NAMES, NAMES, RESULTS, st.booleans()), min_size=1, max_size=30), st.sampled_from(["\n", "\r\n"])
)
def test_both_readers_agree(tmp_path: Path, games: list[tuple[str, str, str, bool]], end: str) -> None:
    lines = []
    for white, black, result, more in games:
        lines += ['[Event "x"]'] if more else []
        lines += [f'[White "{white}"]', f'[Black "{black}"]', f'[Result "{result}"]']
        lines += ['[ECO "C20"]', "", "1. e4 e5 2. Nf3", result, ""] if more else ["", result, ""]
    (tmp_path / "games.pgn").write_bytes(end.join(lines).encode())
    found = read_plain(tmp_path / "games.pgn")
    assert found is not None
    thorough = read_tags([tmp_path / "games.pgn"])
    assert columns(found) == [thorough.column(tag) for tag in ("White", "Black", "Result")]


def test_blocks_are_cut_between_games(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("assay.games.plain._BLOCK", 100)
    text = "".join(f'[White "P{i}"]\n[Black "Q{i % 7}"]\n[Result "1-0"]\n\n1-0\n\n' for i in range(500))
    (tmp_path / "games.pgn").write_text(text)
    found = read_plain(tmp_path / "games.pgn")
    assert found is not None
    assert columns(found)[0] == [f"P{i}" for i in range(500)]
    assert columns(found)[1] == [f"Q{i % 7}" for i in range(500)]


def test_indented_tags_and_a_byte_order_mark_are_plain(tmp_path: Path) -> None:
    text = '\ufeff[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1-0\n\n'
    text += '  [White "C"]\n\t[Black "D"]\n [Result "0-1"]\n\n0-1\n'
    (tmp_path / "games.pgn").write_text(text, encoding="utf-8")
    found = read_plain(tmp_path / "games.pgn")
    assert found is not None
    assert columns(found) == [["A", "C"], ["B", "D"], ["1-0", "0-1"]]


@pytest.mark.parametrize(
    "text",
    [
        '[White "A"]\n[Result "1-0"]\n\n1-0\n',
        '[White "A"]\n\n*\n\n[Black "B"]\n[Result "1-0"]\n\n1-0\n',
        '[Black "B"]\n[White "A"]\n[Result "1-0"]\n\n1-0\n',
        '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 {good} 1-0\n',
        '[White "The \\"Turk\\""]\n[Black "B"]\n[Result "1-0"]\n\n1-0\n',
        '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1-0\n\n1. d4 d5 0-1\n',
        '[White "A"]\r\n[Black "B"]\r\n[Result "1-0"]\r\n\r\n1-0\r\n\r\n1. d4 d5 0-1\r\n',
        '1. d4 d5 0-1\n\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1-0\n',
        f'[White "{"x" * 200}"]\n[Black "B"]\n[Result "1-0"]\n\n1-0\n',
    ],
)
def test_what_is_not_plain_is_left_to_the_thorough_reader(tmp_path: Path, text: str) -> None:
    (tmp_path / "games.pgn").write_text(text)
    assert read_plain(tmp_path / "games.pgn") is None


@pytest.mark.parametrize(
    ("moves", "plain"),
    [
        ("1-0", True),
        ("  1/2-1/2", True),
        ("e4 e5 1-0", True),  # no number, as in no game that is written down
        ("1. e4 e5 1-0", False),
        ("1.e4 e5 1-0", False),
        ("  12 . Nf3 1-0", False),
        ("\t3... Nf6 1-0", False),
        ("e4 e5\n2. Nf3 1-0", False),
    ],
)
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_bare_files_have_no_moves(tmp_path: Path, moves: str, plain: bool, end: str) -> None:
    games = '[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1-0\n\n'
    games += f'[White "10. Knights"]\n[Black "D"]\n[Result "1-0"]\n\n{moves}\n'
    (tmp_path / "games.pgn").write_bytes(games.replace("\n", end).encode())
    assert (read_plain(tmp_path / "games.pgn", bare=True) is not None) == plain
    assert read_plain(tmp_path / "games.pgn") is not None


@pytest.mark.parametrize("tag", ['[Round "1"]\n', '  [Round "2.1"]\n'])
def test_bare_files_have_no_rounds(tmp_path: Path, tag: str) -> None:
    (tmp_path / "games.pgn").write_text(f'[White "A"]\n{tag}[Black "B [Round 1]"]\n[Result "1-0"]\n\n1-0\n\n')
    assert read_plain(tmp_path / "games.pgn", bare=True) is None
    (tmp_path / "games.pgn").write_text('[White "A"]\n[Black "B [Round 1]"]\n[Result "1-0"]\n\n1-0\n\n')
    assert read_plain(tmp_path / "games.pgn", bare=True) is not None
