"""The lists that people publish, opened from disk in a real browser: sorting, a player, a day."""

from __future__ import annotations

from pathlib import Path

import pytest
from playwright.sync_api import Page, expect

import assay
from assay.results.published import list_page, timeline_texts

YEARS = (
    ("2010", "A", "B", "1-0"),
    ("2011", "B", "C", "1-0"),
    ("2012", "A", "C", "1/2-1/2"),
    ("2014", "C", "B", "1-0"),
)


@pytest.fixture
def games(tmp_path: Path) -> Path:
    file = tmp_path / "games.pgn"
    texts = (
        f'[Date "{year}.05.01"]\n[White "{w}"]\n[Black "{b}"]\n[Result "{r}"]\n\n{r}\n\n' for year, w, b, r in YEARS
    )
    file.write_text("".join(texts))
    return file


def rows(page: Page) -> list[list[str]]:
    return [row.split("\t") for row in page.locator("table.list > tbody > tr:visible").all_inner_texts()]


def test_a_day_of_the_page_is_the_list_of_that_day(page: Page, games: Path, tmp_path: Path) -> None:
    answer = assay.rate_over_time(games, by="year", walk=60)
    file = tmp_path / "list.html"
    file.write_text(timeline_texts(answer, output=str(file))[str(file)])
    page.goto(file.as_uri())
    for year, at in (("2010", 0), ("2012", 2), ("2014", 3)):
        page.get_by_label("Who stood where").select_option(label=year)
        months = float(answer.history.moments.months[answer.history.moments.bin == at][0])
        wanted = answer.standings(months).rows
        found = rows(page)
        assert [row[1] for row in found] == [row["player"] for row in wanted]
        for mine, theirs in zip(found, wanted, strict=True):
            assert float(mine[2]) == pytest.approx(theirs["rating"], abs=0.11)
            assert float(mine[3]) == pytest.approx(theirs["error"], abs=0.16)
    page.get_by_role("button", name="A", exact=True).click()
    page.set_viewport_size({"width": 390, "height": 760})
    expect(page.locator(".more svg path")).to_have_count(2)
    expect(page.locator(".more svg")).to_be_in_viewport(ratio=1)


def test_a_name_opens_the_results_against_everybody(page: Page, games: Path, tmp_path: Path) -> None:
    answer = assay.rate_results(games)
    file = tmp_path / "list.html"
    file.write_text(list_page(answer.listing, answer.games))
    page.goto(file.as_uri())
    page.get_by_role("button", name="B", exact=True).click()
    met = page.locator(".more tr")
    expect(met).to_have_count(3)
    page.get_by_role("button", name="Player").click()
    expect(page.locator(".more")).to_have_count(0)
    first = [row[1] for row in rows(page)]
    page.get_by_role("button", name="Player").click()
    assert [row[1] for row in rows(page)] == first[::-1]


def sorted_by(page: Page, column: str, row: int) -> list[str]:
    """A column after a click on its head; a first click sorts downwards."""
    page.get_by_role("button", name=column, exact=True).click()
    return [cells[row] for cells in rows(page)]


def test_names_that_begin_with_digits_and_empty_cells_are_sorted(page: Page, tmp_path: Path) -> None:
    names = ("10 Moves", "4ku 5", "4ku 12", "Elm")
    texts = (f'[White "{w}"]\n[Black "{b}"]\n[Result "1/2-1/2"]\n\n1/2-1/2\n\n' for w in names for b in names if w != b)
    file = tmp_path / "games.pgn"
    file.write_text("".join(texts))
    answer = assay.rate_results(file, anchors={"4ku 12": 2000.0})
    (tmp_path / "list.html").write_text(list_page(answer.listing, answer.games))
    page.set_viewport_size({"width": 390, "height": 760})
    page.goto((tmp_path / "list.html").as_uri())
    assert sorted_by(page, "Player", 1) == sorted(names, key=str.lower, reverse=True)
    for _ in ("down", "up"):
        assert sorted_by(page, "Error", 3)[-1] == ""  # the anchor has none
    assert page.evaluate("document.documentElement.scrollWidth") == 390


def test_months_are_sorted(page: Page, tmp_path: Path) -> None:
    played = (("2010.11", "A", "B"), ("2010.02", "C", "A"), ("2010.05", "D", "A"), ("2010.09", "D", "B"))
    texts = (
        f'[Date "{day}.01"]\n[White "{w}"]\n[Black "{b}"]\n[Result "1/2-1/2"]\n\n1/2-1/2\n\n' for day, w, b in played
    )
    file = tmp_path / "games.pgn"
    file.write_text("".join(texts))
    answer = assay.rate_over_time(file, by="month", walk=60)
    file = tmp_path / "list.html"
    file.write_text(timeline_texts(answer, output=str(file))[str(file)])
    page.goto(file.as_uri())
    assert sorted_by(page, "Last", 5) == ["2010-11", "2010-11", "2010-09", "2010-02"]
