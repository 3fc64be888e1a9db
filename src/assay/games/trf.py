"""FIDE's tournament report files, TRF16 and TRF-2026: players, pairings and results by fixed columns.

https://handbook.fide.com/files/handbook/TRF26.pdf and C.04 Annex 2 (TRF16). Lines that are broken are counted by
reason and named; forfeits, byes and rounds that were not played are no games.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import field
from pathlib import Path

from assay.errors import InputError
from assay.paths import File, note_input, shown
from assay.printable import decode
from assay.records import dataclass

SUFFIXES = (".trf", ".trfx")
# What White scored where a game was played, by the code in White's line.
PLAYED = {"1": "1-0", "=": "1/2-1/2", "0": "0-1"}
UNPLAYED = {
    "+": "a forfeit",
    "-": "a forfeit",
    "H": "a bye",
    "F": "a bye",
    "U": "a bye",
    "Z": "not paired",
    "W": "shorter than one move",
    "D": "shorter than one move",
    "L": "shorter than one move",
}
_WORTH = {
    "1": 1.0,
    "=": 0.5,
    "0": 0.0,
    "+": 1.0,
    "-": 0.0,
    "H": 0.5,
    "F": 1.0,
    "U": 1.0,
    "Z": 0.0,
    "W": 1.0,
    "D": 0.5,
    "L": 0.0,
}
_MIRROR = {"1": "0", "0": "1", "=": "=", "+": "-", "-": "+", "W": "L", "L": "W", "D": "D"}
_TITLES = {"g": "GM", "m": "IM", "f": "FM", "c": "CM", "wg": "WGM", "wm": "WIM", "wf": "WFM", "wc": "WCM"}
_KNOWN_TITLES = frozenset({"GM", "IM", "FM", "CM", "WGM", "WIM", "WFM", "WCM"})
_HEAD = {
    "012": "name",
    "022": "city",
    "032": "federation",
    "042": "start",
    "052": "end",
    "122": "time",
    "222": "control",
}
# Records that are known and say nothing of results of games.
_OTHER = re.compile(
    r"0[0-9]2|1[0-9]2|2[0-9]2|3[0-9]2|013|240|250|260|299|300|310|320|330|801|802|XX[A-Z]|BB[A-Z]|DAT|###"
)
_FEDERATION_RECORD = re.compile(r"[A-Z]{3}")
_LONGEST = 1 << 20
_MOST_BYTES = 64 << 20
_MOST_ROUNDS = 999
BROKEN = "a player's line that is broken"
ONE_SIDE = "a game that only one of the two reports"
DIFFER = "a game that the two report differently"


@dataclass(frozen=True)
class Scheduled:
    """One round of one player: the opponent's number (0 for none), the colour, and the code of the result."""

    round: int
    opponent: int
    white: bool | None
    code: str

    @property
    def points(self) -> float:
        """What it was worth."""
        return _WORTH[self.code]


@dataclass(frozen=True)
class Registered:
    """A player as the report has it; what it does not say is None."""

    number: int
    name: str
    sex: str | None
    title: str | None
    rating: int | None
    federation: str | None
    fide_id: int | None
    birth: int | None  # the year
    points: float | None
    rank: int | None
    pairings: tuple[Scheduled, ...]


@dataclass(frozen=True)
class PlayedGame:
    """A game that was played: the numbers of the players, the round, and the result."""

    round: int
    white: int
    black: int
    result: str


@dataclass(frozen=True)
class Tournament:
    """What a report says; `problems` counts lines that could not be used, `unplayed` what is no game, by reason."""

    source: str
    players: Mapping[int, Registered]
    games: tuple[PlayedGame, ...]
    rounds: int
    dates: Mapping[int, str]  # by round, as PGN writes them
    name: str = ""
    city: str = ""
    federation: str = ""
    start: str = ""
    end: str = ""
    time: str = ""
    control: str = ""
    problems: Counter[str] = field(default_factory=Counter)
    unplayed: Counter[str] = field(default_factory=Counter)
    named: tuple[str, ...] = ()  # what was wrong, line by line

    def date_of(self, round: int) -> str:
        """The day of a round, as PGN writes it."""
        return self.dates.get(round) or self.start or "????.??.??"


def is_trf(name: str | Path) -> bool:
    """Whether a file is a report, by its name, or by how it begins if it is called .txt.

    >>> is_trf("open.trf"), is_trf("games.pgn")
    (True, False)
    """
    text = str(name).lower()
    if text.endswith(SUFFIXES):
        return True
    if not text.endswith(".txt"):
        return False
    try:
        with Path(name).open("rb") as file:
            head = file.read(4096)
    except OSError:
        return False
    return re.search(rb"(?m)^(?:012|001) ", head) is not None


