"""The games in what a service sends: where each ends, what its tags say, and whether it is what was asked for."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from assay.errors import FetchError
from assay.fetch.address import Filters
from assay.paths import atomic

# Both services begin each game with its event, behind a blank line.
_NEXT = re.compile(rb"\n[ \t\r]*\n(?=\[Event )")
_TAG = re.compile(rb'^\[([A-Za-z0-9_]+) "((?:[^"\\\n]|\\.)*)"\]\s*$', re.MULTILINE)
_NO_PGN = re.compile(rb"\s*(?:<|\{|%PDF|PK)")
_LONGEST_GAME = 8 << 20
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def games_in(blocks: Iterable[bytes], name: str) -> Iterator[bytes]:
    """Each whole game as soon as it is there; FetchError if what comes is no PGN.

    If the blocks break off, the error passes on once all whole games before it are out; the broken one is not among
    them.
    """
    held, begun = b"", False
    for block in blocks:
        held += block
        if not begun and held.strip():
            if not held.lstrip().startswith(b"[") or _NO_PGN.match(held):
                kind = "a page" if held.lstrip().startswith(b"<") else "something that is no PGN"
                raise FetchError(f"{name} answers with {kind} in the place of games; is the link right?")
            begun = True
        *whole, held = _NEXT.split(held)
        for game in whole:
            if game.strip():
                yield game.strip() + b"\n"
        if len(held) > _LONGEST_GAME:
            raise FetchError(f"{name} sends a game of more than {_LONGEST_GAME >> 20} MB, which is none.")
    if held.strip():
        yield held.strip() + b"\n"


def tags(game: bytes) -> dict[str, str]:
    """The tags of a game.

    >>> tags(b'[Event "Rated Blitz game"]\\n[UTCDate "2024.02.29"]\\n\\n1. e4 *')
    {'Event': 'Rated Blitz game', 'UTCDate': '2024.02.29'}
    """
    end = game.find(b"\n\n")
    head = game if end < 0 else game[:end]
    return {match[1].decode(): match[2].decode("utf-8", "replace") for match in _TAG.finditer(head)}


def begun(found: dict[str, str]) -> int | None:
    """When a game began, in seconds since 1970; None if its tags do not say it."""
    date = found.get("UTCDate") or found.get("Date") or ""
    time = found.get("UTCTime") or found.get("StartTime") or "00:00:00"
    try:
        moment = datetime.strptime(f"{date} {time}", "%Y.%m.%d %H:%M:%S").replace(tzinfo=UTC)
    except ValueError:
        return None
    return int((moment - _EPOCH).total_seconds())


def identity(game: bytes, found: dict[str, str]) -> str:
    """What tells a game from all others: its address at the service."""
    for tag in ("Link", "GameURL", "Site"):
        if "://" in (address := found.get(tag, "")):
            return address
    return hashlib.sha256(game).hexdigest()


def speed_of(found: dict[str, str], *, rapid_from: int, classical_from: int | None) -> str:
    """The speed by the time control, as the services have it: what 40 moves take."""
    control = found.get("TimeControl", "-")
    base, plus, increment = control.partition("+")
    if "/" in control or not base.isdecimal() or (plus and not increment.isdecimal()):
        return "correspondence"
    whole = int(base) + 40 * int(increment or 0)
    if classical_from is not None and whole < 30:
        return "ultrabullet"
    if whole < 180:
        return "bullet"
    if whole < rapid_from:
        return "blitz"
    return "classical" if classical_from is not None and whole >= classical_from else "rapid"


def fits(game: bytes, user: str, wanted: Filters, *, speed: str) -> bool:
    """Whether a game of a user is of the kind that is wanted, the time and the number apart."""
    found = tags(game)
    is_white = found.get("White", "").lower() == user.lower()
    other = found.get("Black" if is_white else "White", "")
    rated = found.get("Rated")
    return (
        (not wanted.speed or speed in wanted.speed)
        and (wanted.color is None or is_white == (wanted.color == "white"))
        and (wanted.vs is None or other.lower() == wanted.vs.lower())
        and (wanted.rated is None or (rated == "true") == wanted.rated)
        and (wanted.analysed is None or is_analysed(game, found) == wanted.analysed)
    )


def is_analysed(game: bytes, found: dict[str, str]) -> bool:
    """Whether the service has analysed the game: it has evals, or says so."""
    return b"[%eval" in game or found.get("Analysed") == "true"


def write(games: Iterable[bytes], path: str | Path) -> int:
    """Write games as PGN, whole or not at all; how many."""
    count = 0
    with atomic(path) as part, part.open("wb") as file:
        for game in games:
            file.write(game.rstrip(b"\n") + b"\n\n")
            count += 1
    return count
