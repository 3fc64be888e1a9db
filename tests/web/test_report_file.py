"""The report as a file opened from disk, in a real browser: it works alone and calls nobody."""

from __future__ import annotations

import runpy
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, expect

from assay.reports.exports import on_paper, print_pdf
from assay.reports.page import render

make_report = runpy.run_path(str(Path(__file__).parents[1] / "reports" / "conftest.py"))["make_report"]


@pytest.fixture
def opened(page: Page, tmp_path: Path) -> Page:
    """The made-up report, opened from disk; any request that leaves it fails the test."""
    file = tmp_path / "report.html"
    file.write_text(render(make_report()), encoding="utf-8")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.goto(file.as_uri())
    page.evaluate("addEventListener('beforeunload', () => {})")
    assert asked == [file.as_uri()]
    return page


def names(page: Page) -> list[str]:
    return page.locator("table.players tbody th a").all_inner_texts()


def test_sorting(opened: Page) -> None:
    assert names(opened) == ["Anderssen, Adolf", "Kieseritzky, Lionel"]
    head = opened.get_by_role("columnheader", name="Rating", exact=True)
    expect(head).to_have_attribute("aria-sort", "descending")
    head.get_by_role("button").click()
    expect(head).to_have_attribute("aria-sort", "ascending")
    assert names(opened) == ["Kieseritzky, Lionel", "Anderssen, Adolf"]
    opened.get_by_role("button", name="Player", exact=True).click()
    assert names(opened) == ["Anderssen, Adolf", "Kieseritzky, Lionel"]


def test_a_phone_shows_the_sentence_the_rating_and_z_on_its_first_screen(opened: Page) -> None:
    opened.set_viewport_size({"width": 390, "height": 760})
    expect(opened.locator(".summary")).to_be_in_viewport()
    for cell in (".rating", ".z"):
        expect(opened.locator(f"table.players tbody tr >> nth=1 >> td{cell}").first).to_be_in_viewport(ratio=1)
    expect(opened.locator("td.witness").first).to_be_hidden()


def test_witnesses_and_meanings_come_on_demand(opened: Page) -> None:
    expect(opened.get_by_role("columnheader", name="Learned")).to_be_hidden()
    opened.get_by_role("button", name="Show the witnesses").click()
    expect(opened.get_by_role("columnheader", name="Learned")).to_be_visible()
    opened.get_by_role("button", name="Hide the witnesses").click()
    expect(opened.get_by_role("columnheader", name="Learned")).to_be_hidden()
    opened.locator("td.z").first.click()
    expect(opened.locator(".why")).to_contain_text("A high z proves nothing")
    opened.keyboard.press("Escape")
    expect(opened.locator(".why")).to_be_hidden()
    opened.locator("td.rating").first.click()
    expect(opened.locator(".why")).to_contain_text("one rating from the results")
    opened.locator("h1").click()
    expect(opened.locator(".why")).to_be_hidden()
    opened.locator("#player-1 > summary").click()
    opened.locator("#player-1 table[data-why=screening] td").first.click()
    expect(opened.locator(".why")).to_contain_text("ROI")


def test_arrow_keys_work_as_soon_as_a_game_is_open(opened: Page) -> None:
    opened.locator("#game-1 > summary").click()
    expect(opened.locator("#game-1 .board")).to_be_focused()
    opened.keyboard.press("ArrowRight")
    expect(opened.locator("#game-1 .spread b")).to_have_text("1. e4")


def test_a_mistake_is_marked_in_the_list_and_on_the_board_with_the_better_move(page: Page, tmp_path: Path) -> None:
    report = make_report(1)
    game = report.games[0]
    candidates = tuple(reversed(game.moves[20].candidates))
    wrong = replace(game.moves[20], loss=20.0, mark="??", better=candidates[0].san, candidates=candidates)
    file = tmp_path / "report.html"
    marked = replace(game, moves=(*game.moves[:20], wrong, *game.moves[21:]))
    file.write_text(render(replace(report, games=(marked,))), encoding="utf-8")
    page.goto(file.as_uri())
    page.locator("#game-1 > summary").click()
    page.locator("#game-1 .moves button", has_text="??").click()
    expect(page.locator("#game-1 .spread p").first).to_contain_text("a blunder; better is")
    expect(page.locator("#game-1 .board .verdict-text")).to_have_text("??")
    expect(page.locator("#game-1 .board .arrow")).to_have_count(1)


