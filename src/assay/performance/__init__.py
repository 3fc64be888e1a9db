"""Ratings of real games from their moves: joins games, engine analyses and the intrinsic model."""
