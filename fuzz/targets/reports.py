"""Tournament reports: a report or an InputError; every game is one that both players report, and reads back as PGN."""

from __future__ import annotations

from assay.errors import InputError
from assay.games.completing import Completer, Remarks
from assay.games.split import split
from assay.games.trf import PLAYED, parse_trf, tags_of, written
from assay.printable import decode


def line(number: int, name: str, rating: str, rounds: str) -> str:
    """A line of a player."""
    return f"001 {number:4} m GM {name:33} {rating:>4} SUI {1300000 + number:11} 1990/02/03  1.0 {number:4}{rounds}"


_TWO = "\r\n".join(
    (
        "012 Open",
        "042 2026/01/10",
        "132" + " " * 88 + "26/01/10  26/01/11",
        line(1, "Elm, Ada", "2400", "     2 w 1     2 b ="),
        line(2, "Oak, Bob", "2200", "     1 b 0     1 w ="),
    )
)
_ODD = "\n".join(
    (line(1, "Ash", "", "  0000 - U     3 w +"), line(3, "Fir", "19x0", "     1 b -  0000 - H"), "013 Team")
)
SEEDS = (_TWO.encode(), _ODD.encode(), (_TWO + "\r\n240 H 003  001\r\n310   1 Team\r\n### x\r\nXXR 9").encode("utf-16"))
WORDS = (
    "001 ",
    "012 ",
    "132 ",
    "  0000 - Z",
    "     2 w 1",
    "     1 b 0",
    " + ",
    " = ",
    "\r\n",
    "9999",
    "\u00fc",
    "2026/01/10",
    "   1 b L",
)


def check(data: bytes) -> None:
    try:
        found = parse_trf(decode(data))
    except InputError:
        return
    for game in found.games:
        mine = [each for each in found.players[game.white].pairings if each.round == game.round]
        theirs = [each for each in found.players[game.black].pairings if each.round == game.round]
        assert game.white != game.black and mine[0].opponent == game.black and theirs[0].opponent == game.white
        assert PLAYED[mine[0].code] == game.result, "another result than White reports"
        text = f"{written(tags_of(found, game))}\n".encode()
        assert len(split(text)) == 1, "it does not read back as one game"
    assert sum(found.problems.values()) == len(found.named), "something is counted and not named"
    completer, remarks = Completer(found), Remarks()
    for game in found.games:
        tags = tags_of(found, game)
        if completer.knows(tags):
            completer.complete({"White": tags["White"], "Black": tags["Black"]}, remarks)
    assert all(isinstance(each, str) for each in remarks)
