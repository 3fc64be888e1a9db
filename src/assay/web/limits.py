"""What the page takes, and how long it waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on uploads, on waiting work and on patience, all in one place.

    `bytes` and `games` bound one upload, `waiting` the jobs in the queue, `uploads` the bodies held at the same time
    (so that memory stays bounded), `seconds` how long one upload may wait for its turn and how long it may take,
    `check_seconds` how long it may be looked at, `header_seconds` how long a client may take to say what it wants,
    `body_seconds` how long it may go on sending when it has its answer, `read_seconds` how long it may read nothing of
    that, `connections` how many there may be; beyond, those go that wait for their client.
    """

    bytes: int = 10 * 1024 * 1024
    games: int = 500
    waiting: int = 20
    uploads: int = 16
    seconds: float = 30.0
    check_seconds: float = 20.0
    header_seconds: float = 10.0
    body_seconds: float = 2.0
    read_seconds: float = 60.0
    connections: int = 1000
