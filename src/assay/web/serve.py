"""Start the server: a socket, a lock on the jobs, and HTTP that does not wait for ever."""

from __future__ import annotations

import asyncio
import secrets
import socket
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, cast

import h11
import uvicorn
from starlette.applications import Starlette
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.errors import InputError, TakenError
from assay.paths import only_writer
from assay.web.app import make_app
from assay.web.guard import is_loopback, percent_encoded, refused
from assay.web.jobs import JobFolders, Limits

_NONSENSE = "This is no HTTP request that can be understood."
_BUSY = "Too many callers at the same time; try again."
# Where there may be bytes on their way that nobody will read: closing then would take the answer from the client.
_UNREAD = (h11.SEND_BODY, h11.ERROR)
_WAITS_FOR_CLIENT = (h11.IDLE, h11.SEND_BODY)


class _Transport:
    """The transport of a connection, but for its end: what the client still sends is waited for, a little."""

    def __init__(self, protocol: Any, inner: asyncio.Transport) -> None:
        self.protocol, self.inner = protocol, inner

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)

    def is_closing(self) -> bool:
        return self.protocol.lingering is not None or self.inner.is_closing()

    def write(self, data: bytes) -> None:
        if not self.is_closing():
            self.inner.write(data)

    def close(self) -> None:
        self.protocol.close_when_read()


def patient_protocol(limits: Limits) -> type[H11Protocol]:
    """Uvicorn's protocol, closing what a client holds open without need.

    A client has so long to say what it wants, to end what it sends when it has its answer, and to read that answer.
    When there are too many connections, the one that has waited longest for its client goes.
    """

    class Patient(H11Protocol):
        lingering: asyncio.TimerHandle | None = None
        _deadline: asyncio.TimerHandle | None = None
        _reading: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            self.inner, self.since = transport, time.monotonic()
            if len(self.connections) >= limits.connections and not self._make_room():
                self.app = _busy
            super().connection_made(cast(asyncio.Transport, _Transport(self, transport)))
            self._watch()

        def data_received(self, data: bytes) -> None:
            if self.lingering is None:
                super().data_received(data)
                self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            for timer in (self._deadline, self._reading, self.lingering):
                if timer is not None:
                    timer.cancel()
            super().connection_lost(exc)

        def close_when_read(self) -> None:
            """Close the connection; where the client still sends, when it has ended or a little later."""
            if self.conn.their_state in _UNREAD and not self.inner.is_closing() and self.inner.can_write_eof():
                if self.lingering is None:
                    self.lingering = self.loop.call_later(limits.body_seconds, self.inner.abort)
                    self.inner.write_eof()
                    self.flow.resume_reading()
            else:
                self.inner.close()

        def on_response_complete(self) -> None:
            super().on_response_complete()
            if self.conn.their_state is h11.SEND_BODY:
                self.close_when_read()  # the answer did not wait for the body, and nobody will read it

        def send_400_response(self, msg: str) -> None:
            """Say that a request cannot be understood, unless an answer is under way already."""
            if self.conn.our_state in (h11.IDLE, h11.SEND_RESPONSE):
                answer = refused(400, _NONSENSE)
                headers = [*answer.raw_headers, (b"connection", b"close")]
                for event in (
                    h11.Response(status_code=400, headers=headers, reason=b"Bad Request"),
                    h11.Data(data=bytes(answer.body)),
                    h11.EndOfMessage(),
                ):
                    self.inner.write(self.conn.send(event) or b"")
            self.close_when_read()

        def shutdown(self) -> None:
            """End at once, unless an answer is being made or sent."""
            if self.cycle is not None and self.cycle.response_complete and self.lingering is None:
                self.inner.close()
            elif self.lingering is not None or self.conn.their_state in _WAITS_FOR_CLIENT:
                self.inner.abort()
            else:
                super().shutdown()

        def pause_writing(self) -> None:
            super().pause_writing()
            self._reading = self.loop.call_later(limits.read_seconds, self.inner.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self._reading is not None:
                self._reading.cancel()

        def _unsupported_upgrade_warning(self) -> None:
            """Nobody upgrades here; that a client asks for it is nothing to warn of."""

        def _watch(self) -> None:
            """Bound the time that the head of a request may take."""
            if self.conn.their_state is not h11.IDLE:
                if self._deadline is not None:
                    self._deadline.cancel()
                    self._deadline = None
            elif self._deadline is None:
                self._deadline = self.loop.call_later(limits.header_seconds, self.inner.close)

        def _make_room(self) -> bool:
            """Close the connection that has waited longest for its client; False if none does."""
            waiting = [
                other
                for other in cast("set[Patient]", self.connections)
                if not other.inner.is_closing()
                and (other.lingering or other.flow.write_paused or other.conn.their_state in _WAITS_FOR_CLIENT)
            ]
            if waiting:
                min(waiting, key=lambda other: other.since).inner.abort()
            return bool(waiting)

    return Patient


async def _busy(scope: Scope, receive: Receive, send: Send) -> None:
    answer = refused(503, _BUSY)
    answer.headers["Connection"] = "close"
    await answer(scope, receive, send)


_BACKLOG = 2048


class Server(uvicorn.Server):
    """A server that ends at once when it is asked to."""

    def __init__(self, app: Starlette, limits: Limits) -> None:
        self.app = app
        config = uvicorn.Config(
            app,
            http=patient_protocol(limits),
            ws="none",
            log_level="warning",
            server_header=False,
            timeout_keep_alive=5,
            timeout_graceful_shutdown=3,
        )
        super().__init__(config)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End; uploads that are being looked at are not waited for."""
        self.app.state.page.checker.end()
        await super().shutdown(sockets)


def serve(
    *,
    host: str,
    port: int,
    jobs: Path,
    worker: Sequence[str],
    limits: Limits,
    token: str | None,
    depth: int | None = None,
    allow_fetch: bool = False,
    tell: Callable[[str], None],
) -> None:
    """Serve until interrupted; `tell` gets the address to open. A host that others can reach always has a token.

    `depth` is what the page offers first. Games are fetched by name or link for this machine, and for others only if
    that is allowed: they would use its network.
    """
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    folders = JobFolders(jobs)
    listening = _listen(host, port)
    try:
        with only_writer(jobs / "server"):
            fetches = allow_fetch or is_loopback(host)
            how: dict[str, Any] = {"token": token, "hosts": (host,), "depth": depth, "allow_fetch": fetches}
            app = make_app(folders, worker=worker, limits=limits, **how)
            server = Server(app, limits)
            tell(_address(listening, host, token))
            with suppress(KeyboardInterrupt):  # the usual way to end a server
                server.run(sockets=[listening])
    except TakenError:
        raise InputError(
            f"another 'assay serve' works on the jobs in {jobs}: use it, or give this one a folder with --jobs."
        ) from None
    finally:
        listening.close()


def _listen(host: str, port: int) -> socket.socket:
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(address)
        listening.listen(_BACKLOG)  # whoever is told the address can call at once
    except UnicodeError as error:
        raise InputError(f"cannot listen on {host!r}: no host has such a name. Choose another with --host.") from error
    except OSError as error:
        raise InputError(
            f"cannot listen on {host} port {port}: {error.strerror or error}. Choose others with --host and --port."
        ) from error
    return listening


def _address(listening: socket.socket, host: str, token: str | None) -> str:
    name = f"[{host}]" if ":" in host else host
    query = f"?token={percent_encoded(token)}" if token is not None else ""
    return f"http://{name}:{listening.getsockname()[1]}/{query}"
