"""Where games begin and end, in files as bad as they come."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.games.made import game_text

from assay.games import Game, index, lines, read
from assay.games import split as splitting
from assay.games.outcomes import read_outcomes
from assay.games.split import OUTSIDE, TOO_LONG, UNTAGGED, split


def found(data: bytes) -> list[bytes]:
    part = split(data)
    return [part.data[start:end] for start, end in zip(part.starts, part.ends, strict=True)]


A, B = b'[Event "a"]\n[White "x"]\n\n1. e4 e5 1-0', b'[Event "b"]\n\n1. d4 {queen} d5 0-1'

CASES = {
    "usual": (A + b"\n\n" + B + b"\n", [A, B]),
    "no newline at the end": (A + b"\n\n" + B, [A, B]),
    "byte order mark": (b"\xef\xbb\xbf" + A + b"\n\n" + B, [A, B]),
    "blank lines before": (b"\n\n  \n" + A + b"\n\n\n\n\n\n\n" + B + b"\n\n\n", [A, B]),
    "no blank line between": (A + b"\n" + B, [A, B]),
    "does not begin with Event": (b'[Site "s"]\n\n1. e4 *\n\n' + A, [b'[Site "s"]\n\n1. e4 *', A]),
    "tags in a comment": (b'[Event "c"]\n\n1. e4 {\n[Event "no"]\n\n[White "no"]\n} e5 *\n\n' + A,
                          [b'[Event "c"]\n\n1. e4 {\n[Event "no"]\n\n[White "no"]\n} e5 *', A]),
    "a comment without end": (b'[Event "c"]\n\n1. e4 { e5 *\n\n' + A, [b'[Event "c"]\n\n1. e4 { e5 *', A]),
    "a comment without end before comments": (
        b'[Event "c"]\n\n1. e4 { e5 *\n\n' + B + b"\n\n" + A, [b'[Event "c"]\n\n1. e4 { e5 *', B, A]),
    "a brace in a tag": (b'[Event "{"]\n[Site "}"]\n\n*\n\n' + A, [b'[Event "{"]\n[Site "}"]\n\n*', A]),
    "an open brace in a tag": (b'[Event "{"]\n\n1. e4 *\n\n' + A + b"\n\n" + B, [b'[Event "{"]\n\n1. e4 *', A, B]),
    "a tag without end": (b'[Event "c\n[White "x]\n\n*\n\n' + A, [b'[Event "c\n[White "x]\n\n*', A]),
    "broken off in the tags": (b'[Event "c"]\n[Whi\n\n' + A, [b'[Event "c"]\n[Whi', A]),
    "broken off in the tags, no blank line": (b'[Event "c"]\n[Site "s"]\n' + A, [b'[Event "c"]\n[Site "s"]', A]),
    "tags alone": (b'[White "a"]\n[Result "1-0"]\n\n[White "b"]\n[Result "0-1"]\n',
                   [b'[White "a"]\n[Result "1-0"]', b'[White "b"]\n[Result "0-1"]']),
    "a blank line among the tags": (b'[Event "c"]\n\n[White "x"]\n\n1. e4 *',
                                    [b'[Event "c"]\n\n[White "x"]\n\n1. e4 *']),
    "games without tags": (b"1. e4 e5 1-0\n\n1. d4 *\n\n" + A + b"\n\n1. c4 0-1",
                           [b"1. e4 e5 1-0", b"1. d4 *", A, b"1. c4 0-1"]),
    "movetext with blank lines": (b'[Event "c"]\n\n1. e4\n\n2. d4 *\n\n' + A, [b'[Event "c"]\n\n1. e4\n\n2. d4 *', A]),
    "commands at the start of a line": (b'[Event "c"]\n\n1. e4 {\n[%clk 0:01:00]}\n\n' + A,
                                        [b'[Event "c"]\n\n1. e4 {\n[%clk 0:01:00]}', A]),
    "indented tags": (b'  [Event "c"]\n\t[White "{"]\n\n 1. e4 {\n  [Event "no"]\n} *\n\n ' + A,
                      [b'[Event "c"]\n\t[White "{"]\n\n 1. e4 {\n  [Event "no"]\n} *', A]),
    "broken off in a tag, then words": (A + b'\n\n[Broken\n[WhiteEl. e4 e5 "9"]\n\n' + B,
                                        [A, b'[Broken\n[WhiteEl. e4 e5 "9"]', B]),
    "words before the first game": (b"Games of the week\n\n" + A, [A]),
    "NUL bytes": (b'[Event "c\0"]\n\n1. e4\0 *\n\n' + A, [b'[Event "c\0"]\n\n1. e4\0 *', A]),
    "nothing": (b"", []),
    "white space": (b"\n \n\t\n", []),
    "no PGN": (b"The quick brown fox\njumps.\n", []),
    "binary": (bytes(range(256)) * 4, []),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("line_end", [b"\n", b"\r\n"])
def test_games_are_found(name: str, line_end: bytes) -> None:
    data, games = CASES[name]
    assert found(data.replace(b"\n", line_end)) == [game.replace(b"\n", line_end) for game in games]


POOL = [
    game_text(seed, 12 + seed, notes=seed % 2 == 1, result=("1-0", "0-1", "1/2-1/2", "*")[seed % 4])
    for seed in range(12)
]


def cut(game: bytes, at: int) -> bytes:
    return game[: at % len(game)]


def drop_quote(game: bytes, at: int) -> bytes:
    lines = game.split(b"\n")
    lines[at % 3] = lines[at % 3].rstrip(b'"]')
    return b"\n".join(lines)


def open_comment(game: bytes, at: int) -> bytes:
    begin = game.index(b"\n\n") + 2
    place = begin + at % (len(game) - begin)
    return game[:place] + b" { " + game[place:].replace(b"{", b"").replace(b"}", b"")


def insert(junk: bytes) -> object:
    def damage(game: bytes, at: int) -> bytes:
        begin = game.index(b"\n\n") + 2
        place = begin + at % (len(game) - begin)
        return game[:place] + junk + game[place:]

    return damage


DAMAGE = {
    "cut": cut,
    "tag without end": drop_quote,
    "comment without end": open_comment,
    "NUL": insert(b"\0\0"),
    "Latin-1": insert(b"\xe9\xff"),
    "a very long line": insert(b"x" * 300_000),
    "brackets": insert(b"[[("),
    "tags in a comment": insert(b'{\n[Event "no"]\n[Site "no"]\n\n}'),
}
items = st.tuples(
    st.integers(0, len(POOL) - 1), st.none() | st.sampled_from(sorted(DAMAGE)), st.integers(0, 10_000), st.booleans()
)


@settings(max_examples=100)
@given(st.lists(items, max_size=12), st.sampled_from([b"\n", b"\r\n"]), st.sampled_from([700, 5_000, 1 << 20]))
def test_undamaged_games_come_back_byte_for_byte(
    tmp_path_factory: pytest.TempPathFactory,
    chosen: list[tuple[int, str | None, int, bool]],
    line_end: bytes,
    block: int,
) -> None:
    """Whatever is wrong with the others, and wherever the blocks of the file end."""
    data, sound = b"", []
    for number, damage, at, blank_line in chosen:
        game = POOL[number].encode().replace(b"\n", line_end)
        if damage is None:
            sound.append(game)
        else:
            game = DAMAGE[damage](POOL[number].encode(), at).replace(b"\n", line_end)  # type: ignore[operator]
        data += game + line_end * (2 if blank_line else 1)
    file = tmp_path_factory.mktemp("damaged") / "games.pgn"
    file.write_bytes(data)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(splitting, "BLOCK", block)
        games = list(read(file))
    for game in games:
        assert data[game.start_offset : game.end_offset] == game.data
    rest = iter([game.data for game in games])
    assert all(game in rest for game in sound), "a sound game is missing, or not in its place"


def test_a_block_may_end_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also in a line that begins like a tag and is none."""
    data = A + b'\n\n[Eve! w - - 0 1"]\n[Se%]\n\n1. Ka2 *\n\n' + B
    file = tmp_path / "games.pgn"
    file.write_bytes(data)
    for block in range(20, len(data)):
        monkeypatch.setattr(splitting, "BLOCK", block)
        assert [game.data for game in read(file)] == found(data), block


