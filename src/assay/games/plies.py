"""How many plies a game has and whether it has clocks and evaluations, told from the bytes of many games at once.

A ply is a word of the main line that starts like a move in SAN: `e4`, `exd5`, `Nf3`, `R1e2`, `O-O`, `0-0`. Comments,
variations, move numbers, NAGs and the result are none. No board is set up; a game with an illegal move counts the
moves that are written.

In nearly all games every word of the main line that begins with a letter is a move, so the beginnings of such words
are counted, 64 bytes at a time. What could be something else (castling with zeros, letters that no move has, comments
to the line's end, marks that do not balance) makes a game odd, and odd games are read word by word.
"""

from __future__ import annotations

import re
from functools import cached_property

import numpy as np
import numpy.typing as npt

from assay.games.bits import Counts, Words, inside, join, pack, positions
from assay.games.cut import cut
from assay.games.lines import PADDING, SCAN, Positions, positions_of, scans, words_at
from assay.games.split import Split

Flags = npt.NDArray[np.bool_]

_ASIDE = re.compile(rb"\{[^}]*(?:\}|$)|;[^\n]*|^%[^\n]*", re.M)
_PARENTHESIS = re.compile(rb"[()]")
_WORD = re.compile(rb"(?:^|(?<=[\0- !-,.}]))(?:[A-Z]?[a-h]?[1-8]?[x:-]?[a-h][1-8]|O-O|0-0)")


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
        texts = cut(part.data, np.append(begin, behind - len(PADDING)), np.append(part.ends, behind))
        self.padded: npt.NDArray[np.uint8] = np.frombuffer(texts.buffers()[2], np.uint8)

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
    return len(_WORD.findall(main_line(movetext)))


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
