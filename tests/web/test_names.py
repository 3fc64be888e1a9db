"""The page gets games by a name or a link: from two services, within limits, and not for everybody."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect
from tests.fetch.services import Services, bomb, elsewhere, played, running, status
from tests.web.test_api import call, wait_for

from assay.fetch import asking
from assay.web.jobs import Limits


@pytest.fixture
def services(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Services]:
    monkeypatch.setenv("ASSAY_HOME", str(tmp_path / "home"))
    with running() as state:
        monkeypatch.setattr(asking, "wait", state.rests.append)
        state.games["alice"] = played(30)
        yield state


def ask(server: Any, source: str) -> tuple[int, dict[str, Any]]:
    code, _, data = call(server, "POST", f"/api/jobs?source={source}", b"")
    return code, json.loads(data)


@pytest.mark.parametrize("source", ["alice", "lichess:alice", "chess.com:alice", "https://lichess.org/@/alice"])
def test_a_name_or_a_link_becomes_a_job(services: Services, starting: Callable[..., Any], source: str) -> None:
    server = starting(allow_fetch=True)
    code, told = ask(server, source)
    assert code == 201, told
    assert told["games"] == 20  # as many as this page takes, the newest
    assert wait_for(server, told["id"], "done")


def test_a_name_that_lichess_does_not_know_is_looked_for_on_chess_com(
    services: Services, starting: Callable[..., Any]
) -> None:
    server = starting(allow_fetch=True)
    services.closed.add("alice")
    code, told = ask(server, "alice")
    assert (code, told["games"]) == (201, 20)
    assert "/pub/player/alice/games/archives" in services.paths()


def test_where_others_can_call_nothing_is_fetched(services: Services, starting: Callable[..., Any]) -> None:
    server = starting()
    code, told = ask(server, "alice")
    assert code == 403 and "--allow-fetch" in told["error"]
    assert services.asked == []
    assert b"source" not in call(server, "GET", "/")[2]


@pytest.mark.parametrize(
    "source",
    [
        "https://example.org/x.pgn",
        "http://127.0.0.1:9/x",
        "file:///etc/passwd",
        "mailto:x@y.z",
        "../../x",
        "a%20b",
        "nobody",
    ],
)
def test_what_cannot_be_fetched_is_a_sentence(services: Services, starting: Callable[..., Any], source: str) -> None:
    code, told = ask(starting(allow_fetch=True), source)
    assert code == 502 and told["error"].endswith((".", "?"))
    assert all(path.startswith(("/api/", "/pub/")) for path in services.paths())


@pytest.mark.parametrize("odd", [elsewhere, bomb, status(429, Retry_After="3600")])
def test_limits_hold_for_what_is_fetched(services: Services, starting: Callable[..., Any], odd: Any) -> None:
    services.next = [odd] * 5
    server = starting(allow_fetch=True, limits=Limits(bytes=200_000, games=20, fetch_seconds=30))
    code, told = ask(server, "https://lichess.org/study/AbCdEfGh")
    assert code == 502, told


def test_the_field_on_the_page(services: Services, starting: Callable[..., Any], page: Page) -> None:
    server = starting(allow_fetch=True)
    page.goto(server.url)
    page.get_by_label("Your name on Lichess or chess.com, a link, or drop a PGN").fill("nobody")
    page.get_by_role("button", name="Make the report").click()
    expect(page.get_by_role("alert")).to_contain_text("obody is called nobody")
    page.get_by_label("Your name on Lichess or chess.com, a link, or drop a PGN").fill("alice")
    page.get_by_role("button", name="Make the report").click()
    page.wait_for_url("**/jobs/*")
