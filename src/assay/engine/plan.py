"""Which positions of some games are to be valued: those of the main lines, each distinct one once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
from numpy.typing import NDArray

from assay.engine.position import after_last, as_bytes, from_board, pack
from assay.games import Game, GameArrays, repeated, to_arrays
from assay.progress import Progress

_GAMES = 2_000


@dataclass
class Plan:
    """Distinct positions in the order of the games, and which of them each game passes through."""

    keys: list[bytes] = field(default_factory=list)
    read: int = 0
    turns: int = 0
    games: list[NDArray[np.int32]] = field(default_factory=list)
    left_out: Counter[str] = field(default_factory=Counter)
    problems: Counter[str] = field(default_factory=Counter)

    def last_keys(self, valued: NDArray[np.bool_], done: NDArray[np.bool_]) -> list[bytes]:
        """For each game whose positions are all done: the key of the last one that was valued."""
        return [self.keys[game[valued[game]][-1]] for game in self.games if done[game].all() and valued[game].any()]


def plan(games: Iterable[Game], *, from_move: int = 9, ends: bool = False, quiet: bool = True) -> Plan:
    """The distinct positions of these games from move `from_move` on.

    Left out: a position that occurred before in its game. With `ends` the position after the last move is taken too:
    where only one line is analysed, it says what that move was worth.
    """
    found = Plan()
    numbers: dict[bytes, int] = {}
    stream = iter(games)
    with Progress("Reading", unit="games", quiet=quiet) as progress:
        while some := list(islice(stream, _GAMES)):
            arrays = to_arrays(some)
            found.read += len(some)
            found.problems += arrays.problems()
            plies = np.flatnonzero(arrays.fullmove >= from_move)
            again = repeated(arrays)[plies]
            found.left_out[f"before move {from_move}"] += arrays.plies - len(plies)
            found.left_out["occurred before in the game"] += int(again.sum())
            _number(found, numbers, arrays, plies[~again], ends)
            progress.update(found.read)
    found.left_out["the same position again"] = found.turns - len(found.keys)
    return found


def _number(found: Plan, numbers: dict[bytes, int], arrays: GameArrays, plies: NDArray[np.int64], ends: bool) -> None:
    keys = as_bytes(pack(arrays, plies))
    bounds = np.searchsorted(plies, arrays.offsets)
    for game in range(arrays.games):
        mine = keys[bounds[game] : bounds[game + 1]]
        if ends and mine and not (board := after_last(arrays, game)).is_game_over():
            mine.append(from_board(board))
        if not mine:
            continue
        found.turns += len(mine)
        for key in mine:
            if key not in numbers:
                numbers[key] = len(found.keys)
                found.keys.append(key)
        found.games.append(np.array([numbers[key] for key in mine], np.int32))
