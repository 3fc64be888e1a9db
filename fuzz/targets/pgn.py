"""The PGN reader: whatever stands between two good games, both come back, and so does every byte of every game."""

from __future__ import annotations

import zlib
from collections import Counter

import numpy as np
from fuzz.made import GAMES, scratch

from assay.games.columns import rows
from assay.games.outcomes import read_outcomes
from assay.games.parse import to_arrays
from assay.games.split import Game, pieces, split, split_piece, splits
from assay.games.stream import Stream

FIRST = b'[Event "first"]\n[White "A"]\n[Black "B"]\n[Result "1-0"]\n\n1. e4 e5 2. Qh5 Ke7 3. Qxe5# 1-0'
LAST = b'[Event "last"]\n[White "C"]\n[Black "D"]\n[Result "0-1"]\n\n1. f3 e5 2. g4 Qh4# 0-1'
ODD = (
    b'[Event "x"]\n[FEN "8/8/8/8/8/8/8/K1k5 w - - 0 1"]\n[SetUp "1"]\n\n1. Ka2 *\n',
    b'[White "Gr\xfcnfeld \\"X\\""]\n[Variant "Chess960"]\n\n1. e4 {[%clk 0:01] [%eval #-3]} e5 (1... c5 {a}) 1/2',
    b'  [Event "indented"]\r\n\r\n1.e4 ; a comment { to the end\r\n% escaped\r\n e5 $1 2. -- 0-1\r\n',
    b'{ never closed [Event "y"]\n\n1. d4 d5 *',
    b"\xef\xbb\xbf1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 1-0\n\n1. c4 *",
    b'[Broken\n[WhiteElo "99999999999"]\n[TimeControl "40/7200:3600"]\n[UTCDate "2024.02.30"]\n\n',
)
SEEDS = (*GAMES[:6], *ODD)
WORDS = (
    "[Event ",
    '[White "',
    '"]\n',
    "\n\n",
    "{",
    "}",
    "(",
    ")",
    "1. e4 ",
    "O-O-O",
    "e8=Q+",
    "$1",
    ";",
    "\n%",
    "*",
    "1/2-1/2",
)


def check(data: bytes) -> None:
    text = FIRST + b"\n\n" + data + b"\n\n" + LAST + b"\n"
    part = split(text)
    games = [Game("-", a, b, text[a:b]) for a, b in zip(part.starts.tolist(), part.ends.tolist(), strict=True)]
    ends = 0
    for game in games:
        assert ends <= game.start_offset < game.end_offset <= len(text), "games overlap or leave the file"
        assert not game.data[-1:].isspace(), "white space behind a game"
        ends = game.end_offset
    assert games[0].data.startswith(FIRST), "the good game before the damage is gone"
    assert games[-1].data.endswith(LAST), "the good game behind the damage is gone"
    assert games[-1].tags["White"] == "C", "its tags are gone"
    # What reads the file again costs up to fifty times as much: each way sees some of the cases.
    ways = {0: _same_in_blocks, 1: _same_in_an_index, 2: _same_in_arrays, 3: _same_in_results}
    if way := ways.get(zlib.crc32(data) % 80):
        way(games, scratch("games.pgn", text))


def _same_in_blocks(games: list[Game], file: str) -> None:
    """A file holds the same games whether it is read at once or in small blocks."""
    for block in (games[-1].end_offset // 3, 1 << 20):
        found = []
        with Stream(file) as stream:
            for piece in pieces(stream, block=block):
                part = split_piece(piece, Counter())
                found += [(part.base + int(a), part.base + int(b)) for a, b in zip(part.starts, part.ends, strict=True)]
        assert found == [(game.start_offset, game.end_offset) for game in games], "blocks change the games"


def _same_in_an_index(games: list[Game], file: str) -> None:
    """An index has a row for each game, and tags that say the same."""
    with Stream(file) as stream:
        batches = [rows(part, file, Counter()) for part in splits(stream)]
    for batch in batches:
        batch.validate(full=True)  # columns are laid over the bytes of the file: no offset may lead outside
    found = [row for batch in batches for row in batch.to_pylist()]
    assert [(row["start_offset"], row["end_offset"]) for row in found] == [
        (game.start_offset, game.end_offset) for game in games
    ]
    assert (found[-1]["white"], found[-1]["black"]) == ("C", "D") and found[-1]["plies"] >= 4
    if games[0].data == FIRST:
        assert (found[0]["white"], found[0]["result"], found[0]["plies"]) == ("A", "1-0", 5)


def _same_in_arrays(games: list[Game], file: str) -> None:
    """Every game is valid or has a reason; the good ones are valid, and their plies are right."""
    arrays = to_arrays(games, threads=1)
    assert len(arrays.valid) == len(games) == len(arrays.reason)
    assert all(bool(why) != bool(good) for why, good in zip(arrays.reason, arrays.valid, strict=True))
    lengths = np.diff(arrays.offsets)
    assert (lengths[~arrays.valid] == 0).all() and lengths.sum() == arrays.plies
    if games[0].data == FIRST:
        assert arrays.valid[0] and lengths[0] == 5
    if games[-1].data == LAST:
        assert arrays.valid[-1] and lengths[-1] == 4


def _same_in_results(games: list[Game], file: str) -> None:
    """Who reads results alone meets the same players; of games without tags only the thorough reader knows."""
    found = read_outcomes([file])
    assert len(found.outcome) <= len(games) and set("ABCD") <= set(found.players)
