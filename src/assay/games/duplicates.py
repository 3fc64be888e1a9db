"""Games that occur more than once: the same players and the same moves, and the same date where both have one.

Files of single rounds beside a cumulative one, a PGN beside its index, the same game from two sources: all of it is
everyday practice, and a game that counts twice makes errors too small and evidence too strong. So every command counts
such a game once and says so; `--keep-duplicates` counts them all.

What may differ between two copies: the spelling of the names (`players.plain_name`), comments, variations, marks,
the result, event and site, and what is missing in one of them. Short games (fewer than ten moves) are played twice in
earnest, so for these result and round must not contradict each other either. Games whose moves are not known are the
same only if result, date, round and event are all there and equal, and if the two have not met in that round before
with other colours or another result, as in matches that are one round: two draws on one day are two games. What one
file tells of such a round is compared with what another tells of it: there are as many games as the one that tells
more has. Nobody can say of players without a name that they are the same.

What lies in one place of one file is one game, whatever it tells: so an index and its file know each other's games.
"""

from __future__ import annotations

import re
import struct
import warnings
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from functools import cache
from os.path import realpath
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from assay.errors import AssayWarning
from assay.games.outcomes import score_of
from assay.games.split import Game
from assay.players import plain_name
from assay.records import dataclass

SHORT = 20  # plies: fewer may be the same in two games of one day
UNREAD = np.uint64((1 << 64) - 1)  # in the place of moves that nobody has looked at yet

Codes = npt.NDArray[np.int32]
Numbers = npt.NDArray[np.uint64]
Places = npt.NDArray[np.int64]
Column = tuple[Codes, Sequence[str | None]]  # an index into the values for each game, -1 where it has none

_LISTED = 5
_UNKNOWN = frozenset({"", "?", "-", "????.??.??"})
_LICHESS = re.compile(r"(?:https?://)?lichess\.org/(\w{8})(?:\w{4})?(?:/(?:white|black))?(?:#\d+)?$", re.ASCII)
_DATE = re.compile(r"\s*(\d{4}|\?{4})(?:\D(\d{1,2}|\?+))?(?:\D(\d{1,2}|\?+))?")
_FACTS = ("White", "Date", "Result", "Round", "Site")
_RECORD = struct.Struct("<QIBQQ")
_MASK = (1 << 64) - 1


@dataclass(frozen=True)
class Duplicate:
    """A game that occurs again: its number and that of the first, counted from 1, and whose game it is."""

    number: int
    first: int
    white: str
    black: str
    date: str

    def __str__(self) -> str:
        return f"{self.number} = {self.first} ({self.white} - {self.black}{f' {self.date}' if self.date else ''})"


@dataclass
class Duplicates:
    """The games that were left out because they occur again, in order."""

    found: list[Duplicate] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.found)

    def __str__(self) -> str:
        """The sentence for a summary; empty if there is nothing to say.

        >>> print(Duplicates([Duplicate(14, 3, "Elm", "Oak", "2020.01.02")]))
        1 game occurs twice and counts once: 14 = 3 (Elm - Oak 2020.01.02).
        """
        if not self.found:
            return ""
        games = len({each.first for each in self.found})
        often = "twice" if games == len(self.found) else "more than once"
        verbs = ("occurs", "counts") if games == 1 else ("occur", "count")
        listed = ", ".join(str(each) for each in self.found[:_LISTED])
        rest = f" and {len(self.found) - _LISTED:,} more" if len(self.found) > _LISTED else ""
        return f"{games:,} game{'s' * (games != 1)} {verbs[0]} {often} and {verbs[1]} once: {listed}{rest}."


class _Facts(NamedTuple):
    """What must not contradict itself in two copies of a game, as numbers; 0 where it is not known."""

    white: int
    day: int  # yyyymmdd, zeros for what is not known
    result: int
    round: int
    site: int  # only where the site is a game's own address

    def agrees(self, other: _Facts, plies: int) -> bool:
        """Whether two games with the same players and moves are one."""
        if not _same_day(self.day, other.day):
            return False
        if self.site and other.site:
            return self.site == other.site
        return plies >= SHORT or all(
            not a or not b or a == b for a, b in ((self.round, other.round), (self.result, other.result))
        )


@dataclass
class _Meetings:
    """The games without moves of one round between two players, as each file tells them."""

    games: dict[tuple[int, int], list[int]] = field(default_factory=dict)  # numbers by who had White and the result
    told: dict[int, list[tuple[int, int]]] = field(default_factory=dict)  # the same of each file

    def first(self, number: int, facts: _Facts, file: int) -> int:
        """The number of the game of which this one is a copy; its own if it is new."""
        kind = facts.white, facts.result
        games, told = self.games.setdefault(kind, []), self.told.setdefault(file, [])
        if told == [kind]:
            return games[0]
        place = told.count(kind)
        told.append(kind)
        if place == len(games):
            games.append(number)
        return games[place]


