"""The small files of `assay results`: anchors, priors, relations, synonyms, names, lists and columns.

The first byte says which switch gets the file, so that one corpus serves all of them.
"""

from __future__ import annotations

import atexit
import math
import os
import warnings
import zlib
from contextlib import redirect_stderr, redirect_stdout

import click
from fuzz.made import FOLDER, scratch

from assay.cli.results import results
from assay.errors import AssayError, AssayWarning
from assay.players import number, read_list, read_rows, read_start

SWITCHES = ("-m", "-y", "-r", "-Y", "-i", "-x", "-b", "--start", "-P")
FILES = {
    "-m": '"Ash",2400\n"Birch",2300\n',
    "-y": '"Ash",2400,20\nCedar, 2100 ,10.5\n',
    "-r": '"Ash","Birch",100,30\n',
    "-Y": '"Ash","Ash 2","A. Sh"\nBirch,B\n',
    "-i": "Ash\nBirch\nCedar\nDale\n",
    "-x": '"Fir"\nNobody\n',
    "-b": '0,8,"Rank"\n1,20,"Name"\n2,9,"Elo"\n',
    "--start": '"#","PLAYER","RATING"\n1,"Ash",2512.5\n2,"Birch",2400\n',
    "-P": '"games.pgn"\nother.pgn\n',
}
# Of the files of rows: how many names and numbers they have.
_COLUMNS = {"-m": (1, 1), "-y": (1, 2), "-r": (2, 2), "-Y": (1, 0), "-i": (1, 0), "-x": (1, 0), "-b": (0, 2)}
SEEDS = tuple(bytes([number]) + FILES[switch].encode() for number, switch in enumerate(SWITCHES))
WORDS = (
    "Ash",
    "Birch",
    "Cedar",
    ",",
    '"',
    '""',
    "\n",
    "nan",
    "inf",
    "-1e999",
    "1e-320",
    "0",
    "\ufeff",
    "\0",
    "1/2-1/2",
    '[White "',
)

_PLAYERS = ("Ash", "Birch", "Cedar", "Dale")
_GAMES = "".join(
    f'[White "{white}"]\n[Black "{black}"]\n[Result "{result}"]\n\n{result}\n\n'
    for white in _PLAYERS
    for black, result in zip(_PLAYERS, ("1-0", "1/2-1/2", "0-1", "*"), strict=True)
    if white != black
)
_NOWHERE = open(os.devnull, "w")  # noqa: SIM115, PTH123 - open as long as the fuzzing lasts
atexit.register(_NOWHERE.close)


def check(data: bytes) -> None:
    switch = SWITCHES[data[0] % len(SWITCHES)] if data else "-m"
    file = scratch("file.csv", data[1:])
    if switch == "-P":
        with_sentence(lambda: read_list(file))  # and no more: its lines may name any file of this machine
        return
    if zlib.crc32(data) % 24:  # a rating costs twenty times as much as its files
        with_sentence(lambda: _parse(switch, file))
        return
    games = scratch("games.pgn", _GAMES.encode())
    out = FOLDER / "list.csv"
    out.unlink(missing_ok=True)
    with_sentence(lambda: results.main(["-q", "-c", str(out), switch, file, "-p", games], standalone_mode=False))
    if out.exists() and switch != "-b":  # which may rename the columns
        for name, rating in read_start(out).items():
            assert math.isfinite(rating), f"{name} has the rating {rating}"


def _parse(switch: str, file: str) -> None:
    """Read a file as its switch would."""
    if switch == "--start":
        assert all(map(math.isfinite, read_start(file).values()))
    else:
        names, numbers = _COLUMNS[switch]
        for line, cells in read_rows(file, names + numbers):
            values = [number(file, line, cell) for cell in cells[names : names + numbers]]
            assert len(values) == numbers and all(map(math.isfinite, values))


def with_sentence(call: object) -> None:
    """Run something; only an AssayError, or what click says of wrong usage, may come out."""
    assert callable(call)
    try:
        with warnings.catch_warnings(), redirect_stdout(_NOWHERE), redirect_stderr(_NOWHERE):
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", AssayWarning)
            call()
    except (AssayError, click.ClickException):
        pass
