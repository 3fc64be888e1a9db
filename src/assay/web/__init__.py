"""The local page: drop a PGN, watch the analysis, read the report; and the small JSON API behind it."""
