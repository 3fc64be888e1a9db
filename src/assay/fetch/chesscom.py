"""Games of chess.com: its published data has a list of months, and an archive for each.

https://www.chess.com/news/view/published-data-api: /pub/player/{name}/games/archives, then .../games/YYYY/MM. One
request at a time, and a User-Agent that tells how to reach whoever asks (ASSAY_CONTACT); without, they answer 403.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from assay.errors import FetchError
from assay.fetch.address import Address, Filters
from assay.fetch.asking import CONTACT, BrokenError, Client, KeptError, Received, Service
from assay.fetch.shelf import Shelf, begun, fits, gaps, month_of, speed_of, tags

SERVICE = Service("chess.com", "https://api.chess.com", "https://www.chess.com")
JSON = "application/json"
_ARCHIVE = re.compile(r"/games/(\d{4})/(\d{2})$")
_DAY = 86_400
_HEAD = re.compile(r"(?:\[[^\n]*\][ \t]*\n)+")


def speed(game: bytes) -> str:
    """The speed of a game, as chess.com has it."""
    return speed_of(tags(game), rapid_from=600, classical_from=None)


def of_user(client: Client, address: Address, seen: Callable[[bytes], None]) -> tuple[Shelf, Filters]:
    """Bring the shelf of an account up to date; which shelf, and what is still to be sieved from it.

    A month that is over is fetched once; the running one is asked for again, and not sent if nothing is new.
    """
    user, wanted = address.ids[0].lower(), address.filters
    shelf, now = Shelf("chess.com", user), int(time.time())
    since, until = wanted.since or 0, min(wanted.until or now, now)
    fit, have = sieve(user, wanted), 0
    for year, month in _months(client, user):
        name = f"{year}-{month}"
        if not month_of(since) <= name <= month_of(max(until - 1, 0)):
            continue
        begin, end = _bounds(int(year), int(month))
        if gaps(shelf.covered, begin, end):
            _fill(client, shelf, user, name, seen)
            # Games are put into archives within a day.
            if now > end + _DAY:
                shelf.cover(begin, end)
        if wanted.max is not None:
            have += sum(1 for game in shelf.of_month(name) if since <= (begun(tags(game)) or 0) < until and fit(game))
            if have >= wanted.max:
                break
    return shelf, wanted


def _months(client: Client, user: str) -> list[tuple[str, str]]:
    """The months in which somebody played, the newest first."""
    with client.get(f"{client.service.base}/pub/player/{user}/games/archives", accept=JSON) as answer:
        _refuse(client, answer, user)
        told = answer.json(4 << 20)
    found = [match for each in _list_in(told, "archives") if (match := _ARCHIVE.search(str(each)))]
    return sorted({(match[1], match[2]) for match in found if 1 <= int(match[2]) <= 12}, reverse=True)


def _bounds(year: int, month: int) -> tuple[int, int]:
    begin = datetime(year, month, 1, tzinfo=UTC)
    end = datetime(year + month // 12, month % 12 + 1, 1, tzinfo=UTC)
    return int(begin.timestamp()), int(end.timestamp())


def _fill(client: Client, shelf: Shelf, user: str, month: str, seen: Callable[[bytes], None]) -> None:
    url = f"{client.service.base}/pub/player/{user}/games/{month.replace('-', '/')}"
    for attempt in range(client.manners.tries):
        mark = shelf.mark(month)
        try:
            with client.get(url, accept=JSON, headers={"If-None-Match": mark} if mark else {}) as answer:
                if answer.status == 304:
                    return
                _refuse(client, answer, user)
                games = _games(answer.json())
                mark = answer.headers.get("etag")
        except BrokenError as error:
            if attempt + 1 == client.manners.tries:
                raise FetchError(f"{error} What has been fetched is kept; run this again.") from error
            client.again(attempt)
            continue
        for game in games:
            seen(game)
        shelf.put(month, games)
        shelf.cover(0, 0, marks={month: mark} if mark else {})
        return


def _list_in(told: Any, name: str) -> list[Any]:
    """A list in an answer; nothing if there is none."""
    found = told.get(name) if isinstance(told, dict) else None
    return found if isinstance(found, list) else []


def _games(told: Any) -> list[bytes]:
    """The games of an archive: their PGN, with what only the archive says of them as tags."""
    found = []
    for game in _list_in(told, "games"):
        if not isinstance(game, dict) or game.get("rules", "chess") != "chess":
            continue
        text = str(game.get("pgn") or "").strip().replace("\r\n", "\n")
        head = _HEAD.match(text)
        if head is None:
            continue
        said = [f'[Rated "{str(bool(game.get("rated"))).lower()}"]'] if "rated" in game else []
        said += ['[Analysed "true"]'] if game.get("accuracies") else []
        tagged = "\n".join([head[0].rstrip(), *said])
        found.append(f"{tagged}\n\n{text[head.end() :].strip()}\n".encode(errors="replace"))
    return found


def _refuse(client: Client, answer: Received, user: str) -> None:
    name = client.service.name
    if answer.status == 404:
        raise FetchError(f"nobody is called {user} on {name}: check the spelling.")
    if answer.status == 410:
        raise FetchError(f"the account {user} on {name} is closed, and its games are gone.")
    if answer.status == 403:
        raise FetchError(
            f"{name} refuses to answer (403). It wants to know how to reach whoever asks: "
            f"set {CONTACT} to your e-mail address or your name there."
        )
    if answer.status != 200:
        raise FetchError(f"{name} answers {answer.status}.")


def of_link(client: Client, address: Address, seen: Callable[[bytes], None]) -> list[bytes]:
    """The game behind a link: the site says who played it and when, and the archive of that month has it."""
    kind, number = address.ids
    about: Any = {}
    try:
        with client.get(f"{client.service.site}/callback/{kind}/game/{number}", accept=JSON) as answer:
            if answer.status == 404:
                raise FetchError(f"{client.service.name} has no {kind} game {number}: check the link.")
            _refuse(client, answer, "the player")
            about = answer.json(4 << 20)
        headers = about["game"]["pgnHeaders"]
        user, date = str(headers["White"]), str(headers.get("EndDate") or headers["Date"])
        month = f"{date[:4]}-{date[5:7]}"
        datetime.strptime(month, "%Y-%m")
        if not re.fullmatch(r"[A-Za-z0-9_-]{2,30}", user):
            raise ValueError
    except BrokenError as error:
        raise KeptError(str(error), []) from error
    except (KeyError, TypeError, ValueError):
        raise FetchError(f"{client.service.name} does not say who played the {kind} game {number}.") from None
    shelf = Shelf("chess.com", user)
    for again in (False, True):
        for game in shelf.of_month(month):
            if tags(game).get("Link", "").rsplit("/", 1)[-1] == number:
                seen(game)
                return [game]
        if not again:
            _fill(client, shelf, user.lower(), month, lambda game: None)
    raise FetchError(f"the {kind} game {number} is not in the archive of {user} for {month} yet; try in some hours.")


def sieve(user: str, wanted: Filters) -> Callable[[bytes], bool]:
    """What tells the games that are wanted from others of the account."""
    return lambda game: fits(game, user, wanted, speed=speed(game))
