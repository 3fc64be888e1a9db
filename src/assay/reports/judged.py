"""What every move of a game was worth: by an engine's values of all moves, or by the evaluations that the file has.

Marks and accuracies are those that Lichess publishes (lichess.org/page/accuracy): win chances come from centipawns, and
a move is as accurate as it keeps them. The accuracy of a game is the mean of two means: one weighted by how much is at
stake around each move, and the harmonic one, which a single blunder weighs on.
That the worst move counts as 1 % in the harmonic mean is in their program (Maths of lila) and not on their page; so is
one per cent more for every move that lost something, which is left out here.
"""

from __future__ import annotations

import chess
import numpy as np
from numpy.typing import NDArray

from assay.engine.analysis import Analysis
from assay.engine.choices import IS_DECIDED, IS_LACKING
from assay.engine.turns import Turns
from assay.games import GameArrays
from assay.games.packed import after_last
from assay.moves.choice.model import CENTRE
from assay.moves.evals import EDGES, FIRST_VALUE, STEEP, EvalTurns, chain, features, shipped_evals, win_chance
from assay.moves.evals_rating import own_line
from assay.moves.evidence import Evidence
from assay.moves.review import chances_at
from assay.pools import split_line
from assay.records import dataclass

Floats = NDArray[np.float64]

MOST_PAWNS = 10.0  # a mate is worth no more
LEAST = 1.0  # per cent, of a move in the harmonic mean
# Win chances lost, in per cent: an inaccuracy, a mistake, a blunder; and how these are written.
MARKS = ((15.0, "??"), (10.0, "?"), (5.0, "?!"))
GLYPHS = {"?!": "$6", "?": "$2", "??": "$4"}
NAMES = {"?!": "inaccuracy", "?": "mistake", "??": "blunder"}
MATED = 320.0  # pawns, as of a mate at once
_DRAWS = 600  # simulated games for what is expected of a rating
# Win chances lost in the middle of each bin of the model for evaluations; the last is open.
_MIDDLE = np.concatenate([[-2.5], (EDGES[1:] + EDGES[:-1]) / 2, [EDGES[-1] + 10]])


def win_of(pawns: Floats | float) -> Floats:
    """Win chances in per cent of values in pawns, mates included.

    >>> win_of(np.array([0.0, 1.0, 319.97])).round(1).tolist()
    [50.0, 59.1, 97.5]
    """
    return win_chance(100 * np.clip(np.asarray(pawns, float), -MOST_PAWNS, MOST_PAWNS))


def centipawns_of(win: Floats) -> Floats:
    """The centipawns that win chances in per cent come from.

    >>> centipawns_of(np.array([50.0, 59.1])).round().tolist()
    [0.0, 100.0]
    """
    return np.asarray(np.log(win / (100 - win)) / STEEP)


def accuracy_of(loss: Floats | float) -> Floats:
    """The accuracy of moves that lost so much of the win chances, in per cent.

    >>> accuracy_of(np.array([0.0, 5.0, 30.0, 90.0])).round(1).tolist()
    [100.0, 79.8, 24.8, 0.0]
    """
    lost = np.maximum(np.asarray(loss, float), 0.0)
    return np.asarray(np.clip(103.1668 * np.exp(-0.04354 * lost) - 3.1669, 0.0, 100.0))


def mark_of(loss: float) -> str:
    """The mark of a move that lost so much: `?!` from 5 per cent of the win chances, `?` from 10, `??` from 15.

    >>> mark_of(4.9), mark_of(5.0), mark_of(31.0)
    ('', '?!', '??')
    """
    return next((mark for least, mark in MARKS if loss >= least), "")


