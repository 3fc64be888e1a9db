"""Games and stored analyses to choices: every turn that counts, with all values of all its moves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from assay.engine.identity import Identity
from assay.engine.plies import Plies, read_plies
from assay.engine.position import as_bytes
from assay.engine.score import MISSING
from assay.engine.store import Store
from assay.engine.turns import BEYOND, DECIDED, FORCED, LACKING, REPEATED
from assay.games import Game
from assay.moves.choice.choices import Choices

# Turns further from equality are not judged; the model learns from those up to the second limit, too.
LIMIT, LEARNING_LIMIT = 3.0, 5.0


@dataclass(frozen=True)
class Gathered:
    """The choices of some games, and which game (a row of `games`), side and move number each belongs to."""

    choices: Choices
    game: NDArray[np.int64]
    white: NDArray[np.bool_]
    move: NDArray[np.int64]
    games: pl.DataFrame
    excluded: Counter[str]
    problems: Counter[str]
    identity: Identity


def gather(
    games: Iterable[Game],
    store: Store,
    *,
    depth: int,
    from_move: int = 9,
    limit: float = LIMIT,
    engine: str | None = None,
) -> Gathered:
    """The turns of these games whose positions the store holds to this depth, and how many were left out, by reason."""
    identity = store.choose(engine, depth=depth)
    plies = read_plies(games, from_move)
    return gathered(plies, store, identity, depth=depth, from_move=from_move, limit=limit)


def gathered(plies: Plies, store: Store, identity: Identity, *, depth: int, from_move: int, limit: float) -> Gathered:
    """The same from plies that were read before."""
    wanted = as_bytes(plies.keys)
    rows = store.known(identity, depth)
    there = {key: row for key in set(wanted) if (row := rows.get(key)) is not None}
    found = {key: (moves, scores) for key, moves, scores in store.read_bytes(there.values())}
    out = store.out(identity)
    excluded: Counter[str] = Counter({f"before move {from_move}": plies.early})
    kept: list[int] = []
    codes: list[NDArray[np.int16]] = []
    moves: list[NDArray[np.uint16]] = []
    played: list[int] = []
    for row, key in enumerate(wanted):
        if plies.repeated[row]:
            excluded[REPEATED] += 1
        elif key in found:
            listed, values = _unpacked(*found[key], depth)
            if abs(int(values[:, -1].max())) > limit * 100:
                excluded[BEYOND] += 1
                continue
            at = np.flatnonzero(listed == plies.played[row])
            if not len(at):
                # The engine listed others only: the move is known, its values are not, and it is not dropped.
                at = np.array([len(listed)])
                listed = np.append(listed, plies.played[row])
                values = np.concatenate([values, np.full((1, depth), MISSING, np.int16)])
            kept.append(row)
            codes.append(values)
            moves.append(listed)
            played.append(int(at[0]))
        elif key in out:
            excluded[FORCED if out[key][0] == "forced" else DECIDED] += 1
        else:
            excluded[LACKING] += 1
    chosen = np.array(kept, np.int64)
    start = np.concatenate([[0], np.cumsum([len(some) for some in moves])]).astype(np.int64)
    choices = Choices(
        codes=np.concatenate(codes) if codes else np.empty((0, depth), np.int16),
        moves=np.concatenate(moves) if moves else np.empty(0, np.uint16),
        start=start,
        played=np.array(played, np.int64),
        keys=plies.keys[chosen],
        before=plies.before[chosen],
        own=plies.own[chosen],
        ply=plies.ply[chosen],
        unit=plies.game[chosen] * 2 + ~plies.white[chosen],
    )
    return Gathered(
        choices=choices,
        game=plies.game[chosen],
        white=plies.white[chosen],
        move=plies.move[chosen],
        games=plies.games,
        excluded=+excluded,
        problems=plies.problems,
        identity=identity,
    )


def _unpacked(moves: bytes, scores: bytes, depth: int) -> tuple[NDArray[np.uint16], NDArray[np.int16]]:
    """Moves and their score codes at depths 1 to `depth`; a search that ended early stands for the depths beyond."""
    listed = np.frombuffer(moves, "<u2").astype(np.uint16)
    levels = np.frombuffer(scores, "<i2").astype(np.int16).reshape(-1, len(listed))
    return listed, levels[np.minimum(np.arange(depth), len(levels) - 1)].T
