"""Witnesses joined: honest curves on one scale, added up; and one test whether they agree.

Every witness brings a curve whose power and error make its own interval hold. Together they are its sum, each to a
power that makes the interval of the whole hold on players whom no model has seen: witnesses look at the same games, so
their errors hang together a little.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID, Curve, Honesty, blurred
from assay.pools import is_online

Floats = NDArray[np.float64]

RESULTS, MOVES, LEARNED = WITNESSES = ("results", "moves", "learned")
FALSE_ALARMS = 0.05


@dataclass(frozen=True)
class Joint:
    """How the witnesses of a pool are joined.

    `powers` of their curves; `alarm` is the drop in log-likelihood, by the number of witnesses, that so few honest
    players pass as `FALSE_ALARMS` says; `players` whom it was fitted on.
    """

    powers: Mapping[str, float]
    alarm: Mapping[int, float]
    players: int = 0


@lru_cache(maxsize=1)
def shipped() -> dict[str, Joint]:
    """How witnesses are joined, by the kind of chess: over the board, and online.

    >>> sorted(shipped())
    ['online', 'otb']
    """
    data = json.loads((resources.files("assay.data") / "answer.json").read_text(encoding="utf-8"))
    return {
        name: Joint(one["powers"], {int(count): drop for count, drop in one["alarm"].items()}, one["players"])
        for name, one in data.items()
    }


def joint_of(pool: str) -> Joint:
    """How the witnesses of a pool are joined."""
    return shipped()["online" if is_online(pool) else "otb"]


def honest(row: Floats, honesty: Honesty) -> Floats:
    """A curve to its power and blurred by the error of its scale: what it may be added to others as."""
    if honesty.scale_error <= 0 or np.ptp(row) < 1e-9:
        return row * honesty.power
    fine, values = Curve(row[None] * honesty.power, GRID).fine()
    out: Floats = np.interp(GRID, fine, blurred(fine, values[0], honesty.scale_error))
    return out


def joined(curves: Mapping[str, Floats], joint: Joint, prior: Floats | None = None) -> Floats:
    """The sum of honest curves, each to its power; with the logarithm of a prior, if there is one."""
    total = np.zeros(len(GRID)) if prior is None else prior.copy()
    for name, row in curves.items():
        total += joint.powers.get(name, 1.0) * row
    return total


@dataclass(frozen=True)
class Agreement:
    """How far witnesses lie apart: the drop from their own tops to that of the sum, and its chance if all is well."""

    drop: float
    p: float
    alarm: bool


def agreement(curves: Mapping[str, Floats], joint: Joint) -> Agreement | None:
    """Whether witnesses agree, at the stated rate of false alarms; None where there are fewer than two.

    >>> bell = lambda at, error: -0.5 * ((GRID - at) / error) ** 2
    >>> found = agreement({"results": bell(2200, 100), "moves": bell(2250, 140)}, Joint({}, {2: 1.92}))
    >>> round(found.drop, 3), found.alarm
    (0.042, False)
    """
    told = {name: row * joint.powers.get(name, 1.0) for name, row in curves.items() if np.ptp(row) > 1e-9}
    if len(told) < 2:
        return None
    tops = sum(float(_top(row)) for row in told.values())
    drop = max(tops - float(_top(np.sum(list(told.values()), axis=0))), 0.0)
    alarm = joint.alarm[len(told)]
    # As Wilks has it, with the drop that honest players show in the place of the one that theory expects.
    scaled = drop * _QUANTILE[len(told)] / alarm
    p = math.erfc(math.sqrt(scaled)) if len(told) == 2 else math.exp(-scaled)
    return Agreement(drop, p, drop > alarm)


# Half the 95 % points of chi-square with one and two degrees of freedom.
_QUANTILE = {2: 1.9207, 3: 2.9957}


def _top(row: Floats) -> float:
    return float(Curve(row[None], GRID).fine()[1].max())


def normal_prior(mean: float, error: float) -> Floats:
    """The logarithm of a normal prior on the grid."""
    out: Floats = -0.5 * ((GRID - mean) / error) ** 2
    return out


def chosen(names: Sequence[str]) -> tuple[str, ...]:
    """The witnesses that are asked for, in their order."""
    return tuple(name for name in WITNESSES if name in names)
