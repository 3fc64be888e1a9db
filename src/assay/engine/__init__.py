"""Positions to valued moves: UCI engines, the analysis store, the local pool, the cluster, turns.

The names below are loaded when first used, so that a command pays only for what it needs. Functions that share the name
of their module are imported from it: `from assay.engine.turns import turns`.
"""

from typing import TYPE_CHECKING

from assay.lazy import loader

if TYPE_CHECKING:
    from assay.engine.identity import Identity as Identity
    from assay.engine.local import Engine as Engine
    from assay.engine.store import Store as Store
    from assay.engine.turns import Turns as Turns

_HOME = {
    "Engine": "local",
    "Identity": "identity",
    "Store": "store",
    "Turns": "turns",
}
__all__ = sorted(_HOME)
__getattr__ = loader(__name__, _HOME)