@pytest.mark.parametrize("size", [1, 7, 40])
@pytest.mark.parametrize("name", CASES)
def test_a_scan_may_end_anywhere(name: str, size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lines, "SCAN", size)
    assert found(CASES[name][0]) == CASES[name][1]


def test_what_is_odd_is_counted(tmp_path: Path) -> None:
    file = tmp_path / "odd.pgn"
    file.write_bytes(b"A letter to the editor\n\n" + A + b"\n\n1. e4 e5 1-0\n\n1. d4 *\n")
    games = read(file)
    assert len(list(games)) == 3
    assert games.problems == {OUTSIDE: 1, UNTAGGED: 2}


def test_a_game_without_end_does_not_fill_the_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(splitting, "MAX_GAME", 50_000)
    monkeypatch.setattr(splitting, "BLOCK", 10_000)
    file = tmp_path / "long.pgn"
    file.write_bytes(A + b"\n\n" + B + b" {" + b"x " * 100_000 + b"\n\n" + A)
    given = read(file)
    games = [game.data for game in given]
    assert games[0] == games[-1] == A
    assert len(games) == 3 and games[1].startswith(B) and len(games[1]) < 200_000
    assert given.problems[TOO_LONG] == 1


def test_what_hardly_tells_where_games_start_is_looked_at_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """But for the ends of its blocks: else such a file takes the longer the longer it is."""
    file, looked, plain_split = tmp_path / "odd.pgn", [0], splitting.split

    def counted(data: bytes, **how: bool) -> splitting.Split:
        looked[0] += len(data)
        return plain_split(data, **how)

    file.write_bytes(data := b'{\n[White "x}"]\n' * 100_000)
    monkeypatch.setattr(splitting, "BLOCK", 300_000)
    monkeypatch.setattr(splitting, "split", counted)
    assert sum(1 for _ in read(file)) == len(found(data))
    assert looked[0] < 1.6 * len(data)


