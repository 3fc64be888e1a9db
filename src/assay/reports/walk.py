"""Games move by move: what was played, what the engine thought of it, and what the model expected."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import chess
import numpy as np
from numpy.typing import NDArray

from assay.curve import Estimate
from assay.engine import spreads
from assay.engine.analysis import Analysis
from assay.engine.choices import ranked
from assay.engine.parsed import Plies
from assay.engine.position import decode_move
from assay.engine.score import LIMIT, MATE
from assay.engine.turns import BEYOND, DECIDED, FORCED, LACKING, REPEATED
from assay.games import Game, uci
from assay.moves.regan import move_probabilities
from assay.reports.content import Candidate, Move

# Candidates told of each move; the page shows fewer where space is short.
MOST_CANDIDATES = 12

# s and c of a player with this rating.
Skill = Callable[[float], tuple[float, float]]
# Values in pawns to scaled deltas.
Scaled = Callable[[NDArray[np.float64]], NDArray[np.float64]]


@dataclass(frozen=True)
class Walk:
    """The moves of one game as played, and why there are none if there are none."""

    moves: tuple[Move, ...]
    reason: str
    start: str | None


def walk(
    games: Sequence[Game],
    analysis: Analysis,
    *,
    limit: float,
    scaled: Scaled,
    ratings: Mapping[tuple[int, bool], float],
    skill: Skill,
    posteriors: Mapping[tuple[int, int], Estimate],
) -> list[Walk]:
    """Tell every game move by move.

    `ratings` is the rating that probabilities are told for, by game and side (True is White); `posteriors` the
    posterior of the mover by game and ply; `scaled` turns values into deltas.
    """
    arrays = analysis.plies.arrays
    texts = uci(arrays)
    told = _tell_plies(analysis, limit, scaled, ratings, skill)
    early = f"before move {analysis.plies.from_move}"
    walks = []
    for number, game in enumerate(games):
        first, last = int(arrays.offsets[number]), int(arrays.offsets[number + 1])
        start = game.tags.get("FEN") or None
        board = chess.Board(start) if start and last > first else chess.Board()
        moves = []
        for ply, text in enumerate(texts[first:last]):
            move = chess.Move.from_uci(text)
            mine = told.get((number, ply), _Told(left_out=early))
            moves.append(_move(board, move, mine, posteriors.get((number, ply), Estimate())))
            board.push(move)
        walks.append(Walk(tuple(moves), arrays.reason[number], start))
    return walks


@dataclass(frozen=True)
class _Told:
    """What is known of one ply: candidates as move codes, values in pawns from the mover's side, probabilities."""

    left_out: str = ""
    look: float | None = None
    codes: NDArray[np.uint16] | None = None
    values: NDArray[np.float64] | None = None
    chances: NDArray[np.float64] | None = None


def _tell_plies(
    analysis: Analysis,
    limit: float,
    scaled: Scaled,
    ratings: Mapping[tuple[int, bool], float],
    skill: Skill,
) -> dict[tuple[int, int], _Told]:
    plies, found = analysis.plies.whole, analysis.spreads
    keys = plies.names
    at = found.find(keys)
    rows = np.flatnonzero(at >= 0)
    shown = ranked(found.codes, found.moves, found.start)
    values, moves = shown.values(analysis.depth), shown.moves
    chances = _chances(values[at[rows]], plies, rows, scaled, ratings, skill)
    told: dict[tuple[int, int], _Told] = {}
    reasons = {spreads.LACKING: LACKING, spreads.FORCED: FORCED, spreads.DECIDED: DECIDED}
    for row in np.flatnonzero(at < 0).tolist():
        reason = REPEATED if plies.repeated[row] else reasons[int(at[row])]
        look = found.looks.get(keys[row]) if at[row] == spreads.DECIDED else None
        told[int(plies.game[row]), int(plies.ply[row])] = _Told(reason, look)
    best = found.best(at)
    for row, chance in zip(rows.tolist(), chances, strict=True):
        reason = REPEATED if plies.repeated[row] else BEYOND if abs(best[row]) > limit else ""
        listed = np.isfinite(values[at[row]])
        told[int(plies.game[row]), int(plies.ply[row])] = _Told(
            reason, None, moves[at[row]][listed], values[at[row]][listed], chance[listed]
        )
    return told


def _chances(
    values: NDArray[np.float64],
    plies: Plies,
    rows: NDArray[np.int64],
    scaled: Scaled,
    ratings: Mapping[tuple[int, bool], float],
    skill: Skill,
) -> NDArray[np.float64]:
    """The probability of every move for a player of the mover's rating; nan where that rating is unknown."""
    chances = np.full(values.shape, np.nan)
    sides = list(zip(plies.game[rows].tolist(), plies.white[rows].tolist(), strict=True))
    known = np.array([side in ratings for side in sides], np.bool_)
    if known.any():
        at = {side: skill(ratings[side]) for side in set(sides) if side in ratings}
        s, c = np.array([at[side] for side in sides if side in at]).T
        chances[known] = move_probabilities(scaled(values[known]), s, c)
    return chances


def _move(board: chess.Board, move: chess.Move, told: _Told, posterior: Estimate) -> Move:
    sign = 1 if board.turn else -1
    san = board.san(move)
    if told.codes is None or told.values is None or told.chances is None:
        value = None if told.look is None or not np.isfinite(told.look) else text_of(sign * told.look)
        return Move(san, move.uci(), value, told.left_out, posterior=posterior)
    names = [decode_move(code) for code in told.codes.tolist()]
    listed = [at for at, name in enumerate(names) if at < MOST_CANDIDATES or name == move.uci()]
    known = bool(np.isfinite(told.chances).all())
    candidates = tuple(
        Candidate(
            board.san(chess.Move.from_uci(names[at])),
            text_of(sign * float(told.values[at])),
            float(told.chances[at]) if known else None,
        )
        for at in listed
    )
    others = np.setdiff1d(np.arange(len(names)), listed)
    played = names.index(move.uci()) if move.uci() in names else None
    return Move(
        san,
        move.uci(),
        text_of(sign * float(told.values[0])),
        told.left_out,
        float(told.chances[played]) if played is not None and known else None,
        candidates,
        len(others),
        float(told.chances[others].sum()) if known else 0.0,
        posterior,
        None if played is None else text_of(sign * float(told.values[played])),
    )


def text_of(pawns: float) -> int | str:
    """A value in pawns as centipawns, or "#n" for the mates that :func:`assay.engine.score.pawns` puts beyond them.

    >>> text_of(-0.35), text_of(319.97), text_of(-319.98)
    (-35, '#3', '#-2')
    """
    code = round(abs(pawns) * 100)
    if code <= LIMIT:
        return round(pawns * 100)
    return f"#{'-' if pawns < 0 else ''}{MATE - code}"
