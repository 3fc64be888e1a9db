"""From stored plies to what a model reads: bits in the mover's view, and scalars with nan for what is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.games.rules import Boards

Floats = npt.NDArray[np.float32]

KINDS = ("board", "clock", "engine", "ending")
ENGINE_NAMES = ("rank", "loss", "gap", "value")  # of the move played; see assay.learned.build

# Where each plane of the mirrored ply comes from: White's and Black's planes trade places.
_SWAPPED = np.array(
    [
        *(block + (i + 6) % 12 for block in (0, 12, 24) for i in range(12)),
        *(pair + i for pair in (36, 38, 40, 42, 44, 46) for i in (1, 0)),
        *(48, 49, 50, 51),
        *(state + i for state in (52, 58) for i in (2, 3, 0, 1, 4, 5)),
    ]
)


@dataclass(frozen=True)
class Inputs:
    """The plies of one game as they are stored; `clock` and `engine` are nan where unknown."""

    planes: Boards  # (plies, 64)
    board: npt.NDArray[np.int8]  # (plies, 42)
    clock: Floats  # (plies, 2): left and used, as fractions of the base time
    engine: Floats  # (plies, 4)
    ended: bool = False  # whether the last of these plies is the last of a finished game

    def __len__(self) -> int:
        return len(self.planes)

    def first(self, plies: int) -> Inputs:
        """The first plies alone."""
        return Inputs(
            self.planes[:plies],
            self.board[:plies],
            self.clock[:plies],
            self.engine[:plies],
            self.ended and plies >= len(self),
        )

    @property
    def ending(self) -> Floats:
        """Of each ply whether the game ended with it, (plies, 1): by mate, resignation, draw or time."""
        found = np.zeros((len(self), 1), dtype=np.float32)
        found[-1:] = self.ended
        return found

    @property
    def white(self) -> npt.NDArray[np.bool_]:
        """Whether White moves: plane 56."""
        return np.asarray(self.planes[:, 56] != 0)


def joined(games: Sequence[Inputs]) -> Inputs:
    """The plies of several games one after another."""
    return Inputs(
        np.concatenate([plies.planes for plies in games]),
        np.concatenate([plies.board for plies in games]),
        np.concatenate([plies.clock for plies in games]),
        np.concatenate([plies.engine for plies in games]),
    )


def scalars_of(plies: Inputs, kinds: tuple[str, ...]) -> Floats:
    """The scalars of these kinds side by side; what may be unknown is 0 there and has a column of flags beside it."""
    found = []
    for kind in kinds:
        values = np.asarray(getattr(plies, kind), dtype=np.float32)
        if kind in ("clock", "engine"):
            known = np.isfinite(values[:, :1])
            values = np.concatenate((np.nan_to_num(values), known.astype(np.float32)), axis=1)
        found.append(values)
    return np.concatenate(found, axis=1)


def mover_bits(planes: Boards, white: npt.NDArray[np.bool_]) -> npt.NDArray[np.uint8]:
    """Packed planes (plies, 64) to bits (plies, 64 planes, 64 squares) in the mover's view."""
    seen = np.ascontiguousarray(mover_view(planes, white), dtype="<u8")
    # One run of 512 bytes per ply: numpy unpacks long runs ten times faster than short ones.
    bits = np.unpackbits(seen.view(np.uint8).reshape(len(planes), -1), axis=1, bitorder="little")
    return bits.reshape(len(planes), 64, 64)


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


def clock_scalars(clock: Floats, base: float | None, increment: float | None) -> Floats:
    """What is left after each ply and what the ply took, as fractions of the base: (plies, 2), nan where unknown.

    The first move of each side is taken to start from the full base.

    >>> clock_scalars(np.array([300, 300, 225, 150], dtype=np.float32), 300, 0).tolist()
    [[1.0, 0.0], [1.0, 0.0], [0.75, 0.25], [0.5, 0.5]]
    """
    scalars = np.full((len(clock), 2), np.nan, dtype=np.float32)
    if base is None or base <= 0:
        return scalars
    before = np.concatenate((np.full(2, base, dtype=np.float32), clock[:-2]))[: len(clock)]
    bonus = np.full(len(clock), increment or 0.0, dtype=np.float32)
    bonus[:2] = 0.0
    scalars[:, 0] = clock / base
    scalars[:, 1] = np.maximum(before + bonus - clock, 0.0) / base
    return scalars
