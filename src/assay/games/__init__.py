"""Games at any scale: read PGN, index it, select, balance and count, and turn moves into arrays.

The names below are loaded when first used, so that a command pays only for what it needs.
"""

from typing import TYPE_CHECKING

from assay.lazy import loader

if TYPE_CHECKING:
    from assay.games.indexing import index as index
    from assay.games.packed import fens as fens
    from assay.games.packed import keys as keys
    from assay.games.packed import repeated as repeated
    from assay.games.packed import uci as uci
    from assay.games.parse import GameArrays as GameArrays
    from assay.games.parse import to_arrays as to_arrays
    from assay.games.source import Games as Games
    from assay.games.source import read as read
    from assay.games.split import Game as Game
    from assay.games.tags import Tags as Tags
    from assay.games.tags import read_tags as read_tags
    from assay.games.where import compile_where as compile_where

_HOME = {
    "Game": "split",
    "GameArrays": "parse",
    "Games": "source",
    "Tags": "tags",
    "compile_where": "where",
    "fens": "packed",
    "index": "indexing",
    "keys": "packed",
    "read": "source",
    "read_tags": "tags",
    "repeated": "packed",
    "to_arrays": "parse",
    "uci": "packed",
}
__all__ = sorted(_HOME)
__getattr__ = loader(__name__, _HOME)
