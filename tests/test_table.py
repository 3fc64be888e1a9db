"""One table as text, CSV and JSON."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import dataclass

import numpy as np
import pytest

from assay.errors import InputError
from assay.table import Answer, Bound, Table, columns_of, render

ROWS = [
    {"player": "Müller, K.", "elo": 2512.04, "games": 9, "flag": True},
    {"player": 'A "quoted", name', "elo": float("nan"), "games": np.int64(12), "flag": None},
]


def test_text_aligns_and_leaves_missing_values_empty() -> None:
    assert render(ROWS, titles={"elo": "Elo"}, decimals={"elo": 1}).split("\n") == [
        "player               Elo  games  flag",
        "Müller, K.        2512.0      9   yes",
        'A "quoted", name             12',
    ]


def test_what_stands_below_about_a_row_without_a_name_stands_alone() -> None:
    rows = [{"player": name, "note": note} for name, note in (("Elm", "seen"), (None, "not there"), ("Oak", ""))]
    told = Table(rows, columns_of(["player", "note"], below=["note"])).text(80).split("\n")
    assert told[-2:] == ["Elm: seen", "not there"]


def test_csv_reads_back() -> None:
    first, second = csv.DictReader(io.StringIO(render(ROWS, format="csv")))
    assert first == {"player": "Müller, K.", "elo": "2512.04", "games": "9", "flag": "True"}
    assert second["player"] == 'A "quoted", name'
    assert second["elo"] == ""


def test_json_keeps_precision_and_nulls() -> None:
    assert json.loads(render(ROWS, format="json")) == [
        {"player": "Müller, K.", "elo": 2512.04, "games": 9, "flag": True},
        {"player": 'A "quoted", name', "elo": None, "games": 12, "flag": None},
    ]


def test_a_table_without_rows_still_has_its_head() -> None:
    assert render([], ["player", "elo"]) == "player  elo"
    assert render([], ["player", "elo"], format="csv") == "player,elo"
    assert render([], ["player", "elo"], format="json") == "[]"


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(InputError, match="choose one of table, csv, json"):
        render(ROWS, format="xml")


def test_a_bound_stands_among_numbers() -> None:
    rows = [{"player": "Ann", "elo": 2500.0}, {"player": "Bob", "elo": Bound(">2650")}]
    assert render(rows, decimals={"elo": 0}).split("\n") == ["player    elo", "Ann      2500", "Bob     >2650"]


def test_nothing_has_no_sign() -> None:
    assert render([{"z": -0.001}, {"z": -1.5}], decimals={"z": 2}).split("\n") == ["    z", " 0.00", "-1.50"]


def test_an_answer_shows_itself_at_a_prompt() -> None:
    @dataclass(frozen=True, eq=False, kw_only=True)
    class Found(Answer):
        more: int = 0

    found = Found(shown=Table([{"player": "Ann"}], columns_of(("player",))))
    assert repr(found) == str(found) == "player\nAnn"


def test_an_answer_acts_on_no_terminal() -> None:
    assert str(Answer(shown=Table([], columns_of(("player",))), head="\x1b[2J Ann")).startswith("\\x1b[2J Ann")
