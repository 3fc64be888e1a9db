"""One request at a time, politely: rests when it is told to, tries again what broke, and takes no more than is good.

Only the hosts of a service are ever asked, and a redirect elsewhere is refused. What comes packed is unpacked as it
comes, so that a few bytes never become more than the limit.
"""

from __future__ import annotations

import email.utils
import http.client
import json
import os
import re
import socket
import threading
import time
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import field
from typing import Any
from urllib.parse import urljoin, urlsplit

from assay import __version__
from assay.errors import FetchError
from assay.paths import data_folder
from assay.records import dataclass

CONTACT = "ASSAY_CONTACT"
_BLOCK = 64 << 10
_REDIRECTS = 3
_TOKEN = re.compile(r"[A-Za-z0-9_.-]{1,1024}")


def wait(seconds: float) -> None:
    """Rest."""
    time.sleep(seconds)


class BrokenError(Exception):
    """The answer broke off, or the server has a bad moment: asking again may help."""


class KeptError(FetchError):
    """Something went wrong, and these games had come before."""

    def __init__(self, sentence: str, games: list[bytes]) -> None:
        super().__init__(sentence)
        self.games = games


@dataclass(frozen=True)
class Manners:
    """How long to wait, how often to ask again, and how much to take."""

    timeout: float = 60.0  # without a byte
    rest: float = 60.0  # after "too many requests", where the service does not say how long
    longest_rest: float = 900.0
    pause: float = 1.0  # before the second try; it doubles
    tries: int = 5  # in a row without anything new
    most_bytes: int = 4 << 30  # of one answer, unpacked
    slowest: float = 50.0  # bytes a second, over a window of so many seconds
    window: float = 120.0
    seconds: float | None = None  # for all of it


@dataclass(frozen=True)
class Service:
    """A service: what it is called, where it is asked, and the variable of the environment that may hold a token."""

    name: str
    base: str
    site: str
    token: str | None = None

    @property
    def origins(self) -> frozenset[tuple[str, str, int]]:
        """The only places that are ever asked."""
        return frozenset(map(_origin, (self.base, self.site)))


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    scheme = parts.scheme.lower()
    return scheme, (parts.hostname or "").lower(), parts.port or (443 if scheme == "https" else 80)


@dataclass
class Received:
    """An answer under way: its headers, and how many bytes came."""

    status: int
    headers: Mapping[str, str]
    url: str
    blocks: Iterator[bytes] = field(default_factory=lambda: iter(()))
    size: int = 0

    def whole(self, most: int) -> bytes:
        """All of it at once."""
        parts, size = [], 0
        for block in self.blocks:
            parts.append(block)
            size += len(block)
            if size > most:
                raise FetchError(f"{_host(self.url)} sends more than {most / 1e6:,.0f} MB where little was asked for.")
        return b"".join(parts)

    def json(self, most: int = 256 << 20) -> Any:
        """A JSON answer."""
        data = self.whole(most)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            kind = "a page" if data.lstrip()[:1] == b"<" else "something else"
            raise FetchError(f"{_host(self.url)} answers with {kind} where data was asked for; try later.") from error


def _host(url: str) -> str:
    return urlsplit(url).hostname or url


_turns: dict[str, threading.Lock] = {}


