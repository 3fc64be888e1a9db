"""What was fetched: the games in what a service sends, and those of an account by month, in the data folder.

Of a text: where each game ends, what its tags say, and whether it is what was asked for. Of the shelf: which times are
covered.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import zstandard

from assay.errors import FetchError, OutputError
from assay.fetch.address import Filters
from assay.paths import atomic, data_folder

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


Interval = tuple[int, int]  # seconds since 1970: from the first up to the second
_SUFFIX = ".pgn.zst"


def folder() -> Path:
    """Where all of it is."""
    return data_folder() / "fetched"


def month_of(second: int) -> str:
    """The month of a moment.

    >>> month_of(0)
    '1970-01'
    """
    return datetime.fromtimestamp(second, UTC).strftime("%Y-%m")


def gaps(covered: Sequence[Interval], since: int, until: int) -> list[Interval]:
    """What is not covered between two moments, the newest first.

    >>> gaps([(10, 20), (30, 40)], 0, 50)
    [(40, 50), (20, 30), (0, 10)]
    """
    found, low = [], since
    for begin, end in sorted(covered):
        if begin > low and low < until:
            found.append((low, min(begin, until)))
        low = max(low, end)
    if low < until:
        found.append((low, until))
    return found[::-1]


def joined(covered: Sequence[Interval]) -> list[Interval]:
    """Intervals that touch as one.

    >>> joined([(5, 9), (0, 5), (11, 12)])
    [(0, 9), (11, 12)]
    """
    found: list[Interval] = []
    for begin, end in sorted(covered):
        if found and begin <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        elif begin < end:
            found.append((begin, end))
    return found


class Shelf:
    """The games of one account, or of one kind of its games."""

    def __init__(self, service: str, user: str, kind: str = "all") -> None:
        self.folder = folder() / service / user.lower() / kind
        self._about = self._read()

    def _read(self) -> dict[str, Any]:
        try:
            about = json.loads((self.folder / "about.json").read_text(encoding="utf-8"))
            covered = [(int(a), int(b)) for a, b in about.get("covered", [])]
            marks = {str(k): str(v) for k, v in about.get("marks", {}).items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {"covered": [], "marks": {}}
        return {"covered": covered, "marks": marks}

    @property
    def covered(self) -> list[Interval]:
        """The times of which all games are here."""
        return list(self._about["covered"])

    def mark(self, month: str) -> str | None:
        """What the service calls the version of a month that is here."""
        found: str | None = self._about["marks"].get(month)
        return found if (self.folder / f"{month}{_SUFFIX}").exists() else None

    def cover(self, low: int, high: int, *, marks: dict[str, str] | None = None) -> None:
        """Note that all games of a time are here."""
        self._about = {
            "covered": joined([*self._about["covered"], (low, high)]),
            "marks": self._about["marks"] | (marks or {}),
        }
        self._write("about.json", json.dumps(self._about).encode())

    def add(self, games: Sequence[bytes]) -> int:
        """Put games to those that are here; how many are new."""
        by_month: dict[str, list[bytes]] = {}
        for game in games:
            by_month.setdefault(month_of(begun(tags(game)) or 0), []).append(game)
        return sum(self.put(month, [*self.of_month(month), *some]) for month, some in by_month.items())

    def put(self, month: str, games: Sequence[bytes]) -> int:
        """Keep these games of a month, each once, oldest first; how many are new."""
        before = len(list(self.of_month(month)))
        each: dict[str, tuple[int, bytes]] = {}
        for game in games:
            found = tags(game)
            each[identity(game, found)] = (begun(found) or 0, game)
        ordered = [game for _, game in sorted(each.values(), key=lambda pair: pair[0])]
        self._write(f"{month}{_SUFFIX}", zstandard.ZstdCompressor().compress(b"\n".join(ordered)))
        return max(0, len(ordered) - before)

    def of_month(self, month: str) -> Iterator[bytes]:
        """The games of a month, oldest first; none if what is here is damaged: they are fetched anew."""
        path = self.folder / f"{month}{_SUFFIX}"
        try:
            data = zstandard.ZstdDecompressor().decompressobj().decompress(path.read_bytes())
        except (OSError, zstandard.ZstdError):
            return iter(())
        return games_in([data], path.name) if data.strip() else iter(())

    def months(self) -> list[str]:
        """The months that games are here of, the newest first."""
        if not self.folder.is_dir():
            return []
        return sorted((file.name.removesuffix(_SUFFIX) for file in self.folder.glob(f"*{_SUFFIX}")), reverse=True)

    def newest_first(self, since: int, until: int) -> Iterator[bytes]:
        """The games that began in a time."""
        for month in self.months():
            if month_of(since) <= month <= month_of(max(until - 1, 0)):
                for game in reversed(list(self.of_month(month))):
                    if since <= (begun(tags(game)) or 0) < until:
                        yield game

    def _write(self, name: str, data: bytes) -> None:
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise OutputError(f"cannot make the folder {self.folder}: {error.strerror or error}.") from error
        with atomic(self.folder / name) as part:
            part.write_bytes(data)


def remove(service: str | None = None, user: str | None = None) -> int:
    """Remove what is kept of an account, or of everybody; how many files there were."""
    place = folder() / service / (user or "").lower() if service else folder()
    files = [file for file in place.rglob("*") if file.is_file() and not file.name.endswith(".lock")]
    try:
        for each in [place] if service else [child for child in place.glob("*") if child.is_dir()]:
            shutil.rmtree(each, ignore_errors=not each.exists())
    except OSError as error:
        raise OutputError(f"cannot remove {place}: {error.strerror or error}.") from error
    return len(files)
