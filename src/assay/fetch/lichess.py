"""Games of Lichess: its API streams PGN, newest first, wants one request at a time and a minute's rest after a 429.

https://lichess.org/api: /api/games/user/{name}, /game/export/{id}, /api/study/{id}.pgn, /api/swiss/{id}/games,
/api/tournament/{id}/games, /api/broadcast/{id}.pgn, /api/broadcast/round/{id}.pgn. Evals and clocks are asked for.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from urllib.parse import urlencode

from assay.errors import FetchError
from assay.fetch.address import SPEEDS, Address, Filters
from assay.fetch.asking import BrokenError, Client, KeptError, Received, Service
from assay.fetch.shelf import Interval, Shelf, begun, fits, games_in, gaps, speed_of, tags

SERVICE = Service("Lichess", "https://lichess.org", "https://lichess.org", token="LICHESS_TOKEN")
PGN = "application/x-chess-pgn"
FIRST = 1_356_998_401  # Lichess takes no earlier time
_LAG = 60  # seconds
_KEEP = 200  # games are put on the shelf so many at a time
_PERFS = {"ultrabullet": "ultraBullet"}
_PATHS = {
    "game": "/game/export/{}",
    "study": "/api/study/{}.pgn",
    "swiss": "/api/swiss/{}/games",
    "arena": "/api/tournament/{}/games",
    "broadcast": "/api/broadcast/{}.pgn",
    "round": "/api/broadcast/round/{}.pgn",
}
_WORDS = {"swiss": "Swiss", "arena": "arena", "broadcast": "broadcast tournament", "round": "broadcast round"}


def speed(game: bytes) -> str:
    """The speed of a game, as Lichess has it."""
    return speed_of(tags(game), rapid_from=480, classical_from=1500)


def of_link(client: Client, address: Address, seen: Callable[[bytes], None]) -> list[bytes]:
    """The games behind a link; `seen` is told each as it comes. They come again from the start if the answer breaks."""
    word = _WORDS.get(address.kind, address.kind)
    query = {"clocks": "true", "evals": "true", "opening": "true", "comments": "true"}
    url = f"{client.service.base}{_PATHS[address.kind].format('/'.join(address.ids))}?{urlencode(query)}"
    attempt = 0
    while True:
        games: list[bytes] = []
        try:
            with client.get(url, accept=PGN) as answer:
                _refuse(client, answer, f"the {word} {'/'.join(address.ids)}")
                for game in games_in(answer.blocks, client.service.name):
                    games.append(game)
                    seen(game)
            return games
        except BrokenError as error:
            attempt += 1
            if attempt >= client.manners.tries:
                raise KeptError(str(error), games) from error
            client.again(attempt - 1)


def _refuse(client: Client, answer: Received, what: str) -> None:
    name = client.service.name
    if answer.status in (401, 403):
        token = client.service.token
        raise FetchError(f"{what} is private, or {name} lets nobody export it ({answer.status}; see {token}).")
    if answer.status in (404, 410):
        raise FetchError(f"{name} has nothing called {what}: check the spelling.")
    if answer.status != 200:
        raise FetchError(f"{name} answers {answer.status} for {what}.")


def of_user(client: Client, address: Address, seen: Callable[[bytes], None]) -> tuple[Shelf, Filters]:
    """Bring the shelf of an account up to date; which shelf, and what is still to be sieved from it.

    Games come newest first. What came before something broke covers its time, so that the next try goes on behind it.
    """
    user, wanted = address.ids[0], address.filters
    now = int(time.time())
    since, until = max(wanted.since or FIRST, FIRST), min(wanted.until or now, now)
    whole = Shelf("lichess", user)
    # The shelf of all games serves, if only new ones lack; but whether a game was rated is not always in its tags.
    if wanted.kind != "all" and wanted.rated is None and _lacks_only_new(whole, since, until):
        for gap in gaps(whole.covered, since, until):
            _fill(client, whole, user, Filters(), gap, None, seen)
        return whole, wanted
    shelf = whole if wanted.kind == "all" else Shelf("lichess", user, wanted.kind)
    for gap in gaps(shelf.covered, since, until):
        have = _count(shelf, gap[1], until, wanted.max)
        if wanted.max is not None and have >= wanted.max:
            break
        _fill(client, shelf, user, wanted, gap, None if wanted.max is None else wanted.max - have, seen)
    return shelf, Filters()


def _lacks_only_new(shelf: Shelf, since: int, until: int) -> bool:
    missing = gaps(shelf.covered, since, until)
    return not missing or (len(missing) == 1 and missing[0][0] > since and missing[0][1] == until)


def _count(shelf: Shelf, since: int, until: int, most: int | None) -> int:
    count = 0
    if most is not None and since < until:
        for _ in shelf.newest_first(since, until):
            count += 1
            if count >= most:
                break
    return count


def _fill(
    client: Client,
    shelf: Shelf,
    user: str,
    wanted: Filters,
    gap: Interval,
    most: int | None,
    seen: Callable[[bytes], None],
) -> None:
    """Fetch the games of a time, as far as `most` of them."""
    low, high = gap
    # What has just ended may not be listed yet.
    settled, attempt = int(time.time()) - _LAG, 0
    while True:
        batch: list[bytes] = []
        oldest, came, running = high, 0, min(high, settled)
        broken: BrokenError | None = None
        try:
            for game in _stream(client, user, wanted, low, high, most):
                found = tags(game)
                when = begun(found)
                if when is not None:
                    oldest = min(oldest, when)
                came += 1
                if found.get("Result") == "*":
                    running = min(running, oldest)  # it will end, and be asked for again then
                    continue
                batch.append(game)
                seen(game)
                if len(batch) >= _KEEP:
                    shelf.add(batch)
                    shelf.cover(oldest, min(high, running))
                    batch = []
        except BrokenError as error:
            broken = error
        except BaseException:
            shelf.add(batch)
            if came:
                shelf.cover(oldest, min(high, running))
            raise
        shelf.add(batch)
        if broken is None:
            reached = oldest if most is not None and came >= most else low
            shelf.cover(min(reached, running), min(high, running))
            return
        if came:
            shelf.cover(oldest, min(high, running))
            high, attempt = oldest, 0
            most = None if most is None else max(1, most - came)
        attempt += 1
        if attempt >= client.manners.tries:
            raise FetchError(f"{broken} What has been fetched is kept; run this again.") from broken
        client.again(attempt - 1)


def _stream(client: Client, user: str, wanted: Filters, low: int, high: int, most: int | None) -> Iterator[bytes]:
    perfs = [_PERFS.get(speed, speed) for speed in wanted.speed or SPEEDS]
    query = {
        "since": str(low * 1000),
        "until": str(high * 1000 - 1),
        "max": None if most is None else str(most),
        "perfType": ",".join(perfs),
        "rated": _said(wanted.rated),
        "color": wanted.color,
        "vs": wanted.vs,
        "analysed": _said(wanted.analysed),
        "clocks": "true",
        "evals": "true",
        "opening": "true",
        "ongoing": "true",
        "sort": "dateDesc",
    }
    given = urlencode({name: value for name, value in query.items() if value is not None})
    with client.get(f"{client.service.base}/api/games/user/{user}?{given}", accept=PGN) as answer:
        if answer.status in (404, 410):
            gone = True
        else:
            gone = False
            _refuse(client, answer, f"the games of {user}")
            yield from games_in(answer.blocks, client.service.name)
    if gone:
        raise FetchError(_why_nobody(client, user))


def _why_nobody(client: Client, user: str) -> str:
    """Why there are no games of a name: nobody has it, or the account is closed."""
    with client.get(f"{client.service.base}/api/user/{user}", accept="application/json") as answer:
        about = answer.json(1 << 20) if answer.status == 200 else {}
    if isinstance(about, dict) and (about.get("disabled") or about.get("closed")):
        return f"the account {user} on {client.service.name} is closed, and its games are not given out."
    return f"nobody is called {user} on {client.service.name}: check the spelling."


def _said(value: bool | None) -> str | None:
    return None if value is None else str(value).lower()


def sieve(user: str, wanted: Filters) -> Callable[[bytes], bool]:
    """What tells the games that are wanted from others of the account."""
    return lambda game: fits(game, user, wanted, speed=speed(game))
