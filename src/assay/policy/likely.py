"""What people of some levels would play in a position: the policy's chances by move, as players write moves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games import fens, read, to_arrays, uci
from assay.games.packed import decode_move
from assay.games.stream import Stream
from assay.policy.chances import Network, keys_of, log_chances, shipped

Floats = npt.NDArray[np.float64]

POOL = "board"
_HEAD = 4096  # bytes by which a file of positions is told from one of games


@dataclass(frozen=True)
class Spot:
    """A position that is asked about, with the move that was played there, if any was."""

    fen: str
    played: chess.Move | None = None

    @property
    def board(self) -> chess.Board:
        return chess.Board(self.fen)

    @property
    def number(self) -> str:
        """The number of the move as in print: `12.` or `12...`."""
        board = self.board
        return f"{board.fullmove_number}{'.' if board.turn else '...'}"


@dataclass(frozen=True)
class Likely:
    """A legal move with its chance at each of the levels that were asked for."""

    move: chess.Move
    san: str
    chances: tuple[float, ...]


@dataclass(frozen=True)
class Foretold:
    """What would be played in a position; `moves` begin with the move that is the likeliest over all levels."""

    spot: Spot
    levels: tuple[float, ...]
    moves: tuple[Likely, ...]

    def likeliest(self, level: int) -> Likely:
        """The likeliest move at a level, by its number."""
        return max(self.moves, key=lambda one: one.chances[level])

    @property
    def played(self) -> Likely | None:
        """The move that was played."""
        return next((one for one in self.moves if one.move == self.spot.played), None)


def chances(
    board: chess.Board | str,
    elo: float,
    *,
    pool: str = POOL,
    network: Network | None = None,
    extra: Mapping[chess.Move, float] | None = None,
) -> dict[chess.Move, float]:
    """The chance of each legal move for a player of this rating, the likeliest first.

    `board` is a board of python-chess, or a FEN; `elo` a rating over the board, or of Lichess with `pool="lichess"`.
    `extra` adds to the log-odds of moves, by what is known beside the policy: an engine's values, say.

    >>> found = chances(chess.STARTING_FEN, 1500)
    >>> len(found), f"{sum(found.values()):.3f}"
    (20, '1.000')
    """
    fen = board if isinstance(board, str) else board.fen()
    (answer,) = answers([Spot(fen)], [elo], pool=pool, network=network, extra=None if extra is None else [extra])
    return {one.move: one.chances[0] for one in answer.moves}


def answers(
    spots: Sequence[Spot],
    levels: Sequence[float],
    *,
    pool: str = POOL,
    network: Network | None = None,
    extra: Sequence[Mapping[chess.Move, float]] | None = None,
) -> list[Foretold]:
    """What people of each level would play in each position; `extra` as in :func:`chances`, for each position."""
    keys = keys_of([spot.fen for spot in spots])
    found = [log_chances(network or shipped(), keys, level, pool) for level in levels]
    offsets = found[0].offsets
    moves = [chess.Move.from_uci(decode_move(int(code))) for code in found[0].moves]
    told = []
    for at, spot in enumerate(spots):
        rows = slice(int(offsets[at]), int(offsets[at + 1]))
        own = moves[rows]
        odds = np.array([0.0 if extra is None else extra[at].get(move, 0.0) for move in own])
        table = np.stack([_normal(each.logs[rows] + odds) for each in found], axis=1)
        board = spot.board
        order = np.argsort(-table.mean(axis=1), kind="stable")
        listed = tuple(Likely(own[i], board.san(own[i]), tuple(table[i].tolist())) for i in order)
        told.append(Foretold(spot, tuple(levels), listed))
    return told


def _normal(logs: Floats) -> Floats:
    """Chances that sum to one."""
    shares: Floats = np.exp(logs - logs.max(initial=-np.inf))
    return shares / max(float(shares.sum()), 1e-300)


def read_spots(path: Path, game: int | None = None) -> list[Spot]:
    """The positions in a file: every position of one of its games (the first), or positions in FEN, one a line."""
    if _has_positions(path):
        if game is not None:
            raise InputError(f"{path} holds positions, not games; leave --game out.")
        return list(_listed(path))
    number = game or 1
    found = next(islice(read(path), number - 1, None), None)
    if found is None:
        raise InputError(f"{path} has no game {number}." if game else f"{path} holds no game and no position.")
    arrays = to_arrays([found])
    if not arrays.valid[0]:
        raise InputError(f"game {number} of {path} cannot be read: {arrays.reason[0]}.")
    if not arrays.plies:
        raise InputError(f"game {number} of {path} has no moves.")
    played = map(chess.Move.from_uci, uci(arrays))
    return [Spot(fen, move) for fen, move in zip(fens(arrays), played, strict=True)]


def _has_positions(path: Path) -> bool:
    """Whether the first line of a file that is not empty looks like a position: eight ranks, then whose turn it is."""
    with Stream(path) as stream:
        head = next(stream.blocks(_HEAD), b"")[:_HEAD].decode("utf-8", "replace").lstrip("\ufeff").split("\n")
    words = next((line for line in head if line.strip()), "").split()
    return len(words) > 1 and words[0].count("/") == 7 and words[1] in ("w", "b")


def _listed(path: Path) -> Iterator[Spot]:
    with Stream(path) as stream:
        text = b"".join(stream.blocks()).decode("utf-8", "replace").lstrip("\ufeff")
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip():
            continue
        try:
            keys_of([line.strip()])
        except InputError as error:
            raise InputError(f"line {number} of {path}: {error}") from None
        yield Spot(line.strip())
