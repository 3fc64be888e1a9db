"""A server on this machine that speaks as Lichess and chess.com do, and misbehaves when it is told to."""

from __future__ import annotations

import gzip
import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit

from tests.games.made import game_text

from assay.fetch import chesscom, lichess
from assay.fetch.asking import Service

Misbehaviour = Callable[["Handler"], bool]  # True if it has answered


@dataclass
class Services:
    """What the server has, how it behaves next, and what was asked of it."""

    games: dict[str, list[dict[str, str]]] = field(default_factory=dict)  # of users, newest first
    links: dict[str, bytes] = field(default_factory=dict)  # by path
    closed: set[str] = field(default_factory=set)
    next: list[Misbehaviour | None] = field(default_factory=list)  # of the next answers
    asked: list[str] = field(default_factory=list)
    headers: list[dict[str, str]] = field(default_factory=list)
    rests: list[float] = field(default_factory=list)  # that the client took, in no time
    at_once: int = 0
    most_at_once: int = 0
    url: str = ""

    def paths(self) -> list[str]:
        return [urlsplit(each).path for each in self.asked]


def lichess_game(number: int, when: datetime, **tags: str) -> dict[str, str]:
    """A game as Lichess writes it, with evals."""
    given = {
        "Event": "Rated Blitz game",
        "Site": f"https://lichess.org/game{number:04}",
        "Date": when.strftime("%Y.%m.%d"),
        "White": "Alice" if number % 2 else "Bob",
        "Black": "Bob" if number % 2 else "Alice",
        "UTCDate": when.strftime("%Y.%m.%d"),
        "UTCTime": when.strftime("%H:%M:%S"),
        "TimeControl": "180+0",
    } | tags
    return given | {"text": game_text(number, 12, notes=True, **given), "seconds": str(int(when.timestamp()))}


def played(count: int, *, first: datetime | None = None, step: int = 86_400 * 5, **tags: str) -> list[dict[str, str]]:
    """Games every five days, newest first."""
    start = int((first or datetime(2024, 1, 1, 12, tzinfo=UTC)).timestamp())
    return [
        lichess_game(number, datetime.fromtimestamp(start + number * step, UTC), **tags) for number in range(count)
    ][::-1]


class Handler(BaseHTTPRequestHandler):
    services: Services
    is_over: bool
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        state = self.services
        state.asked.append(self.path)
        state.headers.append({name.lower(): value for name, value in self.headers.items()})
        state.at_once += 1
        self.is_over = False
        state.most_at_once = max(state.most_at_once, state.at_once)
        try:
            odd = state.next.pop(0) if state.next else None
            if odd is None or not odd(self):
                self._answer()
        except OSError:
            pass  # the client has seen enough
        finally:
            self.over()
            self.close_connection = True

    def over(self) -> None:
        """The request is answered: from now on the client may send the next."""
        self.services.at_once -= not self.is_over
        self.is_over = True

    def _answer(self) -> None:
        state = self.services
        parts = urlsplit(self.path)
        path, query = parts.path, {name: values[0] for name, values in parse_qs(parts.query).items()}
        match path.strip("/").split("/"):
            case ["api", "games", "user", user] if user.lower() in state.games and user.lower() not in state.closed:
                self.send(self.chosen(user.lower(), query), "application/x-chess-pgn", chunked=True)
            case ["api", "user", user] if user.lower() in state.closed:
                self.send(json.dumps({"id": user.lower(), "disabled": True}).encode(), "application/json")
            case ["pub", "player", user, "games", "archives"] if user in state.games:
                months = sorted({(game["UTCDate"][:4], game["UTCDate"][5:7]) for game in state.games[user]})
                links = [f"https://api.chess.com/pub/player/{user}/games/{y}/{m}" for y, m in months]
                self.send(json.dumps({"archives": links}).encode(), "application/json")
            case ["pub", "player", user, "games", year, month] if user in state.games:
                self.send_month(user, year, month)
            case _ if path in state.links:
                kind = "application/json" if state.links[path].startswith(b"{") else "application/x-chess-pgn"
                self.send(state.links[path], kind)
            case _:
                self.send(b'{"error":"Not found"}', "application/json", status=404)

    def chosen(self, user: str, query: dict[str, str]) -> bytes:
        low, high = int(query.get("since", "0")) / 1000, int(query.get("until", "99999999999999")) / 1000
        games = [game for game in self.services.games[user] if low <= int(game["seconds"]) <= high]
        if "analysed" in query:
            games = [game for game in games if "[%eval" in game["text"]]
        if "color" in query:
            games = [game for game in games if game[query["color"].title()].lower() == user]
        if "vs" in query:
            games = [game for game in games if query["vs"].lower() in (game["White"].lower(), game["Black"].lower())]
        if "rated" in query:
            games = [game for game in games if game["Event"].startswith("Rated") == (query["rated"] == "true")]
        if "max" in query:
            games = games[: int(query["max"])]
        return "\n\n".join(game["text"] for game in games).encode()

    def send_month(self, user: str, year: str, month: str) -> None:
        games = [game for game in self.services.games[user] if game["UTCDate"].startswith(f"{year}.{month}")]
        data = json.dumps(
            {
                "games": [
                    {
                        "pgn": game["text"].replace(game["Site"], f"https://www.chess.com/game/live/{at}"),
                        "rated": game["Event"].startswith("Rated"),
                        "rules": game.get("Rules", "chess"),
                    }
                    | ({"accuracies": {"white": 90}} if "[%eval" in game["text"] else {})
                    for at, game in enumerate(games)
                ]
            }
        ).encode()
        mark = f'"{len(games)}-{len(data)}"'
        if self.headers.get("If-None-Match") == mark:
            self.send(b"", "application/json", status=304)
        else:
            self.send(data, "application/json", extra={"ETag": mark})

    def send(
        self,
        data: bytes,
        kind: str,
        *,
        status: int = 200,
        chunked: bool = False,
        announced: int | None = None,
        extra: dict[str, str] | None = None,
    ) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        for name, value in (extra or {}).items():
            self.send_header(name, value)
        if chunked:
            self.send_header("Transfer-Encoding", "chunked")
        else:
            self.send_header("Content-Length", str(len(data) if announced is None else announced))
        if not chunked:
            self._headers_buffer.append(b"\r\n")
            head, self._headers_buffer = b"".join(self._headers_buffer), []
            self.send_last(head + data)
            return
        self.end_headers()
        for at in range(0, len(data), 997):
            self.chunk(data[at : at + 997])
        self.send_last(b"0\r\n\r\n")

    def send_last(self, data: bytes) -> None:
        """The end of an answer: once the client has read it whole, the request is over."""
        self.wfile.write(data[:-1])
        self.over()
        self.wfile.write(data[-1:])

    def chunk(self, data: bytes) -> None:
        self.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))

    def log_message(self, *_: object) -> None:
        """Say nothing."""


