"""Ratings from moves: joins games, engine analyses and the models of what players of every strength play.

The names below are loaded when first used, so that a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

from assay.lazy import loader

if TYPE_CHECKING:
    from assay.moves.analysed import analysed_turns as analysed_turns
    from assay.moves.calibrating import make_calibration as make_calibration
    from assay.moves.calibration import Calibration as Calibration
    from assay.moves.calibration import load as load
    from assay.moves.differences import difference_table as difference_table
    from assay.moves.differences import mean_table as mean_table
    from assay.moves.evidence import weigh as weigh
    from assay.moves.fits import fit_table as fit_table
    from assay.moves.groups import group as group
    from assay.moves.performance import rate_groups as rate_groups
    from assay.moves.review import running as running
    from assay.moves.review import show_turns as show_turns
    from assay.moves.screening import screen_groups as screen_groups
    from assay.moves.simulation import Entrant as Entrant
    from assay.moves.simulation import tournament as tournament

_HOME = {
    "Calibration": "calibration",
    "Entrant": "simulation",
    "analysed_turns": "analysed",
    "difference_table": "differences",
    "fit_table": "fits",
    "running": "review",
    "group": "groups",
    "weigh": "evidence",
    "load": "calibration",
    "make_calibration": "calibrating",
    "mean_table": "differences",
    "rate_groups": "performance",
    "screen_groups": "screening",
    "show_turns": "review",
    "tournament": "simulation",
}
__all__ = sorted(_HOME)
__getattr__ = loader(__name__, _HOME)
