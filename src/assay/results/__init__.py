"""Ratings from results, on arrays: no files, no PGN, no terminal."""

from assay.results.rate import rate, rate_table
from assay.results.ratings import Ratings

__all__ = ["Ratings", "rate", "rate_table"]
