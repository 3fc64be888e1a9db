"""Ratings from results, on arrays: no files, no PGN, no terminal."""

from assay.results.rate import Ratings, rate

__all__ = ["Ratings", "rate"]
