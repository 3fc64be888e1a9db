"""The page in a real browser."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, Route, expect

from assay.web.jobs import EVERYBODY

GAMES = '[Event "Club"]\n[White "Anna"]\n[Black "Ben"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'


@pytest.fixture
def pgn(tmp_path: Path) -> Callable[..., Path]:
    def write(name: str = "club.pgn", data: bytes = (GAMES * 3).encode()) -> Path:
        file = tmp_path / name
        file.write_bytes(data)
        return file

    return write


def submit(page: Page, server: Any, file: Path) -> None:
    page.goto(server.url)
    page.set_input_files("#file", file)
    page.get_by_role("button", name="Make the report").click()
    page.wait_for_url("**/jobs/*")


def test_from_a_file_to_the_report(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    submit(page, server, pgn())
    expect(page.locator("#report h1")).to_have_text("London 1851")
    expect(page.locator("#job")).to_have_attribute("data-state", "done")
    expect(page.locator("#report .summary")).to_contain_text("3 games, 2 players")
    page.goto(server.url)
    row = page.get_by_role("row").filter(has_text="club.pgn")
    expect(row).to_contain_text("done")
    row.get_by_role("link").click()
    expect(page.locator("#report h1")).to_have_text("London 1851")


def test_pasted_games(server: Any, page: Page) -> None:
    page.goto(server.url)
    page.fill("#pgn", GAMES)
    page.get_by_label("quick").check()
    page.get_by_role("button", name="Make the report").click()
    expect(page.locator("#job-title")).to_have_text("pasted games")
    expect(page.locator("#job")).to_contain_text("1 game, preset quick")


def test_a_dropped_file(server: Any, page: Page) -> None:
    page.goto(server.url)
    dropped = page.evaluate_handle(
        "text => { const held = new DataTransfer(); held.items.add(new File([text], 'drop.pgn')); return held; }", GAMES
    )
    page.dispatch_event("#drop", "drop", {"dataTransfer": dropped})
    expect(page.locator("#chosen")).to_have_text("drop.pgn")
    page.get_by_role("button", name="Make the report").click()
    expect(page.locator("#job-title")).to_have_text("drop.pgn")


def test_progress_and_a_report_that_grows(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    submit(page, server, pgn("slow.pgn"))
    expect(page.locator("#told")).to_contain_text("of 60 positions, 1 of 3 games")
    expect(page.locator("#told")).to_contain_text("left")
    expect(page.locator("#report header")).to_contain_text("1 of 3 games so far")
    assert 0 < page.locator("#bar").evaluate("bar => bar.value") < 1


def test_a_reload_in_the_middle(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    submit(page, server, pgn("slow.pgn"))
    expect(page.locator("#report h1")).to_be_visible()
    page.reload()
    expect(page.locator("#told")).to_contain_text("1 of 3 games")
    expect(page.locator("#report h1")).to_be_visible()


def test_what_the_reader_opened_stays_open_as_the_report_grows(
    server: Any, page: Page, pgn: Callable[..., Path]
) -> None:
    submit(page, server, pgn("slow.pgn"))
    page.locator("#game-1 > summary").click()
    page.get_by_role("button", name="Next move").click()
    page.get_by_role("button", name="File").click()
    page.get_by_role("button", name="File").click()
    expect(page.locator("#game-1 .spread b")).to_have_text("1. e4")
    page.evaluate("document.getElementById('report').dataset.old = 'yes'")
    job = page.url.rsplit("/", 1)[1]
    (server.folders.root / job / "again").touch()
    expect(page.locator("#report:not([data-old])")).to_be_visible()
    expect(page.locator("#game-1 .spread b")).to_have_text("1. e4")
    expect(page.locator("table.players tbody tr").first).to_contain_text("Kieseritzky")


def test_cancel_keeps_what_is_there(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    submit(page, server, pgn("slow.pgn"))
    expect(page.locator("#report h1")).to_be_visible()
    page.get_by_role("button", name="Cancel").click()
    expect(page.locator("#message")).to_contain_text("Cancelled")
    expect(page.locator("#working")).to_be_hidden()
    expect(page.locator("#report h1")).to_be_visible()
    page.get_by_role("button", name="Go on").click()
    expect(page.locator("#told")).to_contain_text("of 60 positions")
    expect(page.get_by_role("button", name="Go on")).to_be_hidden()


def test_a_restart_of_the_server(
    starting: Callable[..., Any], page: Page, pgn: Callable[..., Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    first = starting()
    port = int(first.url.rsplit(":", 1)[1])
    submit(page, first, pgn("slow.pgn"))
    expect(page.locator("#told")).to_contain_text("1 of 3 games")
    first.stop()
    expect(page.locator("#told")).to_contain_text("does not answer")
    starting(port=port)
    expect(page.locator("#told")).to_contain_text("1 of 3 games")


def test_a_request_that_fails_costs_no_more_than_a_moment(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    """The report breaks off, the status is refused, the line is cut: the page says so and goes on."""
    failures = [("report", "abort"), ("report", 500), ("status", 503), ("status", "abort"), ("report", 404)]
    told: list[str] = []

    def interfere(route: Route) -> None:
        kind = "report" if route.request.url.endswith("/report") else "status"
        if not failures or failures[0][0] != kind:
            route.continue_()
            return
        how = failures.pop(0)[1]
        if how == "abort":
            route.abort()
        else:
            route.fulfill(status=int(how), body="Service Unavailable")

    page.route("**/jobs/*/report", interfere)
    page.route("**/api/jobs/*", interfere)
    page.expose_function("heard", lambda words: told.append(words))
    page.add_init_script(
        """addEventListener('DOMContentLoaded', () => {
            const told = document.getElementById('told');
            if (told) new MutationObserver(() => heard(told.textContent)).observe(told, { childList: true });
        })"""
    )
    page.goto(server.url)
    page.set_input_files("#file", pgn())
    page.get_by_role("button", name="Make the report").click()
    expect(page.locator("#job")).to_have_attribute("data-state", "done")
    expect(page.locator("#report .summary")).to_contain_text("3 games, 2 players")
    assert not failures
    assert any("does not answer" in words for words in told)


def test_a_failure_is_told(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    submit(page, server, pgn("broken.pgn"))
    expect(page.locator("#message")).to_have_text("the engine was nowhere to be found.")


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (b"", "nothing in the upload"),
        (b"\x1f\x8b\x08\x00 packed", "unpack it first"),
        (b"hello world", "No game was found"),
        (GAMES.encode() * 21, "at most 20"),
        (b"{" + b"x" * 2_200_000 + b"}", "larger than"),
    ],
)
def test_an_upload_that_cannot_be_taken(
    server: Any, page: Page, pgn: Callable[..., Path], data: bytes, sentence: str
) -> None:
    page.goto(server.url)
    page.set_input_files("#file", pgn("odd.pgn", data))
    page.get_by_role("button", name="Make the report").click()
    expect(page.get_by_role("alert")).to_contain_text(sentence)
    assert not server.folders.all()


def test_a_hostile_name_stays_text(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    submit(page, server, pgn("<img src=x onerror=alert(1)>.pgn"))
    expect(page.locator("#job-title")).to_have_text("<img src=x onerror=alert(1)>.pgn")
    page.goto(server.url)
    expect(page.locator("section").get_by_role("row").nth(1)).to_contain_text("<img src=x onerror=alert(1)>.pgn")
    assert not page.locator("img").count()


def test_keyboard_only(server: Any, page: Page) -> None:
    page.goto(server.url)
    for _ in range(12):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.id") == "pgn":
            break
    page.keyboard.insert_text(GAMES * 3)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.id") == "player"
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowDown")
    assert page.get_by_label("quick").is_checked()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#job")).to_have_attribute("data-state", "done")
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("document.activeElement.parentElement.id") == "game-1":
            break
    page.keyboard.press("Enter")
    expect(page.locator("#game-1 .board")).to_be_visible()
    page.keyboard.press("Tab")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#game-1 .spread b")).to_have_text("1. e4")
    page.keyboard.press("ArrowRight")
    expect(page.locator("#game-1 .spread b")).to_have_text("1… e5")


def test_a_narrow_phone(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    page.set_viewport_size({"width": 360, "height": 740})
    submit(page, server, pgn())
    expect(page.locator("#job")).to_have_attribute("data-state", "done")
    page.locator("#player-1 > summary").click()
    page.locator("#game-1 > summary").click()
    expect(page.locator("#game-1 .board svg")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_the_token_is_asked_for_and_remembered(starting: Callable[..., Any], page: Page) -> None:
    server = starting(token="sesame")
    page.goto(server.url)
    page.get_by_label("This server needs its token").fill("sesame")
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("heading", name="From games to ratings")).to_be_visible()
    assert page.url == f"{server.url}/"
    page.reload()
    expect(page.get_by_role("heading", name="From games to ratings")).to_be_visible()


def test_removing_a_report(server: Any, page: Page, pgn: Callable[..., Path]) -> None:
    submit(page, server, pgn())
    expect(page.locator("#job")).to_have_attribute("data-state", "done")
    page.goto(server.url)
    page.on("dialog", lambda dialog: dialog.accept())
    page.get_by_role("button", name="Remove the report on club.pgn").click()
    expect(page.get_by_role("link", name="club.pgn")).to_have_count(0)
    assert not server.folders.all()


def test_without_script_the_form_still_works(server: Any, browser: Any, pgn: Callable[..., Path]) -> None:
    context = browser.new_context(java_script_enabled=False)
    page = context.new_page()
    page.goto(server.url)
    page.get_by_role("button", name="Make the report").click()
    expect(page.get_by_role("alert")).to_contain_text("nothing in the upload")
    page.goto(server.url)
    page.set_input_files("#file", pgn())
    page.get_by_role("button", name="Make the report").click()
    expect(page.locator("#job-title")).to_have_text("club.pgn")
    context.close()


def test_the_opening_page_shows_a_finished_report(server: Any, page: Page) -> None:
    """It is there at once: no engine is asked, and no job is made."""
    page.goto(server.url)
    expect(page.locator("#sample")).to_contain_text("15 games, 6 players. Elm played closer to the engine")
    assert page.locator("#sample tbody tr").count() == 6
    page.get_by_role("link", name="Open this report").click()
    expect(page.locator("#report h1")).to_have_text("Simulated event")
    page.locator("#game-4 > summary").click()
    expect(page.locator("#game-4 .board svg")).to_be_visible()
    assert server.folders.all() == []


def games_of(name: str, count: int) -> str:
    head = '[Event "Club"]\n[White "{}"]\n[Black "{}"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Nc6 1-0\n\n'
    pairs = [(name, f"N{n}") if n % 2 else (f"N{n}", name) for n in range(count)]
    return "".join(head.format(*pair) for pair in pairs)


def test_the_name_is_guessed_from_the_games_and_can_be_chosen(server: Any, page: Page, tmp_path: Path) -> None:
    file = tmp_path / "mine.pgn"
    file.write_text(games_of('Ann \\"A\\" Oak', 7))
    page.goto(server.url)
    page.set_input_files("#file", file)
    expect(page.locator("#player")).to_have_value('Ann "A" Oak')
    expect(page.locator("#guess")).to_contain_text("Plays in 7 of 7 games")
    expect(page.locator(".time").first).to_contain_text("for these 7 games")
    assert page.locator("#names option").count() == 8
    page.get_by_role("button", name="Make the report").click()
    page.wait_for_url("**/jobs/*")
    assert [job.player for job in server.folders.all()] == ['Ann "A" Oak']
    page.goto(server.url)
    page.set_input_files("#file", file)
    expect(page.locator("#player")).not_to_have_value("")
    page.fill("#player", "")
    page.get_by_role("button", name="Make the report").click()
    page.wait_for_url("**/jobs/*")
    assert server.folders.all()[0].player == EVERYBODY


def test_of_an_event_nobody_is_guessed(server: Any, page: Page) -> None:
    page.goto(server.url)
    page.fill("#pgn", games_of("Elm", 4) + games_of("Oak", 4))
    page.locator("#pgn").blur()
    expect(page.locator("#guess")).to_have_text("6 names found in 8 games.")
    expect(page.locator("#player")).to_have_value("")
    page.fill("#player", "Oak")
    page.get_by_role("button", name="Make the report").click()
    page.wait_for_url("**/jobs/*")
    assert server.folders.all()[0].player == "Oak"
