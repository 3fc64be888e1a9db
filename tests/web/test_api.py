"""The API and its safety, as a program sees them."""

from __future__ import annotations

import asyncio
import http.client
import json
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import pytest

from assay.errors import InputError
from assay.paths import atomic
from assay.web import checker
from assay.web.app import make_app
from assay.web.checker import Checker
from assay.web.jobs import JobFolders, Limits

GAMES = b'[Event "Club"]\n[White "Anna"]\n[Black "Ben"]\n[Result "1-0"]\n\n1. e4 e5 2. Nf3 Nc6 1-0\n\n'


def call(
    server: Any, method: str, path: str, body: bytes | None = None, **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """One request; underscores in the names of headers stand for hyphens."""
    connection = http.client.HTTPConnection(urlsplit(server.url).netloc, timeout=60)
    connection.request(method, path, body, {name.replace("_", "-"): value for name, value in headers.items()})
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, {name.lower(): value for name, value in answer.getheaders()}, data


def submit(server: Any, name: str = "club.pgn", games: int = 2) -> str:
    status, _, data = call(server, "POST", f"/api/jobs?name={name}", GAMES * games)
    assert status == 201, data
    return str(json.loads(data)["id"])


def status_of(server: Any, job: str) -> dict[str, Any]:
    told: dict[str, Any] = json.loads(call(server, "GET", f"/api/jobs/{job}")[2])
    return told


def wait_for(server: Any, job: str, *states: str) -> dict[str, Any]:
    while (told := status_of(server, job))["state"] not in states:
        time.sleep(0.05)
    return told


def connect(server: Any) -> socket.socket:
    return socket.create_connection(("127.0.0.1", urlsplit(server.url).port or 0), timeout=60)


def read_all(connection: socket.socket) -> bytes:
    """What comes until the other side ends."""
    return b"".join(iter(lambda: connection.recv(65536), b""))


def test_submit_status_result(server: Any) -> None:
    job = submit(server)
    told = wait_for(server, job, "done")
    assert (told["positions_done"], told["positions"], told["games_done"]) == (40, 40, 2)
    assert told["formats"] == ["html", "csv", "json", "pgn"]
    kinds = {}
    for format in told["formats"]:
        status, headers, data = call(server, "GET", f"/api/jobs/{job}/result?format={format}")
        assert status == 200
        assert headers["content-disposition"] == f'attachment; filename="club.{format}"'
        kinds[format] = data
    assert json.loads(kinds["json"])["title"] == "London 1851"
    assert kinds["csv"].startswith(b"player,games,points")
    assert b"[%eval" in kinds["pgn"]
    assert [told["id"] for told in json.loads(call(server, "GET", "/api/jobs")[2])] == [job]


def test_a_form_is_taken_too(server: Any) -> None:
    body = (
        b'--x\r\nContent-Disposition: form-data; name="preset"\r\n\r\nquick\r\n'
        b'--x\r\nContent-Disposition: form-data; name="file"; filename="../../../club.pgn"\r\n\r\n'
        + GAMES
        + b"\r\n--x--\r\n"
    )
    status, _, data = call(server, "POST", "/api/jobs", body, content_type="multipart/form-data; boundary=x")
    assert status == 201
    assert (json.loads(data)["name"], json.loads(data)["preset"]) == ("club.pgn", "quick")


def test_whose_report_it_is_to_be(server: Any) -> None:
    """By a query, by a form; a field that is left empty asks for everybody, no field for what the games tell."""
    field = b'--x\r\nContent-Disposition: form-data; name="%s"\r\n\r\n%s\r\n'
    form = "multipart/form-data; boundary=x"
    asked = [
        ("/api/jobs?player=Oak%0A,%20Ann", GAMES, "text/plain", "Oak , Ann"),
        ("/api/jobs", GAMES, "text/plain", ""),
        ("/api/jobs", field % (b"pgn", GAMES) + field % (b"player", b" ") + b"--x--\r\n", form, "*"),
        ("/api/jobs", field % (b"pgn", GAMES) + b"--x--\r\n", form, ""),
    ]
    for path, body, kind, player in asked:
        status, _, data = call(server, "POST", path, body, content_type=kind)
        assert (status, json.loads(data)["player"]) == (201, player)


def test_jobs_of_earlier_versions_are_found_again(server: Any, starting: Callable[..., Any]) -> None:
    job = submit(server)
    wait_for(server, job, "done")
    file = server.folders.root / job / "job.json"
    record = json.loads(file.read_text())
    record.pop("player")
    file.write_text(json.dumps(record))
    server.stop()
    assert [one.player for one in JobFolders(server.folders.root).all()] == [""]


def test_cancel_and_delete(server: Any) -> None:
    running, waiting = submit(server, "slow.pgn"), submit(server, "second.pgn")
    wait_for(server, running, "running")
    for job in (waiting, running):
        assert call(server, "POST", f"/api/jobs/{job}/cancel")[0] == 200
        assert status_of(server, job)["state"] == "cancelled"
    assert call(server, "DELETE", f"/api/jobs/{running}")[0] == 204
    assert call(server, "GET", f"/api/jobs/{running}")[0] == 404
    assert [job.id for job in server.folders.all()] == [waiting]


def test_a_job_that_was_cancelled_goes_on(server: Any) -> None:
    job = submit(server, "slow.pgn")
    wait_for(server, job, "running")
    call(server, "POST", f"/api/jobs/{job}/cancel")
    assert status_of(server, job)["state"] == "cancelled"
    status, _, data = call(server, "POST", f"/api/jobs/{job}/resume")
    assert status == 200 and json.loads(data)["state"] in ("queued", "running")
    assert wait_for(server, job, "running")["message"] == ""
    assert call(server, "POST", f"/api/jobs/{job}/resume")[0] == 200  # of one that runs, nothing changes
    call(server, "DELETE", f"/api/jobs/{job}")
    assert call(server, "POST", f"/api/jobs/{job}/resume")[0] == 404


def test_a_report_can_be_had_as_pdf_or_a_sentence_says_why_not(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    job = submit(server)
    wait_for(server, job, "done")
    status, headers, data = call(server, "GET", f"/api/jobs/{job}/result?format=pdf")
    if status == 200:
        assert data.startswith(b"%PDF") and headers["content-type"] == "application/pdf"
    monkeypatch.setattr("assay.paths.find_browser", lambda: None)
    status, _, data = call(server, "GET", f"/api/jobs/{job}/result?format=pdf")
    assert status == 501 and "needs Chromium" in json.loads(data)["error"]


def test_the_queue_is_bounded(starting: Callable[..., Any]) -> None:
    server = starting(limits=Limits(waiting=2))
    running = submit(server, "slow.pgn")
    wait_for(server, running, "running")
    submit(server)
    submit(server)
    status, _, data = call(server, "POST", "/api/jobs", GAMES)
    assert status == 429
    assert b"2 jobs wait already" in data


def test_jobs_survive_a_restart(starting: Callable[..., Any]) -> None:
    first = starting()
    done, running, waiting = submit(first), submit(first, "slow.pgn"), submit(first, "slow-too.pgn")
    wait_for(first, done, "done")
    wait_for(first, running, "running")
    first.stop()
    second = starting()
    assert status_of(second, done)["state"] == "done"
    assert wait_for(second, running, "running")["id"] == running
    assert status_of(second, waiting)["state"] == "queued"


def test_the_description_names_every_route(server: Any) -> None:
    described = json.loads(call(server, "GET", "/api/openapi.json")[2])
    assert described["openapi"].startswith("3.")
    assert set(described["paths"]) == {
        "/api/jobs",
        "/api/jobs/{id}",
        "/api/jobs/{id}/result",
        "/api/jobs/{id}/cancel",
        "/api/jobs/{id}/resume",
    }
    job = submit(server)
    assert set(status_of(server, job)) - {"time_left"} == set(described["components"]["schemas"]["Job"]["properties"])


@pytest.mark.parametrize(
    "path",
    [
        "/api/jobs/0123456789abcdef",
        "/api/jobs/..%2f..%2fetc",
        "/api/jobs/../../../etc/passwd",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/jobs/%00",
        "/nothing",
    ],
)
def test_what_is_not_there_is_not_found(server: Any, path: str) -> None:
    status, _, data = call(server, "GET", path)
    assert status == 404 and json.loads(data)["error"].endswith(".")


def test_people_get_a_page_and_programs_get_json(server: Any) -> None:
    _, headers, data = call(server, "GET", "/jobs/nothing", Accept="text/html,*/*")
    assert headers["content-type"].startswith("text/html")
    assert b"There is no such job" in data
    _, headers, data = call(server, "GET", "/jobs/nothing")
    assert "There is no such job" in json.loads(data)["error"]


def test_every_answer_carries_the_policy(server: Any) -> None:
    job = submit(server)
    wait_for(server, job, "done")
    for path in ("/", f"/jobs/{job}", f"/jobs/{job}/report", "/static/app.js", "/nothing"):
        _, headers, _ = call(server, "GET", path)
        assert headers["content-security-policy"].startswith("default-src 'none'"), path
        assert "unsafe" not in headers["content-security-policy"]
        assert headers["x-content-type-options"] == "nosniff"


@pytest.mark.parametrize(
    "headers",
    [
        {"Sec_Fetch_Site": "cross-site"},
        {"Sec_Fetch_Site": "same-site"},
        {"Origin": "http://evil.example"},
        {"Origin": "null"},
        {"Origin": "http://[::1"},
    ],
)
def test_cross_site_posts_are_refused(server: Any, headers: dict[str, str]) -> None:
    status, _, _ = call(server, "POST", "/api/jobs", GAMES, **headers)
    assert status == 403
    assert not server.folders.all()


def test_a_foreign_name_for_this_machine_is_refused(server: Any) -> None:
    assert call(server, "GET", "/", Host="evil.example")[0] == 421
    assert call(server, "GET", "/", Host="localhost:1")[0] == 200


def test_a_token_is_needed_where_one_is_set(starting: Callable[..., Any]) -> None:
    server = starting(token="sesame")
    assert call(server, "GET", "/")[0] == 401
    assert call(server, "GET", "/?token=guess")[0] == 401
    assert call(server, "GET", "/api/jobs", Authorization="Bearer sesame")[0] == 200
    status, headers, _ = call(server, "GET", "/?token=sesame")
    assert (status, headers["location"]) == (303, "/")
    cookie = headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "samesite=strict" in cookie.lower()
    assert call(server, "GET", "/", Cookie=cookie.split(";")[0])[0] == 200


@pytest.mark.parametrize("token", ["a b", "100%", "%41", "ü", "日本", "a;b,c", '"q"', "a+b&c=d#e?f/", "a\nb", " a "])
def test_a_token_of_any_characters_works(starting: Callable[..., Any], token: str) -> None:
    server, encoded = starting(token=token), quote(token, safe="")
    for wrong in ("", token[:-1], token + "x"):
        assert call(server, "GET", f"/?token={quote(wrong, safe='')}")[0] == 401
        assert call(server, "GET", "/", Authorization=f"Bearer {quote(wrong, safe='')}")[0] == 401
    assert call(server, "GET", "/", Authorization=f"Bearer {encoded}")[0] == 200
    if token.isprintable() and token.strip() == token and not token.startswith("日"):  # else no header can carry it
        assert call(server, "GET", "/", Authorization=f"Bearer {token}")[0] == 200
    status, headers, _ = call(server, "GET", f"/?token={encoded}")
    assert status == 303
    assert call(server, "GET", "/", Cookie=headers["set-cookie"].split(";")[0])[0] == 200
    assert call(server, "GET", "/", Cookie="assay_token=")[0] == 401


@pytest.mark.parametrize("token", ["", " ", "\n"])
def test_an_empty_token_is_refused(tmp_path: Path, token: str) -> None:
    with pytest.raises(InputError, match="the token is empty"):
        make_app(JobFolders(tmp_path), worker=(), token=token)


def test_what_an_address_takes_is_told_where_it_is_asked_otherwise(server: Any) -> None:
    for method, path, allowed in (
        ("PUT", "/api/jobs", "GET, HEAD, POST"),
        ("OPTIONS", "/api/jobs/0123456789abcdef", "DELETE, GET, HEAD"),
        ("GET", "/api/jobs/0123456789abcdef/cancel", "POST"),
        ("POST", "/", "GET, HEAD"),
    ):
        status, headers, data = call(server, method, path)
        assert (status, headers["allow"]) == (405, allowed)
        assert json.loads(data)["error"].endswith(".")


NONSENSE = [
    *("Content-Length: 12abc", "Content-Length: -1", "Content-Length: +5", "Content-Length: 1, 2", "Content-Length:"),
    *("Content-Length: " + "9" * 30, "Content-Length: 3\r\nContent-Length: 4", "Content-Length: \xd9\xa3"),
    *(
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: chunked\r\n\r\nnonsense",
        "Host: twice",
        "Host",
        "A b: c",
        "X: \x00",
    ),
]


@pytest.mark.parametrize("header", NONSENSE)
def test_a_request_that_makes_no_sense_is_answered_with_a_sentence(server: Any, header: str) -> None:
    with connect(server) as connection:
        head = f"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\n{header}\r\n\r\n"
        connection.sendall(head.encode("latin-1") + GAMES)
        head, _, body = read_all(connection).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert json.loads(body)["error"].endswith((".", "?"))


@pytest.mark.parametrize(
    "head",
    ["POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nOrigin: http://evil.example", "POST / HTTP/1.1\r\nHost: evil"],
)
def test_who_is_refused_cannot_hold_the_connection(starting: Callable[..., Any], head: str) -> None:
    server = starting()
    with connect(server) as connection:
        connection.sendall(f"{head}\r\nContent-Length: 1000000\r\n\r\n".encode())
        answer = read_all(connection)
        assert answer.startswith((b"HTTP/1.1 403", b"HTTP/1.1 421"))
        with pytest.raises(OSError):
            while True:  # a drip, until nobody takes it any more
                connection.sendall(b"x")
                time.sleep(0.01)


def test_an_answer_that_nobody_reads_is_given_up(starting: Callable[..., Any]) -> None:
    server = starting(limits=Limits(read_seconds=0.3))
    job = submit(server, "slow.pgn")
    wait_for(server, job, "running")
    (server.folders.root / job / "report.csv").write_bytes(b"x" * 50_000_000)
    with connect(server) as connection:
        connection.sendall(f"GET /api/jobs/{job}/result?format=csv HTTP/1.1\r\nHost: localhost\r\n\r\n".encode())
        with pytest.raises(OSError):
            while True:
                connection.sendall(b" ")
                time.sleep(0.01)


@pytest.mark.parametrize(
    "begun", [b"", b"GET / HTTP/1.1\r\n", b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"]
)
def test_those_who_hold_connections_shut_nobody_out(starting: Callable[..., Any], begun: bytes) -> None:
    server = starting(limits=Limits(connections=5, header_seconds=3600, seconds=3600, uploads=2))
    with ExitStack() as held:
        for _ in range(12):
            held.enter_context(connect(server)).sendall(begun)
        for _ in range(10):
            assert call(server, "GET", "/api/jobs")[0] == 200


def test_a_report_is_whole_while_it_is_replaced(server: Any) -> None:
    job = submit(server)
    wait_for(server, job, "done")
    file, stop = server.folders.root / job / "report.html", threading.Event()

    def replace_it() -> None:
        while not stop.is_set():
            for size in (1_000, 300_000, 10):
                with atomic(file) as part:
                    part.write_bytes(b"%d " % size + b"x" * size)

    thread = threading.Thread(target=replace_it)
    thread.start()
    while file.read_bytes().startswith(b"<"):
        time.sleep(0.01)
    try:
        for path in (f"/jobs/{job}/report", f"/api/jobs/{job}/result?format=html"):
            for _ in range(100):
                status, headers, data = call(server, "GET", path)
                assert status == 200 and len(data) == int(headers["content-length"])
                size, _, rest = data.partition(b" ")
                assert len(rest) == int(size)
    finally:
        stop.set()
        thread.join()


def test_a_long_list_keeps_nobody_waiting(server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """The list is held up; all else is answered meanwhile."""
    listing, go_on, all_jobs = threading.Event(), threading.Event(), server.folders.all

    def slowly() -> Any:
        listing.set()
        go_on.wait()
        return all_jobs()

    job = submit(server, "slow.pgn")
    wait_for(server, job, "running")
    monkeypatch.setattr(server.folders, "all", slowly)
    answers: list[int] = []
    threads = [
        threading.Thread(target=lambda path=path: answers.append(call(server, "GET", path)[0]))
        for path in ("/", "/api/jobs")
    ]
    try:
        for thread in threads:
            thread.start()
        listing.wait()
        assert status_of(server, job)["state"] == "running"
        assert not answers
    finally:
        go_on.set()
        for thread in threads:
            thread.join()
    assert answers == [200, 200]


def test_an_upload_that_takes_too_long_to_look_at_is_refused(starting: Callable[..., Any]) -> None:
    server = starting(limits=Limits(check_seconds=0))
    status, _, data = call(server, "POST", "/api/jobs", GAMES)
    assert status == 400 and b"could not be read within 0 s" in data
    assert not server.folders.all()


def test_an_upload_over_which_its_check_dies_is_refused_and_the_next_is_taken(
    server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(checker, "_ask", dies(checker._ask))
    assert call(server, "POST", "/api/jobs", GAMES)[0] == 400
    monkeypatch.undo()
    assert call(server, "POST", "/api/jobs", GAMES)[0] == 201


def dies(ask: Callable[..., Any]) -> Callable[..., Any]:
    async def killed(process: Any, *words: Any) -> Any:
        process.kill()
        return await ask(process, *words)

    return killed


def test_an_upload_holds_its_place_until_it_was_looked_at(
    starting: Callable[..., Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    held: list[int] = []
    inside = 0

    async def look(self: Checker, data: bytes) -> tuple[int, str]:
        nonlocal inside
        inside += 1
        held.append(inside)
        await asyncio.sleep(0.02)
        inside -= 1
        return 1, "0" * 64

    monkeypatch.setattr(Checker, "check", look)
    server = starting(limits=Limits(uploads=2))
    threads = [threading.Thread(target=call, args=(server, "POST", "/api/jobs", GAMES)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(held) == 8 and max(held) <= 2


def test_too_large_is_refused_without_reading_it(server: Any) -> None:
    with connect(server) as connection:
        connection.sendall(b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999\r\n\r\n")
        assert b"413" in connection.recv(4096)


def test_too_large_without_saying_so(server: Any) -> None:
    chunk = b"100000\r\n" + b"x" * 0x100000 + b"\r\n"
    with connect(server) as connection:
        connection.sendall(
            b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n" + 3 * chunk
        )
        assert b"413" in connection.recv(4096)


def test_a_slow_upload_times_out(starting: Callable[..., Any]) -> None:
    server = starting(limits=Limits(seconds=0.3))
    with connect(server) as connection:
        connection.sendall(b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n[Event")
        assert b"408" in connection.recv(4096)
    assert not server.folders.all()


def test_a_client_that_never_says_what_it_wants_is_sent_away(starting: Callable[..., Any]) -> None:
    server = starting(limits=Limits(header_seconds=0.3))
    for begun in (b"", b"GET / HTTP/1.1\r\nHost: local"):
        with connect(server) as connection, suppress(ConnectionError):  # it may be closed before all is sent
            connection.sendall(begun)
            assert connection.recv(4096) == b""


def test_a_broken_upload_leaves_nothing(server: Any) -> None:
    with connect(server) as connection:
        connection.sendall(b"POST /api/jobs HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n[Event")
    assert call(server, "GET", "/")[0] == 200
    assert not server.folders.all()


@pytest.mark.parametrize(
    "body", [b"", b"--x", b"--x\r\nContent-Disposition: form-data\r\n\r\n1\r\n--x--\r\n", b"garbage"]
)
def test_a_damaged_form_is_refused(server: Any, body: bytes) -> None:
    assert call(server, "POST", "/api/jobs", body, content_type="multipart/form-data; boundary=x")[0] == 400


def test_a_depth_may_be_asked_for_and_one_is_offered_first(starting: Callable[..., Any]) -> None:
    server = starting(depth=10)
    described = json.loads(call(server, "GET", "/api/openapi.json")[2])
    form = described["paths"]["/api/jobs"]["post"]["requestBody"]["content"]["multipart/form-data"]["schema"]
    offered = form["properties"]["preset"]
    assert offered["default"] == "deep"
    assert {"default", "quick"} < set(offered["enum"])
    assert json.loads(call(server, "POST", "/api/jobs", GAMES)[2])["preset"] == "deep"
    assert json.loads(call(server, "POST", "/api/jobs?preset=quick", GAMES)[2])["preset"] == "quick"
    page = call(server, "GET", "/")[2].decode()
    assert page.count('name="preset"') == len(offered["enum"])
    assert re.findall(r'value="([^"]*)" checked', page) == ["deep"]


def test_a_depth_without_a_calibration_is_refused_before_the_server_starts(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no calibration is shipped for depth 30: choose one of 6, 8, 10"):
        make_app(JobFolders(tmp_path / "jobs"), worker=(), depth=30)


def test_an_unknown_preset_is_refused(server: Any) -> None:
    status, _, data = call(server, "POST", "/api/jobs?preset=x", GAMES)
    assert status == 400
    assert b"choose one of" in data


def test_a_job_with_a_lost_state_is_told_and_not_run(starting: Callable[..., Any], tmp_path: Path) -> None:
    first = starting()
    job = submit(first)
    wait_for(first, job, "done")
    first.stop()
    (first.folders.root / job / "state.json").write_text("{", encoding="utf-8")
    assert status_of(starting(), job)["state"] == "failed"


def test_two_hundred_requests_at_once(server: Any) -> None:
    host, port = "127.0.0.1", urlsplit(server.url).port or 0
    job = submit(server, "slow.pgn")

    async def ask(number: int) -> bytes:
        reader, writer = await asyncio.open_connection(host, port)
        path = ("/", f"/api/jobs/{job}", f"/jobs/{job}", "/static/report.css")[number % 4]
        writer.write(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        answer = await reader.read()
        writer.close()
        return answer[9:12]

    async def all_at_once() -> list[bytes]:
        return await asyncio.gather(*(ask(number) for number in range(200)))

    assert set(asyncio.run(all_at_once())) == {b"200"}
    assert call(server, "GET", "/")[0] == 200
