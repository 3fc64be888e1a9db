"""Games for the page by a name or a link: only the two services are asked, for no more than the page takes."""

from __future__ import annotations

import re
from dataclasses import replace

from assay.errors import FetchError
from assay.fetch.address import Filters, is_address, parse
from assay.fetch.asking import Manners
from assay.fetch.fetching import Fetched, fetch, needed
from assay.web.jobs import Limits

OFF = "This page fetches no games: it can be reached from elsewhere. Start it with --allow-fetch, or send a PGN."
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{1,29}")
_ROOM = 4  # what a service sends besides what is kept
_SERVICES = ("lichess", "chess.com")


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
        most_bytes=_ROOM * limits.bytes,
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
