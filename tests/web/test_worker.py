"""The command `assay serve` with its real worker and a real engine, killed and started again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from importlib import resources
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Page, expect

SAMPLE = resources.files("assay.data").joinpath("kasparov-deep-blue-1997.pgn").read_bytes()
FIRST_GAME = SAMPLE[: SAMPLE.index(b"[Event", 1)]


class Server:
    """`assay serve` in a process of its own."""

    def __init__(self, folder: Path, *options: str) -> None:
        command = [sys.executable, "-c", "from assay.cli.main import main; main()", "serve", "--port", "0"]
        places = ["--jobs", str(folder / "jobs"), "--store", str(folder / "store.db"), "--workers", "1"]
        self.process = subprocess.Popen([*command, *places, *options], stderr=subprocess.PIPE, text=True)
        assert self.process.stderr is not None
        self.said = self.process.stderr.readline()
        found = re.search(r"http://\S+", self.said)
        self.url = found.group().rstrip("/") if found else ""

    def ask(self, path: str, data: bytes | None = None, **headers: str) -> Any:
        request = urllib.request.Request(f"{self.url}{path}", data, headers)
        for _ in range(100):
            try:
                with urllib.request.urlopen(request, timeout=60) as answer:
                    return json.loads(answer.read())
            except urllib.error.URLError as error:
                if isinstance(error, urllib.error.HTTPError):
                    raise
                time.sleep(0.1)  # told the address, but not listening yet
        raise AssertionError("the server does not answer")

    def end(self, how: int = signal.SIGINT) -> int:
        self.process.send_signal(how)
        code = self.process.wait(60)
        assert self.process.stderr is not None
        self.process.stderr.close()
        return code


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Server]]:
    """Start servers on one folder of jobs; those still running at the end are ended."""
    started: list[Server] = []

    def start(*options: str) -> Server:
        started.append(Server(tmp_path, *options))
        return started[-1]

    yield start
    for server in started:
        if server.process.poll() is None:
            server.end()


def wait_until_done(server: Server, job: str) -> dict[str, Any]:
    while (told := server.ask(f"/api/jobs/{job}"))["state"] in ("queued", "running"):
        time.sleep(0.1)
    return dict(told)


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    # A zombie is dead; nobody has asked for its exit code yet.
    return Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_killed_server_leaves_no_orphan_and_its_job_goes_on(serve: Callable[..., Server]) -> None:
    first = serve()
    job = first.ask("/api/jobs?preset=quick&name=match.pgn", FIRST_GAME)["id"]
    while not (told := first.ask(f"/api/jobs/{job}"))["positions_done"]:
        assert told["state"] in ("queued", "running"), told
        time.sleep(0.05)
    children = Path(f"/proc/{first.process.pid}/task/{first.process.pid}/children").read_text().split()
    assert len(children) == 1, "one worker"
    first.end(signal.SIGKILL)
    while is_alive(int(children[0])):
        time.sleep(0.05)

    second = serve()
    told = wait_until_done(second, job)
    assert told["state"] == "done", told
    report = second.ask(f"/api/jobs/{job}/result?format=json")
    assert {player["name"] for player in report["players"]} == {"Kasparov, Garry", "Deep Blue"}
    assert report["provenance"]["sources"][0]["name"] == "match.pgn"
    assert second.end() == 0


def test_a_hostile_pgn(serve: Callable[..., Server], tmp_path: Path, page: Page) -> None:
    """Markup in names, a comment of 5 MB, text that is no UTF-8, tags that look like paths: all of it stays data."""
    file = tmp_path / "<i>hostile.pgn"
    moves = FIRST_GAME.split(b"\n\n", 1)[1].split(b"13.")[0]
    file.write_bytes(
        b'[Event "<script>document.title=1</script>"]\n[Site "../../../etc/passwd"]\n[Round "{{ 7*7 }}"]\n'
        b'[White "<img src=x onerror=alert(1)>"]\n[Black "Gr\xfcnfeld \xff\xfe $(reboot)"]\n[Result "*"]\n\n'
        b"{ <script>alert(1)</script> " + b"x" * 5_000_000 + b" }\n" + moves + b"*\n"
    )
    server = serve()
    server.ask("/api/jobs")
    page.goto(server.url)
    page.set_input_files("#file", file)
    page.get_by_label("quick").check()
    page.get_by_role("button", name="Make the report").click()
    expect(page.locator("#job")).to_have_attribute("data-state", "done")
    expect(page.locator("#report h1")).to_have_text("<script>document.title=1</script>")
    page.locator("#game-1 > summary").click()
    expect(page.locator("#game-1 .name")).to_contain_text("<img src=x onerror=alert(1)> – Grünfeld")
    page.get_by_role("button", name="Last position").click()
    expect(page.locator("#game-1 .spread b")).to_have_text("12… Bc7")
    assert not page.locator("img").count()
    assert page.title() == "<i>hostile.pgn – Assay"


def test_an_engine_that_is_not_there_is_told(serve: Callable[..., Server]) -> None:
    server = serve("--engine", "no-such-engine")
    job = server.ask("/api/jobs?preset=quick", FIRST_GAME)["id"]
    told = wait_until_done(server, job)
    assert told["state"] == "failed"
    assert "no chess engine 'no-such-engine' found" in told["message"]


def test_a_second_server_on_the_same_jobs_is_refused(serve: Callable[..., Server]) -> None:
    first = serve()
    first.ask("/api/jobs")
    second = serve()
    assert "another 'assay serve' works on the jobs" in second.said
    assert second.end(signal.SIGCONT) == 1


def test_a_port_that_is_taken_is_a_sentence(serve: Callable[..., Server]) -> None:
    first = serve()
    second = serve("--port", first.url.rsplit(":", 1)[1])
    assert "cannot listen on 127.0.0.1" in second.said
    assert second.end(signal.SIGCONT) == 1


def test_a_host_that_others_reach_has_a_token(serve: Callable[..., Server]) -> None:
    server = serve("--host", "0.0.0.0")
    assert re.search(r"\?token=\S{20,}", server.said)
    server.url, _, token = server.url.partition("/?token=")
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.ask("/api/jobs")
    assert server.ask("/api/jobs", Authorization=f"Bearer {token}") == []
