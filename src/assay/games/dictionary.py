"""Numbers for the distinct values of a column, told by their hashes eight bytes at a time: a name is cut out once.

The hash is Fibonacci hashing of each word (Knuth, The Art of Computer Programming 3, section 6.4), folded and chained.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from assay.games.lines import Positions, words_at

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
