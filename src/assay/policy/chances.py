"""What people would play: the chances of all legal moves, from positions as keys or FENs, with any network."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games.legal import legal_moves
from assay.games.packed import from_board
from assay.policy.features import features
from assay.policy.leela import Leela, logits, move_numbers, parse_leela, planes
from assay.policy.model import Policy, load_policy, log_chances_of
from assay.policy.positions import BOARD, LICHESS, seen
from assay.policy.teacher import log_softmax

Network = Policy | Leela
Keys = npt.NDArray[np.uint8]

POOLS = {"lichess": LICHESS, "board": BOARD}
LEVELS = (600, 2900)
_BATCH = 512
_SMALL = 128  # positions at once of a network of Leela's kind, whose planes take memory


@dataclass(frozen=True)
class Chances:
    """Logarithms of the chances of the legal moves, position after position.

    `moves` are codes of 16 bits (:func:`assay.games.packed.decode_move`), ordered by square of departure, of arrival
    and promotion *as the side to move sees them*. Position p has the moves `offsets[p]` to `offsets[p + 1]`.
    """

    moves: npt.NDArray[np.uint16]
    offsets: npt.NDArray[np.int64]
    logs: npt.NDArray[np.float32]

    def played(self, codes: npt.NDArray[np.integer]) -> npt.NDArray[np.float32]:
        """The logarithm of the chance of one move of each position, nan where it is not legal."""
        row = np.repeat(np.arange(len(codes)), np.diff(self.offsets))
        found = np.full(len(codes), np.nan, np.float32)
        hit = self.moves == codes[row]
        found[row[hit]] = self.logs[hit]
        return found

    def likeliest(self) -> npt.NDArray[np.int64]:
        """Where in `moves` the likeliest move of each position stands, -1 where there is none."""
        begin, count = self.offsets[:-1], np.diff(self.offsets)
        found = [int(b + self.logs[b : b + c].argmax()) if c else -1 for b, c in zip(begin, count, strict=True)]
        return np.array(found, np.int64)


@cache
def shipped() -> Policy:
    """The policy that comes with Assay."""
    with as_file(files("assay") / "data" / "policy.npz") as path:
        return load_policy(path)


def open_network(path: str | Path) -> Network:
    """A policy of Assay's own, or a network in Leela's format, told apart by their content."""
    try:
        data = Path(path).read_bytes()
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}.") from error
    return load_policy(Path(path)) if data[:2] == b"PK" else parse_leela(data, Path(path).name)


def keys_of(fens: Sequence[str]) -> Keys:
    """The keys of positions given as FEN; a position that cannot be is refused."""
    keys = np.empty((len(fens), 35), np.uint8)
    for row, fen in enumerate(fens):
        try:
            board = chess.Board(fen)
        except ValueError as error:
            raise InputError(f"{fen!r} is no position in FEN: {error}.") from None
        if not board.is_valid():
            raise InputError(f"{fen!r} is no position of chess: {_wrong(board.status())}.")
        keys[row] = np.frombuffer(from_board(board), np.uint8)
    return keys


def _wrong(status: chess.Status) -> str:
    for flag, words in (
        (chess.STATUS_NO_WHITE_KING, "White has no king"),
        (chess.STATUS_NO_BLACK_KING, "Black has no king"),
        (chess.STATUS_TOO_MANY_KINGS, "there are too many kings"),
        (chess.STATUS_PAWNS_ON_BACKRANK, "a pawn stands on the first or the last rank"),
        (chess.STATUS_OPPOSITE_CHECK, "the side that has moved is in check"),
    ):
        if status & flag:
            return words
    return "no game can lead to it"


def log_chances(
    network: Network,
    positions: Keys | Sequence[str],
    elo: float = 1500,
    pool: str = "lichess",
) -> Chances:
    """The chances of all legal moves of many positions, for players of one level.

    `positions` are keys of the analysis store, (n, 35), or FENs. `elo` is a rating of the pool: "lichess", or "board"
    for ratings of games over the board. A network of Leela's kind has its own level and is not asked for one. Nothing
    is told of the move before: chances belong to a position, as analyses do.
    """
    if pool not in POOLS:
        raise InputError(f"there is no pool {pool!r} of ratings; take one of {', '.join(POOLS)}.")
    if not LEVELS[0] <= elo <= LEVELS[1]:
        raise InputError(f"{elo:.0f} is off the scale of the policy; give a rating from {LEVELS[0]} to {LEVELS[1]}.")
    keys = positions if isinstance(positions, np.ndarray) else keys_of(positions)
    moves, counts, logs = [np.empty(0, np.uint16)], [np.zeros(1, np.int64)], [np.empty(0, np.float32)]
    size = _BATCH if isinstance(network, Policy) else _SMALL
    for begin in range(0, len(keys), size):
        some = seen(keys[begin : begin + size])
        with np.errstate(over="ignore", invalid="ignore"):  # told in a sentence below
            if isinstance(network, Policy):
                found = features(some)
                legal = found.moves
                said = log_chances_of(network, found, np.full(len(some), elo), np.full(len(some), POOLS[pool]))
            else:
                legal = legal_moves(some)
                head = logits(network, planes(some, keys[begin : begin + size, 34]))
                said = log_softmax(head[legal.row, move_numbers(some, legal)], legal.offsets)
        if not np.isfinite(said).all():
            raise InputError("the network gives chances that are no numbers: its weights are damaged.")
        logs.append(said)
        moves.append(legal.codes(some.turned))
        counts.append(np.diff(legal.offsets))
    return Chances(np.concatenate(moves), np.cumsum(np.concatenate(counts)), np.concatenate(logs))