class Client:
    """Asks one service, one request at a time, whoever else on this machine asks it too."""

    def __init__(self, service: Service, manners: Manners | None = None, told: Callable[[str], None] | None = None):
        self.service, self.manners = service, manners or Manners()
        self.told = told or (lambda text: None)
        self.requests = self.bytes = 0
        self._deadline = None if self.manners.seconds is None else time.monotonic() + self.manners.seconds

    @contextmanager
    def get(self, url: str, *, accept: str, headers: Mapping[str, str] | None = None) -> Iterator[Received]:
        """Ask for something; what the service refuses is a FetchError, what broke a BrokenError.

        Rests and asks again if the service wants that, or if it cannot be reached for the moment.
        """
        for attempt in range(self.manners.tries):
            last = attempt + 1 == self.manners.tries
            with self._turn():
                try:
                    answer, connection = self._open(url, accept, headers or {})
                except BrokenError as error:
                    if last:
                        raise FetchError(str(error)) from error
                    wait = self.manners.pause * 2**attempt
                else:
                    try:
                        if answer.status != 429 and answer.status < 500:
                            yield answer
                            return
                    finally:
                        connection.close()
                    wait = self._asked_rest(answer, attempt, last)
            self._rest(wait)
        raise AssertionError("the last try raises")

    def again(self, attempt: int) -> None:
        """Rest before what broke is asked again."""
        self._rest(self.manners.pause * 2**attempt)

    def _asked_rest(self, answer: Received, attempt: int, last: bool) -> float:
        """How long to rest after a refusal that will pass."""
        name = self.service.name
        given = _seconds(answer.headers.get("retry-after"))
        busy = answer.status == 429
        if last:
            why = "asks for fewer requests" if busy else f"has trouble of its own ({answer.status})"
            raise FetchError(f"{name} {why}, after {self.manners.tries} tries too; try again in some minutes.")
        wait = given if given is not None else self.manners.rest if busy else self.manners.pause * 2**attempt
        if wait > self.manners.longest_rest:
            raise FetchError(f"{name} asks to be left alone for {wait:,.0f} s; try again then.")
        if busy:
            self.told(f"{name} asks for a rest of {wait:.0f} s.")
        return wait

    def _rest(self, seconds: float) -> None:
        self._check_time(seconds)
        if seconds > 0:
            wait(seconds)

    def _check_time(self, more: float = 0.0) -> None:
        if self._deadline is not None and time.monotonic() + more > self._deadline:
            raise FetchError(f"{self.service.name} takes longer than the {self.manners.seconds:g} s that it is given.")

    @contextmanager
    def _turn(self) -> Iterator[None]:
        """Wait until nobody else on this machine asks the service."""
        import filelock

        folder = data_folder() / "fetched"
        mine = _turns.setdefault(self.service.name, threading.Lock())
        with mine:
            try:
                folder.mkdir(parents=True, exist_ok=True)
                lock = filelock.FileLock(folder / f".{self.service.name}.lock")
                lock.acquire(timeout=self.manners.longest_rest)
            except filelock.Timeout:
                raise FetchError(f"another run asks {self.service.name} all the time; wait for it.") from None
            except OSError:  # no place to write: nobody else can fetch here either
                yield
                return
            try:
                yield
            finally:
                lock.release()

    def _open(self, url: str, accept: str, headers: Mapping[str, str]) -> tuple[Received, http.client.HTTPConnection]:
        for _ in range(_REDIRECTS + 1):
            self._check_time()
            if _origin(url) not in self.service.origins:
                raise FetchError(
                    f"{self.service.name} sends this request on to {_host(url)!r:.80}, which is not asked. "
                    "Is the link right?"
                )
            answer, connection = self._ask(url, accept, headers)
            where = answer.headers.get("location")
            if answer.status not in (301, 302, 303, 307, 308) or not where:
                return answer, connection
            connection.close()
            url = urljoin(url, where)
        raise FetchError(f"{self.service.name} sends this request round in a circle.")

    def _ask(self, url: str, accept: str, headers: Mapping[str, str]) -> tuple[Received, http.client.HTTPConnection]:
        scheme, host, port = _origin(url)
        parts = urlsplit(url)
        kind = http.client.HTTPSConnection if scheme == "https" else http.client.HTTPConnection
        connection = kind(host, port, timeout=self.manners.timeout)
        sent = {"Accept": accept, "Accept-Encoding": "gzip", "User-Agent": user_agent(), "Connection": "close"}
        sent |= dict(headers) | self._token(scheme, host)
        self.requests += 1
        try:
            connection.request("GET", parts.path + (f"?{parts.query}" if parts.query else ""), headers=sent)
            response = connection.getresponse()
        except (OSError, http.client.HTTPException) as error:
            connection.close()
            raise BrokenError(f"cannot reach {host}: {_why(error)}. Is there a network?") from error
        answer = Received(response.status, {k.lower(): v for k, v in response.getheaders()}, url)
        answer.blocks = self._blocks(response, answer)
        return answer, connection

    def _token(self, scheme: str, host: str) -> dict[str, str]:
        token = os.environ.get(self.service.token or "", "").strip()
        if not token or (scheme != "https" and host not in ("127.0.0.1", "localhost")):
            return {}
        if not _TOKEN.fullmatch(token):  # it is not shown: errors are read by others
            raise FetchError(f"what {self.service.token} holds is no token of {self.service.name}.")
        return {"Authorization": f"Bearer {token}"}

    def _blocks(self, response: http.client.HTTPResponse, answer: Received) -> Iterator[bytes]:
        """What comes, unpacked; that it is not all, or too slow, or too much, is an error."""
        manners, name = self.manners, self.service.name
        packed = "gzip" in answer.headers.get("content-encoding", "").lower()
        unpack = zlib.decompressobj(wbits=47) if packed else None
        announced = answer.headers.get("content-length", "")
        came, mark, since = 0, 0, time.monotonic()
        while True:
            self._check_time()
            try:
                block = response.read1(_BLOCK)
            except (OSError, http.client.HTTPException) as error:
                raise BrokenError(f"the answer of {name} broke off: {_why(error)}.") from error
            if not block:
                break
            came += len(block)
            self.bytes += len(block)
            now = time.monotonic()
            if now - since > manners.window:
                if (came - mark) / (now - since) < manners.slowest:
                    raise BrokenError(f"{name} sends next to nothing; try again later.")
                mark, since = came, now
            for part in _unpacked(block, unpack, name):
                answer.size += len(part)
                if answer.size > manners.most_bytes:
                    most = f"{manners.most_bytes / 1e6:,.0f} MB"
                    raise FetchError(f"{name} sends more than {most}; ask for less with --max or --since.")
                yield part
        if announced.isdecimal() and came != int(announced):
            raise BrokenError(f"{name} announced {int(announced):,} bytes, and {came:,} came.")
        if unpack is not None and came and not unpack.eof:
            raise BrokenError(f"the answer of {name} broke off.")


