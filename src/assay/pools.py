"""Rating bands, periods, speeds and pools of players: where a game was played and how fast, as far as its tags tell.

Ratings of two pools are two scales: what a rating in the tags means, and which line makes a rating of moves, depends on
the pool.
"""

from __future__ import annotations

import re
from functools import lru_cache

from assay.errors import InputError
from assay.records import dataclass

_PERIOD = re.compile(r"(\d{4})(?:\s*[-–]\s*(\d{4}|\d{2}))?")
# Lichess: the estimated length of a game, base + 40 increments, in seconds; each speed lies below its limit.
SPEED_LIMITS = {"ultrabullet": 30, "bullet": 180, "blitz": 480, "rapid": 1500, "classical": 21600}


def speed(base_seconds: float | None, increment_seconds: float | None) -> str | None:
    """Name the speed of a time control by Lichess's limits on base + 40 x increment.

    >>> speed(300, 0), speed(15, 0), speed(600, 5), speed(1800, 20), speed(None, None)
    ('blitz', 'ultrabullet', 'rapid', 'classical', None)
    """
    if base_seconds is None:
        return None
    estimate = base_seconds + 40 * (increment_seconds or 0)
    return next((name for name, limit in SPEED_LIMITS.items() if estimate < limit), "correspondence")


@dataclass(frozen=True)
class Bands:
    """Half-open rating bands of equal width: [least, least + width), ..., up to `end`.

    >>> STANDARD.of(1650), STANDARD.of(599), STANDARD.label(1600), len(STANDARD.starts)
    (1600, None, '1600-1699', 25)
    """

    least: int = 600
    end: int = 3100
    width: int = 100

    @property
    def starts(self) -> range:
        """Where the bands begin."""
        return range(self.least, self.end, self.width)

    def of(self, rating: float) -> int | None:
        """The start of the band that holds this rating, or None outside all bands."""
        if not self.least <= rating < self.end:
            return None
        return self.least + int(rating - self.least) // self.width * self.width

    def label(self, start: int) -> str:
        """The band that begins there, in words."""
        return f"{start}-{start + self.width - 1}"


