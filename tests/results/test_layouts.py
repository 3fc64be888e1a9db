"""Ordo's layouts to the letter, on a list small enough to check by eye."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from assay.results import rate
from assay.results.encounters import connect
from assay.results.listing import Errors, Listing, Style, describe_opponents
from assay.results.matches import elostat, head_to_head
from assay.results.ordo import csv_table, error_matrix, expectancy_table, group_report, superiority_matrix, text_table


@pytest.fixture
def listing() -> Listing:
    white = ["Anna", "Ben", "Anna", "Cleo II", "Ben", "Cleo II"]
    black = ["Ben", "Anna", "Cleo II", "Anna", "Cleo II", "Ben"]
    return Listing(rate(white, black, [1, 0.5, 0.5, 0.5, 1, 0], white_advantage=0.0, draw_rate=0.5))


@pytest.fixture
def with_errors(listing: Listing) -> Listing:
    ratings = listing.ratings
    errors = Errors(ratings.deviation, ratings.difference_deviation, ratings.white_deviation, 0.0)
    return Listing(ratings, errors)


def test_text_table(listing: Listing) -> None:
    # Anna and Ben made the same points; Cleo made a quarter against both: ln 3 / beta = 192.6 below them.
    assert text_table(listing) == (
        "\n"
        "   # PLAYER     :  RATING  POINTS  PLAYED   (%)\n"
        "   1 Anna       :  2364.2     2.5       4    62\n"
        "   2 Ben        :  2364.2     2.5       4    62\n"
        "   3 Cleo II    :  2171.6     1.0       4    25\n"
        "\n"
        "White advantage = 0.00\n"
        "Draw rate (equal opponents) = 50.00 %\n"
        "\n"
    )


def test_errors_add_a_column_and_two_deviations(with_errors: Listing) -> None:
    text = text_table(with_errors)
    assert "RATING  ERROR  POINTS" in text or "RATING   ERROR  POINTS" in text
    assert "White advantage = 0.00 +/- 0.00\n" in text


def test_csv_keeps_the_error_column(listing: Listing) -> None:
    lines = csv_table(listing).splitlines()
    assert lines[0] == '"#","PLAYER","RATING","ERROR","POINTS","PLAYED","(%)"'
    assert lines[1] == '1,"Anna",2364.2,"-",2.50,4,62.50'


def test_columns_keep_their_order_and_may_repeat(listing: Listing) -> None:
    text = text_table(Listing(listing.ratings, None, Style(columns=(5, 1, 5))))
    assert text.splitlines()[0] == "   (%)  RATING   (%)"


def test_widths_and_headers_of_columns(listing: Listing) -> None:
    style = Style(headers={1: "Elo", 0: "Engine"}, widths={1: 10, 0: 0})
    assert text_table(Listing(listing.ratings, None, style)).splitlines()[1].startswith("   # Engine     :        Elo")


def test_ordo_pads_by_bytes_and_assay_by_characters() -> None:
    ratings = rate(["Müller", "Anna"], ["Anna", "Müller"], [0.5, 0.5])
    by_bytes, by_characters = (
        text_table(Listing(ratings, None, Style(bytes_wide=wide))).splitlines()[2] for wide in (True, False)
    )
    assert by_bytes.index(":") == by_characters.index(":")
    assert "Müller    :" in by_characters
    assert "Müller    :" in by_bytes


def test_matrices(with_errors: Listing) -> None:
    names = ['"                 Anna"', '"                  Ben"', '"              Cleo II"']
    errors = error_matrix(with_errors).splitlines()
    assert errors[0] == '"N","NAME",0,1,2'
    assert errors[1] == f"0,{names[0]}"
    assert len(errors[3].split(",")) == 4
    chances = [line.split(",") for line in superiority_matrix(with_errors).splitlines()[1:]]
    assert [row[1] for row in chances] == names
    assert chances[0][2] == chances[1][3] == ""
    assert chances[0][3] == "50.0"
    assert float(chances[0][4]) + float(chances[2][2]) == pytest.approx(100, abs=0.11)


def test_head_to_head(listing: Listing) -> None:
    lines = head_to_head(listing).splitlines()
    assert lines[0] == "Head to head statistics:"
    assert lines[2] == "1) Anna    2364.2 :      4 (+1,=3,-0),  62.5 %"
    assert lines[4] == "   vs.            :  games ( +, =, -),   (%) :    Diff"
    assert lines[5] == "   Ben            :      2 ( 1, 1, 0),  75.0 :    +0.0"
    assert lines[6] == "   Cleo II        :      2 ( 0, 2, 0),  50.0 :  +192.5"


def test_elostat_files(listing: Listing) -> None:
    files = elostat(listing, unfinished=3)
    assert set(files) == {"general.dat", "rating.dat", "programs.dat"}
    assert "Games        : 6 (finished)\n" in files["general.dat"]
    assert "Unfinished   : 3\n" in files["general.dat"]
    assert "   1 Anna       : 2364.2    0.0    0.0     4    62.5 %   2268   75.0 %" in files["rating.dat"]
    assert "1 Anna     :2364.2 4 (+  1,=  3,-  0), 62.5 %" in files["programs.dat"]
    assert "Cleo II    : 2 (+  0,=  2,-  0), 50.0 %" in files["programs.dat"]


def test_groups() -> None:
    ratings = rate(["A", "B", "X", "A"], ["B", "A", "Y", "X"], [0.5, 0.5, 1, 1])
    report = group_report(ratings.players, ratings.encounters, connect(ratings.encounters))
    assert report.startswith("Group connectivity: **FAILED**\n\nGroup 1\n | A\n | B\n \\---> this group has incomplete")


def test_opponents() -> None:
    ratings = rate(["A", "A", "B"], ["B", "C", "A"], [1, 0.5, 0.5], white_advantage=0.0)
    found = describe_opponents(ratings.encounters, np.array([2400.0, 2300.0, 2000.0]), None)
    assert found.average.tolist() == [2200.0, 2400.0, 2400.0]
    assert found.number.tolist() == [2, 1, 1]
    # Two games with one, one with the other: the exponential of the entropy of (2/3, 1/3).
    assert found.diversity[0] == pytest.approx(1.8899, abs=1e-4)


def test_expectancy_table() -> None:
    table = expectancy_table(202.0)
    assert " 76 202.0 " in table
    assert " 50   0.0 " in table


def test_decimals_as_the_manual_has_them_on_request(run: Callable[..., Any], write_pgn: Callable[..., str]) -> None:
    """One number of -N is for all output there, and one decimal is the default; the program differs in both."""
    file = write_pgn([("A", "B", "1-0"), ("B", "A", "1/2-1/2"), ("A", "B", "0-1")])
    shares = {
        words: run("-q", *words, "-p", file).out.splitlines()[2].split()[-1]
        for words in ((), ("-N", "2"), ("--manual",), ("--manual", "-N", "2"), ("--manual", "-N", "2,0"))
    }
    assert list(shares.values()) == ["50", "50.0", "50.0", "50.00", "50"]
