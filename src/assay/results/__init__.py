"""Ratings from results, on arrays: no files, no PGN, no terminal."""

from assay.results.rate import Ratings, rate, rate_table

__all__ = ["Ratings", "rate", "rate_table"]
