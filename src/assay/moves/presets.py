"""How thorough to be: depths that trade time for noise (docs/rating.md has the figures)."""

from __future__ import annotations

from assay.moves.calibration import DEFAULT_DEPTH, shipped

QUICK = 6
_STOCKFISH = "stockfish-15.1-d"


def depths() -> list[int]:
    """The depths that a calibration is shipped for, ascending."""
    return sorted(int(name.removeprefix(_STOCKFISH)) for name in shipped() if name.startswith(_STOCKFISH))


def preset_depth(*, quick: bool = False, deep: bool = False) -> int:
    """The depth of a preset: `--deep` is the deepest that a calibration is shipped for.

    >>> preset_depth(quick=True), preset_depth()
    (6, 10)
    """
    return QUICK if quick else max(depths()) if deep else DEFAULT_DEPTH
