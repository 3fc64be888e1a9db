"""Pieces cut out of a buffer, copied by Arrow in one go.

Arrow's offsets must follow one upon another, so the gaps between the pieces are elements too; taking every second
element leaves them out.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from assay.games.lines import Positions


def with_gaps(buffer: pa.Buffer, begin: Positions, end: Positions, kind: pa.DataType) -> pa.Array:
    """The pieces from each begin to its end, which come in order, and the gaps between them; nothing is copied."""
    offsets = np.empty(2 * len(begin), np.int32)
    offsets[0::2], offsets[1::2] = begin, end
    # Arrow believes what it is told: offsets that go back would lead it anywhere in memory.
    assert (offsets[1:] >= offsets[:-1]).all(), "pieces must come in order"
    return pa.Array.from_buffers(kind, max(len(offsets) - 1, 0), [None, pa.py_buffer(offsets), buffer])


def cut(data: bytes, begin: Positions, end: Positions) -> pa.BinaryArray:
    """The pieces from each begin to its end, which come in order, one behind the other.

    >>> cut(b"[a][b] 1. e4", np.array([1, 4]), np.array([2, 5])).to_pylist()
    [b'a', b'b']
    """
    pieces = with_gaps(pa.py_buffer(data), begin, end, pa.binary())
    return pc.take(pieces, pa.array(np.arange(0, len(pieces), 2)), boundscheck=False)
