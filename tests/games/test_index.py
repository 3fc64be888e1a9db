"""An index says of every game what its tags say, typed, and finds its bytes again."""

from __future__ import annotations

import bz2
import csv
import gzip
import json
import os
import sys
from pathlib import Path

import polars as pl
import pyarrow.parquet as pq
import pytest
import zstandard
from tests.games.made import TAGS, game_text, tag_lines

from assay.errors import InputError, OutputError
from assay.games import Game, index, indexing, read
from assay.games.catalog import SPAN, open_index, read_rows, rows_of, write_games
from assay.games.columns import COLUMNS
from assay.games.tags import LATIN1

GAMES = [game_text(seed, 10 + seed, notes=seed % 3 == 0, WhiteElo=str(1500 + 40 * seed)) for seed in range(30)]
TEXT = "\n\n".join(GAMES).encode() + b"\n"


@pytest.fixture
def pgn(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    file.write_bytes(TEXT)
    return file


def table(path: Path) -> pl.DataFrame:
    return rows_of([open_index(path)]).collect()


def test_columns_are_as_promised_and_typed(tmp_path: Path) -> None:
    (tmp_path / "one.pgn").write_text(tag_lines(TAGS) + "\n1. e4 {[%clk 0:05:00]} e5 1-0\n", encoding="utf-8")
    index(tmp_path / "one.pgn", tmp_path / "one.parquet")
    (row,) = pl.read_parquet(tmp_path / "one.parquet").to_dicts()
    assert tuple(row) == COLUMNS
    assert row == {
        "source": str(tmp_path / "one.pgn"), "start_offset": 0,
        "end_offset": (tmp_path / "one.pgn").stat().st_size - 1,
        "event": "Rated Blitz game", "site": "https://example.org/abcd1234", "date": "2024.02.29", "round": None,
        "white": "Müller, Hans", "black": 'Robert "Bobby" F', "result": "1-0", "white_elo": 1850, "black_elo": 1923,
        "white_title": "FM", "black_title": None, "white_rating_diff": 8, "black_rating_diff": -8,
        "time_control": "300+3", "base_seconds": 300, "increment_seconds": 3, "speed": "blitz",
        "termination": "Normal", "eco": "C42", "opening": "Petrov's Defense", "variant": None, "plies": 2,
        "has_clock": True, "has_eval": False, "fen": None, "variation": None,
    }  # fmt: skip


def test_a_table_that_people_open_holds_no_formula(tmp_path: Path) -> None:
    names = [
        "=cmd|' /C calc'!A0",
        "\t=1+1",
        "@SUM(1)",
        "+1+1",
        "-1+1",
        "'=1",
        "''@x",
        "＝1",
        "-",
        "O'Brien",
        "'tis",
        "\u00a0=1",
    ]
    games = [game_text(seed, 10, White=name, Event=name, Opening=name) for seed, name in enumerate(names)]
    (tmp_path / "a.pgn").write_text("\n\n".join(games), encoding="utf-8")
    for name in ("a.csv", "a.parquet"):
        index(tmp_path / "a.pgn", tmp_path / name)
    with (tmp_path / "a.csv").open(encoding="utf-8", newline="") as file:
        cells = [cell for row in csv.reader(file) for cell in row]
    assert not [cell for cell in cells if cell.strip()[:1] in tuple("=@+＝") or cell.strip()[:2] == "-1"]
    assert table(tmp_path / "a.csv").rows() == table(tmp_path / "a.parquet").rows()
    assert table(tmp_path / "a.csv")["white"].to_list() == names


def test_what_is_missing_or_unknown_is_null(tmp_path: Path) -> None:
    unknown = {"Event": "?", "Site": "", "Date": "????.??.??", "White": "?", "WhiteElo": "0", "BlackElo": "-",
               "WhiteTitle": "-", "TimeControl": "?", "WhiteRatingDiff": "0"}  # fmt: skip
    (tmp_path / "a.pgn").write_text(tag_lines(unknown) + "\n*\n\n" + tag_lines({"Result": "*"}) + "\n*\n")
    index(tmp_path / "a.pgn", tmp_path / "a.parquet")
    first, second = pl.read_parquet(tmp_path / "a.parquet").drop(SPAN[1:], "has_clock", "has_eval", "plies").to_dicts()
    assert {name: value for name, value in first.items() if value is not None} == {"white_rating_diff": 0}
    assert {name: value for name, value in second.items() if value is not None} == {"result": "*"}


SPEEDS = {
    "15+0": "ultrabullet", "29+0": "ultrabullet", "30+0": "bullet", "179+0": "bullet", "120+1": "bullet",
    "180+0": "blitz", "300+4": "blitz", "300+5": "rapid", "480+0": "rapid", "1499+0": "rapid", "900+15": "classical",
    "1500+0": "classical", "40/7200:3600": "classical", "600": "rapid", "10+0.1": "ultrabullet",
    "-": "correspondence", "1/259200": "correspondence",
    "?": "bullet", "G/60": "bullet",  # not told: the name of the event
}  # fmt: skip


def test_speed_comes_from_the_clock_and_from_the_name_only_where_it_is_not_told(tmp_path: Path) -> None:
    text = "".join(tag_lines({"Event": "Rated Bullet game", "TimeControl": control}) + "\n*\n\n" for control in SPEEDS)
    (tmp_path / "a.pgn").write_text(text)
    index(tmp_path / "a.pgn", tmp_path / "a.parquet")
    assert table(tmp_path / "a.parquet")["speed"].to_list() == list(SPEEDS.values())


PACK = {"zst": zstandard.ZstdCompressor().compress, "gz": gzip.compress, "bz2": bz2.compress}


@pytest.mark.parametrize("suffix", PACK)
def test_packed_files_have_the_same_rows(tmp_path: Path, pgn: Path, suffix: str) -> None:
    packed = tmp_path / f"games.pgn.{suffix}"
    packed.write_bytes(PACK[suffix](TEXT))
    index(pgn, tmp_path / "plain.parquet")
    index(packed, tmp_path / "packed.parquet")
    assert table(tmp_path / "plain.parquet").drop("source").equals(table(tmp_path / "packed.parquet").drop("source"))


def test_the_bytes_of_the_games_are_found_again(tmp_path: Path, pgn: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(indexing, "_PIECE", 1000)  # many small pieces, put together in order
    index(pgn, tmp_path / "games.parquet", threads=2)
    found = open_index(tmp_path / "games.parquet")
    games = list(read_rows(found, rows_of([found]).select(SPAN).collect()))
    assert [game.data.decode() for game in games] == GAMES
    assert games == list(read(pgn))


@pytest.mark.parametrize("movetext", [False, True])
@pytest.mark.parametrize("expression", [None, "white_elo >= 2000 and has_clock", "white_elo > 9999"])
def test_select_takes_files_and_indexes_alike(
    tmp_path: Path, pgn: Path, expression: str | None, movetext: bool
) -> None:
    index(pgn, tmp_path / "games.parquet", movetext=movetext)
    expected = [
        game.encode()
        for seed, game in enumerate(GAMES)
        if expression is None or (1500 + 40 * seed >= 2000 and "[%clk" in game and "9999" not in expression)
    ]
    assert [game.data for game in read([pgn], where=expression)] == expected
    assert [game.data for game in read([tmp_path / "games.parquet"], where=expression)] == expected


def test_csv_holds_the_same(tmp_path: Path, pgn: Path) -> None:
    index(pgn, tmp_path / "games.parquet")
    index(pgn, tmp_path / "games.csv")
    assert table(tmp_path / "games.csv").equals(table(tmp_path / "games.parquet"))
    found = open_index(tmp_path / "games.csv")
    assert len(list(read_rows(found, rows_of([found]).select(SPAN).collect()))) == len(GAMES)


def test_the_text_can_be_kept(tmp_path: Path, pgn: Path) -> None:
    index(pgn, tmp_path / "games.parquet", movetext=True)
    pgn.unlink()
    assert [game.text for game in read([tmp_path / "games.parquet"])] == GAMES


def test_latin1_text_is_kept_as_it_is(tmp_path: Path) -> None:
    game = b'[White "G\xfcnter"]\n\n1. e4 *'
    (tmp_path / "a.pgn").write_bytes(game + b"\n")
    report = index(tmp_path / "a.pgn", tmp_path / "a.parquet", movetext=True)
    assert report.sources[0].problems == {LATIN1: 1}
    assert table(tmp_path / "a.parquet")["white"].to_list() == ["Günter"]
    assert [found.data for found in read([tmp_path / "a.parquet"])] == [game]


def test_several_files_and_folders(tmp_path: Path, pgn: Path) -> None:
    (tmp_path / "more").mkdir()
    (tmp_path / "more" / "b.pgn.gz").write_bytes(gzip.compress(TEXT))
    report = index([pgn, tmp_path / "more"], tmp_path / "all.parquet")
    assert [(Path(s.source).name, s.games, s.bytes) for s in report.sources] == [
        ("games.pgn", 30, len(TEXT)),
        ("b.pgn.gz", 30, len(TEXT)),
    ]
    assert [game.text for game in read([tmp_path / "all.parquet"])] == GAMES * 2


def test_an_index_says_what_it_is_made_from(tmp_path: Path, pgn: Path) -> None:
    index(pgn, tmp_path / "games.parquet")
    about = json.loads(pq.read_metadata(tmp_path / "games.parquet").metadata[b"assay"])
    (source,) = about["inputs"]
    assert (source["name"], source["bytes"], source["games"]) == (str(pgn), len(TEXT), 30)
    assert len(source["xxh128"]) == 32


@pytest.mark.parametrize("change", [b"x", b""])
def test_a_changed_file_is_refused(tmp_path: Path, pgn: Path, change: bytes) -> None:
    index(pgn, tmp_path / "games.parquet")
    pgn.write_bytes(TEXT + change if change else TEXT.replace(b"1. ", b"9. ", 1))
    with pytest.raises(InputError, match="is not the file that"):
        write_games(read([tmp_path / "games.parquet"]), tmp_path / "out.pgn")
    assert not (tmp_path / "out.pgn").exists()


def test_the_file_may_have_moved_with_its_index(tmp_path: Path, pgn: Path) -> None:
    index(pgn, tmp_path / "games.parquet")
    (tmp_path / "there").mkdir()
    pgn.rename(tmp_path / "there" / pgn.name)
    moved = (tmp_path / "games.parquet").rename(tmp_path / "there" / "games.parquet")
    assert len(list(read([moved]))) == 30
    (tmp_path / "there" / pgn.name).unlink()
    with pytest.raises(InputError, match="is not there"):
        list(read([moved]))


def test_a_truncated_file_is_indexed_as_far_as_it_goes(tmp_path: Path) -> None:
    many = TEXT * 40
    whole = zstandard.ZstdCompressor(level=1).compress(many)
    (tmp_path / "cut.pgn.zst").write_bytes(whole[:-5])
    report = index(tmp_path / "cut.pgn.zst", tmp_path / "cut.parquet")
    assert report.sources[0].damage == "truncated zstd data"
    assert 0 < report.games < 1200
    rows = table(tmp_path / "cut.parquet")
    for start, end in rows.select("start_offset", "end_offset").head(report.games - 1).iter_rows():
        assert many[start:end].decode() in GAMES


@pytest.mark.parametrize(
    ("data", "sentence"), [(b"", "the file is empty"), (b"\x7fELF\0\0\n[x]\n", "there is no game in it")]
)
def test_a_file_without_games_makes_no_index(tmp_path: Path, data: bytes, sentence: str) -> None:
    (tmp_path / "a.pgn").write_bytes(data)
    with pytest.raises(InputError, match=sentence):
        index(tmp_path / "a.pgn", tmp_path / "a.parquet")
    assert [file.name for file in tmp_path.iterdir()] == ["a.pgn"]


def test_outputs_that_cannot_be(tmp_path: Path, pgn: Path) -> None:
    with pytest.raises(OutputError, match=r"\.parquet or a \.csv"):
        index(pgn, tmp_path / "games.txt")
    with pytest.raises(OutputError, match="needs a Parquet index"):
        index(pgn, tmp_path / "games.csv", movetext=True)
    with pytest.raises(OutputError, match="does not exist"):
        index(pgn, tmp_path / "nowhere" / "games.parquet")


def test_files_that_are_no_index(tmp_path: Path, pgn: Path) -> None:
    pl.DataFrame({"a": [1]}).write_parquet(tmp_path / "other.parquet")
    (tmp_path / "broken.parquet").write_bytes(b"PAR1 and so on")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    cases = {
        "other.parquet": "was not made by 'assay index'",
        "broken.parquet": "cannot read",
        "other.csv": "it has no column source",
        "none.parquet": "there is no index",
        "games.pgn": "is not an index",
    }
    for name, sentence in cases.items():
        with pytest.raises(InputError, match=sentence):
            open_index(tmp_path / name)


def test_windows_games_stay_windows_games(tmp_path: Path) -> None:
    games = [Game("-", 0, 0, b'[Event "a"]\r\n\r\n1. e4 *'), Game("-", 0, 0, b'[Event "b"]\n\n1. d4 *')]
    assert write_games(games, tmp_path / "out.pgn") == 2
    assert (tmp_path / "out.pgn").read_bytes() == b'[Event "a"]\r\n\r\n1. e4 *\r\n\r\n[Event "b"]\n\n1. d4 *\n\n'


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere names of files are Unicode")
def test_a_file_whose_name_is_no_utf_8(tmp_path: Path) -> None:
    file = Path(os.fsdecode(bytes(tmp_path) + b"/Gr\xfcnfeld.pgn"))
    file.write_text(game_text(1))
    index(file, tmp_path / "games.parquet")
    assert pl.read_parquet(tmp_path / "games.parquet")["source"].to_list() == [f"{tmp_path}/Gr\\xfcnfeld.pgn"]


@pytest.mark.parametrize("name", ["Wijk [A] 2020", "x?", "a*b"])
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_names_of_indexes_are_no_patterns(tmp_path: Path, name: str, kind: str) -> None:
    for number, file in enumerate((name, "x1", "aab", "Wijk A 2020"), start=1):
        (tmp_path / "games.pgn").write_text("\n\n".join(game_text(seed, 20) for seed in range(number)))
        index(tmp_path / "games.pgn", tmp_path / f"{file}.{kind}")
    assert rows_of([open_index(tmp_path / f"{name}.{kind}")]).collect().height == 1


@pytest.mark.filterwarnings("ignore:.*not as Assay wrote it")
@pytest.mark.parametrize("damage", ["no bytes", "negative", "backwards"])
def test_an_index_that_makes_no_sense(tmp_path: Path, damage: str) -> None:
    path, made = tmp_path / "games.pgn", tmp_path / "games.csv"
    path.write_text("\n\n".join(game_text(seed, 20) for seed in range(3)))
    index(path, made)
    if damage == "no bytes":
        beside = Path(f"{made}.manifest.json")
        about = json.loads(beside.read_text())
        del about["inputs"][0]["bytes"]
        beside.write_text(json.dumps(about))
    else:
        frame = pl.read_csv(made)
        wrong = pl.lit(-5) if damage == "negative" else pl.col("end_offset") + 9
        frame.with_columns(wrong.alias("start_offset")).write_csv(made)
    with pytest.raises(InputError, match="index it again"):
        list(read([made]))
