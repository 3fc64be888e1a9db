"""Assay tells how strong chess play is: from results, from moves, and learned.

Each room is a package of its own: :mod:`assay.games`, :mod:`assay.engine`, :mod:`assay.moves`, :mod:`assay.results`,
:mod:`assay.learned`, :mod:`assay.reports`. Nothing is computed at import.
"""

__version__ = "0.1.0"
