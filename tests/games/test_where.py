"""The filter language means what Python means, and lets nothing else through."""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from assay.errors import WhereError
from assay.games import compile_where

ROWS: list[dict[str, Any]] = [
    {"white_elo": 1950, "black_elo": 1930, "white": "Ann", "opening": "Sicilian Defense", "has_clock": True},
    {"white_elo": 2100, "black_elo": None, "white": "Bob", "opening": None, "has_clock": False},
    {"white_elo": None, "black_elo": 1500, "white": None, "opening": "Petrov's Defense", "has_clock": None},
    {"white_elo": 1900, "black_elo": 1900, "white": "Ann's", "opening": "King's Pawn", "has_clock": True},
]
FRAME = pl.DataFrame(ROWS)


def chosen(expression: str, frame: pl.DataFrame = FRAME) -> list[int]:
    return frame.with_row_index().filter(compile_where(expression, frame.schema))["index"].to_list()


MEANS = {
    "white_elo >= 1900 and white_elo < 2000": [0, 3],
    "1900 <= white_elo < 2000": [0, 3],
    "1900 < white_elo != 2100": [0],
    "white_elo > 2000 or black_elo < 1600": [1, 2],
    "not white_elo > 2000": [0, 2, 3],
    'white == "Ann"': [0],
    'white != "Ann"': [1, 2, 3],
    'white in ("Ann", "Bob")': [0, 1],
    'white not in ["Ann", "Bob"]': [2, 3],
    'white in ("Ann", None)': [0, 2],
    "white is None": [2],
    "white is not None and black_elo is None": [1],
    "white == None": [2],
    "abs(white_elo - black_elo) <= 20": [0, 3],
    "white_elo - black_elo == 20": [0],
    "(white_elo + black_elo) / 2 == 1940": [0],
    "white_elo // 100 == 19 and white_elo % 100 == 50": [0],
    "-white_elo < -2000": [1],
    "white_elo * 10000000 > 0": [0, 1, 3],
    'startswith(opening, "Sicilian")': [0],
    'opening.startswith("Sicilian")': [0],
    'contains(opening, "Defense")': [0, 2],
    '"Defense" in opening': [0, 2],
    '"Defense" not in opening': [1, 3],
    'contains(opening, "King\'s (")': [],
    'white >= "B"': [1],
    "has_clock": [0, 3],
    "not has_clock": [1, 2],
    "has_clock == True": [0, 3],
    "has_clock is None": [2],
    "white_elo in (1900, 1950)": [0, 3],
    "white_elo in ()": [],
    "True": [0, 1, 2, 3],
}


@pytest.mark.parametrize("expression", MEANS)
def test_expressions(expression: str) -> None:
    assert chosen(expression) == MEANS[expression]


@pytest.mark.parametrize("expression", MEANS)
def test_text_may_come_as_categories(expression: str) -> None:
    assert chosen(expression, FRAME.with_columns(pl.col("white", "opening").cast(pl.Categorical))) == MEANS[expression]


REFUSED = {
    "whit_elo > 3": "did you mean 'white_elo'",
    "x > 3": "the columns are",
    "white > 3": "cannot be ordered: a text and a number",
    "white == 3": "never equal",
    "white_elo": "neither true nor false",
    "white and has_clock": "neither true nor false",
    "abs(white) > 3": "'white' is not a number",
    "white_elo = 3": "Compare with ==",
    "white_elo >": "does not parse",
    "": "does not parse",
    "(" * 5000: "does not parse",
    "not " * 2000 + "has_clock": "does not parse",
    "has_clock\0": "does not parse",
    "x" * 20_000: "the most is 10,000",
    "white_elo > " + "9" * 40: "too large",
    "white_elo & 1 == 1": "write 'and'",
    "~has_clock": "write 'not'",
    "white is 'Ann'": "goes with None only",
    "white in (white, 'b')": "must be a plain value",
    "white in ('a', 3)": "'3' is not a text",
    "startwith(white, 'a')": "did you mean 'startswith'",
    "startswith(white)": "is written startswith",
    "startswith(white, opening)": "must be a text in quotes",
    "white_elo ** 9 > 1": "is not allowed",
    "__import__('os').system('true')": "there is no function 'system'",
    "().__class__": "is not allowed",
    "white.__class__": "is not allowed",
    "(lambda: 1)()": "is not allowed",
    "[x for x in white]": "is not allowed",
    "has_clock if has_clock else has_clock": "is not allowed",
    "(white_elo := 3)": "is not allowed",
    "f'{white}' == 'a'": "is not allowed",
    "white_elo > 1j": "is not allowed",
    "white == b'a'": "is not allowed",
    "abs(white_elo, *white) > 1": "abs is written",
    "white_elo[0] > 1": "is not allowed",
    "await white": "does not parse|not allowed",
}


@pytest.mark.parametrize("expression", REFUSED)
def test_anything_else_is_refused_with_a_sentence(expression: str) -> None:
    with pytest.raises(WhereError, match=REFUSED[expression]):
        chosen(expression)


def test_the_columns_of_an_index_are_known() -> None:
    expression = (
        'white_elo >= 1900 and white_elo < 2000 and result == "1-0" and time_control == "300+0" '
        "and has_clock and has_eval"
    )
    assert "white_elo" in str(compile_where(expression))


numbers = st.sampled_from(["white_elo", "black_elo", "1900", "1930", "abs(white_elo - black_elo)", "black_elo + 20"])
comparisons = st.builds("{} {} {}".format, numbers, st.sampled_from(["<", "<=", ">", ">=", "==", "!="]), numbers)
expressions = st.recursive(
    comparisons, lambda inner: st.builds("({} {} {})".format, inner, st.sampled_from(["and", "or", "and not"]), inner)
)


@settings(max_examples=80)
@given(expressions)
def test_it_agrees_with_python_where_nothing_is_missing(expression: str) -> None:
    full = [row for row in ROWS if None not in (row["white_elo"], row["black_elo"])]
    expected = [i for i, row in enumerate(full) if eval(expression, {"abs": abs}, row)]
    assert chosen(expression, pl.DataFrame(full)) == expected


@settings(max_examples=200)
@given(st.text(st.sampled_from("white_elo<>=!()[]{}'\"., 01andornotisNone+-*/%\\\0:@é"), max_size=60))
def test_no_text_gives_anything_but_a_filter_or_a_sentence(text: str) -> None:
    try:
        compile_where(text)
    except WhereError as error:
        assert str(error)


def test_whole_numbers_and_others_in_one_list() -> None:
    frame = pl.DataFrame({"white_elo": [1, 2, None], "black_elo": [3, 3, 3]})
    assert frame.filter(compile_where("white_elo in (1, 2.5)", frame.schema)).height == 1
    assert frame.filter(compile_where("avg_elo in (2, 2.5)", frame.schema)).height == 2


def test_the_average_rating() -> None:
    frame = pl.DataFrame({"white_elo": [1900, 1901, None], "black_elo": [2000, 2000, 2000]})
    assert frame.filter(compile_where("avg_elo > 1950", frame.schema)).height == 1
    assert frame.filter(compile_where("avg_elo is None", frame.schema)).height == 1
    with pytest.raises(WhereError, match="did you mean 'avg_elo'"):
        compile_where("average_elo > 1950")