def read_trf(path: File, *, name: str | None = None) -> Tournament:
    """Read a report; :class:`~assay.errors.InputError` if there is no player in it."""
    place = Path(path)
    try:
        if place.stat().st_size > _MOST_BYTES:
            raise InputError(f"{path} is too large for a tournament report ({_MOST_BYTES >> 20} MB at most).")
        data = place.read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    note_input(place)
    return parse_trf(decode(data), name or shown(place))


def parse_trf(text: str, source: str = "the report") -> Tournament:
    """What the text of a report says.

    >>> line = "001    1 mGM  Kasparov, Garry                   2851 RUS     4100018 1963/04/13  1.0    1     2 w 1"
    >>> other = "001    2 wGM  Polgar, Judit                     2735 HUN      700070 1976/07/23  0.0    2     1 b 0"
    >>> found = parse_trf("012 Linares\\n" + line + "\\n" + other)
    >>> found.games, found.players[1].fide_id
    ((PlayedGame(round=1, white=1, black=2, result='1-0'),), 4100018)
    """
    problems: Counter[str] = Counter()
    named: list[str] = []
    head: dict[str, str] = {}
    players: dict[int, Registered] = {}
    dates: dict[int, str] = {}
    for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), 1):
        line = line.rstrip("\r\n\0 ")
        if not line.strip():
            continue
        kind = line[:3]
        try:
            if len(line) > _LONGEST:
                raise _BadLineError("a line that is far too long")
            if kind == "001":
                player = _player(line)
                if player.number in players:
                    raise _BadLineError("a number that two players have")
                players[player.number] = player
            elif kind == "132":
                dates |= _dates(line)
            elif kind in _HEAD:
                head.setdefault(_HEAD[kind], line[4:].strip())
            elif not (_OTHER.fullmatch(kind) or _FEDERATION_RECORD.fullmatch(kind)):
                raise _BadLineError("a line of no known kind")
        except _BadLineError as error:
            problems[str(error)] += 1
            named.append(f"line {number}: {error}")
    if not players:
        why = f" ({', '.join(problems)})" if problems else ""
        raise InputError(f"{source} is no tournament report: it has no line of a player (001){why}.")
    games, unplayed = _games(players, problems, named)
    return Tournament(
        source=source,
        players=players,
        games=tuple(games),
        rounds=max((pairing.round for player in players.values() for pairing in player.pairings), default=0),
        dates=dates,
        problems=problems,
        unplayed=unplayed,
        named=tuple(named),
        **head | {name: _date(head[name]) for name in ("start", "end") if name in head},
    )


class _BadLineError(Exception):
    """A line that cannot be used."""


def _player(line: str) -> Registered:
    number = _number(line[4:8])
    if not number:
        raise _BadLineError("a player without a number")
    name = " ".join(line[14:47].split())
    if not name:
        raise _BadLineError("a player without a name")
    title = line[10:13].strip()
    title = _TITLES.get(title.lower(), title.upper())
    return Registered(
        number=number,
        name=name,
        sex=line[9:10].strip().lower() or None,
        title=title if title in _KNOWN_TITLES else None,
        rating=_number(line[48:52]) or None,
        federation=line[53:56].strip().upper() or None,
        fide_id=_number(line[57:68]) or None,
        birth=_year(line[69:79]),
        points=_points(line[80:84]),
        rank=_number(line[85:89]) or None,
        pairings=tuple(_pairings(line)),
    )


