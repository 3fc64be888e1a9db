"""How thorough a report is, by name: the choices of the command line and of the page."""

from __future__ import annotations

from dataclasses import dataclass

from assay.moves.presets import preset_depth


@dataclass(frozen=True)
class Preset:
    """The depth of the engine, and what to expect of it."""

    depth: int
    words: str


def presets() -> dict[str, Preset]:
    """The presets that shipped calibrations serve, the usual one first.

    >>> presets()["quick"].depth
    6
    """
    usual, quick, deep = preset_depth(), preset_depth(quick=True), preset_depth(deep=True)
    found = {
        "default": Preset(usual, f"depth {usual}: about half a second for each move and core"),
        "quick": Preset(quick, f"depth {quick}: twenty times quicker, wider intervals"),
    }
    if deep > usual:
        found["deep"] = Preset(deep, f"depth {deep}: slower, narrower intervals")
    return found


def depth_of(preset: str) -> int:
    """The depth of a preset by name; `deep` is the usual one where no deeper calibration is shipped.

    >>> depth_of("quick"), depth_of("default")
    (6, 10)
    """
    return preset_depth(quick=preset == "quick", deep=preset == "deep")