def test_a_number_stays_with_its_move_and_a_mate_is_said_in_words(page: Page, tmp_path: Path) -> None:
    report = make_report(1)
    game = report.games[0]
    mated = replace(game.moves[30], worth="#-2")
    file = tmp_path / "report.html"
    file.write_text(
        render(replace(report, games=(replace(game, moves=(*game.moves[:30], mated, *game.moves[31:])),))),
        encoding="utf-8",
    )
    page.set_viewport_size({"width": 390, "height": 844})
    page.goto(file.as_uri())
    page.locator("#game-1 > summary").click()
    page.locator("#game-1 .moves button").nth(30).click()
    expect(page.locator("#game-1 .spread p").first).to_contain_text("Black mates in 2")
    apart = page.evaluate(
        """() => [...document.querySelectorAll('#game-1 .moves .no')].filter(number =>
            number.getBoundingClientRect().bottom <= number.nextElementSibling.getBoundingClientRect().top).length"""
    )
    assert apart == 0


def test_stepping_through_a_game(opened: Page) -> None:
    opened.locator("#game-1 > summary").click()
    game = opened.locator("#game-1")
    expect(game.locator(".spread")).to_contain_text("The start")
    game.get_by_role("button", name="Last position").click()
    expect(game.locator(".spread b")).to_have_text("23. Be7#")
    expect(game.locator(".board")).to_have_attribute(
        "aria-label", "Board after 23. Be7#. Arrow keys step through the moves."
    )
    game.get_by_role("button", name="Previous move").click()
    expect(game.locator(".spread b")).to_have_text("22… Nxf6")
    expect(game.locator(".spread .played")).to_contain_text("Nxf6 (played)")
    expect(game.locator(".spread")).to_contain_text("Chances for a player rated 2480")
    game.locator(".moves button", has_text="exf4").first.click()
    expect(game.locator(".spread b")).to_have_text("2… exf4")
    expect(game.locator(".spread")).to_contain_text("Does not count for the rating: one of the first eight moves")


def pieces(page: Page) -> dict[str, str]:
    """The pieces on the board of the first game, by square."""
    found: dict[str, str] = page.evaluate(
        """() => Object.fromEntries([...document.querySelectorAll('#game-1 .board use')].map(use => {
            const [x, y, piece] = ['x', 'y', 'href'].map(name => use.getAttribute(name));
            return ['abcdefgh'[x / 45] + (8 - y / 45), piece.slice(1)];
        }))"""
    )
    return found


def test_the_board_follows_the_rules(opened: Page) -> None:
    opened.locator("#game-1 > summary").click()
    expect(opened.locator("#game-1 .board use")).to_have_count(32)  # a page hears of an opened part a moment later
    opened.locator("#game-1").get_by_role("button", name="Last position").click()
    assert pieces(opened) == {
        "a8": "bR", "c8": "bB", "d8": "bK", "h8": "bR", "a7": "bP", "d7": "bP", "e7": "wB", "f7": "bP", "g7": "wN",
        "h7": "bP", "a6": "bN", "f6": "bN", "b5": "bP", "d5": "wN", "e5": "wP", "h5": "wP", "g4": "wP", "d3": "wP",
        "a2": "wP", "c2": "wP", "e2": "wK", "a1": "bQ", "g1": "bB",
    }  # fmt: skip


def test_clicking_a_plot_goes_to_the_move(opened: Page) -> None:
    opened.locator("#game-1 > summary").click()
    plot = opened.locator("#game-1 .plies").first
    plot.scroll_into_view_if_needed()
    box = plot.bounding_box()
    assert box is not None
    plot.click(position={"x": box["width"] * 0.98, "y": box["height"] / 2})
    expect(opened.locator("#game-1 .spread b")).to_have_text("23. Be7#")


