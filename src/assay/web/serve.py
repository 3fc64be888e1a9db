"""Start the server: a socket, a lock on the jobs, and a protocol that does not wait for ever."""

from __future__ import annotations

import asyncio
import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from assay.engine.lock import TakenError, only_writer
from assay.errors import InputError
from assay.web.app import make_app
from assay.web.guard import is_loopback
from assay.web.jobs import JobFolders
from assay.web.limits import Limits


def serve(
    *,
    host: str,
    port: int,
    jobs: Path,
    worker: Sequence[str],
    limits: Limits,
    token: str | None,
    tell: Callable[[str], None],
) -> None:
    """Serve until interrupted; `tell` gets the address to open. A host that others can reach always has a token."""
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    folders = JobFolders(jobs)
    listening = _listen(host, port)
    try:
        with only_writer(jobs / "server"):
            app = make_app(folders, worker=worker, limits=limits, token=token, hosts=(host,))
            config = uvicorn.Config(
                app,
                http=patient_protocol(limits.header_seconds),
                ws="none",
                log_level="warning",
                server_header=False,
                limit_concurrency=limits.connections,
                timeout_keep_alive=5,
                timeout_graceful_shutdown=3,
            )
            tell(_address(listening, host, token))
            with suppress(KeyboardInterrupt):  # the usual way to end a server
                uvicorn.Server(config).run(sockets=[listening])
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
    except OSError as error:
        raise InputError(
            f"cannot listen on {host} port {port}: {error.strerror or error}. Choose another with --port."
        ) from error
    return listening


def _address(listening: socket.socket, host: str, token: str | None) -> str:
    name = f"[{host}]" if ":" in host else host
    query = f"?token={token}" if token else ""
    return f"http://{name}:{listening.getsockname()[1]}/{query}"


def patient_protocol(seconds: float) -> type[H11Protocol]:
    """uvicorn's protocol, closing a connection that takes longer than this to send the head of a request."""

    class Patient(H11Protocol):
        _deadline: asyncio.TimerHandle | None = None

        def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
            super().connection_made(transport)
            self._watch()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._watch()

        def connection_lost(self, exc: Exception | None) -> None:
            self._stop()
            super().connection_lost(exc)

        def _watch(self) -> None:
            if self.conn.their_state is not h11.IDLE:
                self._stop()
            elif self._deadline is None:
                self._deadline = self.loop.call_later(seconds, self._give_up)

        def _stop(self) -> None:
            if self._deadline is not None:
                self._deadline.cancel()
                self._deadline = None

        def _give_up(self, *_: Any) -> None:
            self.transport.close()

    return Patient
