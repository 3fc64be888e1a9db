"""A game move by move: what was played, what the engine would play, how likely it is, and the rating so far."""

from __future__ import annotations

from collections.abc import Sequence

import chess
import numpy as np
from numpy.typing import NDArray

from assay.curve import LEVEL, Curve, Estimate
from assay.engine.turns import Turns
from assay.games.packed import decode_move, to_fen
from assay.moves.asked import refuse_one_line
from assay.moves.choice.logit import Floats
from assay.moves.choice.model import CENTRE
from assay.moves.evidence import Evidence
from assay.moves.regan.models import move_probabilities
from assay.moves.regan.spread import scaled_deltas
from assay.records import dataclass

TAG_SD = 200.0
# A turn is critical where the player is expected to lose so much, scaled: some three times the average of a master. An
# obvious recapture is not, however much hangs on it.
CRITICAL = 0.2


@dataclass(frozen=True)
class Listed:
    """A move of a spread: SAN, value in pawns, scaled delta, probability, and whether it was the one played."""

    san: str
    value: float
    delta: float
    probability: float
    played: bool


@dataclass(frozen=True)
class ShownTurn:
    """One turn: its number as in a score sheet, the move played and its probability, and the spread, best first.

    `value` is that of the move played, in pawns, None if the engine valued it neither here nor by the next position;
    `rank` and `delta` are None where it did not list the move. `moves` counts all that it listed. `entropy` is that of
    the chances, in bits: 2 are as open as four moves that are equally likely. `critical` tells that the player is
    expected to lose much here.
    """

    move: int
    white: bool
    played: str
    value: float | None
    rank: int | None
    delta: float | None
    probability: float | None
    spread: tuple[Listed, ...]
    moves: int
    entropy: float
    critical: bool

    @property
    def number(self) -> str:
        """The number of the move as in print: `12.` or `12...`."""
        return f"{self.move}{'.' if self.white else '...'}"


def chances_at(evidence: Evidence, ratings: Floats) -> Floats:
    """Turns x moves, best first: the chances of the moves for players of these ratings, one for each turn."""
    row = evidence.turns.rows
    return np.where(row < 0, np.nan, evidence.chances(ratings)[row])


def chances_of(turns: Turns, s: float, c: float) -> Floats:
    """Turns x moves, best first: the chances of the moves for a player of these s and c, in Regan's model."""
    return np.asarray(move_probabilities(scaled_deltas(turns.values), s, c))


def show_turns(turns: Turns, chances: Floats, *, lines: int = 5) -> list[ShownTurn]:
    """Turn by turn, with the chances of the moves (turns x moves, best first)."""
    refuse_one_line(turns)
    values = turns.values
    deltas, moves, columns = scaled_deltas(values), turns.moves, turns.played
    entropy, loss = entropies(chances), expected_losses(chances, deltas)
    codes = turns.choices.moves[turns.choices.chosen]
    shown = []
    for t in range(len(turns)):
        board = chess.Board(to_fen(turns.keys[t].tobytes()))
        played = int(columns[t])
        ranks = list(range(min(lines, int(np.isfinite(values[t]).sum()))))
        if played >= len(ranks):
            ranks.append(played)
        spread = tuple(
            Listed(
                board.san(chess.Move.from_uci(decode_move(int(moves[t, i])))),
                float(values[t, i]),
                float(deltas[t, i]),
                float(chances[t, i]),
                i == played,
            )
            for i in ranks
        )
        mine = next((candidate for candidate in spread if candidate.played), None)
        shown.append(
            ShownTurn(
                int(turns.move[t]),
                bool(turns.white[t]),
                board.san(chess.Move.from_uci(decode_move(int(codes[t])))),
                float(turns.worth[t]) if np.isfinite(turns.worth[t]) else None,
                played + 1 if mine else None,
                mine.delta if mine else None,
                mine.probability if mine else None,
                spread,
                int(np.isfinite(values[t]).sum()),
                float(entropy[t]),
                bool(loss[t] >= CRITICAL),
            )
        )
    return shown


def entropies(chances: Floats) -> Floats:
    """The entropy of each turn's chances (turns x moves), in bits."""
    p = np.where(np.isfinite(chances) & (chances > 0), chances, 1.0)
    return np.asarray(-(p * np.log2(p)).sum(axis=1))


def expected_losses(chances: Floats, deltas: Floats) -> Floats:
    """What a player of these chances is expected to lose at each turn, scaled."""
    known = np.isfinite(chances) & np.isfinite(deltas)
    return np.asarray(np.where(known, chances * np.where(known, deltas, 0.0), 0.0).sum(axis=1))


@dataclass(frozen=True)
class Running:
    """One side's rating after each of its counted turns: the turns' numbers, and the estimates."""

    player: str
    white: bool
    rating: float | None
    move: NDArray[np.int64]
    ply: NDArray[np.int64]
    estimates: Sequence[Estimate]


def running(
    evidence: Evidence, game: int, *, prior: tuple[float, float] | str | None = None, level: float = LEVEL
) -> list[Running]:
    """Follow both players of a game (its number in the turns, from 0): the sum of their turns' curves so far.

    `prior` is a mean and a standard deviation, "tag" for the rating in the tags with a standard deviation of 200 (none
    where there is no tag), or None: then the last estimate is what the moves of the game say, and nothing else.
    """
    turns, out = evidence.turns, []
    for white in (True, False):
        own = np.flatnonzero((turns.game == game) & (turns.white == white))
        name = turns.games["white" if white else "black"][game]
        tag = turns.games["white_elo" if white else "black_elo"][game]
        curve = evidence.curve[own]
        power = evidence.honesty(own, CENTRE).power
        so_far = Curve(np.cumsum(curve.table, axis=0) + _log_prior(curve, prior, tag) / power, curve.grid)
        honesty = [evidence.honesty(own, top) for top in so_far.tops().tolist()] if len(own) else []
        found = so_far.estimates(honesty, level)
        out.append(
            Running(name or "?", white, None if tag is None else float(tag), turns.move[own], turns.ply[own], found)
        )
    return out


def _log_prior(curve: Curve, prior: tuple[float, float] | str | None, tag: float | None) -> Floats:
    """The logarithm of the prior on the grid of a curve."""
    if isinstance(prior, str):
        prior = None if tag is None else (float(tag), TAG_SD)
    if prior is None:
        return np.zeros(len(curve.grid))
    mean, deviation = prior
    return np.asarray(-0.5 * ((curve.grid - mean) / deviation) ** 2)
