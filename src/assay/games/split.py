"""Where games begin and end, told from the bytes alone: no board, no Python loop over lines.

A game starts at a tag after movetext (and at the first tag of the file). A line that looks like a tag inside a
`{comment}` is none. Movetext after a finished game and a blank line, without tags of its own, is a game too. A game
ends with its last byte that is not white space.

A comment that is never closed would swallow all that follows. So a tag counts as inside a comment only if the last
brace before it opens and the next one after it closes: an unclosed comment ends with its game.
"""

from __future__ import annotations

import re
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]

PADDING = b"\n" * 32  # behind a buffer: empty lines, which belong to no game
_TAILS = (8 << 10, 64 << 10)  # how much of the end of a block is looked at for the start of a game

_SCAN = 128 << 10  # this much stays in the second-level cache while it is looked at
_HELD = threading.local()

_BOM = b"\xef\xbb\xbf"
_BROKEN_TAG = re.compile(rb"\[[A-Za-z0-9_+#=:-]*[ \t]*\r?(?=\n)")  # a line that broke off before its value
_TAG = re.compile(rb'\[[A-Za-z0-9][A-Za-z0-9_+#=:-]*[ \t]+"|' + _BROKEN_TAG.pattern)
_TAG_NAME = re.compile(rb"\[([A-Za-z0-9_+#=:-]+)")
_MOVES = re.compile(rb"\s*(?:\{|\d+\s*\.|(?:1-0|0-1|1/2-1/2|\*)\s)")
_FINISHED = re.compile(rb"(?:1-0|0-1|1/2-1/2|\*)\s*$")
_USUAL_FIRST = (b"Event", b"Site", b"Date", b"Round", b"White", b"Black", b"Result")


@dataclass(frozen=True)
class Split:
    """The games of one buffer.

    `starts` and `ends` are positions in `data`; `base` is the position of `data` in the uncompressed stream. The
    tag lines run from `tag_starts` to `tag_ends` (without the line's end); `tag_games` tells the game of each and
    `tag_words` its first eight bytes behind the bracket.
    `rare` holds those of the characters `%\\{` and tab that stand anywhere; `ascii` tells whether all is ASCII.
    `data` ends with a few empty lines, so that words can be read at any position of `padded`, its bytes. `outside`
    tells of text before the first game that is none.
    """

    data: bytes
    padded: npt.NDArray[np.uint8]
    starts: Positions
    ends: Positions
    tag_starts: Positions
    tag_ends: Positions
    tag_games: Positions
    tag_words: npt.NDArray[np.uint64]
    rare: bytes
    ascii: bool
    outside: bool = False
    base: int = 0

    def __len__(self) -> int:
        return len(self.starts)

    def tagged(self) -> int:
        """How many of the games have a tag."""
        return int(np.count_nonzero(np.diff(self.tag_games, prepend=-1)))


def positions_of(bytes_: npt.NDArray[np.uint8], *values: int) -> Positions:
    """Where any of these byte values stand, in order.

    >>> positions_of(np.frombuffer(b"a{b}c", np.uint8), ord("{"), ord("}"))
    array([1, 3])
    """
    hit = _scratch(len(bytes_))
    np.equal(bytes_, values[0], out=hit)
    for value in values[1:]:
        hit |= bytes_ == value
    found: Positions = hit.nonzero()[0]
    return found


def _scratch(size: int) -> npt.NDArray[np.bool_]:
    """Memory of this thread for one flag per byte, which is not asked of the system again for every buffer."""
    held: npt.NDArray[np.bool_] | None = getattr(_HELD, "flags", None)
    if held is None or len(held) < size:
        held = _HELD.flags = np.empty(size, np.bool_)
    return held[:size]


def _survey(bytes_: npt.NDArray[np.uint8]) -> tuple[Positions, bytes, bool]:
    """Where lines end, which of the rare characters stand anywhere, and whether all is ASCII, in one pass."""
    is_end = _scratch(len(bytes_))
    found, ascii_ = set[int](), True
    for begin in range(0, len(bytes_), _SCAN):
        here = bytes_[begin : begin + _SCAN]
        np.equal(here, ord("\n"), out=is_end[begin : begin + _SCAN])
        sought = b"%\\"
        if (here - np.uint8(10)).max() > ord("z") - 10:  # a tab wraps around
            sought += b"\t{"
            ascii_ = ascii_ and bool(here.max() < 128)
        found |= {byte for byte in sought if byte not in found and (here == byte).any()}
    return is_end.nonzero()[0], bytes(found), ascii_


