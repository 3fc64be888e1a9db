"""Accuracy of play, as Lichess publishes it (lichess.org/page/accuracy): win chances lost, move by move and of a game.

Win chances come from centipawns; a move is as accurate as it keeps them. The accuracy of a game is the mean of two
means: one weighted by how much is at stake around each move, and the harmonic one, which a single blunder weighs on.
That the worst move counts as 1 % in the harmonic mean is in their program (Maths of lila) and not on their page; so is
one per cent more for every move that lost something, which is left out here.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.moves.evals import STEEP, win_chance

Floats = NDArray[np.float64]

MOST_PAWNS = 10.0  # a mate is worth no more
LEAST = 1.0  # per cent, of a move in the harmonic mean
# Win chances lost, in per cent: an inaccuracy, a mistake, a blunder; and how these are written.
MARKS = ((15.0, "??"), (10.0, "?"), (5.0, "?!"))
GLYPHS = {"?!": "$6", "?": "$2", "??": "$4"}
NAMES = {"?!": "inaccuracy", "?": "mistake", "??": "blunder"}


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
