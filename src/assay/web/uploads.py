"""Games for the page, sent or named: an upload is bounded in size, games and time, and nothing in it is believed; for a
name or a link the two services alone are asked, for no more than the page takes.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncGenerator, AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from assay.errors import FetchError
from assay.fetch.address import Filters, is_address, parse
from assay.fetch.asking import Manners
from assay.fetch.fetching import Fetched, fetch, needed
from assay.records import dataclass
from assay.web.jobs import EVERYBODY, Limits

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069]+")
_NAME_LENGTH = 80
# What a form needs around the file itself.
_ROOM = 64 * 1024
OFF = "This page fetches no games: it can be reached from elsewhere. Start it with --allow-fetch, or send a PGN."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{1,29}")
_SURPLUS = 4  # what a service sends besides what is kept
_SERVICES = ("lichess", "chess.com")


@dataclass(frozen=True)
class Upload:
    """Games that may become a job."""

    data: bytes
    name: str
    preset: str
    source: str = ""  # a name or a link, where no games came
    player: str = ""  # whose report it is to be: a name, EVERYBODY, or nothing: as the games tell


class TooLargeError(Exception):
    """The body is longer than the limit."""


@asynccontextmanager
async def slot(slots: asyncio.Semaphore, limits: Limits) -> AsyncIterator[None]:
    """A place among those whose uploads are held; HTTPException if none is free for long."""
    try:
        async with asyncio.timeout(limits.seconds):
            await slots.acquire()
    except TimeoutError:
        raise HTTPException(503, "Too many uploads come at the same time; try again.") from None
    try:
        yield
    finally:
        slots.release()


def refuse_length(request: Request, limits: Limits) -> None:
    """HTTPException where a request says itself that its body is too large."""
    length = request.headers.get("content-length", "")
    if length.isdecimal() and int(length[:20]) > limits.bytes + _ROOM:
        raise HTTPException(413, _too_large(limits))


async def read_upload(request: Request, limits: Limits) -> Upload:
    """Read the body of a request: a form (`file`, `pgn` or `source`, `preset`, `player`) or the PGN, with a query.

    HTTPException with a sentence when it is too large, too slow, or broken off.
    """
    try:
        async with asyncio.timeout(limits.seconds):
            if request.headers.get("content-type", "").startswith("multipart/form-data"):
                return await _read_form(request, limits)
            data = b"".join([part async for part in _bounded(request, limits.bytes)])
            query = request.query_params
            source = query.get("source", "") if not data.strip() else ""
            name, player = clean_name(query.get("name", "") or source), _who(query.get("player"), "")
            return Upload(data, name, query.get("preset", ""), source, player)
    except TooLargeError:
        raise HTTPException(413, _too_large(limits)) from None
    except TimeoutError:
        raise HTTPException(408, f"The upload took longer than {limits.seconds:.0f} seconds; try again.") from None
    except (MultiPartException, ClientDisconnect):
        raise HTTPException(400, "The upload broke off or is damaged; try again.") from None


async def _bounded(request: Request, most: int) -> AsyncGenerator[bytes, None]:
    seen = 0
    async for part in request.stream():
        seen += len(part)
        if seen > most:
            raise TooLargeError
        yield part


async def _read_form(request: Request, limits: Limits) -> Upload:
    most = limits.bytes + _ROOM
    parser = MultiPartParser(
        request.headers, _bounded(request, most), max_files=1, max_fields=5, max_part_size=limits.bytes
    )
    parser.spool_max_size = most  # keep it in memory: nothing is written outside the job folder
    form = await parser.parse()
    try:
        file, text, preset, source, who = (form.get(name) for name in ("file", "pgn", "preset", "source", "player"))
        data, name = b"", ""
        if isinstance(file, UploadFile) and file.size:
            data, name = await file.read(), file.filename or ""
        elif isinstance(text, str):
            data = text.encode("utf-8", "replace")
        asked = source.strip() if isinstance(source, str) and not data.strip() else ""
        # A field for the name that was left empty asks for everybody; a form without it for what the games tell.
        player = _who(who, EVERYBODY) if isinstance(who, str) else ""
        return Upload(data, clean_name(name or asked), preset if isinstance(preset, str) else "", asked, player)
    finally:
        await form.close()


def _who(name: str | None, nobody: str) -> str:
    return _CONTROL.sub(" ", name or "").strip()[:_NAME_LENGTH] or nobody


def clean_name(name: str) -> str:
    """A file's name for people to read: its last part, without control characters, not too long.

    >>> clean_name("../../etc/passwd"), clean_name("C:\\\\games\\\\club.pgn"), clean_name("")
    ('passwd', 'club.pgn', 'pasted games')
    """
    last = re.split(r"[/\\]", name)[-1]
    return _CONTROL.sub(" ", last).strip()[:_NAME_LENGTH] or "pasted games"


def _too_large(limits: Limits) -> str:
    return (
        f"The upload is larger than {limits.bytes / 2**20:g} MB: send fewer games, use 'assay report', or start the "
        "server with --max-mb."
    )


def games_of(source: str, limits: Limits) -> bytes:
    """The newest games of a name or a link, as many as the page takes; FetchError with a sentence if there are none.

    A name alone is looked for on Lichess, then on chess.com.
    """
    words = source.strip()
    if not is_address(words) and not _NAME.fullmatch(words):
        raise FetchError(f"{words!r:.60} is neither a name on Lichess or chess.com nor a link to games there.")
    manners = Manners(
        timeout=min(20.0, limits.fetch_seconds),
        longest_rest=limits.fetch_seconds,
        tries=3,
        most_bytes=_SURPLUS * limits.bytes,
        seconds=limits.fetch_seconds,
    )
    found = _asked([words] if is_address(words) else [f"{service}:{words}" for service in _SERVICES], limits, manners)
    kept: list[bytes] = []
    room = limits.bytes
    for game in reversed(found.texts):  # the newest are wanted most
        room -= len(game) + 1
        if room < 0:
            break
        kept.append(game)
    return b"\n".join(reversed(kept))


def _asked(words: list[str], limits: Limits, manners: Manners) -> Fetched:
    """The games of the first of some addresses that has any."""
    for at, word in enumerate(words):
        address = parse(word)
        most = min(address.filters.max or limits.games, limits.games)
        found = fetch(replace(address, filters=replace(address.filters, max=most)), Filters(), manners=manners)
        try:
            return needed(found)
        except FetchError:
            if at + 1 == len(words):
                raise
    raise AssertionError("the last one raises")
