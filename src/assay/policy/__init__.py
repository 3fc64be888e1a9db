"""What people play: the chances of all legal moves at a level of play, from a small network, and how it is trained.

The names below are loaded when first used, so that a command pays only for what it needs; torch is needed by training
and labelling alone.
"""

from typing import TYPE_CHECKING

from assay.lazy import loader

if TYPE_CHECKING:
    from assay.policy.chances import Chances as Chances
    from assay.policy.chances import log_chances as log_chances
    from assay.policy.chances import open_network as open_network
    from assay.policy.chances import shipped as shipped

_HOME = {"Chances": "chances", "log_chances": "chances", "open_network": "chances", "shipped": "chances"}
__all__ = sorted(_HOME)
__getattr__ = loader(__name__, _HOME)
