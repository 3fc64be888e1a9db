"""Games ply by ply, as the analysis needs them: keys of positions, moves played, repetitions, tags."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, fields
from itertools import islice

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine import score
from assay.engine.headers import headers
from assay.engine.position import after_last, from_board, pack, played_moves
from assay.games import Game, GameArrays, repeated, to_arrays
from assay.games import keys as position_numbers

_GAMES = 5_000


@dataclass(frozen=True)
class Plies:
    """The plies of many games from the first move that counts, game after game.

    `played` are move codes, `before` and `own` those of the opponent's and the mover's last moves (0 where there is
    none), `position` numbers that tell positions apart without their clock. `ends` has for each game
    what comes after its last move: the key of that position, or its value to the side to move if the game is over.
    """

    keys: NDArray[np.uint8]
    played: NDArray[np.uint16]
    before: NDArray[np.uint16]
    own: NDArray[np.uint16]
    repeated: NDArray[np.bool_]
    position: NDArray[np.uint64]
    game: NDArray[np.int64]
    ply: NDArray[np.int64]
    move: NDArray[np.int64]
    white: NDArray[np.bool_]
    last: NDArray[np.bool_]
    games: pl.DataFrame
    problems: Counter[str]
    early: int
    ends: dict[int, bytes | float]


_BY_PLY = tuple(f.name for f in fields(Plies) if str(f.type).startswith("NDArray"))


def read_plies(games: Iterable[Game], from_move: int, *, ends: bool = False) -> Plies:
    """Read games into plies from move `from_move` on; the positions after their last moves only if asked."""
    stream = iter(games)
    parts: list[Plies] = []
    before = 0
    while (some := list(islice(stream, _GAMES))) or not parts:
        parts.append(_read_some(some, from_move, before, ends))
        before += len(some)
    problems: Counter[str] = Counter()
    all_ends: dict[int, bytes | float] = {}
    for part in parts:
        problems.update(part.problems)
        all_ends |= part.ends
    return Plies(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in _BY_PLY},
        games=pl.concat([part.games for part in parts]),
        problems=problems,
        early=sum(part.early for part in parts),
        ends=all_ends,
    )


def _read_some(some: list[Game], from_move: int, before: int, ends: bool) -> Plies:
    arrays = to_arrays(some)
    plies = np.flatnonzero(arrays.fullmove >= from_move)
    game = arrays.game[plies]
    last = plies == arrays.offsets[game + 1] - 1
    after: dict[int, bytes | float] = {}
    if ends:
        for number in game[last].tolist():
            board = after_last(arrays, number)
            if board.is_game_over():
                after[number + before] = -score.MATE / 100 if board.is_checkmate() else 0.0
            else:
                after[number + before] = from_board(board)
    return Plies(
        keys=pack(arrays, plies),
        played=played_moves(arrays, plies),
        before=_earlier(arrays, plies, 1),
        own=_earlier(arrays, plies, 2),
        repeated=repeated(arrays)[plies],
        position=position_numbers(arrays)[plies],
        game=game + before,
        ply=plies - arrays.offsets[game],
        move=arrays.fullmove[plies].astype(np.int64),
        white=arrays.turn[plies],
        last=last,
        games=headers(some),
        problems=arrays.problems(),
        early=arrays.plies - len(plies),
        ends=after,
    )


def _earlier(arrays: GameArrays, plies: NDArray[np.int64], back: int) -> NDArray[np.uint16]:
    """The codes of the moves so many plies earlier in the same game, 0 where there is none."""
    there = plies - back >= arrays.offsets[arrays.game[plies]]
    return np.where(there, played_moves(arrays, np.maximum(plies - back, 0)), 0).astype(np.uint16)


def first_seen(plies: Plies) -> NDArray[np.int64]:
    """For each ply, the first of its game with the same position (itself, unless it is a repetition)."""
    _, first, which = np.unique(
        np.stack([plies.game.astype(np.uint64), plies.position]), axis=1, return_index=True, return_inverse=True
    )
    return first[which.ravel()]
