"""What people write to name games elsewhere: `lichess:USER/rapid`, `chess.com:USER`, links; and what they want of them.

>>> parse("lichess:DrNykterstein/blitz?max=50").kind, parse("https://lichess.org/study/JakQrELe/jFLnw1m0").ids
('user', ('JakQrELe', 'jFLnw1m0'))
>>> is_address("games.pgn"), is_address("chess.com:Hikaru"), is_address("https://lichess.org/@/thibault")
(False, True, True)
"""

from __future__ import annotations

import calendar
import re
from collections.abc import Mapping
from dataclasses import fields, replace
from datetime import UTC, datetime
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from assay.errors import FetchError
from assay.records import dataclass

SERVICES = {"lichess": "Lichess", "chess.com": "chess.com"}
SPEEDS = ("ultrabullet", "bullet", "blitz", "rapid", "classical", "correspondence")
COLORS = ("white", "black")
HOW = (
    "write lichess:USER, lichess:USER/rapid, chess.com:USER, or a link to a profile, game, study, Swiss, arena or "
    "broadcast of Lichess or to a profile or game of chess.com."
)
_WORDS = {"lichess": "lichess", "lichess.org": "lichess", "chess.com": "chess.com", "chesscom": "chess.com"}
_SPOKEN = {"daily": "correspondence", "ultra": "ultrabullet", "standard": "classical"}
_NAMED = re.compile(r"([A-Za-z][A-Za-z.]+):(?![/\\])(.+)", re.DOTALL)
_LINK = re.compile(r"https?://", re.IGNORECASE)
_USER = re.compile(r"[A-Za-z0-9][A-Za-z0-9_-]{1,29}")
_ID = re.compile(r"[A-Za-z0-9]{8}")
_NUMBER = re.compile(r"\d{1,15}")
_DATE = re.compile(r"(\d{4})(?:[-./](\d{1,2})(?:[-./](\d{1,2}))?)?")
# Pages of Lichess whose names are as long as the number of a game.
_PAGES = frozenset({"analysis", "training", "practice", "features", "streamer", "timeline", "personal", "opening"})


@dataclass(frozen=True)
class Filters:
    """Which games: played from `since` up to `until` (seconds since 1970), the newest `max`, and of what kind."""

    since: int | None = None
    until: int | None = None
    max: int | None = None
    speed: tuple[str, ...] = ()
    rated: bool | None = None
    color: str | None = None
    vs: str | None = None
    analysed: bool | None = None

    @property
    def kind(self) -> str:
        """What is asked for besides the time, as the name of a folder."""
        parts = [
            "+".join(sorted(self.speed)),
            {None: "", True: "rated", False: "casual"}[self.rated],
            self.color or "",
            f"vs-{self.vs.lower()}" if self.vs else "",
            {None: "", True: "analysed", False: "unanalysed"}[self.analysed],
        ]
        return "_".join(part for part in parts if part) or "all"

    def and_also(self, other: Filters) -> Filters:
        """These, and what the other one asks for besides."""
        plain = Filters()
        given = {
            each.name: getattr(other, each.name)
            for each in fields(Filters)
            if getattr(other, each.name) != getattr(plain, each.name)
        }
        return replace(self, **given)


@dataclass(frozen=True)
class Address:
    """Games elsewhere: the service, what kind of thing it is, its names there, and which games of it.

    `kind` is user, game, study, swiss, arena, broadcast or round.
    """

    text: str
    service: str
    kind: str
    ids: tuple[str, ...]
    filters: Filters = Filters()

    @property
    def is_broadcast(self) -> bool:
        """Whether games of it may still be under way."""
        return self.kind in ("broadcast", "round")


def is_address(text: str) -> bool:
    """Whether a text is meant as an address and not as the name of a file."""
    return bool(_LINK.match(text) or _NAMED.fullmatch(text))


def parse(text: str) -> Address:
    """The address that a text is; :class:`~assay.errors.FetchError` says what can be written."""
    text = text.strip()
    if _LINK.match(text):
        return _link(text)
    named = _NAMED.fullmatch(text)
    if named is None:
        raise FetchError(f"{text!r:.80} names no games elsewhere: {HOW}")
    service = _WORDS.get(named[1].lower())
    if service is None:
        raise FetchError(f"there is no service {named[1]!r:.40}: {HOW}")
    rest, _, query = named[2].partition("?")
    user, _, speed = rest.strip("/").partition("/")
    found = Address(text, service, "user", (_user(user),), _from_query(query))
    return _with_speed(found, speed) if speed else found


def _with_speed(address: Address, speed: str) -> Address:
    return replace(address, filters=replace(address.filters, speed=speeds(speed)))


def _link(text: str) -> Address:
    try:
        parts = urlsplit(text)
        host = (parts.hostname or "").lower().removeprefix("www.")
    except ValueError as error:
        raise FetchError(f"{text!r:.80} is no link ({error}): {HOW}") from error
    path = [part for part in parts.path.split("/") if part]
    found: tuple[str, tuple[str, ...], str] | None = None
    if host == "lichess.org":
        found, service = _on_lichess(path), "lichess"
    elif host == "chess.com":
        found, service = _on_chess_com(path), "chess.com"
    else:
        raise FetchError(f"only Lichess and chess.com are asked for games, not {host or text!r:.60}: {HOW}")
    if found is None:
        raise FetchError(f"{text!r:.120} is no link to games on {SERVICES[service]}: {HOW}")
    kind, ids, speed = found
    address = Address(text, service, kind, ids, _from_query(parts.query) if kind == "user" else Filters())
    return _with_speed(address, speed) if speed else address


