"""The mover's point of view: Black's plies turned round, so that one set of weights serves both sides."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from assay.games.bitboards import Boards

# Where each plane of the mirrored ply comes from: White's and Black's planes trade places.
_SWAPPED = np.array(
    [
        *(block + (i + 6) % 12 for block in (0, 12, 24) for i in range(12)),
        *(pair + i for pair in (36, 38, 40, 42, 44, 46) for i in (1, 0)),
        *(48, 49, 50, 51),
        *(state + i for state in (52, 58) for i in (2, 3, 0, 1, 4, 5)),
    ]
)


def mover_view(planes: Boards, white: npt.NDArray[np.bool_]) -> Boards:
    """Packed planes (plies, 64) with Black's plies seen from Black's side: ranks turned over, colours exchanged.

    Planes 56 and 62 (White to move) keep their meaning, so that a model still knows which colour moves.

    >>> ply = np.zeros((1, 64), dtype=np.uint64)
    >>> ply[0, 6] = 1 << 48  # a black pawn on a7
    >>> hex(int(mover_view(ply, np.array([False]))[0, 0]))  # is the mover's pawn on a2
    '0x100'
    """
    seen = planes.copy()
    black = np.flatnonzero(~white)
    # The ranks of a board are its bytes: swapping them turns it over.
    seen[black] = planes[black][:, _SWAPPED].byteswap()
    return seen
