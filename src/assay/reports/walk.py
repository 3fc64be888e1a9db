"""Games move by move: what was played, what the engine thought of it, and what the model expected."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

import chess
import numpy as np
from numpy.typing import NDArray

from assay.curve import NOTHING, Estimate
from assay.engine.analysis import Analysis
from assay.engine.choices import IS_DECIDED, IS_FORCED, IS_LACKING
from assay.engine.score import LIMIT, MATE
from assay.engine.turns import BEYOND, DECIDED, FORCED, LACKING, REPEATED
from assay.games import Game, GameArrays, uci
from assay.games.notation import sans
from assay.games.packed import pack, played_moves, to_fen
from assay.moves.choice.model import CENTRE
from assay.moves.evals import NO_VALUE, EvalTurns
from assay.moves.evidence import Evidence
from assay.moves.review import chances_at
from assay.records import dataclass
from assay.reports.content import Candidate, Move
from assay.reports.judged import accuracy_of, by_evals, losses_by_evals, mark_of, win_of
from assay.reports.second_look import Looker

# The rating that chances are told for, by game and side (True is White).
Ratings = dict[tuple[int, bool], float]
# Candidates told of each move; the page shows fewer where space is short.
MOST_CANDIDATES = 12
_STEP = 20.0  # Elo: what is usual is worked out for ratings so far apart


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
    evidence: Evidence,
    limit: float,
    ratings: Mapping[tuple[int, bool], float],
    posteriors: Mapping[tuple[int, int], Estimate],
    look: Looker | None = None,
) -> list[Walk]:
    """Tell every game move by move.

    `evidence` is that of all valued turns, whether they count or not. `ratings` is the rating that chances are told
    for, by game and side (True is White); `posteriors` the rating of the mover so far by game and ply. With `look`
    marked moves are looked at again.
    """
    arrays, early = analysis.plies.arrays, f"before move {analysis.plies.from_move}"
    everything = np.arange(arrays.plies)
    names = sans(pack(arrays, everything), everything, played_moves(arrays, everything))
    places = zip(arrays.game.tolist(), (everything - arrays.offsets[arrays.game]).tolist(), strict=True)
    moves = [
        Move(san, text, left_out=early, posterior=posteriors.get(place, NOTHING))
        for san, text, place in zip(names, uci(arrays), places, strict=True)
    ]
    for at, told in _tell_plies(analysis, evidence, limit, ratings):
        moves[at] = replace(moves[at], **told)
    if look is not None:
        _look_again(moves, arrays, look)
    bounds = arrays.offsets.tolist()
    return [
        Walk(tuple(moves[bounds[number] : bounds[number + 1]]), arrays.reason[number], game.tags.get("FEN") or None)
        for number, game in enumerate(games)
    ]


def _look_again(moves: list[Move], arrays: GameArrays, look: Looker) -> None:
    """Take back marks that do not stand at a second look, and say what was better as this look sees it."""
    marked = [at for at, move in enumerate(moves) if move.mark]
    keys = pack(arrays, np.array(marked, np.intp))
    spots = [
        (chess.Board(to_fen(key.tobytes())), chess.Move.from_uci(moves[at].uci))
        for key, at in zip(keys, marked, strict=True)
    ]
    for at, (board, _), found in zip(marked, spots, look(spots), strict=True):
        if found is not None:
            mark = mark_of(min(moves[at].loss or 0.0, found.loss))
            better = board.san(found.best) if mark else ""
            moves[at] = replace(moves[at], lost_again=found.loss, mark=mark, better=better)


def _tell_plies(
    analysis: Analysis, evidence: Evidence, limit: float, ratings: Mapping[tuple[int, bool], float]
) -> Iterator[tuple[int, dict[str, Any]]]:
    """What is known of each ply from the first that counts: where it stands in the arrays, and fields of its Move."""
    plies, found = analysis.plies.whole, analysis.spreads
    at = found.find(plies.names)
    place, sign = plies.at.tolist(), np.where(plies.white, 1, -1)
    reasons = {IS_LACKING: LACKING, IS_FORCED: FORCED, IS_DECIDED: DECIDED}
    for row in np.flatnonzero(at < 0).tolist():
        look = found.looks.get(plies.names[row], np.nan) if at[row] == IS_DECIDED else np.nan
        yield (
            place[row],
            {
                "left_out": REPEATED if plies.repeated[row] else reasons[int(at[row])],
                "value": text_of(sign[row] * look) if np.isfinite(look) else None,
            },
        )
    rows = np.flatnonzero(at >= 0)
    values, moves, chances = evidence.turns.values, evidence.turns.moves, _chances(evidence, ratings)
    valued = np.isfinite(values)
    mine = valued & (moves == plies.played[rows][:, None])
    listed = valued & (mine | (np.arange(values.shape[1]) < MOST_CANDIDATES))
    which, column = np.nonzero(listed)
    texts = [text_of(value) for value in (sign[rows][which] * values[which, column]).tolist()]
    odds = [None if np.isnan(chance) else chance for chance in chances[which, column].tolist()]
    names = sans(plies.keys, rows[which], moves[which, column])
    candidates = [Candidate(*each) for each in zip(names, texts, odds, strict=True)]
    bounds = np.searchsorted(which, np.arange(len(rows) + 1)).tolist()
    own = np.where(mine.any(axis=1), np.cumsum(listed, axis=1)[np.arange(len(rows)), mine.argmax(axis=1)] - 1, -1)
    others = valued & ~listed
    rest = np.nan_to_num(np.where(others, chances, 0.0)).sum(axis=1)
    beyond = np.abs(found.best(at[rows])) > limit
    there = mine.any(axis=1)
    lost = np.maximum(win_of(values[:, 0]) - win_of(values[np.arange(len(rows)), mine.argmax(axis=1)]), 0.0)
    expected, usual = _usual(values, chances)
    for number, row in enumerate(rows.tolist()):
        told = candidates[bounds[number] : bounds[number + 1]]
        played = told[own[number]] if own[number] >= 0 else None
        yield (
            place[row],
            {
                "left_out": REPEATED if plies.repeated[row] else BEYOND if beyond[number] else "",
                "value": told[0].value,
                "probability": played.probability if played else None,
                "candidates": tuple(told),
                "others": int(others[number].sum()),
                "others_probability": float(rest[number]),
                "worth": played.value if played else None,
                "loss": float(lost[number]) if there[number] else None,
                "mark": (mark := mark_of(float(lost[number])) if there[number] else ""),
                "better": told[0].san if mark else "",
                "expected": expected[number],
                "usual": usual[number],
            },
        )


def _usual(values: NDArray[np.float64], chances: NDArray[np.float64]) -> tuple[list[float | None], list[float | None]]:
    """What players of the movers' ratings lose on average at each turn, and how accurate they are; None if unknown."""
    lost = np.maximum(win_of(values[:, :1]) - win_of(values), 0.0)
    share = np.where(np.isfinite(values), chances, 0.0)
    total = share.sum(axis=1)

    def mean(of: NDArray[np.float64]) -> list[float | None]:
        found = np.where(np.isfinite(values), of * share, 0.0).sum(axis=1) / total
        return [None if np.isnan(one) else float(one) for one in found]

    return mean(lost), mean(accuracy_of(lost))


