"""Ratings learned from games: planes, datasets, sequence models, posteriors.

The names below are loaded when first used, so that a command pays only for what it needs; torch is needed by training
alone.
"""

from typing import TYPE_CHECKING

from assay.lazy import loader

if TYPE_CHECKING:
    from assay.learned.build import Selection as Selection
    from assay.learned.build import build_dataset as build_dataset
    from assay.learned.dataset import Dataset as Dataset
    from assay.learned.dataset import open_dataset as open_dataset
    from assay.learned.encode import EncodedGames as EncodedGames
    from assay.learned.encode import encode_games as encode_games
    from assay.learned.forward import posteriors as posteriors
    from assay.learned.guess import GameCurves as GameCurves
    from assay.learned.guess import Guess as Guess
    from assay.learned.guess import game_curves as game_curves
    from assay.learned.guess import guess_games as guess_games
    from assay.learned.net import Batch as Batch
    from assay.learned.net import Examples as Examples
    from assay.learned.net import collate as collate
    from assay.learned.planes import NUM_PLANES as NUM_PLANES
    from assay.learned.planes import encode_ply_planes as encode_ply_planes
    from assay.learned.planes import unpack as unpack
    from assay.learned.run import Config as Config
    from assay.learned.run import Run as Run
    from assay.learned.run import open_run as open_run
    from assay.learned.train import fit_run as fit_run

_HOME = {
    "NUM_PLANES": "planes",
    "Batch": "net",
    "Config": "run",
    "Dataset": "dataset",
    "EncodedGames": "encode",
    "Examples": "net",
    "GameCurves": "guess",
    "Guess": "guess",
    "Run": "run",
    "Selection": "build",
    "build_dataset": "build",
    "collate": "net",
    "encode_games": "encode",
    "encode_ply_planes": "planes",
    "fit_run": "train",
    "game_curves": "guess",
    "guess_games": "guess",
    "open_dataset": "dataset",
    "open_run": "run",
    "posteriors": "forward",
    "unpack": "planes",
}
__all__ = sorted(_HOME)
__getattr__ = loader(__name__, _HOME)
