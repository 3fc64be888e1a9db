"""Files of aliases and ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import InputError
from assay.performance.names import read_aliases, read_ratings


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_aliases(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", '# who is who\n"Kasparov, G",Kasparov\n\nGarry,Kasparov\n')
    assert read_aliases(path) == {"Kasparov, G": "Kasparov", "Garry": "Kasparov"}


def test_ratings_with_a_header(tmp_path: Path) -> None:
    assert read_ratings(write(tmp_path / "r.csv", "name,rating\nAnand,2788\n")) == {"Anand": 2788.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A,1,2\n", "two columns"),
        ("name,rating\nB,strong\n", "not a rating"),
        ("", "no ratings"),
        ("name,rating\nB,nan\n", "not a rating"),
        ("A,1\rB,2\n" + "x" * 200_000, "cannot read"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_ratings(write(tmp_path / "r.csv", text))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_aliases(tmp_path / "none.csv")