def test_a_game_has_tags_and_text(tmp_path: Path) -> None:
    file = tmp_path / "one.pgn"
    file.write_bytes(
        '[White "Grünfeld \\"E\\""]\n[Black  "y" ]\n[Result "1-0\n\n1. e4 {\n[Site "no"]\n} *'.encode("latin-1")
    )
    (game,) = read(file)
    assert game.tags == {"White": 'Grünfeld "E"', "Black": "y"}
    assert game.text.startswith('[White "Grünfeld')


@pytest.mark.parametrize("ends", ["\r", "\r\n", "\n"])
@pytest.mark.parametrize("block", [64, 4 << 20])
def test_lines_may_end_with_a_carriage_return_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, ends: str, block: int
) -> None:
    """As on old Macs; the offsets are those of the file, and the games of an index are the same."""
    games = [game_text(seed, 30, notes=seed % 2 == 0) for seed in range(5)]
    path = tmp_path / "games.pgn"
    path.write_bytes("\n\n".join(games).replace("\n", ends).encode())
    monkeypatch.setattr(splitting, "BLOCK", block)
    found = list(read(path))
    assert [game.text.replace("\r\n", "\n") for game in found] == games
    raw = path.read_bytes()
    assert all(raw[game.start_offset : game.end_offset].split() == game.data.split() for game in found)
    index(path, tmp_path / "games.parquet")
    assert [game.data for game in read([tmp_path / "games.parquet"])] == [game.data for game in found]
    assert len(read_outcomes([str(path)]).players) == len({name for game in found for name in _players(game)})


def _players(game: Game) -> tuple[str, str]:
    return game.tags["White"], game.tags["Black"]


def test_false_tags_stray_results_and_braces_in_names(tmp_path: Path) -> None:
    """What once took time in the square of its length; here that the games around are found."""
    good = '[Event "good"]\n[White "Elm"]\n\n1. e4 e5 *\n\n'
    for noise in ('[White "{"]\n' * 500, "[ab cd\n" * 500, "1-0\n\n" * 500, "1. e4 {open\n" * 500, "[Event\n" * 500):
        path = tmp_path / "noise.pgn"
        path.write_text(good + "1. d4 {a} *\n\n" + noise + "\n" + good)
        events = [game.tags.get("Event") for game in read(path)]
        assert events[0] == events[-1] == "good" and events.count("good") == 2, noise[:12]
