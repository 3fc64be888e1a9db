"""What a played move was worth where only the best line was analysed: what the next position says.

This is how Guid and Bratko ("Computer analysis of world chess champions", ICGA Journal 2006) measured whole games.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def by_next(
    best: NDArray[np.float64],
    forced: NDArray[np.bool_],
    first_seen: NDArray[np.int64],
    last: NDArray[np.bool_],
    end: NDArray[np.float64],
) -> NDArray[np.float64]:
    """The value of each played move from its mover's side: minus what the next position is worth to the other.

    The plies of each game follow one another. `best` is the value of each position (nan if none is stored), `forced`
    where a single move is legal (the position is then worth what that move leads to), `first_seen` the ply at which the
    same position occurred first, `last` the last ply of each game, and `end` what the position after it is worth.

    >>> nan = np.nan
    >>> by_next(np.array([0.3, nan, 0.5]), np.array([False, True, False]), np.arange(3),
    ...         np.array([False, False, True]), np.array([nan, nan, -0.4])).tolist()
    [0.5, -0.5, 0.4]
    """
    value = best.copy()
    while True:
        known = value[first_seen]
        after = np.append(known[1:], np.nan)
        played = -np.where(last, end, after)
        filled = np.where(np.isnan(known) & forced, played, known)
        if np.array_equal(filled, value, equal_nan=True):
            return played
        value = filled