def _unpacked(block: bytes, unpack: Any, name: str) -> Iterator[bytes]:
    if unpack is None:
        yield block
        return
    while block:
        try:
            part = unpack.decompress(block, 1 << 20)
        except zlib.error as error:
            raise BrokenError(f"the answer of {name} is damaged ({error}).") from error
        block = unpack.unconsumed_tail
        if part:
            yield part
        elif not block:
            return


def user_agent() -> str:
    """Who asks: the program, and how to reach its user, if ASSAY_CONTACT tells that."""
    contact = "".join(c for c in os.environ.get(CONTACT, "") if c.isprintable() and c.isascii())[:200].strip()
    return f"assay/{__version__} (chess ratings; {f'contact: {contact}' if contact else 'run by a person'})"


def _why(error: Exception) -> str:
    if isinstance(error, TimeoutError | socket.timeout):
        return "no answer in time"
    if isinstance(error, http.client.IncompleteRead):
        return "the connection was cut"
    return str(getattr(error, "strerror", None) or error or type(error).__name__)


def _seconds(text: str | None) -> float | None:
    """What Retry-After says: seconds, or a date."""
    if text is None:
        return None
    if text.strip().isdecimal():
        return float(text)
    try:
        return max(0.0, email.utils.parsedate_to_datetime(text).timestamp() - time.time())
    except (ValueError, TypeError):
        return None
