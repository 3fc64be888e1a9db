"""How far an engine searches unless it is told: depths, lines, presets. Constants alone, for the command line too."""

from __future__ import annotations

from collections.abc import Mapping

from assay.records import dataclass

# The depth at which a CPU second tells most where games are few; see docs/rating.md.
DEFAULT_DEPTH = 8
QUICK, DEEP = 6, 10
SECONDS_A_MOVE = 0.125  # of one core, at the usual depth
# Where only likely moves are searched deeper: the depth to which all are.
ALL_MOVES_TO = 6
# No position has more legal moves than 218, so that many lines and more are all of them.
ALL_LINES = 256


@dataclass(frozen=True)
class Preset:
    """The depth of the engine, and what to expect of it."""

    depth: int
    words: str


# The usual one first.
PRESETS: Mapping[str, Preset] = {
    "default": Preset(DEFAULT_DEPTH, f"depth {DEFAULT_DEPTH}: about an eighth of a second for each move and core"),
    "quick": Preset(QUICK, f"depth {QUICK}: six times quicker, wider intervals"),
    "deep": Preset(DEEP, f"depth {DEEP}: four times slower, narrower intervals"),
}