def _same_day(one: int, other: int) -> bool:
    """Whether two dates can be the same; what one of them does not tell is left to the other.

    >>> _same_day(20200100, 20200102), _same_day(20200102, 20200103), _same_day(0, 20200103)
    (True, False, True)
    """
    pairs = ((one // 10_000, other // 10_000), (one // 100 % 100, other // 100 % 100), (one % 100, other % 100))
    return one == other or all(not a or not b or a == b for a, b in pairs)


def _day(value: str | None) -> int:
    """A date as a number.

    >>> _day("2020.01.02"), _day("2020.??.??"), _day("????.??.??"), _day(None), _day("yesterday")
    (20200102, 20200000, 0, 0, 0)
    """
    match = _DATE.match(value or "????")
    if not match:
        return 0
    year, month, day = (int(part) if part and part.isdecimal() else 0 for part in match.groups())
    return (year * 100 + month) * 100 + day


def _result(value: str | None) -> int:
    score = score_of(value)
    return 0 if score is None else 1 + round(2 * score)  # one that is not known contradicts none


def _site(value: str | None) -> int:
    """The number of a game's own address on Lichess, where each game has one; other sites say less."""
    match = _LICHESS.match((value or "").strip())
    return _hash(match[1]) if match else 0


def _other(value: str | None) -> int:
    text = (value or "").strip()
    return 0 if text in _UNKNOWN else _hash(text.lower())


def _name(value: str | None) -> int:
    return _hash(text) if (text := plain_name(value or "")) else 0


def _hash(text: str) -> int:
    return xxhash.xxh3_64_intdigest(text.encode("utf-8", "surrogatepass")) or 1


def _mixed(one: Any, other: Any) -> Any:
    """One number out of two, whose order matters; for numbers of Python and arrays of 64 bits alike."""
    word = (one ^ (other + 0x9E3779B97F4A7C15 & _MASK)) * 0xBF58476D1CE4E5B9 & _MASK
    return word ^ word >> 29


_READ: dict[str, Callable[[str | None], int]] = {
    "White": _name,
    "Black": _name,
    "Result": _result,
    "Date": _day,
    "Round": _other,
    "Event": _other,
    "Site": _site,
}
TAGS = tuple(_READ)


def _key(read: Mapping[str, Any], moves: Any, without: Any) -> Any:
    """What two copies of a game have in common, as a number; of one game, or of many in arrays.

    Without moves it is what the games of one round between two players have in common.
    """
    white, black = read["White"], read["Black"]
    swapped = (white > black) & (without != 0)
    key = _mixed(_mixed(white ^ (white ^ black) * swapped, black ^ (white ^ black) * swapped), moves)
    for tag in ("Date", "Round", "Event"):
        key = _mixed(key, read[tag] * without)
    return key


def _can_tell(read: Mapping[str, Any], without: Any) -> Any:
    """Whether the players are known, and, of a game without moves, all that is needed to know it again."""
    told = (read["Date"] % 100 != 0) & (read["Result"] != 0) & (read["Round"] != 0) & (read["Event"] != 0)
    return (read["White"] != 0) & (read["Black"] != 0) & (told | (without == 0))


class Seen:
    """The games seen so far, by their keys; some hundred bytes for each, whatever its length."""

    def __init__(self) -> None:
        self.games = 0
        self.duplicates = Duplicates()
        self._latest: dict[int, int] = {}  # the last of the games with this key
        self._before = array("q")  # the one before it with the same key, -1 for none
        self._numbers = array("q")
        self._facts = bytearray()
        self._meetings: dict[int, _Meetings] = {}
        self._places: dict[int, int] = {}  # where games lie that only this tells

    def add(self, game: Game, number: int | None = None) -> bool:
        """Take the next game; whether it is new. One that is not is noted in `duplicates`.

        `number` is the game's, from 1, where not all games are looked at.
        """
        from assay.games.movetext import fingerprint

        self.games = self.games + 1 if number is None else number
        tags = game.tags
        read = {tag: function(tags.get(tag)) for tag, function in _READ.items()}
        moves, plies = fingerprint(game.data)
        without = int(not moves)
        facts, file = _Facts(*(read[tag] for tag in _FACTS)), _file(game.source)
        there, first = 0, 0
        if game.end_offset and (without or not (read["White"] and read["Black"])):
            there = hash((file, game.start_offset, xxhash.xxh3_64_intdigest(game.data)))
            first = self._places.get(there, 0)
        if not first and not _can_tell(read, without):
            first = self.games
        elif not first and without:
            meetings = self._meetings.setdefault(_key(read, moves, without), _Meetings())
            first = meetings.first(self.games, facts, file)
        elif not first:
            first = self._first(_key(read, moves, without), facts, plies)
        if there:
            self._places[there] = first
        if first != self.games:
            white, black = tags.get("White", "?"), tags.get("Black", "?")
            self.duplicates.found.append(Duplicate(self.games, first, white, black, _shown_date(tags.get("Date"))))
        return first == self.games

    def _first(self, key: int, facts: _Facts, plies: int) -> int:
        """The number of the game of which this is a copy; its own if it is new, and it is remembered."""
        place = latest = self._latest.get(key, -1)
        places = []
        while place >= 0:
            places.append(place)
            place = self._before[place]
        for place in reversed(places):
            if facts.agrees(_Facts(*_RECORD.unpack_from(self._facts, place * _RECORD.size)), plies):
                return self._numbers[place]
        self._latest[key] = len(self._numbers)
        self._before.append(latest)
        self._numbers.append(self.games)
        self._facts += _RECORD.pack(*facts)
        return self.games


@cache
def _file(source: str) -> int:
    """A number for a file, by whatever path it is named."""
    return _hash(realpath(source))


def unique(games: Iterable[Game], seen: Seen | None = None) -> Iterator[Game]:
    """Each game once, in order. Which were left out, `seen.duplicates` says afterwards.

    >>> from assay.games.archives import write_samples
    >>> from assay.games import read
    >>> from tempfile import TemporaryDirectory
    >>> seen = Seen()
    >>> with TemporaryDirectory() as folder:
    ...     path = write_samples(folder)[0]
    ...     len(list(unique([*read(path), *read(path)], seen)))
    6
    >>> len(seen.duplicates)
    6
    """
    known = Seen() if seen is None else seen
    return (game for game in games if known.add(game))


def repeats(
    tags: Mapping[str, Column],
    moves: Numbers,
    plies: Codes,
    look: Callable[[Places], Numbers] | None = None,
    files: Numbers | None = None,
    lies: Numbers | None = None,
) -> Places:
    """For each game of a table the place of the first of which it is a copy; its own place if it is new.

    `tags` are codes and values by tag, as those of :func:`assay.games.read_tags` (see TAGS; what is missing is not
    known); `moves` and `plies` those of :func:`assay.games.movetext.fingerprints`. Where `moves` is UNREAD, `look`
    is asked for it, and only for the games that need it. `files` are numbers of the files that games come from, `lies`
    of their places there (see :func:`places_in`). Every distinct value is looked at once, and only games that
    share players and moves with another are looked at one by one.
    """
    games = len(moves)
    first = np.arange(games) if lies is None else first_there(lies)
    read = {tag: _numbers(tags.get(tag), function, games) for tag, function in _READ.items()}
    without = (plies == 0).astype(np.uint64)
    places = np.flatnonzero(_can_tell(read, without) & (first == np.arange(games)))
    if look is not None and (moves == UNREAD).any():
        keys = _keys(read, plies.astype(np.uint64), without, places)
        places = _worth_a_look(read, *_shared(keys, places))
        unread = places[moves[places] == UNREAD]
        if len(unread):
            moves = moves.copy()
            moves[unread] = look(unread)
    keys, places = _shared(_keys(read, moves, without, places), places)
    facts = [read[tag][places].tolist() for tag in _FACTS]
    whose = np.zeros(len(places), np.uint64) if files is None else files[places]
    seen: dict[int, list[tuple[int, _Facts]]] = {}
    meetings: dict[int, _Meetings] = {}
    for g, key, file, *each in zip(places.tolist(), keys.tolist(), whose.tolist(), *facts, strict=True):
        mine = _Facts(*each)
        if not plies[g]:
            first[g] = meetings.setdefault(key, _Meetings()).first(g, mine, file)
            continue
        known = seen.setdefault(key, [])
        first[g] = next((number for number, other in known if mine.agrees(other, int(plies[g]))), g)
        if first[g] == g:
            known.append((g, mine))
    return first[first]


def places_in(contents: Sequence[str], files: Codes, offsets: Places) -> Numbers:
    """A number for each place, by what the file contains (a hash, empty if unknown) and where in it a game begins."""
    known = np.array([_other(content) for content in contents] + [0], np.uint64)[files]
    return np.where(known != 0, _mixed(known, offsets.astype(np.uint64)), np.uint64(0))


def first_there(lies: Numbers) -> Places:
    """For each game the first that lies in the same place; 0 is a place that is not known.

    >>> first_there(np.array([7, 0, 5, 7, 0, 7], np.uint64))
    array([0, 1, 2, 0, 4, 0])
    """
    first = np.arange(len(lies))
    known = np.flatnonzero(lies)
    _, earliest, which = np.unique(lies[known], return_index=True, return_inverse=True)
    first[known] = known[earliest[which]]
    return first


def may_be_copies(tags: Mapping[str, Column], plies: Codes) -> Places:
    """The games that share both players and length with another, told from the columns White and Black alone.

    What this is for: of a large table little else needs to be read.
    """
    white, black = (_numbers(tags[tag], _name, len(plies)) for tag in ("White", "Black"))
    keys = _mixed(_mixed(np.minimum(white, black), np.maximum(white, black)), plies.astype(np.uint64))
    places = np.flatnonzero((white != 0) & (black != 0))
    return places[shared_keys(keys[places])]


def may_meet_again(tags: Mapping[str, Column], games: int) -> Places:
    """The games that share both players with another, and the day and the address where all of these have one.

    What this is for: only of these need the moves be read.
    """
    read = {tag: _numbers(tags.get(tag), _READ[tag], games) for tag in ("White", "Black", "Date", "Site")}
    white, black = read["White"], read["Black"]
    places = np.flatnonzero((white != 0) & (black != 0))
    keys = _mixed(np.minimum(white, black), np.maximum(white, black))[places]
    return _worth_a_look(read, *_shared(keys, places))


def instead_of_moves(tags: Mapping[str, Column], plies: Codes, places: Places) -> Numbers:
    """What serves in the place of moves that cannot be read: all the rest, equal in two copies only if all is known."""
    read = {tag: _numbers(tags.get(tag), function, len(plies))[places] for tag, function in _READ.items()}
    numbers = plies[places].astype(np.uint64)
    for tag in ("Date", "Round", "Event", "Result"):
        numbers = _mixed(numbers, read[tag])
    told = _can_tell(read, np.ones(len(places), np.uint64))
    return np.where(told, numbers, _mixed(numbers, places.astype(np.uint64) + np.uint64(1)))


def warn_without_moves(why: Exception) -> None:
    """Tell that moves could not be read, and by what copies are known then."""
    warnings.warn(
        f"moves could not be compared: {str(why).rstrip('.')}. Games count once if players, length, result, date, "
        "round and event are all there and equal.",
        AssayWarning,
        stacklevel=3,
    )


def _worth_a_look(read: Mapping[str, Numbers], keys: Numbers, places: Places) -> Places:
    """The games that share more than the key with another: day and address, where all with this key have one."""
    for known, number in ((read["Date"] % 100 != 0, read["Date"]), (read["Site"] != 0, read["Site"])):
        _, group = np.unique(keys, return_inverse=True)
        all_known = np.bincount(group, ~known[places]) == 0
        keys, places = _shared(np.where(all_known[group], _mixed(keys, number[places]), keys), places)
    return places


def _keys(read: Mapping[str, Numbers], moves: Numbers, without: Numbers, places: Places) -> Numbers:
    """The keys of the games in these places."""
    keys: Numbers = _key({tag: column[places] for tag, column in read.items()}, moves[places], without[places])
    return keys


def _shared(keys: Numbers, places: Places) -> tuple[Numbers, Places]:
    """Those of the games whose key another has too, in their order."""
    shared = shared_keys(keys)
    return keys[shared], places[shared]


def shared_keys(keys: Numbers) -> Places:
    """The places of the keys that occur more than once.

    >>> shared_keys(np.array([5, 7, 5, 1], np.uint64))
    array([0, 2])
    """
    in_order = np.sort(keys)
    again = in_order[1:][in_order[1:] == in_order[:-1]]
    twice = again[np.append(True, again[1:] != again[:-1])[: len(again)]]
    if not len(twice):
        return np.empty(0, np.int64)
    at = np.minimum(np.searchsorted(twice, keys), len(twice) - 1)
    return np.flatnonzero(twice[at] == keys)


def duplicates_of(first: Places, tags: Mapping[str, Column], numbers: Places | None = None) -> Duplicates:
    """What :func:`repeats` found, for the summary; `numbers` are the places of the games in a larger table."""
    place = np.arange(len(first)) if numbers is None else numbers

    def value(tag: str, game: int) -> str:
        codes, values = tags.get(tag, ((), ()))
        return (values[codes[game]] or "") if len(codes) and codes[game] >= 0 else ""

    return Duplicates(
        [
            Duplicate(
                int(place[g]) + 1,
                int(place[first[g]]) + 1,
                value("White", g),
                value("Black", g),
                _shown_date(value("Date", g)),
            )
            for g in np.flatnonzero(first != np.arange(len(first))).tolist()
        ]
    )


def _shown_date(value: str | None) -> str:
    return value or "" if _day(value) else ""


def _numbers(column: Column | None, function: Callable[[str | None], int], games: int) -> Numbers:
    """What each game's tag is as a number."""
    if column is None:
        return np.zeros(games, np.uint64)
    codes, values = column
    return np.array([*map(function, values), 0], np.uint64)[codes]
