"""The lines of a buffer, and how words of its bytes are looked at: many at once, without a Python loop over lines."""

from __future__ import annotations

import re
import threading
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

Positions = npt.NDArray[np.int64]

PADDING = b"\n" * 32  # behind a buffer: empty lines, which belong to no game
USUAL_FIRST = (b"Event", b"Site", b"Date", b"Round", b"White", b"Black", b"Result")

SCAN = 128 << 10  # this much stays in the second-level cache while it is looked at
_HELD = threading.local()

_BOM = b"\xef\xbb\xbf"
_BROKEN_TAG = re.compile(rb"\[[A-Za-z0-9_+#=:-]*[ \t]*\r?(?=\n)")  # a line that broke off before its value
_TAG = re.compile(rb'\[[A-Za-z0-9][A-Za-z0-9_+#=:-]*[ \t]+"|' + _BROKEN_TAG.pattern)


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


def scans(array: npt.NDArray[Any]) -> Iterator[npt.NDArray[Any]]:
    """The array in parts that stay in the second-level cache while they are looked at."""
    for begin in range(0, len(array), SCAN):
        yield array[begin : begin + SCAN]


def _survey(bytes_: npt.NDArray[np.uint8]) -> tuple[Positions, bytes, bool]:
    """Where lines end, which of the rare characters stand anywhere, and whether all is ASCII, in one pass."""
    is_end = _scratch(len(bytes_))
    found, ascii_ = set[int](), True
    for here, ends in zip(scans(bytes_), scans(is_end), strict=True):
        np.equal(here, ord("\n"), out=ends)
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


class Lines:
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
        for name in USUAL_FIRST:
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