def _pairings(line: str) -> Iterator[Scheduled]:
    for round in range(1, min((len(line) - 91 + 9) // 10, _MOST_ROUNDS) + 1):
        cell = line[91 + 10 * (round - 1) : 99 + 10 * (round - 1)].ljust(8)
        if not cell.strip():
            continue
        opponent, colour, code = cell[:4].strip(), cell[5].lower(), cell[7].upper()
        code = "Z" if code == " " else code
        if (opponent and not _is_number(opponent)) or colour not in "wb- " or code not in _WORTH:
            raise _BadLineError(BROKEN)
        yield Scheduled(round, int(opponent or 0), {"w": True, "b": False}.get(colour), code)


def _games(
    players: Mapping[int, Registered], problems: Counter[str], named: list[str]
) -> tuple[list[PlayedGame], Counter[str]]:
    """The games that both players report alike, in the order of rounds and of the players; and what is none."""
    unplayed: Counter[str] = Counter()
    games: list[PlayedGame] = []
    by_round = {(player.number, pairing.round): pairing for player in players.values() for pairing in player.pairings}
    seen: set[tuple[int, int]] = set()
    for (number, round), mine in sorted(by_round.items(), key=lambda item: (item[0][1], item[0][0])):
        if (number, round) in seen:
            continue
        theirs = by_round.get((mine.opponent, round)) if mine.opponent else None
        if theirs is not None and theirs.opponent == number:
            seen.add((mine.opponent, round))
        if mine.code in UNPLAYED:
            unplayed[UNPLAYED[mine.code]] += 1
            continue
        who = f"round {round}, {players[number].name}"
        if theirs is None or theirs.opponent != number or mine.opponent == number:
            problems[ONE_SIDE] += 1
            named.append(f"{who}: {ONE_SIDE}")
        elif theirs.code != _MIRROR[mine.code] or mine.white is None or theirs.white == mine.white:
            problems[DIFFER] += 1
            named.append(f"{who}: {DIFFER}")
        else:
            white, black, code = (
                (number, mine.opponent, mine.code) if mine.white else (mine.opponent, number, theirs.code)
            )
            games.append(PlayedGame(round, white, black, PLAYED[code]))
    return games, unplayed


def _dates(line: str) -> dict[int, str]:
    found = {}
    for round in range(1, min((len(line) - 91 + 9) // 10, _MOST_ROUNDS) + 1):
        if date := _date(line[91 + 10 * (round - 1) : 101 + 10 * (round - 1)]):
            found[round] = date
    return found


def _date(text: str) -> str:
    """A day as PGN writes it; nothing if it is none.

    >>> _date("24/03/09"), _date("2024/03/09"), _date("09.03.2024"), _date("soon")
    ('2024.03.09', '2024.03.09', '2024.03.09', '')
    """
    parts = re.findall(r"\d+", text)[:3]
    if len(parts) < 3:
        return ""
    if len(parts[2]) == 4:
        parts = parts[::-1]
    year, month, day = (int(part[:6]) for part in parts)
    year += 2000 if year < 100 else 0
    return f"{year:04}.{month:02}.{day:02}" if 1 <= month <= 12 and 1 <= day <= 31 and 1850 < year < 2200 else ""


def _year(text: str) -> int | None:
    found = re.search(r"\d{4}", text)
    return int(found[0]) if found and 1850 < int(found[0]) < 2200 else None


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal()


def _number(text: str) -> int:
    """A number, or 0 where there is none."""
    text = text.strip()
    if not text:
        return 0
    if not _is_number(text):
        raise _BadLineError(BROKEN)
    return int(text)


def _points(text: str) -> float | None:
    text = text.strip().replace(",", ".")
    return float(text) if re.fullmatch(r"\d{1,4}(?:\.\d)?", text) else None


def tags_of(tournament: Tournament, game: PlayedGame) -> dict[str, str]:
    """What the report says of a game, as the tags of PGN."""
    tags = {
        "Event": tournament.name or "?",
        "Site": " ".join(filter(None, [tournament.city, tournament.federation])) or "?",
        "Date": tournament.date_of(game.round),
        "Round": str(game.round),
        "White": tournament.players[game.white].name,
        "Black": tournament.players[game.black].name,
        "Result": game.result,
    }
    for side, number in (("White", game.white), ("Black", game.black)):
        player = tournament.players[number]
        said = {
            "Elo": player.rating,
            "Title": player.title,
            "FideId": player.fide_id,
            "Fed": player.federation,
            "BirthYear": player.birth,
        }
        tags |= {f"{side}{name}": str(value) for name, value in said.items() if value is not None}
    if control := tournament.control or tournament.time:
        tags["TimeControl"] = control
    return tags


def written(tags: Mapping[str, str], movetext: str = "") -> str:
    r"""A game as PGN.

    >>> print(written({"White": 'O"Neil', "Result": "1-0"}))
    [White "O\"Neil"]
    [Result "1-0"]
    <BLANKLINE>
    1-0
    """
    lines = [f'[{name} "{_quoted(value)}"]' for name, value in tags.items()]
    return "\n".join([*lines, "", movetext or tags.get("Result", "*")])


def _quoted(value: str) -> str:
    plain = "".join(c if c.isprintable() else " " for c in value)
    return plain.replace("\\", "\\\\").replace('"', '\\"')
