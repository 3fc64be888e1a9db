"""Pools of players: where a game was played and how fast, as far as its tags tell.

Ratings of two pools are two scales: what a rating in the tags means, and which line makes a rating of moves, depends on
the pool.
"""

from __future__ import annotations

import re
from functools import lru_cache

from assay.bands import SPEED_LIMITS, speed

ONLINE = {"lichess": "Lichess", "chess.com": "Chess.com", "online": "online"}
SLOW, UNKNOWN = "otb-slow", "unknown"
# Every pool by name, in words.
POOLS = {
    SLOW: "over the board, slow",
    "otb-rapid": "over the board, rapid",
    "otb-blitz": "over the board, blitz",
    UNKNOWN: "place and speed unknown",
} | {
    f"{place}-{fast}" if fast else place: f"{words}, {fast}" if fast else words
    for place, words in ONLINE.items()
    for fast in ("", *SPEED_LIMITS, "correspondence")
}

_CONTROL = re.compile(r"(?:\d+/|\*)?(\d{1,9}(?:\.\d+)?)(?:\+(\d{1,9}(?:\.\d+)?))?(?::.*)?")
_MINUTES = re.compile(r"(\d{1,3})\s*(?:min|m\b|'|’)", re.IGNORECASE)
_SPEED_WORD = re.compile(rf"\b({'|'.join(SPEED_LIMITS)}|correspondence)\b", re.IGNORECASE)
_PLACES = (
    # Broadcasts and studies show games that were played over a board.
    ("otb", re.compile(r"lichess\.org/(?:broadcast|study)", re.IGNORECASE)),
    ("lichess", re.compile(r"lichess", re.IGNORECASE)),
    ("chess.com", re.compile(r"chess\.com|\blive chess\b", re.IGNORECASE)),
    (
        "online",
        re.compile(
            r"https?://|\b(?:online|internet|icc|iccf|fics|playchess|chess24|chesscube|playok|gameknot)\b"
            r"|freechess\.org|chessclub\.com",
            re.IGNORECASE,
        ),
    ),
)
# The Week in Chess writes this where a country stands else.
_NO_COUNTRY = " INT"
# Lichess calls its games so, and whoever drops its Site tag leaves this.
_LICHESS_EVENT = re.compile(rf"(?:rated|casual) (?:{'|'.join(SPEED_LIMITS)}|correspondence) (?:game|tournament)", re.I)
_RAPID = re.compile(r"\b(?:rapid\w*|rápid\w*|semi-?rapid\w*|schnell\w*|quickplay|active chess|aktivschach)", re.I)
_BLITZ = re.compile(r"\b(?:blitz\w*|bullet|lightning|rel[aá]mpago|lampo|armageddon)", re.IGNORECASE)
# FIDE's limits on base + 60 increments: at most ten minutes is blitz, less than an hour rapid.
_FIDE_BLITZ, _FIDE_RAPID = 600, 3600
# Over the board nobody has less than three minutes: such a base is written in minutes.
_LEAST_SECONDS = 180


@lru_cache(maxsize=100_000)
def time_control(text: str) -> tuple[int | None, int | None, str | None]:
    """Base and increment of a TimeControl tag in whole seconds, and the speed by Lichess's limits.

    Of several periods the first counts. Lichess writes "-" for games without a clock, its correspondence games.

    >>> time_control("300+3"), time_control("40/7200:3600"), time_control("-"), time_control("?")
    ((300, 3, 'blitz'), (7200, 0, 'classical'), (None, None, 'correspondence'), (None, None, None))
    """
    if text == "-":
        return None, None, "correspondence"
    match = _CONTROL.fullmatch(text.replace(" ", ""))
    if not match:
        return None, None, None
    base, increment = float(match.group(1)), float(match.group(2) or 0)
    return round(base), round(increment), speed(base, increment)


@lru_cache(maxsize=100_000)
def pool_of(site: str, event: str, control: str) -> str:
    """The pool of a game by its tags Site, Event and TimeControl: one of `POOLS`.

    A place that is no server is taken for a board, and a board without a word of speed for a slow game.

    >>> pool_of("https://lichess.org/abc", "Rated Blitz game", "180+0"), pool_of("Chess.com", "Live Chess", "600")
    ('lichess-blitz', 'chess.com-rapid')
    >>> pool_of("Berlin GER", "World Blitz 2015", ""), pool_of("Madrid", "Open", "90+30"), pool_of("", "?", "")
    ('otb-blitz', 'otb-slow', 'unknown')
    """
    known = [text.strip() for text in (site, event) if text.strip() not in ("", "?", "-")]
    usual = "online" if site.strip().endswith(_NO_COUNTRY) else "otb"
    place = next((name for name, mark in _PLACES for text in known if mark.search(text)), usual)
    if _LICHESS_EVENT.match(event.strip()):
        place = "lichess"
    if place in ONLINE:
        fast = _online_speed(event, control)
        return f"{place}-{fast}" if fast else place
    fast = _board_speed(event, control)
    return f"otb-{fast}" if fast else SLOW if known else UNKNOWN


def _online_speed(event: str, control: str) -> str | None:
    """What the event is called after (as the server then drew its limits), else by the clock."""
    word = _SPEED_WORD.search(event)
    return word.group(1).lower() if word else time_control(control)[2]


def _board_speed(event: str, control: str) -> str | None:
    """By the event's name where it names one speed, else by FIDE's limits, else not known."""
    named = [name for name, word in (("rapid", _RAPID), ("blitz", _BLITZ)) if word.search(event)]
    if len(named) == 1:
        return named[0]
    base, increment, _ = time_control(control)
    if base is None:
        minutes = _MINUTES.search(control)
        base, increment = (60 * int(minutes.group(1)), 0) if minutes else (None, None)
    if base is None:
        return named[0] if named else None
    if base < _LEAST_SECONDS:
        base *= 60
    whole = base + 60 * (increment or 0)
    return "blitz" if whole <= _FIDE_BLITZ else "rapid" if whole < _FIDE_RAPID else "slow"


def is_online(pool: str | None) -> bool:
    """Whether a pool is that of a server, where ratings are a scale of its own.

    >>> is_online("lichess-rapid"), is_online("otb-rapid"), is_online(None)
    (True, False, False)
    """
    return (pool or "").partition("-")[0] in ONLINE


def scale_of(pool: str | None) -> str:
    """The pool whose scale serves for games of this one: where nothing is known, that of slow games.

    >>> scale_of("unknown"), scale_of("lichess-rapid")
    ('otb-slow', 'lichess-rapid')
    """
    return SLOW if pool in (None, UNKNOWN) else str(pool)
