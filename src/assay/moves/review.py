"""A game move by move: what was played, what the engine would play, how likely it is, and the posterior."""

from __future__ import annotations

from dataclasses import dataclass

import chess
import numpy as np
from numpy.typing import NDArray

from assay.engine.turns import Turns
from assay.games.packed import decode_move, to_fen
from assay.moves.calibration import Calibration
from assay.moves.evidence import Weighed, weigh
from assay.moves.fits import refuse_one_line
from assay.moves.regan.models import move_probabilities
from assay.moves.regan.posterior import Posterior, posterior_along
from assay.moves.regan.spread import Floats, scaled_deltas

ELSEWHERE = "elsewhere"


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
    `rank`, `delta` and `probability` are None where it did not list the move.
    """

    move: int
    white: bool
    played: str
    value: float | None
    rank: int | None
    delta: float | None
    probability: float | None
    spread: tuple[Listed, ...]

    @property
    def number(self) -> str:
        """The number of the move as in print: `12.` or `12...`."""
        return f"{self.move}{'.' if self.white else '...'}"


def show_turns(turns: Turns, s: Floats, c: Floats, *, lines: int = 5) -> list[ShownTurn]:
    """Turn by turn, with the probabilities of a player of `s` and `c` (one value per turn)."""
    refuse_one_line(turns)
    values = turns.values
    deltas = scaled_deltas(values)
    p = move_probabilities(deltas, s, c)
    shown = []
    for t in range(len(turns)):
        board = chess.Board(to_fen(turns.keys[t].tobytes()))
        played = int(turns.played[t])
        ranks = list(range(min(lines, int(np.isfinite(values[t]).sum()))))
        if played >= len(ranks):
            ranks.append(played)
        spread = tuple(
            Listed(
                board.san(chess.Move.from_uci(decode_move(int(turns.moves[t, i])))),
                float(values[t, i]),
                float(deltas[t, i]),
                float(p[t, i]),
                i == played,
            )
            for i in ranks
        )
        mine = next((candidate for candidate in spread if candidate.played), None)
        shown.append(
            ShownTurn(
                int(turns.move[t]),
                bool(turns.white[t]),
                mine.san if mine else ELSEWHERE,
                float(turns.worth[t]) if np.isfinite(turns.worth[t]) else None,
                played + 1 if mine else None,
                mine.delta if mine else None,
                mine.probability if mine else None,
                spread,
            )
        )
    return shown


@dataclass(frozen=True)
class PlayerPosterior:
    """One side's posterior: before the first counted turn (row 0) and after each; `move` and `ply` are the turns'."""

    player: str
    white: bool
    rating: float | None
    move: NDArray[np.int64]
    ply: NDArray[np.int64]
    posterior: Posterior


def game_posteriors(
    turns: Turns, game: int, calibration: Calibration, *, prior: tuple[float, float] | str | None = None
) -> list[PlayerPosterior]:
    """Follow both players of a game (its number in `turns`, from 0).

    `prior` is a mean and a standard deviation, "tag" for the rating in the tags with a standard deviation of 200 (flat
    where there is none), or None for all ratings alike.
    """
    return posteriors_in(weigh(turns.only(turns.game == game), calibration), game, prior=prior)


def posteriors_in(
    weighed: Weighed, game: int, *, prior: tuple[float, float] | str | None = None
) -> list[PlayerPosterior]:
    """Follow both players of a game whose turns are tallied; see `game_posteriors`."""
    turns, out = weighed.turns, []
    for white in (True, False):
        own = np.flatnonzero((turns.game == game) & (turns.white == white))
        side = "white" if white else "black"
        tag = turns.games[f"{side}_elo"][game]
        chosen = ((float(tag), 200.0) if tag is not None else None) if isinstance(prior, str) else prior
        ratings, chances = weighed.tally.ratings, weighed.chances[own]
        out.append(
            PlayerPosterior(
                player=turns.games[side][game] or "?",
                white=white,
                rating=None if tag is None else float(tag),
                move=turns.move[own],
                ply=turns.ply[own],
                posterior=posterior_along(ratings, chances, weighed.scale, prior=chosen),
            )
        )
    return out
