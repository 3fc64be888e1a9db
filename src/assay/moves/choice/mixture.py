"""Whose moves are these? With the policy where a side plays as people do, by the values alone where it does not.

A rare good move shows strength in a person. A shallow or disturbed engine plays rare moves all the time and for other
reasons, and would be taken for stronger than it is. One turn cannot tell the two apart, but the side of a game can: the
model that knows the policy foretells a person's moves better than the model of the values alone, and an engine's moves
worse. The odds of the two (even before a move is seen, all ratings alike) say how much of the side's curve is the one's
and how much the other's. They rest on the moves that were played and on no rating; given them, curves add up and stay
concave.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from assay.curve import Curve

Floats = NDArray[np.float64]


def human(policy: Curve, plain: Curve, side: NDArray[np.intp]) -> Floats:
    """How far the side that each turn belongs to passes for a person, from 0 to 1; curves are log-likelihoods."""
    if not len(side):
        return np.zeros(0)
    count = int(side.max()) + 1
    odds = _evidence(policy.sum(side, count)) - _evidence(plain.sum(side, count))
    share: Floats = 0.5 + 0.5 * np.tanh(odds / 2)
    return share[side]


def mixed(policy: Curve, plain: Curve, share: Floats) -> Curve:
    """The curves of turns, so much by the policy's model and the rest by the values alone."""
    return Curve(share[:, None] * policy.table + (1 - share)[:, None] * plain.table, policy.grid)


def _evidence(curve: Curve) -> Floats:
    """The logarithm of the mean likelihood over the grid, all ratings alike."""
    top = curve.table.max(axis=1)
    found: Floats = top + np.log(np.exp(curve.table - top[:, None]).mean(axis=1))
    return found
