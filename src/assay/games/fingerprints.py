"""One number for the moves of a game, the same however they are written: of one game, or of many at once.

Comments, variations, numbers, NAGs, marks for checks and captures do not count, nor whether a piece is named by its
file where that is not needed: of a move its piece, the square that it goes to and what a pawn becomes are kept, so that
"12. Nbxd7+!" and "Nd7" are the same move. No board is set up; a position in the FEN tag counts like one more move.

The number is the sum of a hash of each move times the multiplier of its ply, all modulo 2^64 (Carter and Wegman's
multilinear hashing, JCSS 18, 1979). For many games it is taken from the bytes where they lie. The distinct words of all
games are few: a table says what each is worth, so that both ways read a word with the same function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from assay.games.lines import same, words_at
from assay.games.plies import Movetext, main_line
from assay.games.reader import Game
from assay.games.split import Split, split

Keys = npt.NDArray[np.uint64]

_TAGS = re.compile(rb"\s*(?:\[[A-Za-z0-9][^\n]*(?:\n\s*|$))*")
_WORD = re.compile(rb"(?<=[\0-,.}])(?=([A-Za-z0][^\0- ]{1,7}))")
_MOVE = re.compile(r"([KQRBN]?)([a-h]?)[1-8]?[x:-]?([a-h])([1-8])=?([QRBN]?)|([O0]-[O0](?:-[O0])?)")
_FEN = re.compile(rb'^[ \t]*\[FEN "([^\n]*)"', re.MULTILINE)
_START = b"rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w"
_MASK = (1 << 64) - 1
_LONGEST = 1 << 12  # plies; what follows has the multipliers of the beginning again
_BITS = 16
_MIX = np.uint64(0x9E3779B97F4A7C15)


class Fingerprints(NamedTuple):
    """The number of the moves of each game, 0 where there are none, and how many moves it is made of."""

    keys: Keys
    plies: npt.NDArray[np.int32]


def _multipliers() -> Keys:
    """Odd numbers without a pattern, one a ply (Steele, Lea and Flood's SplitMix, OOPSLA 2014)."""
    word = np.arange(1, _LONGEST + 1, dtype=np.uint64) * _MIX
    word = (word ^ (word >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    word = (word ^ (word >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return (word ^ (word >> np.uint64(31))) | np.uint64(1)


_MULTIPLIERS = _multipliers()
_EACH = _MULTIPLIERS.tolist()


@lru_cache(maxsize=1 << _BITS)
def worth(word: bytes) -> int:
    """The hash of a move by its first eight bytes, 0 for what is none.

    >>> worth(b"Nbxd7+!") == worth(b"Nd7"), worth(b"exd8=Q+") == worth(b"cxd8=Q"), worth(b"Novelty")
    (True, False, 0)
    """
    match = _MOVE.match(word.decode("latin-1"))
    if not match:
        return 0
    piece, from_file, file, rank, becomes, castles = match.groups()
    # Whose pawn captures is always written; which of two pieces moves, sometimes where it is not needed.
    captures = from_file if not piece and from_file != file else ""
    move = castles.replace("0", "O") if castles else f"{piece}{captures}{file}{rank}{becomes}"
    return xxhash.xxh3_64_intdigest(move.encode()) or 1


def _set_up(fen: bytes) -> int:
    """The hash of a position to start from, 0 for the usual one."""
    board = b" ".join(fen.split()[:2])
    return 0 if board in (b"", _START) else xxhash.xxh3_64_intdigest(board)


def fingerprint(game: bytes) -> tuple[int, int]:
    """The number of the moves of one game, 0 if it has none, and how many they are.

    >>> fingerprint(b'[White "Elm"]\\n\\n1. e4 {best} e5 (1... c5) 2. Nf3+! *') == fingerprint(b"1.e4 e5 2.Nf3 1-0")
    True
    """
    tags = _TAGS.match(game)
    total = plies = 0
    for word in _WORD.findall(b" " + main_line(game[tags.end() if tags else 0 :])):
        if value := worth(word):
            total += value * _EACH[plies % _LONGEST]
            plies += 1
    if b"[FEN " in game and tags and (fens := _FEN.findall(tags.group())):
        total += _set_up(fens[-1])
    return (total & _MASK or 1, plies) if plies else (0, 0)


class _Table:
    """What words of up to eight bytes are worth, kept by their hashes in a table with open addressing."""

    def __init__(self) -> None:
        self._words = np.zeros(1 << _BITS, np.uint64)
        self._worth = np.zeros(1 << _BITS, np.uint64)
        self._known = 0

    def __call__(self, words: Keys) -> Keys:
        slot = ((words * _MIX) >> np.uint64(64 - _BITS)).view(np.int64)
        other = np.flatnonzero(self._words[slot] != words)
        if not len(other):
            return self._worth[slot]
        found = self._worth[slot]
        distinct, which = np.unique(words[other], return_inverse=True)
        found[other] = np.array([self._look_up(word) for word in distinct.tolist()], np.uint64)[which]
        return found

    def _look_up(self, word: int) -> int:
        value = worth(word.to_bytes(8, "little").rstrip(b"\0"))
        slot = (word * int(_MIX) & _MASK) >> (64 - _BITS)
        if not self._words[slot]:  # the first in a place keeps it: the usual moves come early
            self._words[slot], self._worth[slot] = word, value
        return value


_table = _Table()


def _cut_at_breaks(words: Keys) -> Keys:
    """Words of eight bytes with zeros from the first that is white space on.

    All bytes of a word are looked at together (H. S. Warren, Hacker's Delight, section 6-1).
    """
    breaks = (words - np.uint64(0x2121212121212121)) & ~words & np.uint64(0x8080808080808080)
    below = (breaks - np.uint64(1)) & ~breaks  # all bits below the lowest that is set, or all
    return words & np.where(breaks == 0, below, below >> np.uint64(7))


def fingerprints(part: Split) -> Fingerprints:
    """The numbers of the moves of the games of a buffer, the same as :func:`fingerprint` gives one by one."""
    text = Movetext(part)
    at, odd = text.moves()
    words = _cut_at_breaks(words_at(text.padded, at))
    values = _table(words)
    is_move = values != 0
    if not is_move.all():
        at, values = at[is_move], values[is_move]
    begin, end = np.searchsorted(at, text.starts), np.searchsorted(at, text.ends)
    count = end - begin
    ply = np.arange(len(at)) - np.repeat(begin, count)
    values *= _MULTIPLIERS[ply & (_LONGEST - 1)]
    before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values)])
    keys = before[end] - before[begin]
    lines = np.flatnonzero(same(part.tag_words, b'FEN "'))
    for line in lines[np.append(np.diff(part.tag_games[lines]) > 0, True)[: len(lines)]].tolist():
        value = part.data[part.tag_starts[line] : part.tag_ends[line]]
        game = part.tag_games[line]
        # As a slice, for the sum of two numbers of numpy warns where that of two arrays goes round.
        keys[game : game + 1] += np.uint64(_set_up(value[6:].rpartition(b'"')[0]))
    keys[(keys == 0) & (count > 0)] = 1
    for g in np.flatnonzero(odd).tolist():
        keys[g], count[g] = fingerprint(part.data[part.starts[g] : part.ends[g]])
    keys[count == 0] = 0
    return Fingerprints(keys, count.astype(np.int32))


def fingerprints_of(games: Sequence[Game]) -> Fingerprints:
    """The numbers of the moves of these games."""
    part = split(b"\n\n".join(game.data for game in games))
    if len(part) == len(games):
        return fingerprints(part)
    keys, plies = zip(*(fingerprint(game.data) for game in games), strict=True)  # one is not as it should be
    return Fingerprints(np.array(keys, np.uint64), np.array(plies, np.int32))