def words_at(padded: npt.NDArray[np.uint8], positions: Positions, size: int = 8) -> npt.NDArray[Any]:
    """The eight (or four, or two) bytes at each position, as little-endian words."""
    words = np.ndarray((len(padded) - 7,), f"<u{size}", padded, 0, (1,))
    return words[positions]


def same(words: npt.NDArray[np.uint64], text: bytes) -> npt.NDArray[np.bool_]:
    """Whether each word of eight bytes begins with this text."""
    mask = np.uint64((1 << 8 * len(text)) - 1)
    equal: npt.NDArray[np.bool_] = (words & mask) == np.uint64(int.from_bytes(text, "little"))
    return equal


class _Lines:
    """The lines of a buffer: where they start and end, which are blank, which look like tags."""

    def __init__(self, data: bytes, *, at_start: bool) -> None:
        self.data = data
        self.padded = np.frombuffer(data, np.uint8)
        begin = len(_BOM) if at_start and data.startswith(_BOM) else 0
        newlines, self.rare, self.ascii = _survey(self.padded[: len(data) - len(PADDING) + 1])
        self.ends = newlines
        self.starts = np.empty_like(newlines)
        self.starts[0] = begin
        self.starts[1:] = newlines[:-1] + 1
        self.first_bytes = self.padded[self.starts]
        self.blank = self._blank()
        self.tags = self._tags()

    def _blank(self) -> npt.NDArray[np.bool_]:
        """Which lines are blank. On the way, lines that begin with space and a bracket come to begin with it."""
        blank = np.append(self.first_bytes == 10, False)  # one more, so that line -1 is not blank
        returns = np.flatnonzero(self.first_bytes == 13)
        blank[returns] = self.padded[self.starts[returns] + 1] == 10
        for line in np.flatnonzero((self.first_bytes <= 32) & ~blank[:-1] & (self.first_bytes > 0)):
            text = self.data[self.starts[line] : self.ends[line]].lstrip(b" \t\r\f\v")
            blank[line] = not text
            if text.startswith(b"["):
                self.starts[line], self.first_bytes[line] = self.ends[line] - len(text), ord("[")
        return blank

    def _tags(self) -> Positions:
        lines = np.flatnonzero(self.first_bytes == ord("["))
        second = self.padded[self.starts[lines] + 1]
        named = (((second | 32) - 97) < 26) | ((second - 48) < 10) | (second <= 32)
        return lines if named.all() else np.compress(named, lines)

    @cached_property
    def tag_words(self) -> npt.NDArray[np.uint64]:
        """The first eight bytes of each tag behind the bracket."""
        return words_at(self.padded, self.starts[self.tags] + 1)

    def nonblank_before(self, lines: Positions) -> Positions:
        """The nearest line before each that is not blank; -1 where there is none."""
        found = lines - 1
        for _ in range(3):  # nearly always one step is enough
            step = np.flatnonzero(self.blank[found])
            if not len(step):
                return found
            found[step] -= 1
        latest = np.maximum.accumulate(np.where(self.blank[:-1], -1, np.arange(len(self.starts))))
        return np.where(lines > 0, latest[lines - 1], -1)

    @cached_property
    def braces(self) -> Positions:
        """All `{` and `}`."""
        return positions_of(self.padded, ord("{"), ord("}"))

    def in_comment(self, lines: Positions, *, last: bool) -> npt.NDArray[np.bool_]:
        """Whether each of these lines starts inside a comment."""
        inside = np.zeros(len(lines), np.bool_)
        if b"{" not in self.rare:
            return inside
        floor, open_ = 0, False
        for i, at in enumerate(self.starts[lines].tolist()):
            opened = self.data.rfind(b"{", floor, at)
            if opened >= 0 or open_:
                open_ = self.data.find(b"}", max(opened, floor), at) < 0
            if open_:
                inside[i] = self._comment_spans(at, last=last)
            floor = at
        return inside

    def _comment_spans(self, at: int, *, last: bool) -> bool:
        here = int(np.searchsorted(self.braces, at))
        before, after = here - 1, here
        while before >= 0 and self._in_value(int(self.braces[before])):
            before -= 1
        if before < 0 or self.data[self.braces[before]] != ord("{"):
            return False
        while after < len(self.braces) and self._in_value(int(self.braces[after])):
            after += 1
        if after == len(self.braces):
            return not last
        return bool(self.data[self.braces[after]] == ord("}"))

    def _in_value(self, brace: int) -> bool:
        """Whether a brace is part of the value of a tag."""
        line = self.data[self.data.rfind(b"\n", 0, brace) + 1 : brace]
        begin = brace - len(line.lstrip(b" \t"))
        return bool(_TAG.match(self.data, begin)) and self.data.count(b'"', begin, brace) % 2 == 1

    def usual(self, lines: Positions) -> npt.NDArray[np.bool_]:
        """Whether each of these lines starts with one of the seven tags that every game should have."""
        words = words_at(self.padded, self.starts[lines] + 1)
        found = np.zeros(len(lines), np.bool_)
        for name in _USUAL_FIRST:
            found |= same(words, name + b' "')
            if found.all():
                break
        return found

    def is_broken(self, line: int) -> bool:
        """Whether a tag line broke off before its value."""
        return _BROKEN_TAG.match(self.data, int(self.starts[line])) is not None

    def are_tags(self, lines: Positions) -> npt.NDArray[np.bool_]:
        """Whether each of these lines, which start with a bracket and a letter, goes on like a tag."""
        good = self.usual(lines)
        for i in np.flatnonzero(~good):
            good[i] = _TAG.match(self.data, int(self.starts[lines[i]])) is not None
        return good


