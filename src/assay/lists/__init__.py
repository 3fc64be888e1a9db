"""FIDE's rating lists: read once, kept by month, asked for the rating that was in force on the day of a game."""
