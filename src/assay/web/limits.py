"""What the page takes, and how long it waits."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Limits:
    """Bounds on uploads, on waiting work and on patience, all in one place.

    `bytes` and `games` bound one upload, `waiting` the jobs in the queue, `uploads` the bodies read at the same time
    (so that memory stays bounded), `seconds` how long one upload may take, `header_seconds` how long a
    client may take to say what it wants.
    """

    bytes: int = 10 * 1024 * 1024
    games: int = 500
    waiting: int = 20
    uploads: int = 16
    seconds: float = 30.0
    header_seconds: float = 10.0
    connections: int = 1000
