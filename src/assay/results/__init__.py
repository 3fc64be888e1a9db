"""Ratings from results, on arrays: no files, no PGN, no terminal."""

from assay.results.ratings import Standings, rate, rate_table

__all__ = ["Standings", "rate", "rate_table"]