def _on_lichess(path: list[str]) -> tuple[str, tuple[str, ...], str] | None:
    match path:
        case ["@", user, "perf", speed]:
            return "user", (_user(user),), speed
        case ["@", user, *_]:
            return "user", (_user(user),), ""
        case ["study", study, chapter] if _is_id(study) and _is_id(chapter):
            return "study", (study, chapter), ""
        case ["study", study] if _is_id(study):
            return "study", (study,), ""
        case ["swiss", swiss, *_] if _is_id(swiss):
            return "swiss", (swiss,), ""
        case ["tournament", arena, *_] if _is_id(arena):
            return "arena", (arena,), ""
        case ["broadcast", _, tournament] if _is_id(tournament):
            return "broadcast", (tournament,), ""
        case ["broadcast", _, _, round_] if _is_id(round_):
            return "round", (round_,), ""
        case ["broadcast", _, _, round_, game] if _is_id(round_) and _is_id(game):
            return "study", (round_, game), ""  # a round is a study, its games are chapters
        case [game, *_] if re.fullmatch(r"[A-Za-z0-9]{8}(?:[A-Za-z0-9]{4})?", game) and game not in _PAGES:
            return "game", (game[:8],), ""
    return None


def _on_chess_com(path: list[str]) -> tuple[str, tuple[str, ...], str] | None:
    match path:
        case ["member", user, *_]:
            return "user", (_user(user),), ""
        case ["games", "archive", user, *_]:
            return "user", (_user(user),), ""
        case ["stats", _, _, user, *_] | ["stats", _, user]:
            return "user", (_user(user),), ""
        case ["analysis", *rest] if rest:
            return _on_chess_com(rest)
        case ["game", ("live" | "daily") as kind, number, *_] if _NUMBER.fullmatch(number):
            return "game", (kind, number), ""
        case [("live" | "daily") as kind, "game", number, *_] if _NUMBER.fullmatch(number):
            return "game", (kind, number), ""
        case ["game", number, *_] if _NUMBER.fullmatch(number):
            return "game", ("live", number), ""
    return None


def _is_id(text: str) -> bool:
    return _ID.fullmatch(text) is not None


def _user(text: str) -> str:
    if not _USER.fullmatch(text):
        raise FetchError(f"{text!r:.60} can be nobody's name there: names have 2 to 30 letters, digits, _ and -.")
    return text


def speeds(text: str) -> tuple[str, ...]:
    """Speeds with commas between them.

    >>> speeds("blitz,Rapid"), speeds("daily")
    (('blitz', 'rapid'), ('correspondence',))
    """
    found = []
    for part in text.lower().split(","):
        speed = _SPOKEN.get(part.strip(), part.strip())
        if speed not in SPEEDS:
            raise FetchError(f"there is no speed {part.strip()!r:.40}: choose among {', '.join(SPEEDS)}.")
        found.append(speed)
    return tuple(dict.fromkeys(found))


def moment(text: str, *, end: bool = False) -> int:
    """A day, month or year as seconds since 1970: when it begins, or when it has ended.

    >>> moment("2024-02"), moment("2024-02", end=True) - moment("2024-02-29")
    (1706745600, 86400)
    """
    found = _DATE.fullmatch(text.strip())
    try:
        if found is None:
            raise ValueError
        year, month, day = (int(part) if part else None for part in found.groups())
        assert year is not None
        if end:
            last = calendar.monthrange(year, month or 12)[1]
            return int(datetime(year, month or 12, day or last, tzinfo=UTC).timestamp()) + 86_400
        return int(datetime(year, month or 1, day or 1, tzinfo=UTC).timestamp())
    except ValueError:
        raise FetchError(f"{text!r:.40} is no date: write it like 2024-03-31, 2024-03 or 2024.") from None


def filters(given: Mapping[str, Any]) -> Filters:
    """Filters from the values of options or of a query, by their names."""
    made: dict[str, Any] = {}
    for name, value in given.items():
        if value is None:
            continue
        if name in ("since", "until"):
            made[name] = moment(str(value), end=name == "until")
        elif name == "max":
            if not str(value).isdecimal() or not 0 < int(value) <= 10**9:
                raise FetchError(f"max takes a number of games, not {value!r:.40}.")
            made[name] = int(value)
        elif name == "speed":
            made[name] = speeds(str(value))
        elif name in ("rated", "analysed"):
            made[name] = _yes(name, value)
        elif name in ("color", "colour"):
            if str(value).lower() not in COLORS:
                raise FetchError(f"there is no colour {value!r:.40}: it is white or black.")
            made["color"] = str(value).lower()
        elif name == "vs":
            made[name] = _user(str(value))
        else:
            raise FetchError(
                f"there is no {name!r:.40} to ask for: {', '.join(each.name for each in fields(Filters))}."
            )
    found = Filters(**made)
    if found.since is not None and found.until is not None and found.since >= found.until:
        raise FetchError("since is later than until, so that no game lies between them.")
    return found


def _yes(name: str, value: Any) -> bool:
    said = {"true": True, "yes": True, "1": True, "": True, "false": False, "no": False, "0": False}
    if str(value).lower() not in said:
        raise FetchError(f"{name} is true or false, not {value!r:.40}.")
    return said[str(value).lower()]


def _from_query(query: str) -> Filters:
    return filters(dict(parse_qsl(query, keep_blank_values=True))) if query else Filters()
