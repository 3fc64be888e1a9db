"""The lines of a buffer, and how its bytes are looked at: many at once, without a Python loop over lines.

Words of eight bytes, one bit for every byte, numbers of three or four digits. The marks of comments are handled as
simdjson handles quotation marks (Langdale and Lemire, "Parsing gigabytes of JSON per second", VLDB Journal 28, 2019,
section 3.1.1), with numpy in the place of vector instructions. Distinct values of a column are told by their hashes,
eight bytes at a time, and get numbers: a name is cut out once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from assay.records import dataclass

Positions = npt.NDArray[np.int64]

PADDING = b"\n" * 32  # behind a buffer: empty lines, which belong to no game
USUAL_FIRST = (b"Event", b"Site", b"Date", b"Round", b"White", b"Black", b"Result")

SCAN = 128 << 10  # this much stays in the second-level cache while it is looked at
_RARE = b"%\\{();\t"  # characters that most games do without, and that need more work

_BOM = b"\xef\xbb\xbf"
_BROKEN_TAG = re.compile(rb"\[[A-Za-z0-9_+#=:-]*[ \t]*\r?(?=\n)")  # a line that broke off before its value
_TAG = re.compile(rb'\[[A-Za-z0-9][A-Za-z0-9_+#=:-]*[ \t]+"|' + _BROKEN_TAG.pattern)


def positions_of(bytes_: npt.NDArray[np.uint8], *values: int) -> Positions:
    """Where any of these byte values stand, in order.

    >>> positions_of(np.frombuffer(b"a{b}c", np.uint8), ord("{"), ord("}"))
    array([1, 3])
    """
    found = []
    for begin, here in scans(bytes_):
        hit = here == values[0]
        for value in values[1:]:
            hit |= here == value
        found.append(hit.nonzero()[0] + begin)
    return np.concatenate(found)


def scans(array: npt.NDArray[Any]) -> Iterator[tuple[int, npt.NDArray[Any]]]:
    """The array in parts that stay in the second-level cache while they are looked at, and where each begins."""
    for begin in range(0, len(array), SCAN):
        yield begin, array[begin : begin + SCAN]


@dataclass(frozen=True)
class _Survey:
    """Where lines end, which byte follows each, which of the rare characters stand anywhere, whether all is ASCII."""

    ends: Positions
    next_bytes: npt.NDArray[np.uint8]
    rare: bytes
    ascii: bool


def _survey(data: bytes, padded: npt.NDArray[np.uint8]) -> _Survey:
    """Look at every byte once: what is asked of it is asked while it is in the cache."""
    ends, next_bytes, rare, ascii_ = [], [], set[int](), True
    next_byte, is_end = padded[1:], np.empty(SCAN, np.bool_)
    for begin, here in scans(padded[: len(data) - len(PADDING) + 1]):
        at = np.equal(here, ord("\n"), out=is_end[: len(here)]).nonzero()[0]
        at += begin
        ends.append(at)
        next_bytes.append(next_byte[at])
        ascii_ = ascii_ and bool(here.max() < 128)
        rare |= {byte for byte in _RARE if byte not in rare and data.find(byte, begin, begin + len(here)) >= 0}
    return _Survey(np.concatenate(ends), np.concatenate(next_bytes), bytes(rare), ascii_)


def words_at(padded: npt.NDArray[np.uint8], positions: Positions, size: int = 8) -> npt.NDArray[Any]:
    """The eight (or four, or two) bytes at each position, as little-endian words."""
    words = np.ndarray((len(padded) - 7,), f"<u{size}", padded, 0, (1,))
    return words[positions]


def same(words: npt.NDArray[np.uint64], text: bytes) -> npt.NDArray[np.bool_]:
    """Whether each word of eight bytes begins with this text."""
    mask = np.uint64((1 << 8 * len(text)) - 1)
    equal: npt.NDArray[np.bool_] = (words & mask) == np.uint64(int.from_bytes(text, "little"))
    return equal


def usual(words: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
    """Whether each word of eight bytes is the start of one of the seven tags that every game should have."""
    found = np.zeros(len(words), np.bool_)
    for name in USUAL_FIRST:
        found |= same(words, name + b' "')
        if found.all():
            break
    return found


class Lines:
    """The lines of a buffer: where they start and end, which are blank, which look like tags."""

    def __init__(self, data: bytes, *, at_start: bool) -> None:
        self.data = data
        self.padded = np.frombuffer(data, np.uint8)
        begin = len(_BOM) if at_start and data.startswith(_BOM) else 0
        survey = _survey(data, self.padded)
        self.rare, self.ascii, self.ends = survey.rare, survey.ascii, survey.ends
        self.starts = np.empty_like(self.ends)
        self.starts[0] = begin
        np.add(self.ends[:-1], 1, out=self.starts[1:])
        self.first_bytes = np.append(self.padded[begin], survey.next_bytes[:-1])
        self.blank = self._blank()
        self.tags = np.flatnonzero(self.first_bytes == ord("["))
        self.tag_starts = self.starts[self.tags]
        self.tag_words = words_at(self.padded, self.tag_starts + 1)  # the eight bytes behind the bracket
        second = self.tag_words.astype(np.uint8)
        self.keep_tags((((second | 32) - 97) < 26) | ((second - 48) < 10) | (second <= 32))

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

    def keep_tags(self, keep: npt.NDArray[np.bool_]) -> None:
        """Leave out the other lines that look like tags."""
        if not keep.all():
            self.tags, self.tag_starts, self.tag_words = self.tags[keep], self.tag_starts[keep], self.tag_words[keep]

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
        floor, open_, doubtful = 0, False, []
        for i, at in enumerate(self.starts[lines].tolist()):
            opened = self.data.rfind(b"{", floor, at)
            if opened >= 0 or open_:
                open_ = self.data.find(b"}", max(opened, floor), at) < 0
            if open_:
                doubtful.append(i)
            floor = at
        if doubtful:
            inside[doubtful] = self._comment_spans(self.starts[lines[doubtful]], last=last)
        return inside

    def _comment_spans(self, at: Positions, *, last: bool) -> npt.NDArray[np.bool_]:
        """Whether the last brace before each position opens and the next one closes."""
        marks = self._comment_marks
        ends = ord("{" if last else "}")  # what stands behind the last brace, as it were
        kinds = np.concatenate([[ord("}")], self.padded[marks], [ends]])
        here = np.searchsorted(marks, at)
        spans: npt.NDArray[np.bool_] = (kinds[here] == ord("{")) & (kinds[here + 1] == ord("}"))
        return spans

    @cached_property
    def _comment_marks(self) -> Positions:
        """The braces that are no part of the value of a tag."""
        line = np.searchsorted(self.ends, self.braces)
        on_tag_line = np.flatnonzero(self.first_bytes[line] == ord("["))
        if not len(on_tag_line):
            return self.braces
        lines = line[on_tag_line]  # these rise
        is_new = np.append(True, lines[1:] != lines[:-1])
        begin, which = self.starts[lines[is_new]], np.cumsum(is_new) - 1
        like_tag = np.array([_TAG.match(self.data, start) is not None for start in begin.tolist()])
        quotes = positions_of(self.padded, ord('"'))
        before = np.searchsorted(quotes, self.braces[on_tag_line]) - np.searchsorted(quotes, begin)[which]
        in_value = like_tag[which] & (before % 2 == 1)
        return np.delete(self.braces, on_tag_line[in_value])

    def is_broken(self, line: int) -> bool:
        """Whether a tag line broke off before its value."""
        return _BROKEN_TAG.match(self.data, int(self.starts[line])) is not None

    def are_tags(self, lines: Positions, words: npt.NDArray[np.uint64]) -> npt.NDArray[np.bool_]:
        """Whether each of these lines, which start with a bracket and these eight bytes, goes on like a tag."""
        good = usual(words)
        for i in np.flatnonzero(~good):
            good[i] = _TAG.match(self.data, int(self.starts[lines[i]])) is not None
        return good


Words = npt.NDArray[np.uint64]
Packed = npt.NDArray[np.uint8]


def pack(flags: npt.NDArray[Any]) -> Packed:
    """Bytes that are zero or not as bits, the first in the lowest."""
    return np.packbits(flags, bitorder="little")


def join(parts: Sequence[Packed]) -> Words:
    """Bits that were packed one part after the other, 64 to a word; all but the last of a multiple of 8 flags."""
    joined = np.concatenate([*parts, np.zeros(16, np.uint8)])
    words: Words = joined[: len(joined) // 8 * 8].view("<u8")
    return words


def positions(bits: Words) -> npt.NDArray[np.int64]:
    """Where bits are set, in order; for words that are nearly all empty.

    >>> positions(np.array([0, 0b101], np.uint64))
    array([64, 66])
    """
    words = np.flatnonzero(bits)
    each = np.flatnonzero(np.unpackbits(bits[words].astype("<u8").view(np.uint8), bitorder="little"))
    found: npt.NDArray[np.int64] = words[each >> 6] * 64 + (each & 63)
    return found


def inside(marks: Words) -> Words:
    """The bits from each odd mark on up to the next mark, which is not among them.

    >>> bin(int(inside(np.array([0b0100_0010_1000], np.uint64))[0] & 0xFFF))
    '0b110000011000'
    """
    bits = marks.copy()
    for step in (1, 2, 4, 8, 16, 32):
        bits ^= bits << np.uint64(step)
    odd_before = np.zeros(len(bits), np.bool_)
    np.logical_xor.accumulate((np.bitwise_count(marks[:-1]) & 1).astype(np.bool_), out=odd_before[1:])
    bits[odd_before] ^= np.uint64(0xFFFF_FFFF_FFFF_FFFF)
    return bits


class Counts:
    """How many bits are set before any position, answered for many positions at once."""

    def __init__(self, bits: Words) -> None:
        self._bits = bits
        each = np.bitwise_count(bits)
        self._before = np.cumsum(each, dtype=np.int64) - each

    def before(self, positions: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        word, rest = positions >> 6, (positions & 63).astype(np.uint64)
        mask = (np.uint64(1) << rest) - np.uint64(1)
        count: npt.NDArray[np.int64] = self._before[word] + np.bitwise_count(self._bits[word] & mask)
        return count

    def between(self, starts: npt.NDArray[np.int64], ends: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """How many bits are set from each start up to its end.

        >>> Counts(np.array([0b1011], np.uint64)).between(np.array([0, 1]), np.array([4, 3]))
        array([3, 1])
        """
        return self.before(ends) - self.before(starts)


def small_numbers(
    padded: npt.NDArray[np.uint8], begin: Positions, end: Positions
) -> tuple[npt.NDArray[np.int32], npt.NDArray[np.bool_]]:
    """The numbers that stand from each begin to its end, and which of them are three or four digits; the others are 0.

    The digits of a word are checked and put together all at once, two by two.

    >>> text = np.frombuffer(b"2788 987 19 x100 ...........", np.uint8)
    >>> numbers, known = small_numbers(text, np.array([0, 5, 9, 12]), np.array([4, 8, 11, 16]))
    >>> numbers.tolist(), known.tolist()
    ([2788, 987, 0, 0], [True, True, False, False])
    """
    size = end - begin
    words: npt.NDArray[np.uint32] = words_at(padded, begin, 4)
    short = size == 3
    if short.any():
        words = np.where(short, (words << np.uint32(8)) | np.uint32(ord("0")), words)
    digits = words - np.uint32(0x30303030)
    known = (((digits + np.uint32(0x76767676)) | digits) & np.uint32(0x80808080)) == 0
    known &= short | (size == 4)
    pairs = (digits * np.uint32(10) + (digits >> np.uint32(8))) & np.uint32(0x00FF00FF)
    numbers = (pairs & np.uint32(0xFF)) * np.uint32(100) + (pairs >> np.uint32(16))
    return np.where(known, numbers, 0).astype(np.int32), known


MIX = np.uint64(0x9E3779B97F4A7C15)
HALF = np.uint64(32)
_FIRST = 1 << 12
# Beyond so many bytes a value is hashed alone.
_LONGEST = 256
_WHOLE = (1 << 64) - 1
_BELOW = np.array([(1 << 8 * size) - 1 for size in range(9)], np.uint64)

Hashes = npt.NDArray[np.uint64]
Codes = npt.NDArray[np.int32]


def hash_pieces(padded: npt.NDArray[np.uint8], begin: Positions, end: Positions) -> Hashes:
    """The hash of the bytes from each begin to its end.

    >>> text = np.frombuffer(b"Elm Ash Elm" + bytes(8), np.uint8)
    >>> elm, ash, again = hash_pieces(text, np.array([0, 4, 8]), np.array([3, 7, 11])).tolist()
    >>> elm == again, elm == ash
    (True, False)
    """
    size = end - begin
    hashes = size.astype(np.uint64) * MIX
    for i in np.flatnonzero(size > _LONGEST).tolist():
        hashes[i] = hash(padded[begin[i] : end[i]].tobytes()) & _WHOLE
    rows = np.flatnonzero((size > 0) & (size <= _LONGEST))
    at, left = begin[rows], size[rows]
    while len(rows):
        word = words_at(padded, at) & _BELOW[np.minimum(left, 8)]
        mixed = (hashes[rows] ^ word) * MIX
        hashes[rows] = mixed ^ (mixed >> HALF)
        more = left > 8
        rows, at, left = rows[more], at[more] + 8, left[more] - 8
    return hashes


class Dictionary:
    """The distinct values in the order in which they came; their hashes are kept in a table with open addressing."""

    def __init__(self) -> None:
        self.values: list[bytes] = []
        self._hashes = np.empty(0, np.uint64)
        self._make(_FIRST)

    def numbers(self, hashes: Hashes, text: Callable[[int], bytes]) -> Codes:
        """The number of each value by its hash; `text` tells a value that is new."""
        codes = self._find(hashes)
        new = np.flatnonzero(codes < 0)
        if len(new):
            first = new[np.sort(np.unique(hashes[new], return_index=True)[1])]
            known = len(self.values)
            self.values.extend(map(text, first.tolist()))
            self._hashes = np.concatenate((self._hashes, hashes[first]))
            if 4 * len(self.values) > len(self._codes):
                self._make(4 << len(self.values).bit_length())
            else:
                self._put(hashes[first], known)
            codes[new] = self._find(hashes[new])
        return codes

    def _make(self, size: int) -> None:
        self._mask = size - 1
        self._keys = np.zeros(size, np.uint64)
        self._codes = np.full(size, -1, np.int32)
        self._put(self._hashes, 0)

    def _slots(self, hashes: Hashes) -> Positions:
        return (hashes & np.uint64(self._mask)).astype(np.int64)

    def _put(self, hashes: Hashes, first: int) -> None:
        """Keep distinct hashes; they are numbered from `first` on."""
        codes = np.arange(first, first + len(hashes), dtype=np.int32)
        slot = self._slots(hashes)
        while len(codes):
            free = self._codes[slot] < 0
            # Of several that want one place the last gets it.
            self._codes[slot[free]] = codes[free]
            placed = self._codes[slot] == codes
            self._keys[slot[placed]] = hashes[placed]
            slot, hashes, codes = (slot[~placed] + 1) & self._mask, hashes[~placed], codes[~placed]

    def _find(self, hashes: Hashes) -> Codes:
        slot = self._slots(hashes)
        codes = np.where(self._keys[slot] == hashes, self._codes[slot], np.int32(-1))
        open_ = np.flatnonzero((codes < 0) & (self._codes[slot] >= 0))
        while len(open_):
            slot[open_] = (slot[open_] + 1) & self._mask
            there = slot[open_]
            same = self._keys[there] == hashes[open_]
            codes[open_[same]] = self._codes[there[same]]
            open_ = open_[~same & (self._codes[there] >= 0)]
        return codes
