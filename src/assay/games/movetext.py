"""The words of main lines, told from the bytes of many games at once: how many plies, which moves as one number.

A ply is a word of the main line that starts like a move in SAN: `e4`, `exd5`, `Nf3`, `R1e2`, `O-O`, `0-0`. Comments,
variations, move numbers, NAGs and the result are none. No board is set up; a game with an illegal move counts the
moves that are written.

In nearly all games every word of the main line that begins with a letter is a move, so the beginnings of such words
are counted, 64 bytes at a time. What could be something else (castling with zeros, letters that no move has, comments
to the line's end, marks that do not balance) makes a game odd, and odd games are read word by word.

The number of the moves of a game is the same however they are written: marks for checks and captures do not count, nor
whether a piece is named by its file where that is not needed. Of a move its piece, the square that it goes to and what
a pawn becomes are kept, so that "12. Nbxd7+!" and "Nd7" are the same; a position in the FEN tag counts like one more
move. It is the sum of a hash of each move times the multiplier of its ply, all modulo 2^64 (Carter and Wegman's
multilinear hashing, JCSS 18, 1979). The distinct words of all games are few: a table says what each is worth, so that
one game and many are read with the same function.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
import xxhash

from assay.games.lines import (
    PADDING,
    SCAN,
    Counts,
    Positions,
    Words,
    inside,
    join,
    pack,
    positions,
    positions_of,
    same,
    scans,
    words_at,
)
from assay.games.split import Game, Split, split

Flags = npt.NDArray[np.bool_]

_ASIDE = re.compile(rb"\{[^}]*(?:\}|$)|;[^\n]*|^%[^\n]*", re.M)
_PARENTHESIS = re.compile(rb"[()]")
_MOVE_WORD = re.compile(rb"(?:^|(?<=[\0- !-,.}]))(?:[A-Z]?[a-h]?[1-8]?[x:-]?[a-h][1-8]|O-O|0-0)")


class Movetext:
    """The movetext of the games of a buffer, one behind the other, without the tags.

    Each begins with the end of its last tag's line; `starts` and `ends` tell where it lies in `padded`.
    """

    def __init__(self, part: Split) -> None:
        begin = part.movetext_starts
        sizes = part.ends - begin
        self.ends: Positions = np.cumsum(sizes)
        self.starts: Positions = self.ends - sizes
        behind = len(part.data)
        self._rare = part.rare
        places = zip(
            [*begin.tolist(), behind - len(PADDING)],
            [*part.ends.tolist(), behind],
            strict=True,
        )
        texts = b"".join([part.data[start:end] for start, end in places])
        self.padded: npt.NDArray[np.uint8] = np.frombuffer(texts, np.uint8)

    def __len__(self) -> int:
        return len(self.starts)

    def count_plies(self) -> npt.NDArray[np.int32]:
        """The number of plies of each game."""
        words, odd = self._words()
        counts = Counts(words)
        plies = counts.between(self.starts, self.ends)
        if self._has_variations:
            plies -= self._in_variations(counts, odd)
        for g in np.flatnonzero(odd):
            plies[g] = count_slowly(self.padded[self.starts[g] : self.ends[g]].tobytes())
        return plies.astype(np.int32)

    def moves(self) -> tuple[Positions, Flags]:
        """Where the words of the main lines begin with a letter, and which games are odd and must be read by word."""
        words, odd = self._words()
        at = positions(words)
        if self._has_variations:
            marks, depth, base = self._depths(odd)
            at = at[depth[np.searchsorted(marks, at)] == base[self._games_of(at)]]
        return at, odd

    def _words(self) -> tuple[Words, Flags]:
        """Where words begin with a letter outside comments, and which games are odd."""
        words, strange = self._scan()
        if b"{" in self._rare:
            words &= ~self._comments
            strange &= ~(self._comments | self._braces[1])
        at = positions(strange)
        game = self._games_of(at)
        odd = np.zeros(len(self), np.bool_)
        odd[game[at < self._before_a_loss()[game]]] = True
        if b"{" in self._rare:
            odd |= self._unbalanced_braces
        if b";" in self._rare:
            odd[self._games_of(positions_of(self.padded, ord(";")))] = True
        if b"%" in self._rare:
            signs = positions_of(self.padded, ord("%"))
            odd[self._games_of(signs[self.padded[signs - 1] == ord("\n")])] = True
        return words, odd

    def _scan(self) -> tuple[Words, Words]:
        """Where words begin with a letter, and where something stands that makes a game odd; in comments too."""
        words, strange = [], []
        flags = np.empty((3, SCAN), np.bool_)  # written over and over, so that they stay in the cache
        for begin, here in scans(self.padded):
            breaks, other, spare = flags[:, : len(here)]
            self._behind_a_break(begin, breaks, spare)
            np.greater(here, ord("h"), out=other)
            other &= np.not_equal(here, ord("x"), out=spare)
            np.equal(here, ord("0"), out=spare)
            spare &= breaks  # castling with zeros
            other |= spare
            letter = np.subtract(here, ord("A"), out=spare.view(np.uint8))  # what lies below wraps around
            breaks &= np.less_equal(letter, ord("z") - ord("A"), out=spare)
            words.append(pack(breaks))
            strange.append(pack(other))
        return join(words), join(strange)

    def _behind_a_break(self, begin: int, breaks: Flags, spare: Flags) -> None:
        """Whether the byte before each of these ends a word: white space or a mark up to the dot, but not a hyphen."""
        first = 0 if begin else 1
        breaks[:first] = True
        breaks, spare = breaks[first:], spare[first:]
        before = self.padded[begin - 1 + first : begin - 1 + first + len(breaks)]
        np.less_equal(before, ord("."), out=breaks)
        breaks &= np.not_equal(before, ord("-"), out=spare)
        if b"{" in self._rare:
            breaks |= np.equal(before, ord("}"), out=spare)

    def _before_a_loss(self) -> Positions:
        """The ends of the games, before the result 0-1, which begins like castling with zeros."""
        last = np.maximum(self.ends - 3, 0)
        lost = words_at(self.padded, last, 4) & 0xFFFFFF == int.from_bytes(b"0-1", "little")
        return np.where(lost, last, self.ends)

    @cached_property
    def _braces(self) -> tuple[Words, Words]:
        """Where braces open and close."""
        opening, closing = (join([pack(here == brace) for _, here in scans(self.padded)]) for brace in b"{}")
        return opening, closing

    @cached_property
    def _comments(self) -> Words:
        """The bits inside comments. One without end is closed at the end of its game, by one more mark."""
        opening, closing = self._braces
        marks = opening | closing
        at = self.ends[Counts(marks.copy()).between(self.starts, self.ends) % 2 == 1]
        np.bitwise_xor.at(marks, at >> 6, np.uint64(1) << (at & 63).astype(np.uint64))
        return inside(marks)

    @property
    def _unbalanced_braces(self) -> Flags:
        """The games whose braces do not open and close in turn."""
        opening, closing = self._braces
        wrong = (opening & ~self._comments) | (closing & self._comments)
        return Counts(wrong).between(self.starts, self.ends) > 0

    @property
    def _has_variations(self) -> bool:
        return b"(" in self._rare or b")" in self._rare

    def _in_variations(self, counts: Counts, odd: Flags) -> Positions:
        """How many words outside comments stand in variations; games that do not balance are marked in `odd`."""
        marks, depth, base = self._depths(odd)
        game = self._games_of(marks)
        before, after = depth[:-1] - base[game], depth[1:] - base[game]
        outermost = ((before == 1) & (after == 0)).astype(np.int64) - ((before == 0) & (after == 1))
        return np.bincount(game, outermost * counts.before(marks), minlength=len(self)).astype(np.int64)

    def _depths(self, odd: Flags) -> tuple[Positions, Positions, Positions]:
        """Where variations begin and end; how deep it is before the first of these marks and behind each; and how deep
        where each game begins, which is not 0 behind a game whose marks do not balance. Such games are marked in `odd`.
        """
        marks = positions_of(self.padded, ord("("), ord(")"))
        if b"{" in self._rare:
            in_comment = (self._comments[marks >> 6] >> (marks & 63).astype(np.uint64)) & np.uint64(1) == 1
            marks = marks[~in_comment]
        game = self._games_of(marks)
        depth = np.concatenate([[0], np.cumsum(np.where(self.padded[marks] == ord("("), 1, -1))])
        base = depth[np.searchsorted(marks, self.starts)]
        odd |= depth[np.searchsorted(marks, self.ends)] != base
        odd[game[depth[1:] < base[game]]] = True
        return marks, depth, base

    def _games_of(self, at: Positions) -> Positions:
        """The games that hold these positions."""
        return np.searchsorted(self.starts, at, side="right") - 1


def have_command(part: Split, name: bytes) -> Flags:
    """Whether each game has this comment command, such as `clk` in `[%clk 0:05:00]`.

    A game that has it has it early, so that little is searched.
    """
    sought = b"[%" + name + b" "
    if b"%" not in part.rare:
        return np.zeros(len(part), np.bool_)
    find = part.data.find
    places = zip(part.movetext_starts.tolist(), part.ends.tolist(), strict=True)
    return np.array([find(sought, *place) >= 0 for place in places])


def count_slowly(movetext: bytes) -> int:
    """The plies of one game, word by word.

    >>> count_slowly(b"1. e4 {best (b)y test} e5 (1... c5 (1... e6) 2. Nf3) 2. Nf3 ; Nc3\\n2... Nc6 0-1")
    4
    """
    return len(_MOVE_WORD.findall(main_line(movetext)))


def main_line(movetext: bytes) -> bytes:
    """The text of one game without comments and variations.

    >>> main_line(b"1. e4 {best} e5 (1... c5) 2. Nf3 *").split()
    [b'1.', b'e4', b'e5', b'2.', b'Nf3', b'*']
    """
    plain = _ASIDE.sub(b" ", movetext)
    depth, begin, main = 0, 0, []
    for mark in _PARENTHESIS.finditer(plain):
        if depth == 0:
            main.append(plain[begin : mark.start()])
        depth = depth + 1 if mark.group() == b"(" else max(0, depth - 1)
        begin = mark.end()
    if depth == 0:
        main.append(plain[begin:])
    return b" ".join(main)


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
