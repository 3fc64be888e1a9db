"""What each way of fitting wants to be zero or least (RH11, sections 6 and 7).

Every method looks at a block of turns and returns, turn by turn, a few quantities with their derivatives by ln s and
ln c. Least-squares methods (`percentile`, `equations`, `ranks`) want the averages of these to vanish; `likelihood`
wants the average of its one quantity, -ln p, to be least.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.moves.regan.blocks import Block
from assay.moves.regan.spread import Floats

MethodName: TypeAlias = Literal["percentile", "equations", "ranks", "likelihood"]

PERCENTILES: Floats = np.arange(1, 20) / 20


@dataclass(frozen=True)
class View:
    """A block as a method sees it: probabilities (moves x turns), their slopes, and what was played.

    `elsewhere` is the error that counts where the played move is outside the list (`played` is -1).
    """

    block: Block
    p: Floats
    by_s: Floats
    by_c: Floats
    played: NDArray[np.intp]
    elsewhere: Floats

    @cached_property
    def deltas(self) -> Floats:
        """Moves x turns; only some methods need them."""
        return self.block.deltas()

    @cached_property
    def before(self) -> Floats:
        """1 for the moves listed before the one played, else 0; moves x turns."""
        return (np.arange(len(self.p))[:, None] < self.played).astype(np.float64)

    def chosen(self, array: Floats) -> Floats:
        """The entry of the played move at each turn; arbitrary where that is elsewhere."""
        return np.asarray(np.take_along_axis(array, np.maximum(self.played, 0)[None, :], axis=0)[0])

    def errors(self) -> Floats:
        """The scaled error of each played move."""
        return np.where(self.played < 0, self.elsewhere, self.chosen(self.deltas))


# Quantities per turn and their two derivatives, each quantities x turns.
Parts = tuple[Floats, Floats, Floats]


def percentile(view: View) -> Parts:
    """R_q - q: the share of turns whose played move lies within the first q of the probability (RH11, section 6).

    The played move covers the interval from p- to p+ of the cumulated probabilities; a percentile q inside it counts
    in part, (q - p-) / (p+ - p-). A move elsewhere lies beyond every q.
    """
    part, x, width = _cover(view)
    slope = np.where((x > 0) & (x < 1) & (view.played >= 0), -1.0 / width, 0.0)
    by_s, by_c = (slope * (np.einsum("it,it->t", view.before, d) + x * view.chosen(d)) for d in (view.by_s, view.by_c))
    return part - PERCENTILES[:, None], by_s, by_c


def percentile_parts(view: View) -> Floats:
    """The part of each turn in R_q, percentiles x turns."""
    return _cover(view)[0]


def _cover(view: View) -> tuple[Floats, Floats, Floats]:
    """How far q reaches into the played move's interval: clipped to 0 ... 1, unclipped, and the interval's width."""
    width = np.maximum(view.chosen(view.p), 1e-30)
    x = (PERCENTILES[:, None] - np.einsum("it,it->t", view.before, view.p)) / width
    part = np.clip(x, 0.0, 1.0)
    part[:, view.played < 0] = 0.0
    return part, x, width


def equations(view: View) -> Parts:
    """Projected minus actual: first-choice matches, and scaled error (RH11, section 7)."""
    value = np.stack([view.p[0] - (view.played == 0), np.einsum("it,it->t", view.p, view.deltas) - view.errors()])
    by_s, by_c = (np.stack([d[0], np.einsum("it,it->t", d, view.deltas)]) for d in (view.by_s, view.by_c))
    return value, by_s, by_c


def error_equation(view: View) -> Parts:
    """The error alone: with c given, one equation for s."""
    value, by_s, by_c = equations(view)
    return value[1:], by_s[1:], by_c[1:]


def ranks(view: View) -> Parts:
    """Projected minus actual frequency of each rank (RH11, section 7)."""
    value = view.p.copy()
    inside = np.flatnonzero(view.played >= 0)
    value[view.played[inside], inside] -= 1.0
    return value, view.by_s, view.by_c


def likelihood(view: View) -> Parts:
    """-ln p of the played move; a move elsewhere has a fixed probability and no slope."""
    inside = view.played >= 0
    p = np.maximum(view.chosen(view.p), 1e-300)
    value = np.where(inside, -np.log(p), 0.0)
    by_s, by_c = (np.where(inside, -view.chosen(d) / p, 0.0) for d in (view.by_s, view.by_c))
    return value[None, :], by_s[None, :], by_c[None, :]


CRITERIA: dict[MethodName, Callable[[View], Parts]] = {
    "percentile": percentile,
    "equations": equations,
    "ranks": ranks,
    "likelihood": likelihood,
}


def information(view: View) -> Floats:
    """Fisher's information of each turn about (ln s, ln c), 2 x 2 x turns: sum_i dp_i dp_i' / p_i."""
    p = np.maximum(view.p, 1e-300)
    by_s, by_c = view.by_s / p, view.by_c / p
    ss, sc, cc = (np.einsum("it,it->t", a, b) for a, b in ((by_s, view.by_s), (by_s, view.by_c), (by_c, view.by_c)))
    return np.array([[ss, sc], [sc, cc]])