def test_a_link_opens_what_it_leads_to(opened: Page) -> None:
    opened.get_by_role("link", name="Kieseritzky, Lionel").click()
    expect(opened.locator("#player-2")).to_have_attribute("open", "")
    opened.locator("#player-2").get_by_role("link", name="3").click()
    expect(opened.locator("#game-3 .board svg")).to_be_visible()


def test_light_and_dark(opened: Page) -> None:
    paper = "getComputedStyle(document.body).backgroundColor"
    light = opened.evaluate(paper)
    opened.get_by_role("button", name="Dark").click()
    assert opened.evaluate(paper) != light
    opened.emulate_media(media="print")
    assert opened.evaluate(paper) == "rgb(255, 255, 255)"


@pytest.mark.parametrize("width", [340, 390, 1280])
def test_nothing_sticks_out(opened: Page, width: int) -> None:
    opened.set_viewport_size({"width": width, "height": 800})
    opened.evaluate("document.querySelectorAll('details').forEach(element => element.open = true)")
    expect(opened.locator("#game-3 .board svg")).to_be_visible()
    assert opened.evaluate("document.documentElement.scrollWidth") <= width


def test_without_script_it_is_still_whole(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(render(make_report()), encoding="utf-8")
    context = browser.new_context(java_script_enabled=False)
    page: Any = context.new_page()
    page.goto(file.as_uri())
    page.locator("#game-1 > summary").click()
    expect(page.locator("#game-1 .moves")).to_contain_text("23. Be7# 1-0")
    context.close()


def test_a_hostile_pgn_runs_nothing(page: Page, tmp_path: Path) -> None:
    name = "<script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
    file = tmp_path / "report.html"
    file.write_text(render(make_report(white=name)), encoding="utf-8")
    page.goto(file.as_uri())
    page.locator("#player-1 > summary").click()
    page.locator("#game-1 > summary").click()
    page.locator("#game-1").get_by_role("button", name="Last position").click()
    expect(page.locator("#game-1 .spread p").first).to_contain_text("<script>")
    assert page.title() == "London 1851 – Assay report"


def test_the_pdf_has_the_games_open(tmp_path: Path, page: Page) -> None:
    file = tmp_path / "report.pdf"
    print_pdf(render(make_report()), file)
    assert file.read_bytes().startswith(b"%PDF") and b"/MediaBox [0 0 594.95" in file.read_bytes()
    print_pdf(render(make_report()), file, "letter")
    assert b"/MediaBox [0 0 612 792]" in file.read_bytes()
    page.set_content(render(make_report()))
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    expect(page.locator("#game-2 .moves button").last).to_be_visible()
    page.evaluate("dispatchEvent(new Event('afterprint'))")
    expect(page.locator("#game-2 .moves button").last).to_be_hidden()


def test_a_page_for_a_paper_keeps_its_policy_and_its_style(page: Page, tmp_path: Path) -> None:
    file = tmp_path / "report.html"
    file.write_text(on_paper(render(make_report()), "letter"), encoding="utf-8")
    page.goto(file.as_uri())  # a style that the policy forbids would be a message, and a message a failure
    assert page.evaluate("[...document.styleSheets[0].cssRules].some(rule => rule.cssText.includes('size: letter'))")


def test_on_paper_no_card_is_cut_and_two_stand_beside_each_other(page: Page) -> None:
    page.set_viewport_size({"width": 703, "height": 1000})  # A4 between its margins
    page.set_content(render(make_report()))
    page.emulate_media(media="print")
    page.evaluate("dispatchEvent(new Event('beforeprint'))")
    breaks = "selector => getComputedStyle(document.querySelector(selector)).breakInside"
    assert [page.evaluate(breaks, name) for name in (".card.game", ".card.player", ".explain")] == ["avoid"] * 3
    plots = [box for figure in page.locator("#game-1 figure").all() if (box := figure.bounding_box())]
    assert len(plots) == 2 and plots[0]["y"] == plots[1]["y"] and plots[0]["x"] < plots[1]["x"]
    ink, paper = page.evaluate("(s => [s.color, s.backgroundColor])(getComputedStyle(document.body))")
    assert ink == "rgb(0, 0, 0)" and paper in ("rgb(255, 255, 255)", "rgba(0, 0, 0, 0)")
