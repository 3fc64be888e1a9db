"""HTTP that does not wait for ever: uvicorn's protocol, closing what a client holds open without need.

A client has so long to say what it wants, to end what it sends when it has its answer, and to read that answer. When
there are too many connections, the one that has waited longest for its client goes.
"""

from __future__ import annotations

import asyncio
import time
from typing import Any, cast

import h11
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.web.guard import refused
from assay.web.limits import Limits

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
    """The protocol with these limits."""

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
