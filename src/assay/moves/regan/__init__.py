"""The intrinsic model of Regan and Haworth: a fallible player's moves, from engine values alone.

Arrays in and out; nothing here knows of files, engines or the terminal. Sources: Regan & Haworth, "Intrinsic Chess
Ratings" (AAAI 2011), cited as RH11; Regan, Macieja & Haworth, "Understanding Distributions of Chess Performances"
(2011), RMH11; Regan, "Intrinsic Ratings Compendium" (2012), IRC12.
"""

from assay.errors import ModelError, NotConverged, TooFewTurns
from assay.moves.regan.depth_weights import DepthWeights, fit_depth_weights
from assay.moves.regan.fitting import Fit, fit
from assay.moves.regan.models import MODELS, move_probabilities, played_log_probabilities
from assay.moves.regan.projection import Agent, Projection, project
from assay.moves.regan.spread import CURVES, curve_value, elsewhere_deltas, scaled, scaled_deltas

__all__ = [
    "CURVES",
    "MODELS",
    "Agent",
    "DepthWeights",
    "Fit",
    "ModelError",
    "NotConverged",
    "Projection",
    "TooFewTurns",
    "curve_value",
    "elsewhere_deltas",
    "fit",
    "fit_depth_weights",
    "move_probabilities",
    "played_log_probabilities",
    "project",
    "scaled",
    "scaled_deltas",
]
