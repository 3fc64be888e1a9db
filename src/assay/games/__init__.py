"""Games at any scale: read PGN, index it, select, balance and count, and turn moves into arrays.

The names below are loaded when first used, so that a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

from assay.lazy import loader

if TYPE_CHECKING:
    from assay.games.indexing import index as index
    from assay.games.moves import GameArrays as GameArrays
    from assay.games.moves import to_arrays as to_arrays
    from assay.games.positions import fens as fens
    from assay.games.positions import keys as keys
    from assay.games.positions import repeated as repeated
    from assay.games.positions import uci as uci
    from assay.games.reader import Game as Game
    from assay.games.reader import read_games as read_games
    from assay.games.source import Games as Games
    from assay.games.source import read as read
    from assay.games.tags import Tags as Tags
    from assay.games.tags import read_tags as read_tags
    from assay.games.where import compile_where as compile_where

_HOME = {
    "Game": "reader",
    "GameArrays": "moves",
    "Games": "source",
    "Tags": "tags",
    "compile_where": "where",
    "fens": "positions",
    "index": "indexing",
    "keys": "positions",
    "read": "source",
    "read_games": "reader",
    "read_tags": "tags",
    "repeated": "positions",
    "to_arrays": "moves",
    "uci": "positions",
}
__all__ = sorted(_HOME)
__getattr__ = loader(__name__, _HOME)
