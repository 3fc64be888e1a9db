"""The first four moves of each side: how often people of a pool and level play each, as counted in games.

Policies learn from the fifth move on. Before it, what is played is fashion, which no look at the board can tell; so it
is counted. Where few have been, the network's word counts for more.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games.packed import KEY_BYTES
from assay.paths import atomic
from assay.records import dataclass

Floats = npt.NDArray[np.float64]

PLIES = 8  # of a game: from there on policies are trained
BANDS = {"board": (1700, 2000, 2300), "lichess": (1200, 1600, 2000)}  # where one level ends and the next begins
# So many games does the network's word count for.
WORTH = 10.0
_ODD = np.random.default_rng(1).integers(1, 2**63, 5, dtype=np.uint64) * np.uint64(2) + np.uint64(1)


def hashes(keys: npt.NDArray[np.uint8]) -> npt.NDArray[np.uint64]:
    """A number for each position, by its key but for the clock of fifty moves."""
    words = np.zeros((len(keys), 40), np.uint8)
    words[:, : KEY_BYTES - 1] = keys[:, : KEY_BYTES - 1]
    with np.errstate(over="ignore"):
        each = words.view(np.uint64) * _ODD
        each = (each ^ (each >> np.uint64(29))) * _ODD[::-1]
        return np.asarray(np.bitwise_xor.reduce(each ^ (each >> np.uint64(32)), axis=1))


@dataclass(frozen=True)
class FirstMoves:
    """How often each move was played, by position (sorted), pool and level; `levels` are the mean ratings of levels.

    The rows of position p are `start[p]` to `start[p + 1]`; `counts` has a column for each level of each pool.
    """

    positions: npt.NDArray[np.uint64]
    start: npt.NDArray[np.int64]
    moves: npt.NDArray[np.uint16]
    counts: npt.NDArray[np.uint32]
    levels: Floats

    def played(self, key: npt.NDArray[np.uint8], codes: npt.NDArray[np.uint16], elo: float, pool: str) -> Floats:
        """How often players near a rating played each of some moves: levels are weighed by how near they are."""
        (number,) = hashes(key[None])
        at = int(np.searchsorted(self.positions, number))
        if at == len(self.positions) or self.positions[at] != number:
            return np.zeros(len(codes))
        rows = slice(int(self.start[at]), int(self.start[at + 1]))
        first = list(BANDS).index(pool) * (len(BANDS[pool]) + 1)
        levels = slice(first, first + len(BANDS[pool]) + 1)
        near = np.array([np.interp(elo, self.levels[levels], one) for one in np.eye(len(BANDS[pool]) + 1)])
        found = self.counts[rows, levels] @ near
        place = {int(move): row for row, move in enumerate(self.moves[rows])}
        return np.array([found[place[int(code)]] if int(code) in place else 0.0 for code in codes])

    def mixed(
        self, key: npt.NDArray[np.uint8], codes: npt.NDArray[np.uint16], chances: Floats, elo: float, pool: str
    ) -> Floats:
        """Chances of the legal moves by what was played there, and by what was thought of them where that is little."""
        played = self.played(key, codes, elo, pool)
        return np.asarray((played + WORTH * chances) / (played.sum() + WORTH))

    def write(self, file: Path) -> None:
        """Write them into a file."""
        with atomic(file) as part, part.open("wb") as out:
            np.savez_compressed(out, **{name: getattr(self, name) for name in _PARTS})


_PARTS = ("positions", "start", "moves", "counts", "levels")


def count(
    batches: Iterable[tuple[npt.NDArray[np.uint8], npt.NDArray[np.uint16], npt.NDArray[np.integer], Sequence[str]]],
    least: int,
) -> FirstMoves:
    """Count moves, from batches of keys, the moves played there, the movers' ratings and pools.

    Positions with fewer than `least` games are left out, and moves that were played but once.
    """
    columns = [0, *np.cumsum([len(edges) + 1 for edges in BANDS.values()])]
    parts, sums = [np.empty((0, 3), np.uint64)], np.zeros((2, columns[-1]))
    for keys, moves, elo, pools in batches:
        band = np.zeros(len(elo), np.int64)
        for (pool, edges), first in zip(BANDS.items(), columns, strict=False):
            mine = np.array([one == pool for one in pools], np.bool_)
            band[mine] = first + np.searchsorted(edges, np.asarray(elo)[mine], side="right")
        sums += [np.bincount(band, elo, columns[-1]), np.bincount(band, minlength=columns[-1])]
        parts.append(np.stack([hashes(keys), moves.astype(np.uint64), band.astype(np.uint64)], axis=1))
    cells, many = np.unique(np.concatenate(parts), axis=0, return_counts=True)
    pairs, of = np.unique(cells[:, :2], axis=0, return_inverse=True)
    counts = np.zeros((len(pairs), columns[-1]), np.uint32)
    counts[of.reshape(-1), cells[:, 2].astype(np.int64)] = many
    _, group = np.unique(pairs[:, 0], return_inverse=True)
    kept = (np.bincount(group, counts.sum(axis=1))[group] >= least) & (counts.sum(axis=1) > 1)
    positions, start = np.unique(pairs[kept, 0], return_index=True)
    usual = np.concatenate(
        [np.convolve([edges[0] - 300, *edges, edges[-1] + 300], [0.5, 0.5], "valid") for edges in BANDS.values()]
    )
    levels = np.where(sums[1] > 0, sums[0] / np.maximum(sums[1], 1), usual)
    moves = pairs[kept, 1].astype(np.uint16)
    return FirstMoves(positions, np.append(start, len(moves)).astype(np.int64), moves, counts[kept], levels)


@cache
def shipped_first_moves() -> FirstMoves:
    """The first moves that come with Assay."""
    with as_file(files("assay") / "data" / "first-moves.npz") as path:
        return load_first_moves(path)


def load_first_moves(path: Path) -> FirstMoves:
    """First moves from a file; InputError if it holds none."""
    try:
        with np.load(path, allow_pickle=False) as data:
            made = FirstMoves(*(data[name] for name in _PARTS))
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise InputError(f"{path} holds no first moves ({error}).") from error
    return made
