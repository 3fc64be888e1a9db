"""What a browser or a program sends to `assay serve`: an answer in every case, a sentence with every refusal.

A case is a raw request: its first line is method, path and query, lines up to an empty one are headers, the rest is the
body. The application is called as its server calls it, without a network and without a worker.
"""

from __future__ import annotations

import asyncio
import atexit
import json
import re
import zlib
from collections.abc import Callable
from typing import Any
from unittest.mock import patch
from urllib.parse import unquote

from fuzz.made import FOLDER, GAMES

from assay.presets import PRESETS
from assay.web import app
from assay.web.app import Page, make_app
from assay.web.checker import Checker
from assay.web.checker import check as look_at
from assay.web.jobs import JobFolders, Limits
from assay.web.runner import Runner

_LIMITS = Limits(bytes=4096, games=5, waiting=2)
_FORM = (
    b"POST /api/jobs\r\nContent-Type: multipart/form-data; boundary=b\r\n\r\n--b\r\n"
    b'Content-Disposition: form-data; name="preset"\r\n\r\nquick\r\n--b\r\n'
    b'Content-Disposition: form-data; name="file"; filename="../club.pgn"\r\n\r\n' + GAMES[0] + b"\r\n--b--\r\n"
)
SEEDS = (
    _FORM,
    _FORM.replace(b'name="file"; filename="../club.pgn"', b'name="pgn"'),
    b"POST /api/jobs?preset=quick&name=a%00b.pgn\r\nContent-Length: 9\r\n\r\n" + GAMES[1],
    b"POST /jobs\r\nAccept: text/html\r\nOrigin: http://evil.example\r\n\r\n1. e4 *",
    b"GET /api/jobs/0123456789abcdef/result?format=html\r\nHost: localhost:1\r\n\r\n",
    b"GET /static/../app.css\r\nAccept: text/html\r\n\r\n",
    b"DELETE /api/jobs/../../etc\r\nSec-Fetch-Site: same-origin\r\n\r\n",
    b"GET /\r\nHost: [::1\r\nCookie: assay_token=\xff\r\n\r\n",
)
WORDS = (
    *(
        "GET ",
        "POST ",
        "DELETE ",
        "/api/jobs",
        "/jobs",
        "/result?format=",
        "/cancel",
        "/static/",
        "preset=",
        "name=",
        "%2e%2e%2f",
    ),
    *(
        "Content-Type: ",
        "multipart/form-data; boundary=",
        "Content-Length: ",
        "Host: ",
        "Accept: text/html",
        "filename=",
        "\r\n",
    ),
    *("--b\r\n", "--b--", "charset=utf-16", '[Event "x"]\n', "\x1f\x8b", "PK\x03\x04"),
)


_ROOT = FOLDER / "server"
_FOLDERS = JobFolders(_ROOT / "jobs")
_LOOP = asyncio.new_event_loop()
atexit.register(_LOOP.close)
_APP = make_app(_FOLDERS, worker=(), limits=_LIMITS)


async def _at_once(function: Callable[..., Any], *words: Any, **named: Any) -> Any:
    """Instead of a thread, for which each case would wait longer than it lasts."""
    return function(*words, **named)


class _Checker(Checker):
    async def check(self, data: bytes) -> tuple[int, str]:
        """Instead of another process."""
        return look_at(data, _LIMITS.games)


async def _page() -> Page:
    page = Page(_FOLDERS, Runner(_FOLDERS, ()), _LIMITS, PRESETS, allow_fetch=False)
    page.checker = _Checker(_LIMITS)
    return page


_APP.state.page = _LOOP.run_until_complete(_page())


def check(data: bytes) -> None:
    with patch.object(app, "run_in_threadpool", _at_once):
        status, headers, body = _LOOP.run_until_complete(_answer(data))
    assert status != 500, "a bug answered"
    assert headers[b"x-content-type-options"] == b"nosniff"
    if status >= 400 and headers.get(b"content-type") == b"application/json":
        told = json.loads(body)
        assert told["error"].endswith((".", "?")) and "Traceback" not in told["error"], told
    jobs = _FOLDERS.all()
    for job in jobs:
        assert _FOLDERS.state(job.id)["state"] in ("queued", "cancelled") and 1 <= job.games <= _LIMITS.games
    if len(jobs) >= _LIMITS.waiting and zlib.crc32(data) % 20 == 0:
        for job in jobs:  # until then the queue is full, and uploads are read, counted and refused
            _FOLDERS.delete(job.id)
    assert {path.name for path in _ROOT.iterdir()} <= {"jobs"}, "something was written outside the jobs"


async def _answer(data: bytes) -> tuple[int, dict[bytes, bytes], bytes]:
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.split(b"\r\n")
    method, _, target = first.decode("latin-1").partition(" ")
    # The server's protocol lets nothing but visible ASCII through to here.
    target = re.sub(r"[^!-~]", lambda odd: f"%{ord(odd.group()):02x}", target)
    path, _, query = target.partition("?")
    headers = [(name.strip().lower(), value.strip()) for name, _, value in (line.partition(b":") for line in lines)]
    if not any(name == b"host" for name, _ in headers):
        headers.append((b"host", b"127.0.0.1"))
    scope: dict[str, Any] = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": method.upper() or "GET",
        "scheme": "http",
        "path": unquote(path) or "/",
        "raw_path": path.encode("latin-1"),
        "root_path": "",
        "query_string": query.encode("latin-1"),
        "headers": headers,
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }
    halves = [body[: len(body) // 2], body[len(body) // 2 :]]
    told: dict[str, Any] = {"body": b""}

    async def receive() -> dict[str, Any]:
        if halves:
            return {"type": "http.request", "body": halves.pop(0), "more_body": bool(halves)}
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        if message["type"] == "http.response.start":
            told.update(status=message["status"], headers=dict(message["headers"]))
        else:
            told["body"] += message.get("body", b"")

    await _APP(scope, receive, send)
    return told["status"], told["headers"], told["body"]