def _chances(evidence: Evidence, ratings: Mapping[tuple[int, bool], float]) -> NDArray[np.float64]:
    """The chance of every move for a player of the mover's rating; nan where that rating is unknown."""
    turns = evidence.turns
    sides = zip(turns.game.tolist(), turns.white.tolist(), strict=True)
    own = np.array([ratings.get(side, np.nan) for side in sides], np.float64)
    chances = chances_at(evidence, np.where(np.isnan(own), CENTRE, own))
    return np.where(np.isnan(own)[:, None], np.nan, chances)


def walk_evals(games: Sequence[Game], turns: EvalTurns, ratings: Mapping[tuple[int, bool], float]) -> list[Walk]:
    """Tell every game move by move, by the evaluations that it carries."""
    arrays = turns.plies.arrays
    everything = np.arange(arrays.plies)
    names = sans(pack(arrays, everything), everything, played_moves(arrays, everything))
    judged = by_evals(arrays)
    sign, lost = np.where(arrays.turn, 1.0, -1.0), judged.loss
    own = np.array([ratings.get(side, np.nan) for side in zip(turns.game.tolist(), turns.white.tolist(), strict=True)])
    losses, share = losses_by_evals(turns, np.round(own / _STEP) * _STEP)
    known = share.sum(axis=1) > 0
    expected = dict(zip(turns.at[known].tolist(), (losses * share).sum(axis=1)[known].tolist(), strict=True))
    usual = dict(zip(turns.at[known].tolist(), (accuracy_of(losses) * share).sum(axis=1)[known].tolist(), strict=True))
    counts = np.zeros(arrays.plies, np.bool_)
    counts[turns.at] = True
    moves = []
    for at, (san, text) in enumerate(zip(names, uci(arrays), strict=True)):
        loss = float(lost[at]) if np.isfinite(lost[at]) else None
        moves.append(
            Move(
                san,
                text,
                value=_told(sign[at] * judged.before[at]),
                left_out="" if counts[at] else NO_VALUE,
                worth=_told(sign[at] * judged.after[at]),
                loss=loss,
                mark="" if loss is None else mark_of(loss),
                expected=expected.get(at),
                usual=usual.get(at),
            )
        )
    bounds = arrays.offsets.tolist()
    return [
        Walk(tuple(moves[bounds[number] : bounds[number + 1]]), arrays.reason[number], game.tags.get("FEN") or None)
        for number, game in enumerate(games)
    ]


def _told(pawns: float) -> int | str | None:
    return text_of(pawns) if np.isfinite(pawns) else None


def text_of(pawns: float) -> int | str:
    """A value in pawns as centipawns, or "#n" for the mates that :func:`assay.engine.score.pawns` puts beyond them.

    >>> text_of(-0.35), text_of(319.97), text_of(-319.98)
    (-35, '#3', '#-2')
    """
    code = round(abs(pawns) * 100)
    if code <= LIMIT:
        return round(pawns * 100)
    return f"#{'-' if pawns < 0 else ''}{MATE - code}"
