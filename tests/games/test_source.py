"""One way to games: every kind of input gives the same games, rows and results, as often as they are asked for."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import subprocess
import sys
import threading
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import pytest
import zstandard
from tests.games.made import game_text

from assay.engine.parsed import read_plies
from assay.errors import AssayError, InputError, WhereError
from assay.games import Games, index, read, read_tags, to_arrays
from assay.games.catalog import open_indexes
from assay.games.stream import STDIN
from assay.learned import open_dataset

TEXT = "\n\n".join(
    game_text(seed, 20 + seed, WhiteElo=str(1500 + 100 * seed), BlackElo="1700", Event=event, White=f"Müller {seed}")
    for seed, event in enumerate(["Rated Blitz game", "Rated Bullet game", "Open", "Open", "Rated Blitz game"])
)
WHERE = 'white_elo >= 1600 and event != "Open"'
ALL, FEW = [f"Müller {seed}" for seed in range(5)], ["Müller 1", "Müller 4"]


def zipped(data: bytes) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("games.pgn", data)
    return packed.getvalue()


FILES: dict[str, bytes] = {
    "plain.pgn": TEXT.encode(),
    "bom.pgn": TEXT.encode("utf-8-sig"),
    "latin.pgn": TEXT.encode("latin-1"),
    "utf16.pgn": TEXT.encode("utf-16"),
    "games.pgn.zst": zstandard.ZstdCompressor().compress(TEXT.encode()),
    "games.pgn.gz": gzip.compress(TEXT.encode()),
    "games.pgn.bz2": bz2.compress(TEXT.encode()),
    "games.pgn.xz": lzma.compress(TEXT.encode()[:900]) + bytes(8) + lzma.compress(TEXT.encode()[900:]),
    "games.zip": zipped(TEXT.encode()),
}
MADE = ("folder", "several", "index.parquet", "text.parquet", "index.csv", "stdin", "pipe")


def make(kind: str, folder: Path, monkeypatch: pytest.MonkeyPatch) -> str | Path | list[Path]:
    """The same five games as one of the kinds of input."""
    file = folder / kind
    if kind in FILES:
        file.write_bytes(FILES[kind])
        return file
    games = folder / "games.pgn"
    games.write_bytes(TEXT.encode())
    match kind:
        case "index.parquet" | "text.parquet" | "index.csv":
            index(games, file, movetext=kind.startswith("text"))
            return file
        case "folder" | "several":
            half = TEXT.index("[Event", TEXT.index("Müller 2"))
            (folder / "dir").mkdir()
            parts = [folder / "dir" / "a.pgn", folder / "dir" / "b.pgn.gz"]
            parts[0].write_text(TEXT[:half], encoding="utf-8")
            parts[1].write_bytes(gzip.compress(TEXT[half:].encode()))
            return parts if kind == "several" else str(folder / "dir")
        case "pipe":
            os.mkfifo(file)
            threading.Thread(target=file.write_bytes, args=(TEXT.encode(),), daemon=True).start()
            return file
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(TEXT.encode())))
    return STDIN


@pytest.mark.parametrize("kind", [*FILES, *MADE])
@pytest.mark.parametrize(("where", "names"), [(None, ALL), (WHERE, FEW)])
def test_every_kind_gives_the_same(
    kind: str, where: str | None, names: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    games = read(make(kind, tmp_path, monkeypatch), where=where)
    assert [game.tags["White"] for game in games] == names
    assert [game.tags["White"] for game in games] == names  # again
    frame = games.frame
    assert frame["white"].to_list() == names
    speeds = ["bullet", "blitz"] if where else ["blitz", "bullet", None, None, "blitz"]
    assert frame["speed"].to_list() == speeds
    assert frame["avg_elo"].to_list() == [(1500 + 100 * int(name[-1]) + 1700) / 2 for name in names]
    found = games.outcomes()
    assert [found.players[code] for code in found.white] == names
    assert not games.problems - Counter({"tag that is not UTF-8, read as Latin-1": 99})
    (arrays,) = [arrays for _, arrays in games.plies()]
    assert [len(some) for some, _ in games.plies(batch=2)] == ([2, 2, 1] if where is None else [2])
    assert arrays.valid.all() and arrays.games == len(names)
    batches = [
        (game.tags["White"], tags["white"][at]) for some, tags in games.tagged(batch=2) for at, game in enumerate(some)
    ]
    assert batches == [(name, name) for name in names]
    rows, duplicates = games.rows()
    assert rows.collect().height == len(names) and not duplicates


def test_what_is_read_once_is_copied_and_the_copy_goes_with_the_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", None)
    games = read(make("stdin", tmp_path, monkeypatch))
    assert not list(tmp_path.glob("assay-*"))
    assert [game.source for game in games] == [STDIN] * 5
    narrow = read(games, where="white_elo > 1800")
    (source,) = games.sources
    assert (source.name, source.bytes, len(source.sha256)) == ("standard input", len(TEXT.encode()), 64)
    assert len(list(tmp_path.glob("assay-*"))) == 1
    del games
    assert [game.tags["White"] for game in narrow] == ["Müller 4"]
    del narrow
    assert not list(tmp_path.glob("assay-*"))


def test_stdin_of_a_command_that_asks_twice() -> None:
    code = (
        "import assay.games as g; a = g.read('-', where='white_elo > 1600'); "
        "print(len(list(a)), len(g.to_arrays(a).valid), a.frame.height)"
    )
    packed = FILES["games.pgn.xz"]
    run = subprocess.run([sys.executable, "-c", code], input=packed, capture_output=True, check=True)
    assert run.stdout.split() == [b"3", b"3", b"3"]


def test_damage_is_counted_once_however_often_the_games_are_walked(tmp_path: Path) -> None:
    (tmp_path / "cut.pgn.gz").write_bytes(gzip.compress(TEXT.encode() * 50)[:-20])
    games = read(tmp_path / "cut.pgn.gz")
    assert not games.problems
    for ask in (lambda: list(games), lambda: list(games), lambda: games.frame):
        assert len(ask()) >= 240
        assert games.problems == {"truncated gzip data": 1}


def test_games_count_once(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(TEXT, encoding="utf-8")
    (tmp_path / "b.pgn").write_text(TEXT + "\n\n" + game_text(9), encoding="utf-8")
    games = read(tmp_path)
    found = games.counted()
    assert len(found.games) == 11 and len(found.duplicates) == 5
    assert found.places == [0, 1, 2, 3, 4, 10] and len(found.once) == 6
    assert len(games.counted(keep_duplicates=True).once) == 11
    assert games.rows()[0].collect().height == 6


@pytest.mark.parametrize(
    "wrong",
    [
        (),
        ([],),
        ("",),
        ("no such file.pgn",),
        ("x" * 5000,),
        ("a\0b",),
        (b"games.pgn",),
        (7,),
        (None,),
        ([["a", 3]],),
        ({"a": 1},),
    ],
)
def test_what_names_no_file_is_said(wrong: tuple[object, ...]) -> None:
    with pytest.raises(InputError):
        read(*wrong)  # type: ignore[arg-type]


def test_a_wrong_filter_is_said_at_once(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(TEXT, encoding="utf-8")
    with pytest.raises(WhereError, match="did you mean 'white_elo'"):
        read(tmp_path / "a.pgn", where="whit_elo > 3")
    for where, count in (("True", 5), ("False", 0), ("3 < 4", 5)):
        assert len(list(read(tmp_path / "a.pgn", where=where))) == count


def test_no_games_is_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(TEXT, encoding="utf-8")
    (tmp_path / "none.pgn").write_text("")
    with pytest.raises(InputError, match="fits --where 'plies > 900'"):
        read(tmp_path / "a.pgn", where="plies > 900").counted()
    with pytest.raises(InputError, match=r"there is no game in .*none\.pgn"):
        read(tmp_path / "none.pgn").all()


def test_an_index_whose_games_are_elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = make("index.parquet", tmp_path, monkeypatch)
    (tmp_path / "games.pgn").rename(tmp_path / "moved.pgn")
    games = read(made)
    assert games.frame.height == 5 and len(games.outcomes().white) == 5
    with pytest.raises(InputError, match=r"games\.pgn, from which .* is not there .*put it there, or index"):
        list(games)


@pytest.mark.parametrize("as_", [str, Path, lambda path: [path], lambda path: (str(path), path)])
def test_paths_in_every_form(as_: Callable[[Path], object], tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(TEXT, encoding="utf-8")
    times = 2 if isinstance(as_(tmp_path), tuple) else 1
    given = as_(tmp_path / "a.pgn")
    assert len(list(read(given))) == 5 * times  # type: ignore[arg-type]
    assert to_arrays(given).games == 5 * times  # type: ignore[arg-type]
    assert index(given, tmp_path / "i.parquet").games == 5 * times  # type: ignore[arg-type]
    assert to_arrays(read(given)).games == 5 * times  # type: ignore[arg-type]


def test_texts_are_games_and_one_text_is_not_a_list(tmp_path: Path) -> None:
    assert to_arrays(["1. e4 e5 *", b"1. d4 *"]).plies == 3
    for wrong in ("1. e4 e5 *", b"1. e4 *", 7, [7]):
        with pytest.raises(AssayError):
            to_arrays(wrong)  # type: ignore[arg-type]


def test_a_name_does_for_the_games_of_a_file(tmp_path: Path) -> None:
    """Where games are asked for, where a list is, where a path object is: never a raw error."""
    (tmp_path / "a.pgn").write_text(TEXT, encoding="utf-8")
    file = tmp_path / "a.pgn"
    for given in (file, str(file), [file], [str(file)], read(file), list(read(file))):
        assert read_plies(given, 1).games.height == 5  # type: ignore[arg-type]
    with pytest.raises(InputError, match="names no file"):
        read_plies("match", 1)  # type: ignore[arg-type]
    index(file, tmp_path / "i.parquet")
    assert len(open_indexes(str(tmp_path / "i.parquet"))) == 1
    assert list(read_tags(str(file), "White").codes) == ["White"]
    for wrong in (str(tmp_path / "ds"), [tmp_path]):
        with pytest.raises(InputError, match="is no dataset"):
            open_dataset(wrong)  # type: ignore[arg-type]
    with pytest.raises(WhereError, match="is no filter"):
        read(file, where=3)  # type: ignore[arg-type]


def test_a_copy_is_called_by_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    cut = gzip.compress(TEXT.encode() * 50)[:-20]
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(cut)))
    assert read("-").outcomes().skipped["truncated gzip data in -"] == 1


def test_games_are_frozen_and_say_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "a.pgn").write_text(TEXT, encoding="utf-8")
    games = read(tmp_path / "a.pgn", where="plies > 3")
    assert isinstance(games, Games) and read(games) is games
    assert repr(games) == f"read({str(tmp_path / 'a.pgn')!r}, where='plies > 3')"
    with pytest.raises(AttributeError):
        games.where = None  # type: ignore[misc]
