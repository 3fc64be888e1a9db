"""Assay tells how strong chess play is: from results, from moves, and learned.

Each room is a package of its own: :mod:`assay.games`, :mod:`assay.engine`, :mod:`assay.policy`, :mod:`assay.moves`,
:mod:`assay.results`, :mod:`assay.learned`, :mod:`assay.reports`. Nothing is computed at import; `assay.chances` is
loaded when first used.
"""

from typing import TYPE_CHECKING

from assay.lazy import loader

if TYPE_CHECKING:
    from assay.policy.likely import chances as chances

__version__ = "0.1.0"
__getattr__ = loader(__name__, {"chances": "policy.likely"})