def status(code: int, **headers: str) -> Misbehaviour:
    """Answer with nothing but a status."""

    def odd(handler: Handler) -> bool:
        handler.send(b"", "text/plain", status=code, extra={k.replace("_", "-"): v for k, v in headers.items()})
        return True

    return odd


def page(handler: Handler) -> bool:
    """Answer with HTML."""
    handler.send(b"<!DOCTYPE html><html>We'll be back soon.</html>", "text/html")
    return True


def cut(after: int) -> Misbehaviour:
    """Cut a stream of games after so many bytes."""

    def odd(handler: Handler) -> bool:
        parts = urlsplit(handler.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        user = parts.path.rsplit("/", 1)[-1].lower()
        whole = handler.services.links.get(parts.path) or handler.chosen(user, query)
        handler.send_response(200)
        handler.send_header("Content-Type", "application/x-chess-pgn")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        handler.chunk(whole[:after])
        return True

    return odd


def short(handler: Handler) -> bool:
    """Announce more bytes than come."""
    whole = handler.services.links[urlsplit(handler.path).path]
    handler.send(whole[:-20], "application/x-chess-pgn", announced=len(whole))
    return True


def endless(handler: Handler) -> bool:
    """Send games for ever."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/x-chess-pgn")
    handler.send_header("Transfer-Encoding", "chunked")
    handler.end_headers()
    game = (game_text(1, 12) + "\n\n").encode() * 50
    while True:
        handler.chunk(game)


def bomb(handler: Handler) -> bool:
    """Send little that unpacks to much."""
    data = gzip.compress(b'[Event "x"]\n\n1. e4 *\n' + b"\n" * (64 << 20))
    handler.send(data, "application/x-chess-pgn", extra={"Content-Encoding": "gzip"})
    return True


def drip(handler: Handler) -> bool:
    """Send a byte now and then."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/x-chess-pgn")
    handler.send_header("Content-Length", "100000")
    handler.end_headers()
    for byte in b'[Event "slow"]' * 100:
        handler.wfile.write(bytes([byte]))
    return True


def silence(handler: Handler) -> bool:
    """Take the request, and say nothing until the client is gone."""
    handler.connection.recv(1)
    return True


def elsewhere(handler: Handler) -> bool:
    """Send the client to another host."""
    handler.send(b"", "text/plain", status=302, extra={"Location": "http://127.0.0.2:9/evil.pgn"})
    return True


@contextmanager
def running() -> Iterator[Services]:
    """The server, in the place of both services."""
    state = Services()
    handler = type("Told", (Handler,), {"services": state})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        http.daemon_threads = True
        state.url = f"http://127.0.0.1:{http.server_port}"
        thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        before = lichess.SERVICE, chesscom.SERVICE
        lichess.SERVICE = Service("Lichess", state.url, state.url, token="LICHESS_TOKEN")
        chesscom.SERVICE = Service("chess.com", state.url, state.url)
        try:
            yield state
        finally:
            lichess.SERVICE, chesscom.SERVICE = before
            http.shutdown()
            thread.join()
