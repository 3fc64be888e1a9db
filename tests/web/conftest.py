"""A server on a free port with made-up jobs, and a real browser that may reach nothing else."""

from __future__ import annotations

import re
import shutil
import socket
import sys
import threading
import time
from collections.abc import Callable, Generator, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from playwright.sync_api import Browser, Page, expect, sync_playwright

from assay.web.app import make_app
from assay.web.jobs import JobFolders, Limits
from assay.web.serve import Server

WORKER = (sys.executable, str(Path(__file__).parent / "made_up_worker.py"))
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FLAGS = (
    "--no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking "
    "--disable-component-update --disable-sync"
)


# A busy machine may take its time; nothing here tests how quick it is.
expect.set_options(timeout=180_000)


@dataclass
class Running:
    """A server in a thread of this process."""

    url: str
    folders: JobFolders
    stop: Callable[[], None]


def start(folder: Path, port: int = 0, **how: object) -> Running:
    """Start a server on the jobs in this folder."""
    folders = JobFolders(folder)
    limits = how.pop("limits", Limits(bytes=2_000_000, games=20))
    assert isinstance(limits, Limits)
    app = make_app(folders, worker=WORKER, limits=limits, **how)  # type: ignore[arg-type]
    listening = socket.create_server(("127.0.0.1", port))
    server = Server(app, limits)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)

    def stop() -> None:
        server.should_exit = True
        thread.join()
        listening.close()

    return Running(f"http://127.0.0.1:{listening.getsockname()[1]}", folders, stop)


@pytest.fixture
def starting(tmp_path: Path) -> Iterator[Callable[..., Running]]:
    """Start servers on one folder of jobs; those still running at the end are stopped."""
    running: list[Running] = []

    def begin(**how: object) -> Running:
        running.append(start(tmp_path / "jobs", **how))
        return running[-1]

    yield begin
    for server in running:
        server.stop()


@pytest.fixture
def server(starting: Callable[..., Running]) -> Running:
    return starting()


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    found = next((path for name in BROWSERS if (path := shutil.which(name))), None)
    assert found, "these tests need Chromium: run tools/install-browser.sh"
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=found, args=FLAGS.split())
        yield browser
        browser.close()


FAILED = pytest.StashKey[bool]()
SHOTS = Path(__file__).parents[2] / "out" / "failed"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    if report.when == "call":
        item.stash[FAILED] = report.failed
    return report


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page on which every script error and every message of the security policy is a failure.

    What it showed when a test failed is kept as a picture in out/failed.
    """
    context = browser.new_context()
    page = context.new_page()
    complaints: list[str] = []
    page.on("pageerror", lambda error: complaints.append(str(error)))
    page.on("console", lambda message: complaints.append(message.text) if "Policy" in message.text else None)
    page.set_default_timeout(180_000)
    yield page
    if request.node.stash.get(FAILED, False):
        SHOTS.mkdir(parents=True, exist_ok=True)
        page.screenshot(path=SHOTS / f"{re.sub(r'[^A-Za-z0-9_]+', '-', request.node.name)}.png", full_page=True)
    context.close()
    assert not complaints
