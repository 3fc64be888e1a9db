"""What people would play: the chances of all legal moves, from positions as keys or FENs, with any network."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from importlib.resources import as_file, files
from itertools import islice
from pathlib import Path

import chess
import numpy as np
import numpy.typing as npt

from assay.errors import InputError
from assay.games import fens, read, to_arrays, uci
from assay.games.legal import legal_moves
from assay.games.packed import decode_move, from_board
from assay.games.stream import Stream
from assay.policy.first_moves import shipped_first_moves
from assay.policy.leela import Leela, logits, move_numbers, parse_leela, planes
from assay.policy.movemodel import Policy, load_policy, log_chances_of
from assay.policy.positions import BOARD, LICHESS, seen
from assay.policy.teacher import log_softmax
from assay.policy.traits import features
from assay.records import dataclass

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
    """What people of each level would play in each position; `extra` as in :func:`chances`, for each position.

    Unless a network is named, what was played in the first moves of games counts there, too.
    """
    keys = keys_of([spot.fen for spot in spots])
    found = [log_chances(network or shipped(), keys, level, pool) for level in levels]
    offsets = found[0].offsets
    moves = [chess.Move.from_uci(decode_move(int(code))) for code in found[0].moves]
    told = []
    for at, spot in enumerate(spots):
        rows = slice(int(offsets[at]), int(offsets[at + 1]))
        own = moves[rows]
        shares = [np.exp(each.logs[rows].astype(np.float64)) for each in found]
        if network is None:
            first_moves, codes = shipped_first_moves(), found[0].moves[rows]
            shares = [first_moves.mixed(keys[at], codes, *one, pool) for one in zip(shares, levels, strict=True)]
        odds = np.array([0.0 if extra is None else extra[at].get(move, 0.0) for move in own])
        table = np.stack([_normal(np.log(np.maximum(one, 1e-300)) + odds) for one in shares], axis=1)
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
