"""Ratings from moves."""
