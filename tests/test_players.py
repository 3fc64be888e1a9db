"""Files of aliases and ratings."""

from __future__ import annotations

from pathlib import Path

import pytest

from assay.errors import AssayWarning, InputError
from assay.players import check_ratings, read_aliases, read_ratings


def write(path: Path, text: str) -> Path:
    path.write_text(text, encoding="utf-8")
    return path


def test_aliases(tmp_path: Path) -> None:
    path = write(tmp_path / "a.csv", '# who is who\nKasparov,"Kasparov, G",Garry\n\nKarpov,Tolya\n')
    assert read_aliases(path) == {"Kasparov, G": "Kasparov", "Garry": "Kasparov", "Tolya": "Karpov"}


def test_ratings_with_a_header(tmp_path: Path) -> None:
    assert read_ratings(write(tmp_path / "r.csv", "name,rating\nAnand,2788\n")) == {"Anand": 2788.0}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("A,1,2\n", "two columns"),
        ("name,rating\nB,strong\n", "not a rating"),
        ("", "no ratings"),
        ("name,rating\nB,nan\n", "not a rating"),
        ("A,1\rB,2\n" + "x" * 200_000, "field larger than field limit"),
    ],
)
def test_what_is_wrong_is_said(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read_ratings(write(tmp_path / "r.csv", text))


def test_rows_of_single_names_are_no_aliases(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no row has another name, with a comma before it"):
        read_aliases(write(tmp_path / "a.csv", "Kasparov;Garry\nKarpov;Tolya\n"))
    assert read_aliases(write(tmp_path / "a.csv", "# none yet\n")) == {}


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="cannot read"):
        read_aliases(tmp_path / "none.csv")


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("Kasparov,Kaspi\n", 'nobody is called "Kaspi" in these games'),
        ("Kasparof,Kaspi\n", '"Kaspi" or "Kasparof" in these games. Did you mean "Kasparov"'),
        ("Kasparov,Garri Kasparov\n", 'if "Garri Kasparov" is to be shown, put it first'),
        ("Kaspi,Kasparov\nGarry,Kasparov\n", "main,other,..."),
        ("Karpov,Kasparov\nKasparov,Kaspi\n", "put all names of a player into one row"),
        ("Karpov,Tolya\nNobody,Nowhere\n", 'line 2: nobody is called "Nowhere" or "Nobody"'),
    ],
)
def test_aliases_that_fit_nobody_are_refused(tmp_path: Path, text: str, words: str) -> None:
    with pytest.raises(InputError) as told:
        read_aliases(write(tmp_path / "a.csv", text), {"Kasparov", "Karpov", "Tolya"})
    assert words.lower() in str(told.value).lower()


def test_a_list_kept_for_many_events_is_taken(tmp_path: Path) -> None:
    text = "Karpov,Tolya\n" + "".join(f"Somebody {i},Else {i}\n" for i in range(5))
    with pytest.warns(AssayWarning, match="5 of 6 rows name nobody"):
        found = read_aliases(write(tmp_path / "a.csv", text), {"Kasparov", "Karpov", "Tolya"})
    assert found["Tolya"] == "Karpov"
    path = write(tmp_path / "r.csv", "Karpov,2700\n" + "".join(f"Somebody {i},2000\n" for i in range(5)))
    with pytest.warns(AssayWarning, match="5 of 6 rows"):
        check_ratings(path, read_ratings(path), {"Kasparov", "Karpov"})


def test_ratings_of_nobody_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path / "r.csv", "name,rating\nKarpov,2700\nGarry Kasparow,2800\n")
    with pytest.raises(InputError, match=r'line 3: nobody is called "Garry Kasparow".*Did you mean "Kasparov, Garry"'):
        check_ratings(path, read_ratings(path), {"Kasparov, Garry", "Karpov"})
    check_ratings(path, {"Karpov": 2700.0}, {"Kasparov, Garry", "Karpov"})
