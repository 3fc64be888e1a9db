"""How thorough a report is: the presets of the command line and of the page."""

from __future__ import annotations

from dataclasses import dataclass

from assay.performance.presets import preset_depth


@dataclass(frozen=True)
class Preset:
    """The depth of the engine, and what to expect of it."""

    depth: int
    words: str


PRESETS = {
    "default": Preset(10, "depth 10: about half a second for each move and core"),
    "quick": Preset(6, "depth 6: some eight times quicker, wider intervals"),
    "deep": Preset(preset_depth(deep=True), "the deepest that a calibration is shipped for"),
}
