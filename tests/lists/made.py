"""FIDE's lists made up for tests: text by columns, XML, zip."""

from __future__ import annotations

import zipfile
from collections.abc import Iterable
from pathlib import Path

STANDARD = (
    f"{'ID Number':15}{'Name':61}{'Fed':4}{'Sex':4}{'Tit':5}{'WTit':5}{'OTit':15}{'FOA':4}{'MAR24':6}{'Gms':4}{'K':3}"
    f"{'B-day':6}{'Flag':4}"
)
COMBINED = (
    f"{'ID Number':15}{'Name':61}{'Fed':4}{'Sex':4}{'Tit':5}{'WTit':5}{'OTit':15}{'FOA':4}{'SRtng':6}{'SGm':4}{'SK':3}"
    f"{'RRtng':6}{'RGm':4}{'Rk':3}{'BRtng':6}{'BGm':4}{'BK':3}{'B-day':6}{'Flag':4}"
)
OLD = f"{'ID number':10}{'Name':33}{'Titl':5}{'Fed':5}{'Jul06':7}{'Games':6}{'Born':6}{'Flag':4}"
Player = dict[str, object]

PEOPLE: list[Player] = [
    {"id": 1300001, "name": "Elm, Ada", "fed": "SUI", "title": "GM", "standard": 2410, "games": 9, "k": 10,
     "born": 1990, "rapid": 2390, "blitz": 2350},
    {"id": 1300002, "name": "Oak, Bob", "fed": "GER", "title": "FM", "standard": 2205, "k": 20, "born": 1980},
    {"id": 1300003, "name": "Ash, Cy", "fed": "FRA", "title": "", "standard": 1950, "k": 40, "born": 2010},
    {"id": 1300004, "name": "Fir, Dee", "fed": "ITA", "title": "", "standard": 1800, "k": 20, "born": 1970},
    {"id": 1300005, "name": "Fir, Dee", "fed": "ESP", "title": "", "standard": 1700, "k": 20, "born": 1975},
    {"id": 1300006, "name": "Yew, Una", "fed": "SUI", "title": "", "born": 2001, "flag": "i"},
]  # fmt: skip


def _of(player: Player, name: str) -> str:
    return str(player.get(name, "") or "")


def standard(people: Iterable[Player] = PEOPLE, head: str = STANDARD, kind: str = "standard") -> str:
    """A list of one kind as text."""
    lines = [
        f"{_of(p, 'id'):15}{_of(p, 'name'):61}{_of(p, 'fed'):4}{'M':4}{_of(p, 'title'):5}{'':5}{'':15}{'':4}"
        f"{_of(p, kind):6}{_of(p, 'games'):4}{_of(p, 'k'):3}{_of(p, 'born'):6}{_of(p, 'flag'):4}"
        for p in people
    ]
    return "\r\n".join([head, *lines]) + "\r\n"


def combined(people: Iterable[Player] = PEOPLE) -> str:
    """A list of all three kinds as text."""
    lines = [
        f"{_of(p, 'id'):15}{_of(p, 'name'):61}{_of(p, 'fed'):4}{'M':4}{_of(p, 'title'):5}{'':5}{'':15}{'':4}"
        f"{_of(p, 'standard'):6}{_of(p, 'games'):4}{_of(p, 'k'):3}{_of(p, 'rapid'):6}{'':4}{'20':3}{_of(p, 'blitz'):6}"
        f"{'':4}{'20':3}{_of(p, 'born'):6}{_of(p, 'flag'):4}"
        for p in people
    ]
    return "\n".join([COMBINED, *lines]) + "\n"


def xml(people: Iterable[Player] = PEOPLE) -> str:
    """A combined list as XML."""
    tags = {
        "fideid": "id", "name": "name", "country": "fed", "sex": "sex", "title": "title", "rating": "standard",
        "games": "games", "k": "k", "rapid_rating": "rapid", "blitz_rating": "blitz", "birthday": "born",
        "flag": "flag",
    }  # fmt: skip
    players = [
        "<player>\n" + "".join(f"<{tag}>{_of(p, name)}</{tag}>\n" for tag, name in tags.items()) + "</player>\n"
        for p in people
    ]
    return '<?xml version="1.0"?>\n<playerslist>\n' + "".join(players) + "</playerslist>\n"


def zipped(path: Path, name: str, text: str) -> Path:
    """A list in a zip."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, text)
    return path