def stakes(win: Floats) -> Floats:
    """How much is at stake at each move: the deviation of win chances about it, from .5 to 12.

    `win` are White's chances before the first move and after each one.

    >>> stakes(np.array([50.0, 50.0, 52.0, 30.0])).round(2).tolist()
    [0.5, 1.0, 11.0]
    """
    known = np.where(np.isfinite(win), win, 50.0)
    size = int(min(max((len(known) - 1) // 10, 2), 8))
    begins = [0] * (min(size, len(known)) - 2) + list(range(max(len(known) - size + 1, 1)))
    found = [float(np.std(known[at : at + size])) for at in begins[: len(known) - 1]]
    return np.asarray(np.clip(found, 0.5, 12.0))


def of_game(accuracy: Floats, stake: Floats) -> Floats:
    """The accuracy of a game from that of its moves (the last axis), each with what was at stake.

    >>> float(of_game(np.array([100.0, 50.0]), np.array([1.0, 3.0])).round(2))
    64.58
    >>> float(of_game(np.array([100.0, 0.0]), np.array([1.0, 1.0])).round(2))
    25.99
    """
    weighted = (accuracy * stake).sum(axis=-1) / stake.sum()
    harmonic = accuracy.shape[-1] / (1 / np.maximum(accuracy, LEAST)).sum(axis=-1)
    return np.asarray((weighted + harmonic) / 2)


def centipawns_lost(before: Floats, after: Floats) -> Floats:
    """The centipawns that moves lost, none less than 0; values beyond ten pawns count as ten."""
    most = MOST_PAWNS
    return np.asarray(np.maximum(100 * (np.clip(before, -most, most) - np.clip(after, -most, most)), 0.0))


@dataclass(frozen=True)
class Worths:
    """A row for each ply of some games, from the mover's side in pawns: the position before, and the move played.

    nan where nobody knows.
    """

    before: Floats
    after: Floats

    @property
    def loss(self) -> Floats:
        """The win chances that each move lost, in per cent, none less than 0."""
        return np.maximum(win_of(self.before) - win_of(self.after), 0.0)


def by_engine(analysis: Analysis, every: Turns) -> Worths:
    """Plies by the values of an engine; `every` are all turns of the analysis.

    A move is worth what the engine says of it beside the others, else what the next position is worth; a position that
    was not searched because one move is legal is worth what that move is.
    """
    arrays, plies = analysis.plies.arrays, analysis.plies.whole
    found = analysis.spreads
    at = found.find(plies.names)
    before, after = np.full(arrays.plies, np.nan), np.full(arrays.plies, np.nan)
    value = found.best(at)
    for row in np.flatnonzero(at == IS_DECIDED).tolist():
        value[row] = found.looks[plies.names[row]]
    before[plies.at] = value
    after[plies.at[at >= 0]] = every.worth
    looked = np.zeros(arrays.plies, np.bool_)
    looked[plies.at] = at != IS_LACKING
    return _filled(arrays, before, after, looked)


def by_evals(arrays: GameArrays) -> Worths:
    """Plies by the evaluations in the file, which stand behind the moves."""
    value = np.where(arrays.mate != 0, np.sign(arrays.mate) * (MATED - np.abs(arrays.mate) / 100), arrays.eval)
    after = value.astype(np.float64) * np.where(arrays.turn, 1.0, -1.0)
    before = np.concatenate([[np.nan], -after[:-1]])
    starts = arrays.offsets[:-1][np.diff(arrays.offsets) > 0]
    usual = (arrays.fullmove[starts] == 1) & arrays.turn[starts]
    before[starts] = np.where(usual, FIRST_VALUE / 100, np.nan)
    return _filled(arrays, before, after, np.zeros(arrays.plies, np.bool_))


def _filled(arrays: GameArrays, before: Floats, after: Floats, looked: NDArray[np.bool_]) -> Worths:
    """What the next position and the end of the game tell of moves that have no value, where these were looked at."""
    last = {int(end) - 1: game for game, end in enumerate(arrays.offsets[1:]) if end > arrays.offsets[game]}
    for at in range(arrays.plies - 1, -1, -1):
        if np.isnan(after[at]) and (looked[at] or np.isfinite(before[at])):
            after[at] = _end(arrays, last[at]) if at in last else -before[at + 1] if looked[at] else np.nan
        if np.isnan(before[at]) and looked[at]:
            before[at] = after[at]
    return Worths(before, after)


def _end(arrays: GameArrays, game: int) -> float:
    board: chess.Board = after_last(arrays, game)
    if board.is_checkmate():
        return MATED
    return 0.0 if board.is_stalemate() or board.is_insufficient_material() else float("nan")


@dataclass(frozen=True)
class Usual:
    """What players of the movers' ratings do at each turn: `at` is its ply; how accurate they are, and what they lose.

    `draws` are the accuracies of simulated players, turns x draws.
    """

    at: NDArray[np.intp]
    loss: Floats
    draws: Floats


def usual_by_engine(evidence: Evidence, at: NDArray[np.intp], ratings: Floats) -> tuple[Usual, Floats]:
    """What is usual at turns whose moves are all valued, and the chances of these moves, best first.

    `at` are the plies of the turns, `ratings` those of their movers (nan: nobody knows, and nothing is told).
    """
    chances = chances_at(evidence, np.where(np.isnan(ratings), CENTRE, ratings))
    chances = np.where(np.isnan(ratings)[:, None], np.nan, chances)
    values = evidence.turns.values
    lost = np.maximum(win_of(values[:, :1]) - win_of(values), 0.0)
    share = np.where(np.isfinite(values), np.nan_to_num(chances), 0.0)
    share /= np.maximum(share.sum(axis=1, keepdims=True), 1e-12)
    return _usual(at, np.nan_to_num(lost), share), chances


def usual_by_evals(turns: EvalTurns, ratings: Floats) -> Usual:
    """What is usual at turns of which one evaluation before and after is known: by the model of losses."""
    return _usual(turns.at, *losses_by_evals(turns, ratings))


def losses_by_evals(turns: EvalTurns, ratings: Floats) -> tuple[Floats, Floats]:
    """The win chances that may be lost at each turn, and how often players of the mover's rating lose so much."""
    columns, entries = features(turns)
    weights, bins = shipped_evals().weights, len(EDGES) + 1
    # Evaluations have no line of their own for quicker and slower games of a pool.
    lines = np.array([split_line(name)[0] for name in turns.column("line")], object)
    share = np.zeros((len(turns), bins))
    for name in set(lines.tolist()):
        for rating in np.unique(ratings[(lines == name) & np.isfinite(ratings)]).tolist():
            own = np.flatnonzero((lines == name) & (ratings == rating))
            level = own_line(name).inside(np.array([rating]))
            for number in range(bins):
                which = np.full(len(own), number, np.intp)
                share[own, number] = np.exp(chain(columns[own], entries[own], which, weights, level)[:, 0])
    # The model speaks of values as they were in 2022: what is lost there, in the unit of the file.
    factor = turns.times[:, None]
    before = np.clip(turns.before, -1000, 1000)[:, None]
    then = np.clip(win_chance(before) - np.maximum(_MIDDLE, 0.0), 1.0, 99.0)
    now = centipawns_of(then) / factor
    return np.maximum(win_of(before / factor / 100) - win_of(now / 100), 0.0), share


def _usual(at: NDArray[np.intp], lost: Floats, share: Floats) -> Usual:
    accurate = accuracy_of(lost)
    random = np.random.default_rng(0)
    up_to = share.cumsum(axis=1)
    up_to /= np.maximum(up_to[:, -1:], 1e-12)
    drawn = np.empty((len(at), _DRAWS))
    for row in range(len(at)):
        chosen = np.searchsorted(up_to[row], random.random(_DRAWS), side="right")
        drawn[row] = accurate[row, np.minimum(chosen, share.shape[1] - 1)]
    known = share.sum(axis=1) > 0
    drawn[~known] = np.nan
    return Usual(at, np.where(known, (lost * share).sum(axis=1), np.nan), drawn)
