"""Values that nobody means: wrong usage, in a sentence; `fuzz/targets/options.py` tries them all."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.commands import told

GAMES = """[White "A"]
[Black "B"]
[Result "1-0"]

1. e4 e5 1-0

[White "B"]
[Black "A"]
[Result "1-0"]

1. d4 1-0
"""


def run(capsys: pytest.CaptureFixture[str], *args: object) -> tuple[int, str]:
    code, _, err = told(capsys, *args)
    return code, err


@pytest.mark.parametrize("value", ["nan", "inf", "-inf", "1e308", "-1e308", str(10**30), str(-(10**30))])
@pytest.mark.parametrize(
    "words",
    [
        ("show", "GAMES", "--elo"),
        ("show", "GAMES", "--s"),
        ("fit", "GAMES", "--limit"),
        ("fit", "GAMES", "--within"),
        ("difference", "GAMES", "--cap"),
        ("simulate", "-o", "OUT", "--elo"),
        ("simulate", "-o", "OUT", "--seed"),
        ("ipr", "GAMES", "--level"),
        ("screen", "GAMES", "--rating-error"),
        ("results", "GAMES", "--average"),
        ("results", "GAMES", "--white-error"),
        ("results", "GAMES", "--scale"),
        ("results", "GAMES", "--prior"),
        ("results", "GAMES", "--simulations"),
        ("prep", "GAMES", "--min-perf"),
        ("train", "FOLDER", "-o", "OUT", "--lr"),
        ("train", "FOLDER", "-o", "OUT", "--dropout"),
        ("train", "FOLDER", "-o", "OUT", "--epochs"),
        ("encode", "GAMES", "-o", "OUT", "--share"),
        ("analyse", "GAMES", "--nodes"),
        ("analyse", "GAMES", "--patience"),
        ("serve", "--max-mb"),
    ],
)
def test_numbers_that_measure_nothing(
    tmp_path: Path, words: tuple[str, ...], value: str, capsys: pytest.CaptureFixture[str]
) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(GAMES, encoding="utf-8")
    given = {"GAMES": games, "OUT": tmp_path / "out", "FOLDER": tmp_path}
    code, err = run(capsys, *(given.get(word, word) for word in words[:-1]), f"{words[-1]}={value}")
    assert code == 2
    assert words[-1] in err
    assert "bug in Assay" not in err and "Traceback" not in err


@pytest.mark.parametrize(
    "words",
    [
        ("analyses", "--store="),
        ("fit", "GAMES", "--store="),
        ("filter", "GAMES", "--where", "plies > 0", "--out-pgn="),
        ("results", "GAMES", "--output="),
    ],
)
def test_a_file_without_a_name(tmp_path: Path, words: tuple[str, ...], capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(GAMES, encoding="utf-8")
    code, err = run(capsys, *(games if word == "GAMES" else word for word in words))
    assert code == 2
    assert "is no name of a file" in err


def test_a_picture_of_no_kind(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    games = tmp_path / "games.pgn"
    games.write_text(GAMES, encoding="utf-8")
    code, err = run(capsys, "guess", games, "--game", 1, "-o", tmp_path / "x.txt")
    assert code == 1
    assert "name it .svg, .png or .pdf" in err
    assert not (tmp_path / "x.txt").exists()


def test_a_table_of_fits_that_is_none(tmp_path: Path) -> None:
    from assay.errors import InputError
    from assay.moves.appending import append_rows

    (tmp_path / "latin.csv").write_bytes(b"M\xfcller\n")
    with pytest.raises(InputError, match="is not a table of fits"):
        append_rows(tmp_path / "latin.csv", "games.pgn", [])


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("guess", "GAMES", "--game", "1", "--prior", "ENDLESS"), "is no prior"),
        (("simulate", "--elo", "2000", "--elo", "2000", "-o", "OUT", "--engine", '"'), "is no command"),
        (("simulate", "--elo", "2000", "--elo", "2000", "-o", "OUT", "--engine", "\\"), "is no command"),
        (("planes", "GAMES", "--planes", "9" * 5000), "is no plane"),
    ],
)
def test_texts_that_are_none(
    tmp_path: Path, words: tuple[str, ...], told: str, capsys: pytest.CaptureFixture[str]
) -> None:
    games, endless = tmp_path / "games.pgn", tmp_path / "endless.csv"
    games.write_text(GAMES, encoding="utf-8")
    endless.write_text('"' + "x" * 200_000, encoding="utf-8")
    given = {"GAMES": games, "ENDLESS": endless, "OUT": tmp_path / "out.pgn"}
    code, err = run(capsys, *(given.get(word, word) for word in words))
    assert code in (1, 2)
    assert told in err and "bug in Assay" not in err