def split(data: bytes, *, at_start: bool = True, last: bool = True, in_game: bool = False) -> Split:
    """Find the games in a buffer.

    `at_start`: the buffer is the start of the stream. `last`: nothing follows it. `in_game`: it begins in the
    middle of a game, whose rest is left out.
    """
    if not data.endswith(PADDING):
        data += PADDING
    lines = _Lines(data, at_start=at_start)
    heads, before = _tag_heads(lines, last=last)
    is_tag = np.zeros(len(lines.starts) + 1, np.bool_)  # one more, so that line -1 is none
    is_tag[lines.tags] = True
    after_text = ~is_tag[before]
    starting = heads[after_text]
    if not after_text.all():
        starting = np.sort(np.append(starting, _repeated_heads(lines, heads, after_text)))
    untagged, outside = _untagged(lines, is_tag, last=last, in_game=in_game)
    if len(untagged):
        starting = np.sort(np.append(starting, untagged))

    starts = lines.starts[starting]
    ends = _without_space(lines, np.append(starts, len(data) - len(PADDING))[1:])
    first_tag = np.searchsorted(lines.tags, starting)
    own = slice(first_tag[0] if len(starting) else len(lines.tags), None)
    tags = lines.tags[own]
    tag_counts = np.diff(np.append(first_tag, len(lines.tags)))
    return Split(
        data=data,
        padded=lines.padded,
        starts=starts,
        ends=ends,
        tag_starts=lines.starts[tags],
        tag_ends=lines.ends[tags],
        tag_games=np.repeat(np.arange(len(starting)), tag_counts),
        tag_words=lines.tag_words[own],
        rare=lines.rare,
        ascii=lines.ascii,
        outside=outside,
    )


def last_start(data: bytes, *, at_start: bool, in_game: bool) -> int:
    """Where the last game of a buffer that goes on starts; 0 if there is no other than the first."""
    whole = data[: data.rfind(b"\n") + 1]  # what a line is that breaks off here, the next block tells
    found = split(whole, at_start=at_start, last=False, in_game=in_game)
    return int(found.starts[-1]) if len(found) else 0


def start_within(data: bytes, held: Sequence[bytes]) -> int:
    """Where a game starts near the end of this block, as far as the block alone can tell; else 0.

    Whether a game starts at a line depends only on what is near, so a small part of the block is enough. `held` is
    what came before the block, since the last game that was found.
    """
    end = data.rfind(b"\n") + 1  # what a line is that breaks off here, the next block tells
    for size in _TAILS:
        begin = data.find(b"\n", max(0, end - size)) + 1
        tail = split(data[begin:end], at_start=False, last=False, in_game=True)
        if len(tail):
            start = begin + int(tail.starts[-1])
            # Only behind movetext: the tail may begin amid the tags of a game, where a repeated tag means nothing.
            before = data[begin:start].rstrip()
            after_text = before and not before[before.rfind(b"\n") + 1 :].lstrip().startswith(b"[")
            if after_text and not _may_be_in_comment(data, start, held):
                return start
    return 0


