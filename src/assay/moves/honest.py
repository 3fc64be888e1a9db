"""What honest player-events are like: how far ratings are off in them, and where z lies by years and band.

A z that takes the rating for true and every turn for a draw of its own is too sure of itself: players have strengths
and styles, and published ratings lag behind. Both are measured on events of real players, and ship as a table.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import lru_cache
from importlib import resources
from typing import Any

from assay.errors import CalibrationError
from assay.records import dataclass

_MIDDLE, _UNIT = 2200.0, 400.0
_LOW, _HIGH = 1400.0, 2800.0  # where player-events were looked at


@dataclass(frozen=True)
class NullBand:
    """The z of honest player-events of years (a line's name) and of ratings from `low` to `high`.

    The centre is that of one event of `turns` turns, and grows with the root of the turns.
    """

    line: str
    low: float
    high: float
    centre: float
    turns: float
    events: int


@dataclass(frozen=True)
class HonestNull:
    """How honest player-events scatter: ratings are off by `error` at 2200, by exp(`steep`) times as much 400 below.

    `spread` is the standard deviation that is left when this is allowed for; `bands` say where the middle is.
    """

    error: float
    steep: float
    spread: float
    bands: Sequence[NullBand]

    def rating_error(self, rating: float) -> float:
        """How far what a player shows in an event and the published rating lie apart, in Elo (a standard deviation)."""
        inside = min(max(rating, _LOW), _HIGH)
        return self.error * math.exp(self.steep * (_MIDDLE - inside) / _UNIT)

    def centred(self, z: float, line: str, rating: float, turns: int, shift: float = 0.0) -> float:
        """A z against honest player-events of the same years and band; of others the spread alone.

        `shift` is what the error of the rating, for which z allows already, would move it by.
        """
        inside = [band for band in self.bands if band.line == line and band.low <= rating < band.high]
        centre = inside[0].centre * math.sqrt(turns / inside[0].turns) if inside else 0.0
        return (z - centre / math.hypot(1.0, shift)) / self.spread

    def to_json(self) -> dict[str, Any]:
        """The table as plain values."""
        return {**asdict(self), "bands": [asdict(band) for band in self.bands]}


def from_json(data: Mapping[str, Any]) -> HonestNull:
    """A table from plain values; CalibrationError if it is none."""
    try:
        bands = tuple(NullBand(**band) for band in data["bands"])
        made = HonestNull(float(data["error"]), float(data["steep"]), float(data["spread"]), bands)
    except (KeyError, TypeError, ValueError) as error:
        raise CalibrationError(f"this is no table of honest player-events ({error}).") from error
    if not (made.error >= 0 and made.spread > 0 and math.isfinite(made.error + made.steep + made.spread)):
        raise CalibrationError("this is no table of honest player-events: a number is out of bounds.")
    return made


@lru_cache(maxsize=1)
def shipped_null() -> HonestNull:
    """The table that comes with Assay, for z of the lists alone."""
    text = (resources.files("assay.data") / "screening.json").read_text(encoding="utf-8")
    return from_json(json.loads(text)["null"])
