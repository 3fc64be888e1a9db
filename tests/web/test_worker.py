"""The command `assay serve` with its real worker and a real engine, killed and started again."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
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

from assay.cli.main import main
from assay.engine.identity import find

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
        with urllib.request.urlopen(request) as answer:
            return json.loads(answer.read())

    def end(self, how: int = signal.SIGINT) -> int:
        self.process.send_signal(how)
        _, self.said = self.process.communicate()
        return self.process.returncode


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
        state = Path(f"/proc/{process}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"  # a zombie is dead; nobody has asked for its exit code yet


def children(process: int) -> dict[int, str]:
    """The processes that a process has started, with their command lines."""
    found = [child for file in Path(f"/proc/{process}/task").glob("*/children") for child in file.read_text().split()]
    return {int(child): Path(f"/proc/{child}/cmdline").read_text().replace("\0", " ") for child in found}


def test_the_server_offers_the_depth_that_it_was_given(serve: Callable[..., Server]) -> None:
    server = serve("--depth", "6")
    job = server.ask("/api/jobs?name=match.pgn", FIRST_GAME)
    assert job["preset"] == "quick"
    while (told := server.ask(f"/api/jobs/{job['id']}"))["state"] in ("queued", "running"):
        time.sleep(0.05)
    assert told["state"] == "done", told
    assert server.ask(f"/api/jobs/{job['id']}/result")["provenance"]["depth"] == 6


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_a_killed_server_leaves_no_orphan_and_its_job_goes_on(serve: Callable[..., Server]) -> None:
    first = serve()
    job = first.ask("/api/jobs?preset=quick&name=match.pgn", FIRST_GAME)["id"]
    while not (told := first.ask(f"/api/jobs/{job}"))["positions_done"]:
        assert told["state"] in ("queued", "running"), told
        time.sleep(0.05)
    started = children(first.process.pid)
    assert {words.split()[2] for words in started.values()} == {"assay.web.worker", "assay.web.checker"}
    first.end(signal.SIGKILL)
    while any(is_alive(process) for process in started):
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
    expect(page.locator("#game-1 .spread b")).to_contain_text("12… Bc7")
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


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_ctrl_c_ends_the_server_while_an_upload_is_looked_at(serve: Callable[..., Server]) -> None:
    """As when an upload keeps those who look at it busy: here they are stopped, which takes longest."""
    server = serve()
    server.ask("/api/jobs?preset=quick", FIRST_GAME)
    for process, words in children(server.process.pid).items():
        if "assay.web.checker" in words:
            os.kill(process, signal.SIGSTOP)
    with socket.create_connection(("127.0.0.1", int(server.url.rsplit(":", 1)[1]))) as client:
        head = f"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: {len(FIRST_GAME)}\r\n\r\n"
        client.sendall(head.encode() + FIRST_GAME)
        while server.ask("/api/jobs")[0]["state"] == "queued":
            time.sleep(0.05)
        assert server.end() == 0
        assert b"503" in client.recv(4096)
    assert not server.said


@pytest.mark.skipif(sys.platform != "linux", reason="looks for processes in /proc")
def test_cancelling_a_job_ends_an_engine_that_hangs_behind_a_script(
    serve: Callable[..., Server], tmp_path: Path
) -> None:
    script = tmp_path / "engine.sh"
    script.write_text(f"#!/bin/sh\n{find()[0]}\nexit $?\n")
    script.chmod(0o755)
    server = serve("--engine", str(script))
    job = server.ask("/api/jobs?preset=quick", FIRST_GAME)["id"]
    while not server.ask(f"/api/jobs/{job}")["positions_done"]:
        time.sleep(0.05)
    (worker,) = (child for child, words in children(server.process.pid).items() if "assay.web.worker" in words)
    engines = [engine for shell in children(worker) for engine in children(shell)]
    for engine in engines:
        os.kill(engine, signal.SIGSTOP)
    assert server.ask(f"/api/jobs/{job}/cancel", b"")["state"] == "cancelled"
    assert engines
    while any(is_alive(engine) for engine in engines):
        time.sleep(0.05)


ODD = ["", "{", "[]", "{}", "null", "[" * 50_000, '{"id": "0123456789abcdef"}', "\ud800", "\x00"]


def test_an_odd_record_of_a_job_is_passed_over_with_a_warning(serve: Callable[..., Server], tmp_path: Path) -> None:
    first = serve()
    job = first.ask("/api/jobs?name=club.pgn", FIRST_GAME)["id"]
    first.ask(f"/api/jobs/{job}/cancel", b"")
    first.end()
    good = json.loads((tmp_path / "jobs" / job / "job.json").read_text())
    changed = (
        {**good, "games": "x"},
        {**good, "created": 5},
        {**good, "name": "\ud800"},
        {**good, "id": "0" * 16},
        good,
    )
    odd = [*ODD, *map(json.dumps, changed)]
    for number, text in enumerate(odd, 0xA0000):
        folder = tmp_path / "jobs" / f"{number:016x}"
        folder.mkdir()
        (folder / "job.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    (tmp_path / "jobs" / job / "progress.json").write_text('{"positions": "many", "version": 1e999, "games_done": -1}')
    second = serve()
    told = second.ask("/api/jobs")
    assert [one["id"] for one in told] == [job]
    assert (told[0]["positions"], told[0]["version"], told[0]["games_done"]) == (None, 0, 0)
    assert second.end() == 0
    assert second.said.count("is no job") == second.said.count("assay: warning: ") == len(odd)


@pytest.mark.parametrize(
    ("options", "code", "sentence"),
    [
        (["--token", ""], 1, "the token is empty"),
        (["--token", "  "], 1, "the token is empty"),
        (["--host", "0.0.0.0", "--token", ""], 1, "the token is empty"),
        (["--host", "x..y"], 1, "no host has such a name"),
        (["--host", "a" * 300], 1, "no host has such a name"),
        (["--host", ""], 1, "cannot listen on"),
        (["--max-mb", "nan"], 2, "nan is no number"),
        (["--max-mb", "inf"], 2, "--max-mb"),
        (["--max-mb", "-1"], 2, "--max-mb"),
        (["--max-games", "0"], 2, "--max-games"),
        (["--workers", "-1"], 2, "--workers"),
        (["--port", "65536"], 2, "--port"),
    ],
)
def test_options_that_make_no_sense_are_told(
    options: list[str], code: int, sentence: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    places = ["--jobs", str(tmp_path / "jobs"), "--store", str(tmp_path / "store.db")]
    with pytest.raises(SystemExit) as ended:
        main(["serve", "--port", "0", *places, *options])
    said = " ".join(capsys.readouterr().err.split())
    assert ended.value.code == code
    assert sentence in said and "bug in Assay" not in said


def test_a_token_of_any_characters_is_in_the_printed_address(serve: Callable[..., Server]) -> None:
    server = serve("--token", " ü%41 &+#日\n\udcff")
    server.url, _, encoded = server.url.partition("/?token=")
    assert encoded == "%20%C3%BC%2541%20%26%2B%23%E6%97%A5%0A%FF"
    with pytest.raises(urllib.error.HTTPError, match="401"):
        server.ask("/api/jobs")
    assert server.ask("/api/jobs", Authorization=f"Bearer {encoded}") == []
    cookies = urllib.request.build_opener(urllib.request.HTTPCookieProcessor())
    for path in (f"/api/jobs?token={encoded}", "/api/jobs"):
        assert json.loads(cookies.open(f"{server.url}{path}").read()) == []


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
