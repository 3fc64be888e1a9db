"""Numbers of three or four digits, read from the bytes of many games at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.games.lines import Positions, words_at


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
