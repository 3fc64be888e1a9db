"""Ratings from the results of an event, on the level of its tags."""

from __future__ import annotations

import polars as pl
import pytest

from assay.report.standings import result_ratings


def event(*games: tuple[str, str, str], **elos: float) -> pl.DataFrame:
    white, black, result = zip(*games, strict=True)
    return pl.DataFrame(
        {
            "white": white,
            "black": black,
            "result": result,
            "white_elo": [elos.get(name) for name in white],
            "black_elo": [elos.get(name) for name in black],
        },
        schema_overrides={"white_elo": pl.Float64, "black_elo": pl.Float64},
    )


def match(one: str, two: str) -> list[tuple[str, str, str]]:
    return [(one, two, "1-0"), (two, one, "1/2-1/2"), (one, two, "1/2-1/2"), (two, one, "1-0")]


def test_the_mean_of_the_ratings_is_that_of_the_tags() -> None:
    found = result_ratings(event(*match("Anna", "Ben"), Anna=2500, Ben=2300))
    anna, ben = found["Anna"], found["Ben"]
    assert anna.value is not None
    assert ben.value is not None
    assert (anna.value + ben.value) / 2 == pytest.approx(2400)
    assert anna.low is not None
    assert anna.low < anna.value


def test_one_tag_sets_the_level() -> None:
    found = result_ratings(event(*match("Anna", "Ben"), Anna=2500))
    assert found["Anna"].value == pytest.approx(2500)
    assert found["Ben"].known


def test_groups_that_never_met_have_levels_of_their_own() -> None:
    found = result_ratings(event(*match("Anna", "Ben"), *match("Cleo", "Dan"), Anna=2500, Ben=2500, Cleo=1500))
    assert found["Ben"].value == pytest.approx(2500)
    assert found["Cleo"].value == pytest.approx(1500)


def test_without_any_tag_there_is_no_level() -> None:
    assert result_ratings(event(*match("Anna", "Ben")))["Anna"].note == "nobody in this group has a rating in the tags"


def test_a_perfect_score_has_no_rating_but_a_reason() -> None:
    found = result_ratings(event(*match("Anna", "Ben"), ("Cleo", "Anna", "1-0"), Anna=2500, Ben=2500, Cleo=2500))
    assert not found["Cleo"].known
    assert "only wins" in found["Cleo"].note
    assert found["Anna"].known


def test_games_without_results_give_a_reason() -> None:
    found = result_ratings(event(("Anna", "Ben", "*"), Anna=2500, Ben=2500))
    assert not found["Anna"].known
    assert found["Anna"].note
