"""From stored plies to what a model reads: bits in the mover's view, and scalars with nan for what is unknown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from assay.games.bitboards import Boards
from assay.learned.mirror import mover_view

Floats = npt.NDArray[np.float32]

KINDS = ("board", "clock", "engine", "ending")
RESULTS = {"1-0": 1.0, "1/2-1/2": 0.5, "0-1": 0.0}  # of finished games, and what White scored
ENGINE_NAMES = ("rank", "loss", "gap", "value")  # of the move played; see assay.learned.engine_scalars


@dataclass(frozen=True)
class Plies:
    """The plies of one game as they are stored; `clock` and `engine` are nan where unknown."""

    planes: Boards  # (plies, 64)
    board: npt.NDArray[np.int8]  # (plies, 42)
    clock: Floats  # (plies, 2): left and used, as fractions of the base time
    engine: Floats  # (plies, 4)
    ended: bool = False  # whether the last of these plies is the last of a finished game

    def __len__(self) -> int:
        return len(self.planes)

    def first(self, plies: int) -> Plies:
        """The first plies alone."""
        return Plies(
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


def joined(games: Sequence[Plies]) -> Plies:
    """The plies of several games one after another."""
    return Plies(
        np.concatenate([plies.planes for plies in games]),
        np.concatenate([plies.board for plies in games]),
        np.concatenate([plies.clock for plies in games]),
        np.concatenate([plies.engine for plies in games]),
    )


def scalars_of(plies: Plies, kinds: tuple[str, ...]) -> Floats:
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
