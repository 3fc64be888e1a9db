"""Who may ask: the host that was meant, the token, no other site's forms; and the headers that every answer carries."""

from __future__ import annotations

import hashlib
import hmac
import ipaddress
from collections.abc import Iterable
from contextlib import suppress
from urllib.parse import parse_qsl, quote, urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

COOKIE = "assay_token"
SAFE_METHODS = ("GET", "HEAD", "OPTIONS")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
_ASK = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><title>Assay</title></head><body><h1>Assay</h1>
<form action="/"><label>This server needs its token; it printed one when it started.
<input name="token" type="password" autocomplete="off" autofocus></label> <button>Open</button></form></body></html>
"""
_LOCAL = ("localhost", "127.0.0.1", "::1")


def is_loopback(host: str) -> bool:
    """Whether only this machine can reach a server on this host.

    >>> [is_loopback(host) for host in ("127.0.0.1", "localhost", "::1", "0.0.0.0", "192.168.1.7", "example.org")]
    [True, True, True, False, False, False]
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def cross_site(headers: Headers) -> bool:
    """Whether a browser says that another site sends this request.

    Browsers say so in Sec-Fetch-Site, older ones in Origin; programs say nothing, and they have no cookies to abuse.

    >>> cross_site(Headers({"sec-fetch-site": "cross-site"})), cross_site(Headers({"sec-fetch-site": "same-origin"}))
    (True, False)
    >>> cross_site(Headers({"origin": "http://evil.example", "host": "localhost:8765"})), cross_site(Headers({}))
    (True, False)
    """
    if (site := headers.get("sec-fetch-site")) is not None:
        return site not in ("same-origin", "none")
    if (origin := headers.get("origin")) is None:
        return False
    try:
        return urlsplit(origin).netloc != headers.get("host")
    except ValueError:
        return True


class Guard:
    """ASGI middleware that refuses what should not be answered.

    Without a token the server speaks only to those who call it by a local name: a foreign name that leads here
    (DNS rebinding) is refused. With a token every request needs it, as bearer or as cookie.
    """

    def __init__(self, app: ASGIApp, token: str | None = None, hosts: Iterable[str] = ()) -> None:
        self.app, self.token = app, token
        self.hosts = {*_LOCAL, *hosts}
        self.written = _written(token) if token is not None else set()
        # Not the token itself: a cookie cannot hold every character, and need not tell it.
        self.cookie = hashlib.sha256(f"{COOKIE} {percent_encoded(token or '')}".encode()).hexdigest()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                headers.setdefault("Content-Security-Policy", POLICY)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refuse(Request(scope))
        await (refusal or self.app)(scope, receive, send_with_headers)

    def _refuse(self, request: Request) -> Response | None:
        headers = request.headers
        if self.token is None and _host_name(headers.get("host", "")) not in self.hosts:
            return _closing(refused(421, "This server answers only to its own name; open it as http://127.0.0.1."))
        if request.method not in SAFE_METHODS and cross_site(headers):
            return _closing(refused(403, "Requests from other sites are refused."))
        return self._ask_for_token(request) if self.token is not None else None

    def _ask_for_token(self, request: Request) -> Response | None:
        if self._known(*_given(request)):
            # The address bar should not keep the token: put it into a cookie and call again without it.
            answer = RedirectResponse("/" + request.url.path.lstrip("/"), 303)
            answer.set_cookie(COOKIE, self.cookie, httponly=True, samesite="strict")
            return answer
        scheme, _, bearer = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer" and self._known(bearer.strip().encode("latin-1")):
            return None
        if hmac.compare_digest(request.cookies.get(COOKIE, "").encode("utf-8", "replace"), self.cookie.encode()):
            return None
        if "text/html" in request.headers.get("accept", ""):
            return _closing(HTMLResponse(_ASK, 401))
        return _closing(refused(401, "This server needs its token: send it as 'Authorization: Bearer TOKEN'."))

    def _known(self, *given: bytes) -> bool:
        """Whether one of these is the token, in any of the ways in which it can be written."""
        return any(hmac.compare_digest(one, token) for one in given for token in self.written)


def percent_encoded(token: str) -> str:
    """A token as an address and a header can carry it, whatever is in it.

    >>> percent_encoded("a b+ü&"), percent_encoded("sesame")
    ('a%20b%2B%C3%BC%26', 'sesame')
    """
    return quote(token, safe="", errors="surrogateescape")


def _written(token: str) -> set[bytes]:
    """The bytes that stand for a token: as it is, percent-encoded, or in the letters of old headers."""
    written = {token.encode("utf-8", "surrogateescape"), percent_encoded(token).encode()}
    with suppress(UnicodeEncodeError):
        written.add(token.encode("latin-1"))
    return written


def _given(request: Request) -> list[bytes]:
    """The tokens in the address of a request."""
    query = request.scope["query_string"].decode("latin-1")
    pairs = parse_qsl(query, keep_blank_values=True, errors="surrogateescape")
    return [value.encode("utf-8", "surrogateescape") for name, value in pairs if name == "token"]


def refused(status: int, sentence: str) -> JSONResponse:
    """An answer that says in a sentence why there is no other."""
    return JSONResponse({"error": sentence}, status, headers=HEADERS)


def _closing(answer: Response) -> Response:
    """The last answer of a connection: who is refused is not listened to any longer."""
    answer.headers["Connection"] = "close"
    return answer


def _host_name(host: str) -> str:
    """The name in a Host header, without its port.

    >>> _host_name("localhost:8765"), _host_name("[::1]:80"), _host_name("")
    ('localhost', '::1', '')
    """
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:
        return ""
