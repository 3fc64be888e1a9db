"""Start the server: a socket and a lock on the jobs."""

from __future__ import annotations

import secrets
import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

import uvicorn
from starlette.applications import Starlette

from assay.errors import InputError, TakenError
from assay.paths import only_writer
from assay.web.app import make_app
from assay.web.guard import is_loopback, percent_encoded
from assay.web.jobs import JobFolders
from assay.web.limits import Limits
from assay.web.protocol import patient_protocol

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
