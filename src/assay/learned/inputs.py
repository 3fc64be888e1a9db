"""From stored plies to what a model reads: bits in the mover's view, and scalars with nan for what is unknown."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from assay.games.rules import Boards
from assay.records import dataclass

Floats = npt.NDArray[np.float32]

KINDS = ("board", "clock", "engine", "evals", "ending", "pool")
MAY_BE_UNKNOWN = ("clock", "engine", "evals")  # nan where a game has none; a model that reads them knows it
ENGINE_NAMES = ("rank", "loss", "gap", "value")  # of the move played; see assay.learned.build

# Speeds that a model tells apart; the slowest are one. Before 2018 Lichess had no rapid, and other ratings.
POOL_SPEEDS = {"ultrabullet": 0, "bullet": 0, "blitz": 1, "rapid": 2, "classical": 3, "correspondence": 3}
POOL_NAMES = ("bullet", "blitz", "rapid", "classical", "early")
EARLY = 2018

# Where the hats of the features of an eval stand: the chance before the move, and what the move lost of it. Small
# losses are told apart finely, since that is where good players differ.
_BEFORE = np.array([0.0, 0.03, 0.1, 0.25, 0.4, 0.5, 0.6, 0.75, 0.9, 0.97, 1.0], dtype=np.float32)
_LOST = np.array([-0.03, -0.01, -0.003, 0, 0.006, 0.015, 0.03, 0.05, 0.085, 0.14, 0.23, 0.4], dtype=np.float32)
EVAL_FEATURES = len(_BEFORE) + len(_LOST)
# Engines of other years count in other units: what to multiply an eval of a Lichess game with, from each date on.
_UNITS = (("2019", 1.42), ("2020.05", 1.23), ("2021", 1.13), ("2021.07", 1.0), ("2025", 1.42))
_OLDEST_UNIT = 1.65
_MOST, _MATE = 1500.0, 2000.0  # centipawns

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
    evals: Floats  # (plies, 2): chances to win before and after the move, in the mover's view
    ended: bool = False  # whether the last of these plies is the last of a finished game
    speed: str | None = None
    year: int | None = None

    def __len__(self) -> int:
        return len(self.planes)

    def first(self, plies: int) -> Inputs:
        """The first plies alone."""
        return Inputs(
            self.planes[:plies],
            self.board[:plies],
            self.clock[:plies],
            self.engine[:plies],
            self.evals[:plies],
            self.ended and plies >= len(self),
            self.speed,
            self.year,
        )

    def without(self, kinds: Collection[str]) -> Inputs:
        """The same game where inputs of these kinds are not known."""
        return replace(self, **{kind: np.full_like(getattr(self, kind), np.nan) for kind in kinds})

    @property
    def ending(self) -> Floats:
        """Of each ply whether the game ended with it, (plies, 1): by mate, resignation, draw or time."""
        found = np.zeros((len(self), 1), dtype=np.float32)
        found[-1:] = self.ended
        return found

    @property
    def pool(self) -> Floats:
        """What is known of the pool of the game, on every ply: its speed, and whether it is of the first years."""
        told = np.zeros(len(POOL_NAMES), dtype=np.float32)
        fast = POOL_SPEEDS.get(self.speed or "")
        if fast is not None:
            told[fast] = 1
        told[-1] = self.year is not None and self.year < EARLY
        return np.broadcast_to(told, (len(self), len(told)))

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
        np.concatenate([plies.evals for plies in games]),
    )


def scalars_of(plies: Inputs, kinds: tuple[str, ...]) -> Floats:
    """The scalars of these kinds side by side; what may be unknown is 0 there and has a column of flags beside it."""
    found = []
    for kind in kinds:
        values = np.asarray(getattr(plies, kind), dtype=np.float32)
        if kind == "evals":
            values = eval_features(values)
        if kind in MAY_BE_UNKNOWN:
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


def eval_unit(site: str, date: str) -> float:
    """What brings evals of Lichess's engines of a date to those of 2022, by the same positions of openings.

    >>> eval_unit("lichess.org", "2016.02.11"), eval_unit("lichess.org", "2022.10.01"), eval_unit("", "")
    (1.65, 1.0, 1.0)
    >>> eval_unit("lichess.org", "2025.03.11")
    1.42
    """
    if "lichess" not in site.lower() or not date[:4].isdigit():
        return 1.0
    unit = _OLDEST_UNIT
    for begin, factor in _UNITS:
        if date >= begin:
            unit = factor
    return unit


def eval_scalars(pawns: Floats, mate: npt.NDArray[np.int16], white: npt.NDArray[np.bool_], unit: float = 1.0) -> Floats:
    """Chances to win before and after each move of a game, in the mover's view: (plies, 2), nan where unknown.

    `pawns` and `mate` are of the position after each move, in White's view. The chances are Lichess's, of centipawns.
    The game begins at a quarter of White's first move's worth; a mating move, which has no eval, wins.

    >>> seen = eval_scalars(np.array([0.3, -1.0], np.float32), np.zeros(2, np.int16), np.array([True, False]))
    >>> seen.astype(float).round(2).tolist()
    [[0.51, 0.53], [0.47, 0.59]]
    """
    points = np.clip(pawns * np.float32(100 * unit), -_MOST, _MOST)
    points = np.where(mate != 0, np.sign(mate) * _MATE, points)
    if len(points) > 1 and np.isnan(points[-1]) and np.isfinite(points[-2]) and abs(points[-2]) == _MATE:
        points[-1] = points[-2]
    before = np.concatenate(([15.0], points[:-1]))
    both = np.stack((before, points), axis=1) * np.where(white, 1, -1)[:, None]
    both[np.isnan(both).any(axis=1)] = np.nan
    return np.asarray(1 / (1 + np.exp(-0.00368208 * both)), dtype=np.float32)


def eval_features(evals: Floats) -> Floats:
    """What a model reads of the chances before and after a move: hats over the first, hats over the loss."""
    before, lost = evals[:, 0], evals[:, 0] - evals[:, 1]
    return np.concatenate((_hats(before, _BEFORE), _hats(lost, _LOST)), axis=1)


def _hats(values: Floats, knots: Floats) -> Floats:
    """Each value shared out between the two knots beside it, (values, knots)."""
    known = np.nan_to_num(values)
    at = np.clip(np.searchsorted(knots, known, side="right") - 1, 0, len(knots) - 2)
    share = np.clip((known - knots[at]) / (knots[at + 1] - knots[at]), 0, 1)
    found = np.zeros((len(values), len(knots)), dtype=np.float32)
    rows = np.arange(len(values))
    found[rows, at], found[rows, at + 1] = 1 - share, share
    found[np.isnan(values)] = np.nan
    return found