def _may_be_in_comment(data: bytes, at: int, held: Sequence[bytes]) -> bool:
    """Whether the last brace before this place opens."""
    if b"{" not in data and not any(b"{" in block for block in held):
        return False
    for block, end in ((data, at), *((block, len(block)) for block in reversed(held))):
        opening, closing = block.rfind(b"{", 0, end), block.rfind(b"}", 0, end)
        if opening != closing:
            return opening > closing
    return False


def _tag_heads(lines: _Lines, *, last: bool) -> tuple[Positions, Positions]:
    """The first tag line of each run of tag lines, and the nearest line with text before it.

    A line that repeats the first tag of its run, or follows a first line that broke off, is a head too: a game that
    broke off in its tags stands before it.
    Lines that only look like tags are taken out of `lines.tags` on the way.
    """
    while True:
        tags = lines.tags
        is_head = np.diff(tags, prepend=-2) != 1
        heads = tags[is_head]
        wrong = ~lines.are_tags(heads)
        inside = lines.in_comment(heads, last=last)
        if inside.any():
            # One comment can hold many such lines: look at all of them at once.
            lines.tags = tags[~lines.in_comment(tags, last=last)]
        elif wrong.any():
            lines.tags = np.setdiff1d(tags, heads[wrong], assume_unique=True)
        else:
            break
    words = lines.tag_words
    first_words = words[is_head]
    for name in _USUAL_FIRST:
        begins = same(first_words, name + b' "')
        if begins.any():
            again = same(words, name + b' "') & ~is_head
            if again.any():
                run = np.cumsum(is_head) - 1
                heads = np.union1d(heads, tags[again & begins[run]])
    broken = heads[~lines.usual(heads)]
    behind = np.array([line + 1 for line in broken.tolist() if lines.is_broken(line)], np.int64)
    if len(behind):
        follow = np.intersect1d(behind, tags)
        heads = np.union1d(heads, follow[lines.are_tags(follow)])
    return heads, lines.nonblank_before(heads)


def _repeated_heads(lines: _Lines, heads: Positions, after_text: npt.NDArray[np.bool_]) -> Positions:
    """Heads that follow other tags and blank lines only: a new game if they repeat the first tag of the game before.

    Files of results without any movetext look so.
    """
    found = []
    current = None
    for head, after in zip(heads.tolist(), after_text.tolist(), strict=True):
        match = _TAG_NAME.match(lines.data, lines.starts[head])
        name = match.group(1) if match else None
        if after:
            current = name
        elif name in (current, b"Event") or lines.is_broken(head - 1):
            found.append(head)
            current = name
    return np.array(found, np.int64)


def _untagged(lines: _Lines, is_tag: npt.NDArray[np.bool_], *, last: bool, in_game: bool) -> tuple[Positions, bool]:
    """The lines where games without tags start, and whether the buffer starts with text that is no game.

    Such a game stands at the start of the stream, or after a finished game and a blank line.
    """
    paragraphs = np.flatnonzero(~lines.blank[:-1] & np.append(True, lines.blank[:-2]) & ~is_tag[:-1])
    before = lines.nonblank_before(paragraphs)
    odd = ~is_tag[before]  # almost all follow their game's tags
    found, outside = [], False
    for line, previous in zip(paragraphs[odd].tolist(), before[odd].tolist(), strict=True):
        moves = _MOVES.match(lines.data, int(lines.starts[line])) is not None
        if previous < 0:
            outside = not (moves or in_game)
            moves = moves and not in_game
        elif moves:
            tail = lines.data[max(0, int(lines.ends[previous]) - 16) : int(lines.ends[previous])]
            moves = bool(_FINISHED.search(tail)) and not lines.in_comment(np.array([line]), last=last)[0]
        if moves:
            found.append(line)
    return np.array(found, np.int64), outside


def _without_space(lines: _Lines, ends: Positions) -> Positions:
    """Move each end back over white space."""
    ends = ends.copy()
    moving = np.arange(len(ends))
    for _ in range(16):
        byte = lines.padded[ends[moving] - 1]
        moving = moving[(byte <= 32) & (byte > 0)]
        if not len(moving):
            return ends
        ends[moving] -= 1
    for i in moving:
        while 0 < lines.data[ends[i] - 1] <= 32:
            ends[i] -= 1
    return ends