STANDARD = Bands()


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
_SECONDS = re.compile(r"(\d{1,3})\s*(?:s\b|sec)", re.IGNORECASE)
_SPEED_WORD = re.compile(rf"\b({'|'.join(SPEED_LIMITS)}|correspondence)\b", re.IGNORECASE)
_PLACES = (
    # Broadcasts and studies show games that were played over a board.
    ("otb", re.compile(r"lichess\.org/(?:broadcast|study)", re.IGNORECASE)),
    ("lichess", re.compile(r"lichess", re.IGNORECASE)),
    ("chess.com", re.compile(r"(?<![\w-])chess\.com|\blive chess\b", re.IGNORECASE)),
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
LEAST_SECONDS = 180


@lru_cache(maxsize=100_000)
def time_control(text: str) -> tuple[float | None, float | None, str | None]:
    """Base and increment of a TimeControl tag in seconds, and the speed by Lichess's limits.

    Of several periods the first counts. Lichess writes "-" for games without a clock, its correspondence games.

    >>> time_control("300+3"), time_control("40/7200:3600"), time_control("-"), time_control("?")
    ((300, 3, 'blitz'), (7200, 0, 'classical'), (None, None, 'correspondence'), (None, None, None))
    >>> time_control("0.6+0.006")
    (0.6, 0.006, 'ultrabullet')
    """
    if text == "-":
        return None, None, "correspondence"
    match = _CONTROL.fullmatch(text.replace(" ", ""))
    if not match:
        return None, None, None
    base, increment = float(match.group(1)), float(match.group(2) or 0)
    return whole(base), whole(increment), speed(base, increment)


def whole(seconds: float | None) -> float | None:
    """A number of seconds as a whole number, where it is one.

    >>> whole(300.0), whole(0.6)
    (300, 0.6)
    """
    return int(seconds) if seconds is not None and seconds == int(seconds) else seconds


@lru_cache(maxsize=100_000)
def clock_of(site: str, event: str, control: str) -> tuple[float | None, float | None, str | None]:
    """Base and increment in seconds, and the speed by Lichess's limits, with what Site and Event tell besides.

    Broadcasts write minutes ("90+30"), with words or without: over the board nobody has less than three minutes, and
    engines, which do ("60+0.6"), have increments of a second at most. Where the clock is not told, the event may be
    called after its speed ("Rated Blitz game").

    >>> clock_of("Madrid", "Open", "90+30"), clock_of("https://lichess.org/abc", "", "90+30")
    ((5400, 30, 'classical'), (90, 30, 'rapid'))
    >>> clock_of("", "", "15 min. + 10 s. per move"), clock_of("", "Rated Blitz game", "")
    ((900, 10, 'rapid'), (None, None, 'blitz'))
    """
    base, increment, fast = time_control(control)
    if base is None and (minutes := _MINUTES.search(control)):
        plus = _SECONDS.search(control, minutes.end())
        base, increment = 60 * int(minutes.group(1)), int(plus.group(1)) if plus else 0
    elif base is not None and _is_minutes(base, control) and _known(site) and _place(site, event) not in ONLINE:
        base *= 60
    if base is None:
        return base, increment, fast or _speed_word(event)
    return base, increment, speed(base, increment)


def _is_minutes(base: float, control: str) -> bool:
    plus = control.rpartition("+")[2].strip()
    return base < LEAST_SECONDS and plus.isdecimal() and "+" in control and int(plus) >= 2


@lru_cache(maxsize=100_000)
def pool_of(site: str, event: str, control: str) -> str:
    """The pool of a game by its tags Site, Event and TimeControl: one of `POOLS`.

    A place that is no server is taken for a board, and a board without a word of speed for a slow game.

    >>> pool_of("https://lichess.org/abc", "Rated Blitz game", "180+0"), pool_of("Chess.com", "Live Chess", "600")
    ('lichess-blitz', 'chess.com-rapid')
    >>> pool_of("Berlin GER", "World Blitz 2015", ""), pool_of("Madrid", "Open", "90+30"), pool_of("", "?", "")
    ('otb-blitz', 'otb-slow', 'unknown')
    >>> pool_of("https://tcec-chess.com", "TCEC Cup 10", "1800+3")
    'online-classical'
    """
    place = _place(site, event)
    if place in ONLINE:
        fast = _speed_word(event) or time_control(control)[2]
        return f"{place}-{fast}" if fast else place
    fast = _board_speed(site, event, control)
    return f"otb-{fast}" if fast else SLOW if _known(site, event) else UNKNOWN


def _known(*texts: str) -> list[str]:
    return [text.strip() for text in texts if text.strip() not in ("", "?", "-")]


def _place(site: str, event: str) -> str:
    """A server, or "otb"."""
    if _LICHESS_EVENT.match(event.strip()):
        return "lichess"
    usual = "online" if site.strip().endswith(_NO_COUNTRY) else "otb"
    return next((name for name, mark in _PLACES for text in _known(site, event) if mark.search(text)), usual)


def _speed_word(event: str) -> str | None:
    """The speed that an event is called after, as the server then drew its limits."""
    word = _SPEED_WORD.search(event)
    return word.group(1).lower() if word else None


def _board_speed(site: str, event: str, control: str) -> str | None:
    """By the event's name where it names one speed, else by FIDE's limits, else not known."""
    named = [name for name, word in (("rapid", _RAPID), ("blitz", _BLITZ)) if word.search(event)]
    if len(named) == 1:
        return named[0]
    base, increment, _ = clock_of(site, event, control)
    if base is None:
        return named[0] if named else None
    whole = base + 60 * (increment or 0)
    return "blitz" if whole <= _FIDE_BLITZ else "rapid" if whole < _FIDE_RAPID else "slow"


def is_online(pool: str | None) -> bool:
    """Whether a pool is that of a server, where ratings are a scale of its own.

    >>> is_online("lichess-rapid"), is_online("otb-rapid"), is_online(None)
    (True, False, False)
    """
    return (pool or "").partition("-")[0] in ONLINE


def scale_of(pool: str | None) -> str:
    """The pool that games count as: where nothing is known, that of slow games.

    >>> scale_of("unknown"), scale_of("lichess-rapid")
    ('otb-slow', 'lichess-rapid')
    """
    return SLOW if pool in (None, UNKNOWN) else str(pool)


# The lines that there are, by years where what a rating means has moved (docs/validation.md).
FIRST, LATER, LAST = "otb-slow-2006-14", "otb-slow-2015-23", "otb-slow-2024"
BEFORE = "-2013-19"
LINES = (
    {
        FIRST: "slow games over the board, to 2014",
        LATER: "slow games over the board, 2015 to February 2024",
        LAST: "slow games over the board, from March 2024 on",
    }
    | {f"lichess-bullet{BEFORE}": "Lichess, bullet, to 2019"}
    | {f"lichess-{fast}": f"Lichess, {fast}" for fast in ("bullet", "blitz", "rapid", "classical")}
)
# FIDE lifted all ratings below 2000 on this day.
_LIFTED = "2024.03"
_NEAR = {"ultrabullet": "bullet", "correspondence": "classical", "": "rapid"}


def line_of(pool: str | None, date: str | None, control: str | None = None) -> str:
    """The line, one of `LINES`, on which games of a pool and a day are rated: its own, or the nearest.

    Online, where a pool has quicker and slower games, the length of the game in seconds follows: base + 40 increments.
    There the line of today is also that of games without a date.

    >>> line_of("otb-slow", "2012.05.01"), line_of("otb-slow", "2024.02.28"), line_of("otb-rapid", "2024.??.??")
    ('otb-slow-2006-14', 'otb-slow-2015-23', 'otb-slow-2024')
    >>> line_of("chess.com-blitz", None), line_of("lichess-ultrabullet", None), line_of(None, None)
    ('lichess-blitz', 'lichess-bullet', 'otb-slow-2006-14')
    >>> line_of("lichess-bullet", None, "60+0"), line_of("lichess-blitz", None, "180+2"), line_of("lichess-rapid", None)
    ('lichess-bullet@60', 'lichess-blitz@260', 'lichess-rapid')
    >>> line_of("lichess-bullet", "2018.06.01", "60+0"), line_of("lichess-bullet", "2024.06.01", "60+0")
    ('lichess-bullet-2013-19@60', 'lichess-bullet@60')
    """
    day = date or ""
    if is_online(pool):
        fast = str(pool).partition("-")[2]
        base, increment, _ = time_control(control or "")
        seconds = 0 if base is None else base + 40 * (increment or 0)
        name = f"lichess-{_NEAR.get(fast, fast)}"
        if name + BEFORE in LINES and day[:4].isdecimal() and day[:4] < "2020":
            name += BEFORE
        return name + (f"@{seconds}" if seconds else "")
    if not day[:4].isdecimal() or day[:4] <= "2014":
        return FIRST
    return LAST if day[:7].replace("?", "9") >= _LIFTED else LATER


def split_line(line: str) -> tuple[str, float]:
    """A line that `line_of` gives as one of `LINES` and the length of the game in seconds, nan where it is not told.

    >>> split_line("lichess-bullet@60"), split_line("otb-slow-2024")
    (('lichess-bullet', 60.0), ('otb-slow-2024', nan))
    """
    name, _, seconds = line.partition("@")
    return name, float(seconds or "nan")


def words_of(line: str) -> str:
    """A line that `line_of` gives, in words; quicker and slower games of a pool are not told apart.

    >>> words_of("lichess-bullet@60")
    'Lichess, bullet'
    """
    return LINES[split_line(line)[0]]


def has_line(pool: str | None) -> bool:
    """Whether ratings of a pool have a line of their own.

    >>> has_line("otb-slow"), has_line("lichess-blitz"), has_line("otb-rapid"), has_line("chess.com-blitz")
    (True, True, False, False)
    """
    return scale_of(pool) == SLOW or pool in LINES


def period_years(text: str) -> tuple[int, int]:
    """The years of a period, both taken.

    >>> period_years("1976-1979"), period_years("1991-94"), period_years("2006")
    ((1976, 1979), (1991, 1994), (2006, 2006))
    """
    match = _PERIOD.fullmatch(text.strip())
    if match:
        first, last = match.group(1), match.group(2) or match.group(1)
        years = int(first), int(first[: 4 - len(last)] + last)
        if years[0] <= years[1]:
            return years
    raise InputError(f"{text!r:.40} is no period: write its years, such as 1976-1979.")
