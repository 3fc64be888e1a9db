"""A second, deeper look at moves that are marked: most marks of a shallow search do not stand (studies/marks.py).

It is an analysis like any other, one line wide, of the position and of the one that the move leads to: it stands in the
store, and costs nothing the second time.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from typing import TypeAlias

import chess
import numpy as np

from assay.engine.analysis import Analysis, value
from assay.engine.identity import DEFAULT, Identity, Search, is_here
from assay.engine.parsed import Wanted
from assay.engine.score import pawns
from assay.engine.store import Store
from assay.engine.uci import UciEngine
from assay.errors import EngineError, StoreError
from assay.games.packed import decode_move, from_board
from assay.moves.asked import Asked
from assay.paths import only_writer
from assay.records import dataclass
from assay.reports.judged import MATED, win_of

DEEPER = 4
LINE = 6  # plies of a better line

Played: TypeAlias = tuple[chess.Board, chess.Move]


def looking_depth(depth: int) -> int:
    """The depth of the second look at what was judged at a depth.

    >>> looking_depth(6), looking_depth(8)
    (10, 12)
    """
    return depth + DEEPER


@dataclass(frozen=True)
class Look:
    """What is found at a position: the best move, and the mover's pawns with it and with the move that was played."""

    best: chess.Move
    before: float
    after: float

    @property
    def loss(self) -> float:
        """What the move lost of the mover's win chances, in per cent."""
        return max(float(win_of(self.before) - win_of(self.after)), 0.0)


Looker: TypeAlias = Callable[[Sequence[Played]], Sequence[Look | None]]


def looking(analysis: Analysis, asked: Asked) -> Looker:
    """A second look at moves that were judged by an analysis, kept in its store."""
    return lambda played: look_again(played, analysis.store, analysis.identity, analysis.depth, asked)


def look_again(
    played: Sequence[Played], store: Store, identity: Identity, depth: int, asked: Asked
) -> list[Look | None]:
    """Look again at moves in their positions, which were judged by an engine at a depth.

    None where nobody has, and there is no engine to do it now.
    """
    depth, identity = looking_depth(depth), replace(identity, lines=1, nodes=0)
    ends = [_after(board, move) for board, move in played]
    keys = [from_board(board) for board in (*(board for board, _ in played), *ends) if not board.is_game_over()]
    known = _known(dict.fromkeys(keys), store, identity, depth, asked)
    found = list[Look | None]()
    for (board, move), end in zip(played, ends, strict=True):
        before, after = known.get(from_board(board)), _ended(end) or known.get(from_board(end))
        if before is None or before[0] is None or after is None:
            found.append(None)
            continue
        worth = before[1] if before[0] == move else -after[1]
        found.append(Look(before[0], max(before[1], worth), worth))
    return found


def _after(board: chess.Board, move: chess.Move) -> chess.Board:
    after = board.copy(stack=False)
    after.push(move)
    return after


def _ended(board: chess.Board) -> tuple[None, float] | None:
    """What a finished game is worth to the side to move."""
    return (None, -MATED if board.is_checkmate() else 0.0) if board.is_game_over() else None


def _known(
    keys: Iterable[bytes], store: Store, identity: Identity, depth: int, asked: Asked
) -> dict[bytes, tuple[chess.Move | None, float]]:
    """The best move and its pawns by position; what the store lacks is analysed first, where that can be done."""
    wanted = list(keys)
    rows = store.holds(identity, depth, wanted)
    if len(rows) < len(wanted) and not asked.no_analysis:
        search = Search(asked.engine if is_here(asked.engine) else DEFAULT, depth=depth, lines=1)
        try:
            with only_writer(store.path):
                looks = Wanted(keys=wanted)
                made = value(looks, store.for_writing(), search, workers=asked.workers, quiet=asked.quiet)
            rows = store.holds(made.identity, depth, wanted)
        except (EngineError, StoreError):
            pass  # all was stored, and there is no engine, or nobody may write: what is stored has to do
    return {key: _first(moves, scores) for key, moves, scores in store.read_bytes(rows.values(), depth)}


def _first(moves: bytes, scores: bytes) -> tuple[chess.Move, float]:
    """The best move of a position, and what it is worth."""
    codes = np.frombuffer(scores, "<i2")
    best = int(codes.argmax())
    move = int.from_bytes(moves[2 * best : 2 * best + 2], "little")
    return chess.Move.from_uci(decode_move(move)), float(pawns(codes[best : best + 1])[0])


def lines_behind(played: Sequence[Played], depth: int, asked: Asked) -> list[tuple[str, ...]]:
    """How games go on from these positions with these moves, as an engine sees it, if it may be asked."""
    try:
        told = [] if asked.no_analysis else asyncio.run(_principal(played, Search(asked.engine, depth=depth, lines=1)))
    except EngineError:  # all was stored, and there is no engine
        told = []
    lines = []
    for (board, best), moves in zip(played, told or [()] * len(played), strict=True):
        step, words = board.copy(stack=False), list[str]()
        for move in (best, *map(chess.Move.from_uci, moves[: LINE - 1])):
            if not step.is_legal(move):
                break
            words.append(step.san(move))
            step.push(move)
        lines.append(tuple(words))
    return lines


async def _principal(played: Sequence[Played], search: Search) -> list[tuple[str, ...]]:
    """The principal variation behind each of these moves, as an engine says it."""
    if not played:
        return []
    engine, found = await UciEngine.start(search), list[tuple[str, ...]]()
    try:
        for board, move in played:
            after = board.copy(stack=False)
            after.push(move)
            if after.is_game_over():
                found.append(())
                continue
            engine.begin(from_board(after))
            output, _ = await engine.finish()
            said = [line.partition(b" pv ")[2] for line in output.split(b"\n") if b" pv " in line]
            found.append(tuple(said[-1].decode("ascii", "replace").split()) if said else ())
    finally:
        await engine.quit()
    return found
