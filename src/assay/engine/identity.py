"""What identifies an analysis: who valued the moves, and under which rules.

Threads are always 1 and the hash is fresh for each position, so a value is a pure function of the position and this
identity. The depth stands beside it: a search to depth 10 passes through depth 6, and its values there are those of a
search to depth 6.
"""

from __future__ import annotations

from dataclasses import dataclass

# No position has more legal moves than 218, so that many lines and more are all of them.
ALL_LINES = 256
# The depth of a search that is limited by nodes alone.
NO_DEPTH = 245
# A shallow look before the search: one line to this depth; beyond this many centipawns the position counts as decided.
LOOK_DEPTH = 8
LOOK_LIMIT = 500


@dataclass(frozen=True)
class Identity:
    """Engine, net, options, node limit (0: none) and lines: two analyses with the same identity may be mixed.

    >>> print(Identity("Stockfish 15.1", "nn-ad9b42354671.nnue", (("Hash", "16"),), nodes=0, lines=50))
    Stockfish 15.1, 50 lines
    """

    engine: str
    net: str
    options: tuple[tuple[str, str], ...]
    nodes: int
    lines: int

    def __str__(self) -> str:
        lines = "all moves" if self.lines >= ALL_LINES else "1 line" if self.lines == 1 else f"{self.lines} lines"
        extra = "".join(f", {name} {value}" for name, value in self.options if (name, value) != ("Hash", "16"))
        return f"{self.engine}, {lines}{f', {self.nodes} nodes' if self.nodes else ''}{extra}"


@dataclass(frozen=True)
class Search:
    """What is asked of an engine: which one (as :func:`assay.engine.find.find` takes it), and how far to search."""

    engine: str = "stockfish"
    depth: int = 10
    lines: int = 50
    nodes: int = 0
    hash_mb: int = 16
    options: tuple[tuple[str, str], ...] = ()
    look: bool = True

    @property
    def looks_first(self) -> bool:
        """Whether to take a shallow look; it does not pay when the search itself is shallow or a single line."""
        return self.look and self.lines > 1 and self.depth > LOOK_DEPTH

    @property
    def settings(self) -> tuple[tuple[str, str], ...]:
        """The options that decide values, in a fixed order."""
        return tuple(sorted({**dict(self.options), "Hash": str(self.hash_mb)}.items()))
