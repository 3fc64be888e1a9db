"""How Regan's way is set: the fit, the rule and the curve of temptation, and how values become deltas."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from assay.errors import ModelError
from assay.moves.regan.models import ModelName
from assay.moves.regan.problem import CRITERIA, MethodName
from assay.moves.regan.spread import CAP, TIE, CurveName, Floats, Scaling, elsewhere_deltas, scaled_deltas
from assay.records import dataclass

DEPTHS: Literal["depths"] = "depths"
GRID: Literal["grid"] = "grid"
FittingMethod: TypeAlias = MethodName | Literal["depths", "grid"]
METHODS: tuple[FittingMethod, ...] = (*CRITERIA, DEPTHS)
TABLE_METHODS: tuple[FittingMethod, ...] = (*METHODS, GRID)  # of tables of fits; a grid is too coarse for a scale
# Engines leave single values out at shallow depths; a depth that lacks more than a tenth was never written down.
VALUED = 0.9


@dataclass(frozen=True)
class Fitting:
    """How values become deltas and how they are fitted."""

    method: FittingMethod = "percentile"
    model: ModelName = "power"
    curve: CurveName = "invexp"
    k: float = 1.0
    cap: float = CAP
    tie: float = TIE
    scale: Scaling = "log"

    @property
    def criterion(self) -> MethodName:
        """How s and c are fitted: with weights over depths, as the papers fit them."""
        return criterion_of(self.method)

    def spread(self, values: Floats, played: NDArray[np.integer]) -> tuple[Floats, NDArray[np.intp], Floats]:
        """Deltas, the column of the move played (-1 beyond the cap), and the error of a move elsewhere, per turn."""
        deltas = scaled_deltas(values, k=self.k, cap=self.cap, tie=self.tie, scale=self.scale)
        last = deltas if deltas.ndim == 2 else deltas[:, :, -1]
        inside = np.isfinite(last[np.arange(len(last)), np.maximum(played, 0)]) & (played >= 0)
        elsewhere = elsewhere_deltas(values, k=self.k, cap=self.cap, scale=self.scale)
        return deltas, np.where(inside, played, -1), elsewhere


def criterion_of(method: str) -> MethodName:
    """What a method wants of s and c: weights over depths and the grid leave that as in the papers."""
    return "percentile" if method in (DEPTHS, GRID) else method  # type: ignore[return-value]


def depths_to(depth: int) -> tuple[int, ...]:
    """The depths that are weighed: every second one up to the last.

    >>> depths_to(8), depths_to(13), depths_to(2)
    ((2, 4, 6, 8), (1, 3, 5, 7, 9, 11, 13), (1, 2))
    """
    if depth < 2:
        raise ModelError(f"weights over depths need analyses to depth 2 or more, and these are of depth {depth}.")
    return tuple(range(depth, 0, -2 if depth > 2 else -1))[::-1]


def layered(values: Floats, depths: Sequence[int]) -> Floats:
    """Values of the same moves at several depths (turns x moves x depths) without holes.

    A move without a value at some depth has that of the next one; where a depth lacks them altogether, as in analyses
    that were made elsewhere, there is nothing to weigh.

    >>> layered(np.array([[[0.1, 0.2], [np.nan, 0.0]]] + [[[0.1, 0.2], [0.3, 0.0]]] * 9), (2, 4))[0].tolist()
    [[0.1, 0.2], [0.0, 0.0]]
    """
    listed = np.isfinite(values[:, :, -1])
    share = np.isfinite(values[listed]).mean(axis=0) if listed.any() else np.ones(len(depths))
    if lacking := [str(depth) for depth, valued in zip(depths, share, strict=True) if valued < VALUED]:
        raise ModelError(
            f"weights over depths need the values of every move at depths {', '.join(map(str, depths))}, and these "
            f"analyses lack those of {', '.join(lacking)}: analyse the games with 'assay analyse --depth "
            f"{depths[-1]}', which keeps all depths."
        )
    out = np.where(listed[:, :, None], values, np.nan)
    for layer in range(len(depths) - 2, -1, -1):
        out[:, :, layer] = np.where(np.isnan(out[:, :, layer]), out[:, :, layer + 1], out[:, :, layer])
    return out
