"""What people would play, told sharper: the chances of moves by the policy and an engine's values together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import chess
import numpy as np
from numpy.typing import NDArray

from assay.engine.choices import Choices
from assay.engine.identity import DEFAULT
from assay.engine.local import Engine
from assay.engine.uci import Valued
from assay.games.packed import decode_move
from assay.moves.calibration import for_engine
from assay.moves.evidence import log_policy
from assay.policy.chances import Foretold, shipped
from assay.policy.first_moves import shipped_first_moves
from assay.pools import FIRST
from assay.presets import ALL_LINES, DEFAULT_DEPTH
from assay.scales import line_called

# The pools whose ratings are asked for, by what `assay chances` calls them.
LINES = {"board": FIRST, "lichess": "lichess-rapid"}


def sharper(
    found: Sequence[Foretold], *, pool: str = "board", engine: str = DEFAULT, depth: int = DEFAULT_DEPTH
) -> tuple[list[Foretold], str]:
    """The same positions and levels with the chances of the choice model, and what valued the moves.

    Ratings of Lichess are those of its rapid games.
    """
    open_ones = [one for one in found if len(one.moves) > 1]
    with Engine(engine) as running:
        identity = running.identity(ALL_LINES)
        valued = [running.analyse(one.spot.fen, depth, ALL_LINES) for one in open_ones]
    if not valued:
        return list(found), str(identity)
    choices = _choices(valued, depth)
    model = for_engine(identity, depth).model()
    logs = log_policy(choices, shipped()) if model.wants_policy else None
    line = line_called(LINES[pool])
    inner = [float(line.inside(np.array([level]))[0]) for level in found[0].levels]
    tables = np.exp(np.stack([model.log_chances(choices, level, logs) for level in inner], axis=1))
    for key, begin, end in zip(choices.keys, choices.start[:-1], choices.start[1:], strict=True):
        codes, own = choices.moves[begin:end], tables[begin:end].T
        mixed = [shipped_first_moves().mixed(key, codes, *one, pool) for one in zip(own, found[0].levels, strict=True)]
        tables[begin:end] = np.stack(mixed, axis=1)
    moves = [chess.Move.from_uci(decode_move(int(code))) for code in choices.moves]
    known = iter(_told(one, moves, tables, choices.start, at) for at, one in enumerate(open_ones))
    return [next(known) if len(one.moves) > 1 else one for one in found], str(identity)


def _choices(valued: Sequence[Valued], depth: int) -> Choices:
    """Positions of which nobody knows what was played."""
    codes = []
    for one in valued:
        table = one.table()[:depth]
        # Where mate is in sight an engine may stop early.
        codes.append(np.concatenate([table, np.repeat(table[-1:], depth - len(table), axis=0)]).T)
    width = [len(each) for each in codes]
    nothing, no_move = np.zeros(len(valued), np.int64), np.zeros(len(valued), np.uint16)
    return Choices(
        codes=np.concatenate(codes),
        moves=np.concatenate([one.move_codes() for one in valued]),
        start=np.concatenate([[0], np.cumsum(width)]),
        played=nothing,
        keys=np.stack([np.frombuffer(one.key, np.uint8) for one in valued]),
        before=no_move,
        own=no_move,
        ply=nothing,
        unit=nothing,
    )


def _told(
    one: Foretold, moves: list[chess.Move], tables: NDArray[np.float64], start: NDArray[np.int64], at: int
) -> Foretold:
    rows = range(int(start[at]), int(start[at + 1]))
    chances = {moves[row]: tuple(tables[row].tolist()) for row in rows}
    known = [replace(move, chances=chances[move.move]) for move in one.moves]
    return replace(one, moves=tuple(sorted(known, key=lambda move: -sum(move.chances))))
