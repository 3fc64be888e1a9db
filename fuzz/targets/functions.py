"""The functions that people call, on games and tables that nobody vouches for: an answer that can be read, or a reason.

The first byte says which function: `rate` (by results, and by evaluations in the games), `match`, `rate_over_time`,
`event`, `review`, `players`, tables of results, and positions for `chances`. Good games stand about the case.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fuzz.made import scratch

import assay
from assay.api import players
from assay.errors import AssayError, AssayWarning
from assay.games import read
from assay.policy.chances import keys_of, read_spots
from assay.printable import spreadsheet
from assay.table import Answer

_EVALS = "1. e4 { [%eval 0.3] } e5 { [%eval 0.2] } 2. Qh5 { [%eval -0.4] } Ke7 { [%eval #1] } 3. Qxe5# 1-0"


def _game(white: str, black: str, result: str = "1-0", moves: str = _EVALS, **tags: object) -> str:
    """A game of people rated 1800 in a Lichess tournament."""
    known = {"Event": "E", "Site": "https://lichess.org/abcd", "Date": "2022.03.04", "Round": "1", "White": white}
    known |= {"Black": black, "Result": result, "WhiteElo": "1800", "BlackElo": "1810", "TimeControl": "600+0"}
    return "".join(f'[{tag} "{text}"]\n' for tag, text in (known | tags).items()) + f"\n{moves}\n"


FIRST, LAST = (
    _game("Ann", "Bob").encode(),
    _game("Bob", "Ann", "0-1", "1. f3 e5 2. g4 Qh4# 0-1", Date="2022.05.06").encode(),
)
_ROWS = "white,black,result,white_elo,date\nAnn,Bob,1-0,2000,2020-01-02\nBob,Cid,.5,,\n=1+1,<b>x</b>,W,x,\n"
_SPOTS = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n8/8/8/8/8/8/8/K1k5 b - - 0 1\n"
_BODY = _game("Cid", "Ann", "1/2-1/2", Round="3.2", Date="????.??.??").encode()
SEEDS = (
    *(bytes([kind]) + _BODY for kind in range(7)),
    b"\x07" + _ROWS.encode(),
    b"\x08" + _SPOTS.encode(),
    b"\x00" + _game("=HYPERLINK(1)", "\x1b]0;x\x07<script>", WhiteElo="9999999", Termination="time forfeit").encode(),
)
WORDS = (
    '[White "', '[WhiteElo "', '[Date "', '[Round "', '[Result "', '"]\n', "\n\n", "{ [%eval ", "#-1] }", "*", "1/2",
    "0-0", "9999.99.99", "0000.00.00", "\x1b[2J", "=cmd|", "<b>", "nan", "1e308", "-1", ",", "\u202e",
    "/8/8/", " w ", "KQkq",
)  # fmt: skip
_ACTS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


def check(data: bytes) -> None:
    kind, rest = data[0] % len(_CHECKS) if data else 0, data[1:]
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", AssayWarning)
            _CHECKS[kind](rest)
    except AssayError as error:
        assert str(error).strip(), "an error without a sentence"


def _readable(answer: Answer) -> None:
    """Text that acts on no terminal, CSV that acts in no spreadsheet, JSON without numbers that are none."""
    assert not _ACTS.search(str(answer)), "the text acts on a terminal"
    for row in csv.reader(io.StringIO(answer.to("csv"))):
        assert all(cell == spreadsheet(cell) or _number(cell) for cell in row), "a cell acts as a formula"
    json.loads(answer.to("json"), parse_constant=_refuse)
    for name in answer:
        estimate = answer[name]
        assert not math.isnan(estimate.low) and not math.isnan(estimate.high), "an interval with an end that is none"


def _number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False


def _refuse(word: str) -> Any:
    raise AssertionError(f"{word} in JSON")


def _among(data: bytes) -> str:
    return scratch("games.pgn", FIRST + b"\n" + data + b"\n\n" + LAST)


def _rate(data: bytes) -> None:
    _readable(assay.rate(_among(data), witness=["results"]))


def _evals(data: bytes) -> None:
    _readable(assay.rate(_among(data), witness=["results", "moves"], evals=True))


def _match(data: bytes) -> None:
    _readable(assay.match(_among(data), players=("Ann", "Bob"), sprt=(0, 5)))


def _over_time(data: bytes) -> None:
    # How fast players change is looked for in some of the cases: that takes ten fits.
    known: dict[str, float] = {} if len(data) % 8 == 0 else {"walk": 12.0, "newcomers": 250.0}
    _readable(assay.rate_over_time(_among(data), by="month", **known))


def _event(data: bytes) -> None:
    _readable(assay.event(_among(data)))


def _review(data: bytes) -> None:
    _readable(assay.review(_among(data), game=2, evals=True))


def _players(data: bytes) -> None:
    _readable(players(_among(data)))


def _table(data: bytes) -> None:
    file = scratch("table.csv", data)
    given = read(file)
    for game in given:
        assert game.data.strip()
    _readable(assay.rate_results(file))


def _spots(data: bytes) -> None:
    spots = read_spots(Path(scratch("spots.fen", data)))
    assert len(keys_of([spot.fen for spot in spots])) == len(spots)


_CHECKS: tuple[Callable[[bytes], None], ...] = (
    _rate, _evals, _match, _over_time, _event, _review, _players, _table, _spots,
)  # fmt: skip
