"""The choice model: what draws players of every strength to a move, fitted to games of rated players."""
