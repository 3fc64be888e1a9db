"""One bit for every byte of a buffer: counts between any two positions, and what lies between pairs of marks.

The marks of comments are handled as simdjson handles quotation marks (Langdale and Lemire, "Parsing gigabytes of
JSON per second", VLDB Journal 28, 2019, section 3.1.1), with numpy in the place of vector instructions.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

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
