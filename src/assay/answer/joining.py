"""Witnesses joined: honest curves on one scale, added up; and one test whether they agree.

Every witness brings a curve whose power and error make its own interval hold. Together they are its sum, each to a
power that makes the interval of the whole hold on players whom no model has seen: witnesses look at the same games, so
their errors hang together.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from functools import lru_cache
from importlib import resources
from typing import Any

import numpy as np
from numpy.typing import NDArray

from assay.curve import GRID, Curve, Honesty, blurred
from assay.pools import SLOW, is_online
from assay.records import dataclass

Floats = NDArray[np.float64]

RESULTS, MOVES, LEARNED = WITNESSES = ("results", "moves", "learned")
EVALS = "evals"  # how moves are called here when evaluations in the games tell of them
FALSE_ALARMS = 0.05
NINE = 9  # games: an event
CENTRE, UNIT = 2200.0, 400.0


@dataclass(frozen=True)
class TagError:
    """How far a rating in the tags lies from how well its owner plays: `error` at CENTRE, by `steep` more below it.

    >>> [round(TagError(70, 0.4)(x)) for x in (1800, 2200, 2600)]
    [104, 70, 47]
    """

    error: float = 70.0
    steep: float = 0.0

    def __call__(self, rating: Any) -> Any:
        """The error at some ratings."""
        away = np.clip((np.asarray(rating, np.float64) - CENTRE) / UNIT, -2.0, 1.5)
        return self.error * np.exp(-self.steep * away)


@dataclass(frozen=True)
class UsualResults:
    """What is usual of results: White's advantage, and the share of draws among equals, by `steep` more above CENTRE.

    >>> [float(UsualResults(30, 0.42, 0.16).drawn(x).round(2)) for x in (1600, 2200, 2600)]
    [0.18, 0.42, 0.58]
    """

    white: float = 35.0
    draws: float = 0.4
    steep: float = 0.0

    def drawn(self, rating: Any) -> Any:
        """The share of draws among equals of these ratings."""
        return np.clip(self.draws + self.steep * (np.asarray(rating, np.float64) - CENTRE) / UNIT, 0.04, 0.7)


@dataclass(frozen=True)
class Joint:
    """How the witnesses of a kind of chess are joined.

    `powers` of their curves over `NINE` games and more, `alone` those over a single game, where they are others: games
    of one player err together, and witnesses know of that in their own ways. `alarm` is the drop in log-likelihood, by
    the witnesses who are heard, that so few honest players pass as `FALSE_ALARMS` says (theory's where nothing was
    measured); `tag` the error of ratings in the tags; `usual` what is usual of results; `events` of `players` are what
    it was fitted on.
    """

    powers: Mapping[str, float] = field(default_factory=dict)
    alarm: Mapping[str, float] = field(default_factory=dict)
    tag: TagError = TagError()
    usual: UsualResults = UsualResults()
    events: int = 0
    players: int = 0
    alone: Mapping[str, float] = field(default_factory=dict)

    def over(self, games: int) -> Joint:
        """The same for a sum over so many games: between one and nine, powers go by the logarithm of their number.

        >>> joint = Joint({"learned": 1.2}, alone={"learned": 0.8})
        >>> [round(joint.over(games).power("learned"), 2) for games in (1, 3, 20)]
        [0.8, 0.98, 1.2]
        """
        share = min(math.log(max(games, 1)) / math.log(NINE), 1.0)
        between = {
            name: power**share * self.alone.get(name, power) ** (1 - share) for name, power in self.powers.items()
        }
        return replace(self, powers=between, alone={})

    def power(self, name: str) -> float:
        """The power of a witness; moves that are known from evaluations like others where nothing else is said."""
        return self.powers.get(name, self.powers.get(MOVES, 1.0) if name == EVALS else 1.0)

    def limit(self, names: Sequence[str]) -> float:
        """The drop that is an alarm when these witnesses are heard."""
        as_moves = [MOVES if name == EVALS else name for name in names]
        theory = _QUANTILE[len(names)]
        return self.alarm.get("+".join(names), self.alarm.get("+".join(as_moves), theory))


@dataclass(frozen=True)
class Population:
    """Who plays in a pool: mean and spread of the ratings of so many players."""

    mean: float
    spread: float
    players: int


@lru_cache(maxsize=1)
def _data() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((resources.files("assay.data") / "answer.json").read_text(encoding="utf-8"))
    return found


@lru_cache(maxsize=1)
def shipped() -> dict[str, Joint]:
    """How witnesses are joined, by the kind of chess: over the board, and online.

    >>> sorted(shipped())
    ['online', 'otb']
    """
    return {name: joint_from(one) for name, one in _data()["joined"].items()}


def joint_from(plain: Mapping[str, Any]) -> Joint:
    """A joint from plain values."""
    tag, usual = TagError(**plain["tag"]), UsualResults(**plain["usual"])
    return Joint(plain["powers"], plain["alarm"], tag, usual, plain["events"], plain["players"], plain.get("alone", {}))


def joint_of(pool: str, games: int = NINE) -> Joint:
    """How the witnesses of a pool are joined over so many games."""
    return shipped()["online" if is_online(pool) else "otb"].over(games)


def population_of(pool: str) -> tuple[str, Population]:
    """Who plays in a pool, or in the nearest one whose players were counted, with its name.

    >>> population_of("otb-rapid")[0]
    'otb-slow'
    """
    known = {name: Population(**one) for name, one in _data()["populations"].items()}
    speed = pool.partition("-")[2]
    nearest = [pool, *([f"lichess-{speed}", "lichess-blitz"] if is_online(pool) else [SLOW])]
    name = next(name for name in nearest if name in known)
    return name, known[name]


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
        total += joint.power(name) * row
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
    >>> found = agreement({"results": bell(2200, 100), "moves": bell(2250, 140)}, Joint())
    >>> round(found.drop, 3), found.alarm
    (0.042, False)
    """
    told = {name: row * joint.power(name) for name, row in curves.items() if np.ptp(row) > 1e-9}
    if len(told) < 2:
        return None
    tops = sum(_top(row) for row in told.values())
    drop = max(tops - _top(np.sum(list(told.values()), axis=0)), 0.0)
    limit = joint.limit([name for name in (RESULTS, MOVES, EVALS, LEARNED) if name in told])
    # As Wilks has it, with the drop that honest players show in the place of the one that theory expects.
    scaled = drop * _QUANTILE[len(told)] / limit
    p = math.erfc(math.sqrt(scaled)) if len(told) == 2 else math.exp(-scaled)
    return Agreement(drop, p, drop > limit)


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
