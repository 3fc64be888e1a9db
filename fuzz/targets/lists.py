"""FIDE's lists: players with an id, a name and a rating, or an InputError; a good player before the damage stays."""

from __future__ import annotations

import zipfile
import zlib

from fuzz.made import scratch

from assay.errors import InputError
from assay.lists.fidelist import KINDS, read_list

_HEAD = f"{'ID Number':15}{'Name':30}{'Fed':4}{'Sex':4}{'Tit':5}{'MAR24':6}{'Gms':4}{'K':3}{'B-day':6}{'Flag':4}\n"
_GOOD = f"{'1503014':15}{'Carlsen, Magnus':30}{'NOR':4}{'M':4}{'GM':5}{'2830':6}{'9':4}{'10':3}{'1990':6}\n"
_XML = (
    "<playerslist><player><fideid>1503014</fideid><name>Carlsen, Magnus</name><country>NOR</country><title>GM</title>"
    "<rating>2830</rating><games>9</games><k>10</k><rapid_rating>2820</rapid_rating><birthday>1990</birthday></player>"
)
SEEDS = (
    b"t"
    + f"{'1300001':15}{'Elm, Ada':30}{'SUI':4}{'F':4}{'WG':5}{'2410':6}{'':4}{'20':3}{'1988':6}{'wi':4}\n".encode(),
    b"x<player><fideid>7</fideid><name>O&apos;Neil</name><rating></rating><blitz_rating>1800</blitz_rating></player>",
    b"h" + (_HEAD + _GOOD).encode(),
    b"zPK\x03\x04" + _HEAD.encode(),
)
WORDS = (
    "<player>",
    "</player>",
    "<fideid>",
    "</fideid>",
    "<rating>9999",
    "1503014",
    "2830",
    "\r\n",
    "\u00fc",
    "&amp;",
    "Fed",
    "MAR24",
    " K ",
)


def check(data: bytes) -> None:
    kind, rest = data[:1], data[1:]
    whole = {b"t": (_HEAD + _GOOD).encode() + rest, b"x": _XML.encode() + rest}.get(kind, rest)
    file = scratch("list_2024-03.txt", whole)
    if zlib.crc32(data) % 50 == 0:  # in a zip it is the same
        with zipfile.ZipFile(file, "w") as archive:
            archive.writestr("list.xml" if kind == b"x" else "list.txt", whole)
    try:
        found = read_list(file)
    except InputError:
        assert kind not in (b"t", b"x"), "a good player is there, and the list is refused"
        return
    rows = found.players.to_dicts()
    assert len({row["fide_id"] for row in rows}) == len(rows), "two players of one id"
    assert all(row["fide_id"] > 0 and row["name"] and any(row[each] for each in KINDS) for row in rows)
    if kind in (b"t", b"x"):
        good = [row for row in rows if row["fide_id"] == 1503014]
        assert good and good[0]["standard"] == 2830 and good[0]["birth"] == 1990, "the good player is gone"
